//! Lowers rectifiers: maxima with 0 that a back end computes in a step of its own. If a shift of
//! the lowest bits follows, the same step drops these bits.
//!
//! `max(x, 0) >> by` is computed at the node of the shift, if nothing else reads the maximum. The
//! same holds for `max(pool(x), 0) >> by`. Its pool compares numbers without their lowest bits. The
//! result is the same, and the compared numbers are shorter.

use super::{Forms, Lowered, PlanLowering};
use crate::Backend;
use hushwire_compute::{Node, Op, Reduction};

impl<B: Backend> PlanLowering<'_, B> {
    fn node_at(&self, at: usize) -> &Node {
        &self.computation.nodes()[at]
    }

    /// The first operand of a node.
    pub fn argument(&self, at: usize) -> usize {
        self.node_at(at).arguments[0].0 as usize
    }

    /// Assigns the following steps to this node. Times and bytes are reported by nodes that users
    /// know.
    pub fn count_for(&mut self, node: usize) {
        self.now = node;
    }

    /// The forms of a maximum with 0, or of a shift of such a maximum. A node that its reader
    /// computes has no form. `None` for all other nodes.
    pub(super) fn rectified(&mut self, at: usize) -> Lowered<Option<Forms>> {
        let is_left = match &self.node_at(at).op {
            Op::Max => {
                let of = self.rectifiers.cut_operand(at);
                of.is_some_and(|of| self.left.contains(&of) || B::rectifies(self, of, false))
            }
            Op::Pool { reduction: Reduction::Max, size, steps } => {
                // Each window has at least one element.
                let is_within = (0..4).all(|k| steps.padding[k] < size[k % 2]) && self.elements(at)? > 0;
                let reader = self.rectifiers.only_reader(at);
                let of = reader.and_then(|reader| self.rectifiers.cut_operand(reader));
                is_within && of == Some(at) && B::rectifies(self, self.argument(at), true)
            }
            _ => false,
        };
        if is_left {
            self.left.insert(at);
            return Ok(Some(Forms::default()));
        }
        let max = self.node_at(at).arguments.first().map(|value| value.0 as usize);
        let Some((by, max)) = self.rectifiers.cut(at).zip(max.filter(|max| self.left.contains(max))) else {
            let of = self.rectifiers.operand(at).filter(|_| self.scalar(at).is_signed());
            let of = of.filter(|of| B::rectifies(self, *of, false));
            return of.map_or(Ok(None), |of| B::rectified(self, of, 0));
        };
        let of = self.rectifiers.operand(max).expect("it was left to its reader");
        let forms = if self.left.contains(&of) {
            Some(B::rectified_pool(self, self.argument(of), [of, max], by)?)
        } else {
            self.now = max;
            B::rectified(self, of, by)?
        };
        self.now = at;
        Ok(forms)
    }
}
