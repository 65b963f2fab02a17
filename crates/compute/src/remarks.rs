//! Remarks on what a computation is unlikely to mean, though it has a meaning.

use crate::{Computation, Node, Op, Range, Reduction, Scalar, Value, infer::name};

/// Bits of numbers whose sums, within means, are often more than such a type holds.
const NARROW: usize = 32;

impl Computation {
    /// Sentences for people about what is likely to wrap where it is not meant, unless ranges say that it fits, or `wrapping` that it is meant:
    /// products of fixed numbers whose fractional bits leave none before the point, and the sums within means of narrow types.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let nodes = self.nodes().iter().enumerate();
        let remark = |(i, node)| self.wraps_early(Value(i as u32), node).or_else(|| self.wraps_within(node));
        nodes.filter_map(remark).collect()
    }

    fn wraps_within(&self, node: &Node) -> Option<String> {
        let [x] = *node.arguments else { return None };
        let ty = &self.node(x).ty;
        let free = self.range(x) == Range::of(ty.scalar) && self.node(x).op != Op::Wrapping;
        let mean = matches!(node.op, Op::Reduce(Reduction::Mean, _));
        (mean && ty.scalar.is_number() && ty.scalar.bits() <= NARROW && free).then(|| {
            format!(
                "`mean` of {} adds up in {}, and wraps where the sum does not fit: cast it to more bits before, or promise a range",
                self.shown(x),
                ty.scalar
            )
        })
    }

    /// A value with its type, as messages have it.
    fn shown(&self, of: Value) -> String {
        let Node { op, ty, .. } = self.node(of);
        match self.value_name(of) {
            Some(name) => format!("{name}: {ty}"),
            None => format!("({}): {ty}", name(op)),
        }
    }

    fn wraps_early(&self, value: Value, node: &Node) -> Option<String> {
        let Scalar::Fixed { bits, frac } = node.ty.scalar else { return None };
        let [x, y] = *node.arguments else { return None };
        let product = matches!(node.op, Op::Mul | Op::MatMul | Op::Conv2d { .. });
        let frac_of = |of: Value| self.node(of).ty.scalar.frac();
        let meant = [x, y].iter().any(|of| self.node(*of).op == Op::Wrapping || frac_of(*of) == 0);
        if !product || frac < bits || meant || self.range(value) != Range::of(node.ty.scalar) {
            return None;
        }
        let keep = if node.op == Op::Mul { "multiply(x, y) keeps their type; or " } else { "" };
        Some(format!(
            "`{}` of {} and {} has {frac} fractional bits and none before the point, so that products from 0.5 on wrap: {keep}cast both to \
             more bits before",
            name(&node.op),
            self.shown(x),
            self.shown(y)
        ))
    }
}
