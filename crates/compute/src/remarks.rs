//! Remarks on what a computation is unlikely to mean, though it has a meaning.

use crate::{Computation, Node, Op, Range, Scalar, Value, infer::name};

impl Computation {
    /// Sentences for people about products of fixed numbers whose fractional bits leave none before the point: from a half on they wrap,
    /// unless ranges say that none is so great, or `wrapping` that this is meant.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let nodes = self.nodes().iter().enumerate();
        nodes.filter_map(|(i, node)| self.wraps_early(Value(i as u32), node)).collect()
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
        let shown = |of: Value| {
            let ty = &self.node(of).ty;
            match self.value_name(of) {
                Some(name) => format!("{name}: {ty}"),
                None => format!("({}): {ty}", name(&self.node(of).op)),
            }
        };
        let keep = if node.op == Op::Mul { "multiply(x, y) keeps their type; or " } else { "" };
        Some(format!(
            "`{}` of {} and {} has {frac} fractional bits and none before the point, so that products from 0.5 on wrap: {keep}cast both to \
             more bits before",
            name(&node.op),
            shown(x),
            shown(y)
        ))
    }
}
