//! Rectifiers of which the lowest bits go at once: one comparison in two parts has the sign and the carry, and what is left is small.
//!
//! `max(x, 0) >> by` is computed where the shift stands, if nothing else reads the maximum. So is `max(pool(x), 0) >> by`, as the pool of rectified numbers
//! without their lowest bits, which is the same: comparisons of numbers in the smaller ring cost less than what is rectified more often.

use super::{Forms, Lower, Lowered, narrow, windows::passes};
use crate::plan::{Prim, Size};
use hushwire_compute::{Node, Op, Reduction};

fn arguments(node: &Node) -> Vec<usize> {
    node.arguments.iter().map(|value| value.0 as usize).collect()
}

impl Lower<'_> {
    fn at(&self, node: usize) -> &Node {
        &self.computation.nodes()[node]
    }

    /// Of a maximum, or of a pool before it, that its reader computes: forms of nothing. Of that reader, its value.
    pub(super) fn rectified(&mut self, at: usize) -> Lowered<Option<Forms>> {
        let args = arguments(self.at(at));
        let is_left = match &self.at(at).op {
            Op::Max => self
                .rectifiers
                .cut_operand(at)
                .is_some_and(|of| self.left.contains(&of) || self.has_words(of)),
            Op::Pool { reduction: Reduction::Max, size, steps } => {
                // Windows that have an element each.
                let is_within = (0..4).all(|k| steps.padding[k] < size[k % 2]);
                let of = args[0];
                let bits = self.scalar(of).bits() as u32;
                let rectifier =
                    self.rectifiers.only_reader(at).and_then(|reader| self.rectifiers.cut_operand(reader));
                let is_whole = || self.forms[of].narrow.is_none() && !self.is_bounded(of, of, bits);
                is_within && rectifier == Some(at) && self.has_words(of) && is_whole()
            }
            _ => false,
        };
        if is_left {
            self.left.insert(at);
            return Ok(Some(Forms::default()));
        }
        let (Some(by), Some(max)) = (self.rectifiers.cut(at), args.first().copied()) else { return Ok(None) };
        if !self.left.contains(&max) {
            return Ok(None);
        }
        let of = self.rectifiers.cut_operand(max).expect("it was left to its reader");
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
