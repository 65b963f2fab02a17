//! Rectifiers of which the lowest bits go at once: one comparison in two parts has the sign and the carry, and what is left is small.
//!
//! `max(x, 0) >> by` is computed where the shift stands, if nothing else reads the maximum. So is `max(pool(x), 0) >> by`, as the pool of rectified numbers
//! without their lowest bits, which is the same: comparisons of numbers in the smaller ring cost less than what is rectified more often.

use super::{Forms, Lower, Lowered, narrow, ring, windows::passes};
use crate::plan::{Prim, Size};
use hushwire_compute::{Computation, Node, Op, Reduction};

/// Of each node, the only one that reads it, and once, where it is no output.
pub(super) fn only_readers(computation: &Computation) -> Vec<Option<usize>> {
    let mut readers: Vec<Vec<Option<usize>>> = vec![vec![]; computation.nodes().len()];
    for (at, node) in computation.nodes().iter().enumerate() {
        node.arguments.iter().for_each(|value| readers[value.0 as usize].push(Some(at)));
    }
    computation.outputs().iter().for_each(|output| readers[output.value.0 as usize].push(None));
    readers.into_iter().map(|of| if let [only] = of[..] { only } else { None }).collect()
}

fn arguments(node: &Node) -> Vec<usize> {
    node.arguments.iter().map(|value| value.0 as usize).collect()
}

impl Lower<'_> {
    fn at(&self, node: usize) -> &Node {
        &self.computation.nodes()[node]
    }

    /// The bits that a shift takes off signed numbers of a ring, of which two at least stay.
    fn cut(&self, node: usize) -> Option<u32> {
        let by = match self.at(node).op {
            Op::Rescale(by) => u32::from(by),
            Op::ShiftRight(by) => u32::from(by),
            _ => return None,
        };
        let scalar = self.scalar(node);
        let fits = scalar.is_signed() && ring(scalar).is_some_and(|ring| (1..ring - 1).contains(&by));
        fits.then_some(by)
    }

    /// The operand of a maximum with 0 that only a shift reads.
    fn rectifies(&self, node: usize) -> Option<usize> {
        let is_zero = |at: &usize| match &self.at(*at).op {
            Op::Constant(tensor) => tensor.words().iter().all(|word| *word == 0),
            _ => false,
        };
        let args = arguments(self.at(node));
        let ([x, y], Op::Max) = (&args[..], &self.at(node).op) else { return None };
        self.cut(self.only_readers[node]?)?;
        let of = if is_zero(y) { *x } else { *y };
        let has_zero = is_zero(x) || is_zero(y);
        (has_zero && self.at(of).ty.shape == self.at(node).ty.shape).then_some(of)
    }

    /// Of a maximum, or of a pool before it, that its reader computes: forms of nothing. Of that reader, its value.
    pub(super) fn rectified(&mut self, at: usize) -> Lowered<Option<Forms>> {
        let args = arguments(self.at(at));
        let is_left = match &self.at(at).op {
            Op::Max => self.rectifies(at).is_some_and(|of| self.left.contains(&of) || self.has_words(of)),
            Op::Pool { reduction: Reduction::Max, size, steps } => {
                // Windows that have an element each.
                let is_within = (0..4).all(|k| steps.padding[k] < size[k % 2]);
                let of = args[0];
                let bits = self.scalar(of).bits() as u32;
                let rectifier = self.only_readers[at].and_then(|reader| self.rectifies(reader));
                let is_whole = || self.forms[of].narrow.is_none() && !self.is_bounded(of, of, bits);
                is_within && rectifier == Some(at) && self.has_words(of) && is_whole()
            }
            _ => false,
        };
        if is_left {
            self.left.insert(at);
            return Ok(Some(Forms::default()));
        }
        let (Some(by), Some(max)) = (self.cut(at), args.first().copied()) else { return Ok(None) };
        if !self.left.contains(&max) {
            return Ok(None);
        }
        let of = self.rectifies(max).expect("it was left to its reader");
        let pool = self.left.contains(&of).then_some(of);
        let x = pool.map_or(of, |pool| arguments(self.at(pool))[0]);
        let bits = self.scalar(x).bits() as u32;
        let slot = self.words(x, bits)?;
        // Times and bytes are of the nodes that people know.
        self.now = max;
        let size = Size::Words(bits - by, self.steps[slot].size.rows());
        let slot = self.step(Prim::Rectify { by }, vec![slot], size);
        let made = match pool.map(|pool| (pool, self.at(pool).op.clone())) {
            Some((pool, Op::Pool { size, steps, .. })) => {
                self.now = pool;
                let passes = passes(&self.lengths(x)?, size, steps).expect("no window is empty");
                self.best_of_windows(x, slot, &passes, false)
            }
            _ => narrow(slot),
        };
        self.now = at;
        Ok(Some(made))
    }
}
