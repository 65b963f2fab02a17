//! A 64-bit instruction.
//!
//! ```text
//! 63..61  op       0 END, 1 LIN, 2 AND, 3 IN, 4 OUT
//! 60      sync     wait until all earlier products of this context have arrived
//! 59      use_a    58  use_b    57..56  0
//! 55..40  scalar   39  0
//! 38..26  slot a   25..13  slot b   12..0  slot d
//! ```
//!
//! Fields that an operation does not use are 0. An AND has both `use` bits set, and so has a LIN of
//! two slots.

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// The program ends.
    End,
    /// Slot d = (a if `use_a`) ⊕ (b if `use_b`) ⊕ scalar.
    Lin,
    /// Slot d = a·b; the product arrives at any time between the instruction and the next sync.
    And,
    /// Slot d = the next row of the input stream.
    In,
    /// The next row of the output stream = (a if `use_a`) ⊕ scalar.
    Out,
}

/// A well-formed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction(u64);

const SYNC: u64 = 1 << 60;
const USE_A: u64 = 1 << 59;
const USE_B: u64 = 1 << 58;
const SCALAR: u64 = 0xffff << 40;
const A: u64 = 0x1fff << 26;
const B: u64 = 0x1fff << 13;
const D: u64 = 0x1fff;

const fn op(code: u64) -> u64 {
    code << 61
}

const fn a(slot: u16) -> u64 {
    assert!(slot < 1 << 13, "a slot has 13 bits");
    (slot as u64) << 26
}

const fn b(slot: u16) -> u64 {
    assert!(slot < 1 << 13, "a slot has 13 bits");
    (slot as u64) << 13
}

const fn d(slot: u16) -> u64 {
    assert!(slot < 1 << 13, "a slot has 13 bits");
    slot as u64
}

impl Instruction {
    /// The last instruction of every program.
    pub const END: Instruction = Instruction(0);

    /// Writes the sum of the given slots and a scalar to slot `to`.
    ///
    /// # Panics
    /// If a slot has more than 13 bits.
    #[must_use]
    pub fn lin(to: u16, first: Option<u16>, second: Option<u16>, scalar: u16) -> Instruction {
        let first = first.map_or(0, |slot| USE_A | a(slot));
        let second = second.map_or(0, |slot| USE_B | b(slot));
        Instruction(op(1) | first | second | u64::from(scalar) << 40 | d(to))
    }

    /// Writes the product of two slots to slot `to`. Panics if a slot has more than 13 bits.
    #[must_use]
    pub const fn and(to: u16, first: u16, second: u16) -> Instruction {
        Instruction(op(2) | USE_A | USE_B | a(first) | b(second) | d(to))
    }

    /// Writes the next row of the input to slot `to`. Panics if the slot has more than 13 bits.
    #[must_use]
    pub const fn input(to: u16) -> Instruction {
        Instruction(op(3) | d(to))
    }

    /// Writes a scalar plus the slot `from`, if given, as the next row of the output. Panics if the
    /// slot has more than 13 bits.
    #[must_use]
    pub fn output(from: Option<u16>, scalar: u16) -> Instruction {
        Instruction(op(4) | from.map_or(0, |slot| USE_A | a(slot)) | u64::from(scalar) << 40)
    }

    /// The same instruction with a sync: it runs after all earlier products have arrived.
    #[must_use]
    pub const fn after_products(self) -> Instruction {
        Instruction(self.0 | SYNC)
    }

    /// Decodes a word; `None` if it is not an instruction. Unused fields must be 0.
    #[must_use]
    pub const fn from_word(word: u64) -> Option<Instruction> {
        let fields = match word >> 61 {
            0 => 0,
            1 => {
                let first = if word & USE_A == 0 { 0 } else { USE_A | A };
                let second = if word & USE_B == 0 { 0 } else { USE_B | B };
                first | second | SCALAR | D
            }
            2 if word & (USE_A | USE_B) == USE_A | USE_B => USE_A | USE_B | A | B | D,
            3 => D,
            4 => (if word & USE_A == 0 { 0 } else { USE_A | A }) | SCALAR,
            _ => return None,
        };
        if word & !(op(7) | SYNC | fields) == 0 { Some(Instruction(word)) } else { None }
    }

    /// The instruction as a word.
    #[must_use]
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The operation, from the three highest bits.
    #[must_use]
    pub const fn op(self) -> Opcode {
        match self.0 >> 61 {
            0 => Opcode::End,
            1 => Opcode::Lin,
            2 => Opcode::And,
            3 => Opcode::In,
            _ => Opcode::Out,
        }
    }

    /// Whether the instruction waits for all earlier products.
    #[must_use]
    pub const fn sync(self) -> bool {
        self.0 & SYNC != 0
    }

    /// The first slot that the instruction reads.
    #[must_use]
    pub const fn a(self) -> Option<u16> {
        if self.0 & USE_A == 0 { None } else { Some((self.0 >> 26 & 0x1fff) as u16) }
    }

    /// The second slot that the instruction reads.
    #[must_use]
    pub const fn b(self) -> Option<u16> {
        if self.0 & USE_B == 0 { None } else { Some((self.0 >> 13 & 0x1fff) as u16) }
    }

    /// The slot that the instruction writes.
    #[must_use]
    pub const fn d(self) -> Option<u16> {
        match self.op() {
            Opcode::Lin | Opcode::And | Opcode::In => Some((self.0 & D) as u16),
            Opcode::Out | Opcode::End => None,
        }
    }

    /// The scalar that the instruction adds; 0 adds nothing.
    #[must_use]
    pub const fn scalar(self) -> u16 {
        (self.0 >> 40 & 0xffff) as u16
    }
}
