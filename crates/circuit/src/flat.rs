//! The gates of a circuit or a program, one after the other. A program's gates are generated on
//! each walk, so that only its registers are in memory.

use crate::walk::{Logic, WireValues};
use crate::{Circuit, Gate, Program, Wire};
use std::io;

/// The numbers of gates of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Counts {
    pub xor: u64,
    pub and: u64,
    pub inv: u64,
    /// The number of constants 0.
    pub zero: u64,
    /// The number of constants 1.
    pub one: u64,
    pub copy: u64,
}

impl Counts {
    /// The number of all gates.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.xor + self.and + self.inv + self.zero + self.one + self.copy
    }

    fn add(&mut self, gate: Gate) {
        *match gate {
            Gate::Xor { .. } => &mut self.xor,
            Gate::And { .. } => &mut self.and,
            Gate::Inv { .. } => &mut self.inv,
            Gate::Const { value: false, .. } => &mut self.zero,
            Gate::Const { value: true, .. } => &mut self.one,
            Gate::Copy { .. } => &mut self.copy,
        } += 1;
    }
}

/// A source of gates: each wire is written before it is read, inputs have the first wires, outputs
/// the last.
pub trait Gates {
    /// The widths of the inputs, in bits.
    fn inputs(&self) -> &[usize];
    /// The widths of the outputs, in bits.
    fn outputs(&self) -> &[usize];
    /// The number of wires.
    fn wires(&self) -> u64;
    /// The numbers of gates, by kind.
    fn counts(&self) -> Counts;
    /// Calls `hear` with every gate until it returns an error.
    ///
    /// # Errors
    /// The first error of `hear`, which ends the walk.
    fn each(&self, hear: &mut dyn FnMut(Gate) -> io::Result<()>) -> io::Result<()>;
}

impl Gates for Circuit {
    fn inputs(&self) -> &[usize] {
        self.inputs()
    }
    fn outputs(&self) -> &[usize] {
        self.outputs()
    }
    fn wires(&self) -> u64 {
        self.wires() as u64
    }
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.gates().iter().for_each(|g| counts.add(*g));
        counts
    }
    fn each(&self, hear: &mut dyn FnMut(Gate) -> io::Result<()>) -> io::Result<()> {
        self.gates().iter().try_for_each(|g| hear(*g))
    }
}

/// The error of a program that has more wires than a file can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the circuit has 2^32 wires or more; make a smaller one")]
pub struct TooLarge;

/// A program's gates as one list, without its stages.
pub struct Flat<'a> {
    program: &'a Program,
    counts: Counts,
    wires: u64,
    /// The gates that make an output bit: the gate's number, and the output bit.
    named: Vec<(u64, usize)>,
    /// The output bits that need a gate of their own.
    extra: Vec<usize>,
}

/// The content of a register or slot.
#[derive(Clone, Copy)]
enum FlatValue {
    Zero,
    One,
    Wire(Wire),
}

impl<'a> Flat<'a> {
    /// Walks the program once to count its gates.
    ///
    /// # Errors
    /// The program has more wires than a file can number.
    pub fn new(program: &'a Program) -> Result<Flat<'a>, TooLarge> {
        let mut flat = Flat { program, counts: Counts::default(), wires: 0, named: vec![], extra: vec![] };
        let input_bits = program.input_bits() as u64;
        let mut counts = Counts::default();
        let mut next = input_bits;
        let mut name = || {
            next += 1;
            // Names past the last gate are discarded below.
            (next - 1) as Wire
        };
        let count = &mut |gate| {
            counts.add(gate);
            if counts.total() < 1 << 32 { Ok(()) } else { Err(io::ErrorKind::FileTooLarge.into()) }
        };
        let registers = flat.walk(&mut name, count).map_err(|_| TooLarge)?;
        let mut maker = std::collections::HashSet::new();
        for (bit, register) in program.output_registers().iter().enumerate() {
            match registers[*register as usize] {
                FlatValue::Wire(w) if u64::from(w) >= input_bits && maker.insert(w) => {
                    flat.named.push((u64::from(w) - input_bits, bit));
                }
                value => {
                    counts.add(last(value, 0));
                    flat.extra.push(bit);
                }
            }
        }
        flat.named.sort_unstable();
        flat.counts = counts;
        flat.wires = input_bits + counts.total();
        if flat.wires < 1 << 32 { Ok(flat) } else { Err(TooLarge) }
    }

    /// Runs the stages on names of wires. `name` names each gate's output, in order. The result is
    /// the final content of the registers.
    fn walk(
        &self,
        name: &mut dyn FnMut() -> Wire,
        hear: &mut dyn FnMut(Gate) -> io::Result<()>,
    ) -> io::Result<Vec<FlatValue>> {
        let mut values = WireValues::new(Names { name, hear }, self.program);
        for (i, register) in values.registers.iter_mut().take(self.program.input_bits()).enumerate() {
            *register = FlatValue::Wire(i as Wire);
        }
        values.run(self.program)?;
        Ok(values.registers)
    }
}

/// A gate that makes `value` on wire `out`.
fn last(value: FlatValue, out: Wire) -> Gate {
    match value {
        FlatValue::Zero => Gate::Const { value: false, out },
        FlatValue::One => Gate::Const { value: true, out },
        FlatValue::Wire(a) => Gate::Copy { a, out },
    }
}

/// Gates on names of wires. Passes on each gate that constants do not fold.
struct Names<'a> {
    name: &'a mut dyn FnMut() -> Wire,
    hear: &'a mut dyn FnMut(Gate) -> io::Result<()>,
}

