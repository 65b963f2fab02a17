//! Remarks on computations that are valid but probably not intended.

use crate::{Computation, Node, Op, Range, Reduction, Scalar, Value, graph::Written};

/// The width up to which sums, also those of means, often overflow the type.
const NARROW: usize = 32;

impl Computation {
    /// Sentences for people about values that probably wrap by mistake, unless ranges rule it out
    /// or `wrapping` allows it. These are products of fixed-point numbers whose fractional bits
    /// leave none before the point, and sums and means of narrow types. For text, there are also
    /// sentences about groups whose keys are output in another order: the groups' values are then
    /// in other rows.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let nodes = self.nodes().iter().enumerate();
        let remark = |(i, node)| self.wraps_early(Value(i as u32), node).or_else(|| self.wraps_within(node));
        let groups = self.forms.values().filter(|form| form.name.starts_with("group_"));
        let mut remarks: Vec<String> = nodes.filter_map(remark).collect();
        for remark in groups.filter_map(|form| self.in_other_rows(form)) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        remarks
    }

    /// Group values come in ascending order of their keys, which a reader may mistake for the order
    /// of the key column.
    fn in_other_rows(&self, form: &Written) -> Option<String> {
        let keys = match form.name {
            "group_end" | "group_count" => &form.operands[..],
            _ => &form.operands[1..],
        };
        let odd = |key: &&Value| {
            let permuted = self.node(**key).op == Op::Permute;
            let told = self.outputs().iter().any(|output| output.value == **key);
            (permuted || told) && !self.ascends(keys)
        };
        let key = self.shown_as(*keys.iter().find(odd)?);
        let all: Vec<_> = keys.iter().map(|key| self.shown_as(*key)).collect();
        Some(format!(
            "groups by {0} come in ascending order of {0}, whatever the order of its rows, so that figures of groups stand in other rows than \
             {key}: group_last({key}, {0}) has the keys beside them",
            all.join(", ")
        ))
    }

    /// Whether the columns are sorted among themselves, the first one most significant.
    fn ascends(&self, columns: &[Value]) -> bool {
        let permuted =
            columns.iter().map(|column| match (&self.node(*column).op, &*self.node(*column).arguments) {
                (Op::Permute, [of, order]) => Some((*of, *order)),
                _ => None,
            });
        let Some(permuted) = permuted.collect::<Option<Vec<_>>>() else { return false };
        let by = self.node(permuted[0].1);
        let Op::Order { descending } = &by.op else { return false };
        let sorted = |(at, (of, order)): (usize, &(Value, Value))| {
            *order == permuted[0].1 && by.arguments.get(at) == Some(of) && !descending[at]
        };
        permuted.iter().enumerate().all(sorted)
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

    /// A value with its type, as messages show it.
    fn shown(&self, of: Value) -> String {
        format!("{}: {}", self.shown_as(of), self.node(of).ty)
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
            node.op.name(),
            self.shown(x),
            self.shown(y)
        ))
    }
}
