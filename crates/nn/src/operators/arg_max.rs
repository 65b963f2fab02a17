//! ArgMax, and ArgMin, which is the ArgMax of the negative.

use super::prelude::*;
use crate::array::lines;
use hushwire_compute::{Op, Reduction, Scalar, Tensor, Val};

pub(super) const ARG_MAX: Operator = Operator {
    attributes: &["axis", "keepdims", "select_last_index"],
    error: Bound::EXACT,
    ..Operator::new(
        "ArgMax",
        "The index of the greatest element along an axis, the first or the last if several are equal. Only moves of elements may follow.",
        read,
    )
};
pub(super) const ARG_MIN: Operator = Operator {
    attributes: &["axis", "keepdims", "select_last_index"],
    error: Bound::EXACT,
    ..Operator::new(
        "ArgMin",
        "The index of the least element along an axis, the first or the last if several are equal. Only moves of elements may follow.",
        |op, import| {
            let minus = op.call(import, "Neg", &[&op.input(import, 0)?], &[])?;
            let attributes: Vec<_> =
                op.node.attributes.iter().map(|(name, of)| (&name[..], of.clone())).collect();
            op.call(import, "ArgMax", &[&minus], &attributes)
        },
    )
};

/// The place of the greatest element along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgMax {
    pub(crate) axis: usize,
    /// Whether it is the last of equal elements, rather than the first.
    last: bool,
}

impl Definition for ArgMax {
    fn name(&self) -> &'static str {
        "ArgMax"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Places(self.axis)
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let x = &reads[0];
        let (firsts, step) = lines(&x.lengths, self.axis);
        let one = |first: usize| {
            let better = |best: usize, i: usize| {
                let (x, most) = (x.data[first + i * step], x.data[first + best * step]);
                if x > most || (self.last && x == most) { i } else { best }
            };
            (1..x.lengths[self.axis]).fold(0, better) as f32
        };
        Array { lengths: to.to_vec(), data: firsts.into_iter().map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let places = if self.last {
            self.last(lower, held.val, lower.lengths(site.reads[0]))
        } else {
            held.val.reduce(Reduction::ArgMax, self.axis as u8)
        };
        Ok(Held::cut_already(places.reshape(shape(site.lengths)), lower.classes.fresh()))
    }
}

impl ArgMax {
    /// The last place is the first one among the elements in reverse order.
    fn last<'b>(&self, lower: &Lower<'b>, x: Val<'b>, lengths: &[usize]) -> Val<'b> {
        let n = lengths[self.axis] as i128;
        let first = std::iter::once(self.axis);
        let axes = first.chain((0..lengths.len()).filter(|k| *k != self.axis)).map(|k| k as u8).collect();
        let whole =
            |all: &[i128]| Tensor::from_numbers(Scalar::unsigned(64), &[all.len()], all.iter().copied());
        let places = lower.b.constant(whole(&(0..n).rev().collect::<Vec<_>>()));
        let turned = lower.b.apply(Op::Transpose(axes), &[x]).gather(places);
        lower.b.number(Scalar::unsigned(64), n - 1) - turned.reduce(Reduction::ArgMax, 0)
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let mut lengths = import.lengths(at).to_vec();
    let axis = op.axis(op.int("axis", 0)?, lengths.len())?;
    let last = op.flag("select_last_index", false)?;
    let keep = op.flag("keepdims", true)?;
    lengths[axis] = 1;
    if !keep {
        lengths.remove(axis);
    }
    op.made(import, Kind::ArgMax(ArgMax { axis, last }), vec![at], lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    /// The first and the last of equal elements. Signs are often equal.
    #[test]
    fn the_greatest_and_the_least() {
        for (op, last) in [("ArgMax", 0), ("ArgMax", 1), ("ArgMin", 0), ("ArgMin", 1)] {
            let mut w = Writer::new("a", 1, &[1, 2, 6]);
            let x = w.op("Sign", &["input"], &[]);
            let attributes = [("axis", Attribute::Int(2)), ("select_last_index", Attribute::Int(last))];
            let y = w.op(op, &[&x], &attributes);
            check(&w.finish(&y), 0.0, |x| {
                let row = |row: &[f32]| {
                    let is = |x: &&f32| (**x > 0.0) == (op == "ArgMax");
                    let at = if last == 1 {
                        row.iter().rposition(|x| is(&x))
                    } else {
                        row.iter().position(|x| is(&x))
                    };
                    at.expect("both signs are there") as f32
                };
                x.data.chunks(6).map(row).collect()
            });
        }
    }

    /// Places are integers for operators that compute with them.
    #[test]
    fn arithmetic_of_places() {
        let mut w = Writer::new("a", 1, &[1, 2, 6]);
        let x = w.op("ArgMax", &["input"], &[("axis", Attribute::Int(2))]);
        let (ten, four) = (w.integers(7, &[], vec![10]), w.integers(7, &[1], vec![4]));
        let x = w.op("Add", &[&x, &ten], &[]);
        let y = w.op("Div", &[&x, &four], &[]);
        let y = w.op("Cast", &[&y], &[("to", Attribute::Int(1))]);
        check(&w.finish(&y), 0.5, |x| {
            let greatest = |row: &[f32]| (0..6).fold(0, |best, i| if row[i] > row[best] { i } else { best });
            x.data.chunks(6).map(|row| ((greatest(row) + 10) / 4) as f32).collect()
        });
    }
}
