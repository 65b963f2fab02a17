//! Runs one instance in the clear, and checks the rules for programs.

use super::{Instruction, Microcode, MicrocodeError, Opcode};

/// A rule that an instruction violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Hazard {
    /// It reads a product that may not have arrived.
    #[error("it reads slot {slot}, whose product may not have arrived before the next sync")]
    Early { slot: u16 },
    /// It writes a slot that a product that has not arrived will write.
    #[error("it writes slot {slot}, into which a product is still to be written before the next sync")]
    Overwritten { slot: u16 },
    /// It reads a slot that nothing has written.
    #[error("it reads slot {slot}, which nothing has written")]
    Unwritten { slot: u16 },
    /// It names a slot that does not exist.
    #[error("it names slot {slot}, and there are {slots}")]
    NoSlot { slot: u16, slots: usize },
    /// It names a scalar that does not exist.
    #[error("it names scalar {scalar}, and there are {scalars}")]
    NoScalar { scalar: u16, scalars: usize },
    /// The program ends before its products have arrived.
    #[error("it ends the program while {products} products are under way")]
    Unfinished { products: usize },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotState {
    Empty,
    UnderWay,
    Written,
}

/// Tracks the slots' states through a program.
pub(super) struct Track {
    slots: Vec<SlotState>,
    scalars: usize,
    under_way: Vec<u16>,
}

impl Track {
    pub(super) fn new(slots: usize, scalars: usize) -> Track {
        Track { slots: vec![SlotState::Empty; slots], scalars, under_way: vec![] }
    }

    /// Runs one instruction.
    pub(super) fn step(&mut self, instruction: Instruction) -> Result<(), Hazard> {
        if instruction.sync() {
            for slot in self.under_way.drain(..) {
                self.slots[slot as usize] = SlotState::Written;
            }
        }
        let (slots, scalars, scalar) = (self.slots.len(), self.scalars, instruction.scalar());
        if usize::from(scalar) >= scalars {
            return Err(Hazard::NoScalar { scalar, scalars });
        }
        let state = |slot: u16| self.slots.get(slot as usize).ok_or(Hazard::NoSlot { slot, slots });
        for slot in instruction.a().into_iter().chain(instruction.b()) {
            match state(slot)? {
                SlotState::Empty => return Err(Hazard::Unwritten { slot }),
                SlotState::UnderWay => return Err(Hazard::Early { slot }),
                SlotState::Written => {}
            }
        }
        if let Some(slot) = instruction.d() {
            if *state(slot)? == SlotState::UnderWay {
                return Err(Hazard::Overwritten { slot });
            }
            self.slots[slot as usize] = SlotState::Written;
            if instruction.op() == Opcode::And {
                self.slots[slot as usize] = SlotState::UnderWay;
                self.under_way.push(slot);
            }
        }
        match (instruction.op(), self.under_way.len()) {
            (Opcode::End, products @ 1..) => Err(Hazard::Unfinished { products }),
            _ => Ok(()),
        }
    }
}

impl Microcode {
    /// Runs one instance in the clear. Takes the bits of the common inputs and of the input rows,
    /// returns the bits of the output rows.
    ///
    /// # Errors
    /// [`MicrocodeError::Inputs`] if the number of bits is wrong; [`MicrocodeError::Hazard`] if the
    /// program violates a rule, which no compiled program does.
    pub fn eval(&self, common: &[bool], rows: &[bool]) -> Result<Vec<bool>, MicrocodeError> {
        let size = |what, found: usize, expected| match found == expected {
            true => Ok(()),
            false => Err(MicrocodeError::Inputs { what, found, expected }),
        };
        size("the common inputs", common.len(), self.common_bits())?;
        size("the input rows", rows.len(), self.rows_in())?;
        let scalars: Vec<bool> = self
            .scalars
            .iter()
            .map(|scalar| scalar.bits.iter().fold(scalar.one, |sum, i| sum ^ common[*i as usize]))
            .collect();
        let mut track = Track::new(self.slots, scalars.len());
        let mut slots = vec![false; self.slots];
        let mut under_way: Vec<(u16, bool)> = vec![];
        let mut rows = rows.iter();
        let mut outputs = Vec::with_capacity(self.rows_out());
        for (at, instruction) in self.instructions.iter().enumerate() {
            track.step(*instruction).map_err(|hazard| MicrocodeError::Hazard { at, hazard })?;
            if instruction.sync() {
                under_way.drain(..).for_each(|(slot, product)| slots[slot as usize] = product);
            }
            let read = |slot: Option<u16>| slot.is_some_and(|slot| slots[slot as usize]);
            let (a, b) = (read(instruction.a()), read(instruction.b()));
            let sum = a ^ b ^ scalars[instruction.scalar() as usize];
            match (instruction.op(), instruction.d()) {
                (Opcode::Lin, Some(d)) => slots[d as usize] = sum,
                (Opcode::And, Some(d)) => under_way.push((d, a & b)),
                // A program has exactly one IN for every row.
                (Opcode::In, Some(d)) => slots[d as usize] = rows.next().copied().unwrap_or(false),
                (Opcode::Out, _) => outputs.push(sum),
                _ => {}
            }
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microcode::Scalar;

    fn program(instructions: Vec<Instruction>) -> Microcode {
        Microcode {
            name: "broken".into(),
            digest: [0; 32],
            inputs: vec![2],
            outputs: vec![1],
            common: vec![],
            slots: 3,
            scalars: vec![Scalar::default()],
            layer_ands: vec![1],
            instructions,
        }
    }

    fn run(middle: &[Instruction]) -> Result<Vec<bool>, String> {
        let rows = [Instruction::input(0), Instruction::input(1)];
        let code = program([&rows, middle, &[Instruction::END]].concat());
        code.eval(&[], &[true, true]).map_err(|e| e.to_string())
    }

    #[test]
    fn products_are_there_after_a_sync_and_not_before() {
        let and = Instruction::and(2, 0, 1);
        let out = Instruction::output(Some(2), 0);
        assert_eq!(run(&[and, out.after_products()]), Ok(vec![true]));
        let error = |middle: &[Instruction]| run(middle).unwrap_err();
        assert!(error(&[and, out]).starts_with("instruction 3: it reads slot 2, whose product"));
        let over = Instruction::lin(2, Some(0), None, 0);
        assert!(error(&[and, over]).starts_with("instruction 3: it writes slot 2, into which"));
        assert!(error(&[out]).starts_with("instruction 2: it reads slot 2, which nothing has written"));
        assert!(error(&[and]).starts_with("instruction 3: it ends the program while 1 products"));
        let far = Instruction::output(Some(3), 0);
        assert!(error(&[far]).starts_with("instruction 2: it names slot 3, and there are 3"));
        let scalar = Instruction::output(Some(1), 1);
        assert!(error(&[scalar]).starts_with("instruction 2: it names scalar 1, and there are 1"));
    }

    #[test]
    fn a_product_may_replace_its_factor() {
        let square = Instruction::and(1, 1, 0);
        let out = Instruction::output(Some(1), 0);
        assert_eq!(run(&[square, out.after_products()]), Ok(vec![true]));
    }
}