impl Names<'_> {
    fn make(&mut self, gate: impl Fn(Wire) -> Gate) -> io::Result<FlatValue> {
        let out = (self.name)();
        (self.hear)(gate(out)).map(|()| FlatValue::Wire(out))
    }
}

impl Logic for Names<'_> {
    type LogicValue = FlatValue;
    type Error = io::Error;

    fn constant(&self, one: bool) -> FlatValue {
        if one { FlatValue::One } else { FlatValue::Zero }
    }

    fn xor(&mut self, a: FlatValue, b: FlatValue) -> io::Result<FlatValue> {
        match (a, b) {
            (FlatValue::Zero, v) | (v, FlatValue::Zero) => Ok(v),
            (FlatValue::One, FlatValue::One) => Ok(FlatValue::Zero),
            (FlatValue::One, FlatValue::Wire(a)) | (FlatValue::Wire(a), FlatValue::One) => {
                self.make(|out| Gate::Inv { a, out })
            }
            (FlatValue::Wire(a), FlatValue::Wire(b)) => self.make(|out| Gate::Xor { a, b, out }),
        }
    }

    fn and(&mut self, a: FlatValue, b: FlatValue) -> io::Result<FlatValue> {
        match (a, b) {
            (FlatValue::Zero, _) | (_, FlatValue::Zero) => Ok(FlatValue::Zero),
            (FlatValue::One, v) | (v, FlatValue::One) => Ok(v),
            (FlatValue::Wire(a), FlatValue::Wire(b)) => self.make(|out| Gate::And { a, b, out }),
        }
    }
}

impl Gates for Flat<'_> {
    fn inputs(&self) -> &[usize] {
        self.program.inputs()
    }
    fn outputs(&self) -> &[usize] {
        self.program.outputs()
    }
    fn wires(&self) -> u64 {
        self.wires
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn each(&self, hear: &mut dyn FnMut(Gate) -> io::Result<()>) -> io::Result<()> {
        let first_output = self.wires - self.program.output_bits() as u64;
        let mut named = self.named.iter().copied().peekable();
        let (mut number, mut next) = (0, self.program.input_bits() as u64);
        let mut name = || {
            number += 1;
            if let Some((_, bit)) = named.next_if(|(gate, _)| *gate == number - 1) {
                return (first_output + bit as u64) as Wire;
            }
            next += 1;
            (next - 1) as Wire
        };
        let registers = self.walk(&mut name, hear)?;
        for bit in &self.extra {
            let value = registers[self.program.output_registers()[*bit] as usize];
            hear(last(value, (first_output + *bit as u64) as Wire))?;
        }
        Ok(())
    }
}

impl Program {
    /// The program as one circuit.
    ///
    /// # Errors
    /// The program has more wires than a file can number.
    pub fn to_circuit(&self) -> Result<Circuit, TooLarge> {
        let flat = Flat::new(self)?;
        let mut gates = Vec::with_capacity(flat.counts.total() as usize);
        flat.each(&mut |gate| {
            gates.push(gate);
            Ok(())
        })
        .expect("a list takes every gate");
        let (inputs, outputs) = (self.inputs().to_vec(), self.outputs().to_vec());
        Ok(Circuit::new(inputs, outputs, flat.wires as usize, gates).expect("stages write before they read"))
    }
}
