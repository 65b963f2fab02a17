//! Circuits on shared bits: comparison of strings, and selection between them.
//!
//! ```text
//!          output      ANDs: ripple, prefix      rounds: ripple, prefix
//! less     1 bit       w, about 3 w              w, 1 + ⌈log w⌉
//! equal    1 bit       w − 1                     ⌈log w⌉
//! select   w bits      w                         1
//! ```
//!
//! Each party sends ⌈rows/8⌉ bytes per AND (with fewer than 8 rows: bits without gaps), on slot 0,
//! the ring, alone.

use super::{
    column::Bits,
    parts::{self, Parts, PhasePart, phased},
    summand::{same, shape},
};
use crate::{Batch, CircuitBatch, Rep3, ShareError, circuit_cost, kept::Function};
use hushwire_circuit::{Adder, Bit, Builder, Program, words};
use hushwire_machine::Cost;
use std::sync::Arc;

/// One party's endpoint of a circuit on shared bits.
pub struct OnBits {
    program: Arc<Program>,
    rows: usize,
    out: Option<Bits>,
    parts: Parts<Self, u8>,
    cost: Cost,
}

impl OnBits {
    /// Runs any circuit. Its inputs are the strings in order; all its outputs form one string.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless strings are as wide as their inputs, and all have the same
    /// number of rows.
    ///
    /// # Panics
    /// Unless there is a string for every input (the caller's bug).
    pub fn run(batch: &mut Batch, program: Arc<Program>, inputs: &[&Bits]) -> Result<Self, ShareError> {
        assert_eq!(inputs.len(), program.inputs().len(), "a string for every input");
        let rows = inputs.first().map_or(0, |bits| bits.rows());
        for (bits, width) in inputs.iter().zip(program.inputs()) {
            same("an operand", (*width, rows), shape(bits))?;
        }
        let cx = batch.context();
        let mut machine = OnBits { program, rows, out: None, parts: Parts::new(), cost: Cost::default() };
        if rows == 0 {
            let none = Rep3 { own: vec![], next: vec![] };
            machine.out = Some(Bits::new(machine.program.output_bits(), 0, none)?);
        } else {
            machine.cost = circuit_cost(&machine.program, rows);
            let inputs: Vec<_> = inputs.iter().map(|bits| bits.held().clone()).collect();
            let batch = parts::circuit(&machine.program, cx, inputs, rows);
            machine.parts.add(PhasePart::Circuit(batch, Self::computed));
            machine.settle();
        }
        Ok(machine)
    }

    /// Whether x < y, row by row: as unsigned numbers, or in two's complement.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both have the same width and rows.
    pub fn less(
        batch: &mut Batch,
        x: &Bits,
        y: &Bits,
        signed: bool,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        let width = x.width();
        let function = Function::Less { adder, signed };
        let program = two(batch, function, width, |b, x, y| vec![adder.less(b, signed, x, y)]);
        Self::run(batch, program, &[x, y])
    }

    /// Whether x = y, row by row.
    ///
    /// # Errors
    /// As [`OnBits::less`].
    pub fn equal(batch: &mut Batch, x: &Bits, y: &Bits) -> Result<Self, ShareError> {
        let width = x.width();
        let program = two(batch, Function::Equal, width, |b, x, y| vec![words::equal(b, x, y)]);
        Self::run(batch, program, &[x, y])
    }

    /// Selects x if the bit of a row is 1, else y.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless `choose` is one plane, x and y have the same width, and all
    /// have the same number of rows.
    pub fn select(batch: &mut Batch, choose: &Bits, x: &Bits, y: &Bits) -> Result<Self, ShareError> {
        let width = x.width();
        let program = batch.session().kept().program(Function::Select, width, || {
            let mut b = Builder::new();
            let (bit, x, y) = (b.input(1), b.input(width), b.input(width));
            let out = words::mux(&mut b, bit[0], &x, &y);
            b.finish(&[out])
        });
        Self::run(batch, program, &[choose, x, y])
    }

    fn computed(&mut self, batch: CircuitBatch) {
        let out = Bits::new(self.program.output_bits(), self.rows, batch.into_output());
        self.out = Some(out.expect("planes of the program's outputs"));
    }

    /// The shared bits, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Bits {
        self.out.expect("finish comes after the last round")
    }
}

phased!([] OnBits);

/// A circuit on two words.
fn two(
    batch: &Batch,
    function: Function,
    width: usize,
    make: impl FnOnce(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
) -> Arc<Program> {
    batch.session().kept().program(function, width, || {
        let mut b = Builder::new();
        let (x, y) = (b.input(width), b.input(width));
        let out = make(&mut b, &x, &y);
        b.finish(&[out])
    })
}
