//! A program under construction: registers and stages.

use crate::ComputeError;
use hushwire_circuit::{Bit, Builder, Layered, Program, Stage};
use std::{ops::Range, sync::Arc};

/// A register.
pub(crate) type Reg = u32;

/// The most bits in registers.
pub(crate) const MAX_REGISTERS: usize = 1 << 31;

/// The number of bits of the numbers below `n`.
pub(crate) fn bits_for(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}

/// The stages so far.
pub(crate) struct Stages {
    registers: usize,
    most: usize,
    stages: Vec<Stage>,
    zero: Option<Reg>,
}

impl Stages {
    /// Starts without stages, with at most `most` registers.
    pub(crate) fn new(most: usize) -> Self {
        Self { registers: 0, most: most.min(MAX_REGISTERS), stages: vec![], zero: None }
    }

    /// The number of registers after `n` times `width` more, if that is allowed. It is checked
    /// before anything of that size is allocated.
    pub(crate) fn room(&self, n: usize, width: usize) -> Result<usize, ComputeError> {
        let end = n.checked_mul(width).and_then(|n| n.checked_add(self.registers));
        end.filter(|end| *end <= self.most).ok_or_else(|| {
            let cause = match self.most {
                MAX_REGISTERS => "the computation has more bits than a circuit holds".to_owned(),
                most => format!("as a circuit the computation has more than {most} bits"),
            };
            ComputeError::ty(cause, "bring fewer rows, or run it on numbers")
        })
    }

    /// Allocates registers.
    pub(crate) fn registers(&mut self, n: usize) -> Result<Range<Reg>, ComputeError> {
        let end = self.room(n, 1)?;
        let start = core::mem::replace(&mut self.registers, end);
        Ok(start as Reg..end as Reg)
    }

    /// Runs a circuit on copies side by side. `reads` has the registers that each copy reads, copy
    /// after copy; the result has the registers that each copy writes.
    pub(crate) fn run(
        &mut self,
        copies: usize,
        widths: &[usize],
        reads: Vec<Reg>,
        make: impl FnOnce(&mut Builder, &[Vec<Bit>]) -> Vec<Bit>,
    ) -> Result<Vec<Reg>, ComputeError> {
        if copies == 0 {
            return Ok(vec![]);
        }
        let mut b = Builder::new();
        let inputs: Vec<Vec<Bit>> = widths.iter().map(|w| b.input(*w)).collect();
        let out = make(&mut b, &inputs);
        let made = out.len();
        let block = Arc::new(Layered::new(&b.finish(&[out])));
        assert_eq!(reads.len(), copies * block.input_bits(), "a register for every bit that a copy reads");
        let writes: Vec<Reg> = self.registers(copies * made)?.collect();
        self.stages.push(Stage { block, copies, reads, writes: writes.clone() });
        Ok(writes)
    }

    /// A register that holds 0.
    pub(crate) fn zero(&mut self) -> Result<Reg, ComputeError> {
        if self.zero.is_none() {
            self.zero = Some(self.constants(&[false])?[0]);
        }
        Ok(self.zero.expect("it was made"))
    }

    /// Registers that hold these bits.
    pub(crate) fn constants(&mut self, bits: &[bool]) -> Result<Vec<Reg>, ComputeError> {
        self.run(usize::from(!bits.is_empty()), &[], vec![], |_, _| {
            bits.iter().map(|b| Bit::constant(*b)).collect()
        })
    }

    /// The numbers below `n`, in `bits` registers each.
    pub(crate) fn numbers(&mut self, n: usize, bits: usize) -> Result<Vec<Reg>, ComputeError> {
        self.room(n, bits)?;
        let all: Vec<bool> = (0..n as u64).flat_map(|k| (0..bits).map(move |i| k >> i & 1 == 1)).collect();
        self.constants(&all)
    }

    /// Returns the program.
    pub(crate) fn program(self, name: &str, inputs: Vec<usize>, outputs: &[Vec<Reg>]) -> Program {
        let widths = outputs.iter().map(Vec::len).collect();
        Program::new(name, inputs, widths, self.registers, outputs.concat(), Arc::new(self.stages))
    }
}
