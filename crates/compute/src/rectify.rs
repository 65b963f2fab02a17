//! Rectifiers whose lowest bits are dropped at once, `max(x, 0) >> by`. A back end that computes
//! both in one step has fewer bits to compare and to convert.

use crate::{Computation, Op};

/// The readers of a computation's values. They show which maxima with 0 are read only by a shift.
pub struct Rectifiers<'a> {
    computation: &'a Computation,
    only_readers: Vec<Option<usize>>,
}

impl<'a> Rectifiers<'a> {
    /// Finds the readers of a computation's values.
    #[must_use]
    pub fn new(computation: &'a Computation) -> Self {
        let mut readers: Vec<Vec<Option<usize>>> = vec![vec![]; computation.nodes().len()];
        for (at, node) in computation.nodes().iter().enumerate() {
            node.arguments.iter().for_each(|value| readers[value.0 as usize].push(Some(at)));
        }
        computation.outputs().iter().for_each(|output| readers[output.value.0 as usize].push(None));
        let only = |of: Vec<Option<usize>>| if let [only] = of[..] { only } else { None };
        Rectifiers { computation, only_readers: readers.into_iter().map(only).collect() }
    }

    /// The only node that reads a value, if it reads it once and the value is not an output.
    #[must_use]
    pub fn only_reader(&self, node: usize) -> Option<usize> {
        self.only_readers[node]
    }

    /// The number of bits that a shift drops from signed numbers of at most 64 bits, if at least
    /// two remain.
    #[must_use]
    pub fn cut(&self, node: usize) -> Option<u32> {
        let node = &self.computation.nodes()[node];
        let by = match node.op {
            Op::Rescale(by) => u32::from(by),
            Op::ShiftRight(by) => u32::from(by),
            _ => return None,
        };
        let scalar = node.ty.scalar;
        let bits = scalar.bits() as u32;
        (scalar.is_signed() && bits <= 64 && (1..bits - 1).contains(&by)).then_some(by)
    }

    /// The operand of a maximum with 0, if it has the same number of elements.
    #[must_use]
    pub fn operand(&self, node: usize) -> Option<usize> {
        let at = |node: usize| &self.computation.nodes()[node];
        let is_zero = |node: usize| match &at(node).op {
            Op::Constant(tensor) => tensor.words().iter().all(|word| *word == 0),
            _ => false,
        };
        let (Op::Max, [x, y]) = (&at(node).op, &at(node).arguments[..]) else { return None };
        let [x, y] = [x, y].map(|value| value.0 as usize);
        let of = if is_zero(y) { x } else { y };
        let has_zero = is_zero(x) || is_zero(y);
        (has_zero && at(of).ty.shape == at(node).ty.shape).then_some(of)
    }

    /// The operand of a maximum with 0 that only a shift reads.
    #[must_use]
    pub fn cut_operand(&self, node: usize) -> Option<usize> {
        self.operand(node).filter(|_| self.only_reader(node).is_some_and(|reader| self.cut(reader).is_some()))
    }
}
