//! LogSoftmax.

use super::{pick::reshaped, prelude::*};
use crate::array::lines;
use hushwire_compute::{Op, Val};

pub(super) const LOG_SOFTMAX: Operator = Operator {
    attributes: &["axis"],
    error: Bound::ROW,
    ..Operator::new("LogSoftmax", "The element minus the logarithm of the sum of e^x along an axis.", read)
};

/// The element minus the logarithm of the sum of e^x along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LogSoftmax {
    axis: usize,
}

impl Definition for LogSoftmax {
    fn name(&self) -> &'static str {
        "LogSoftmax"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        along_rows(&reads[0], self.axis, |x, sum| x - sum.ln())
    }

    /// Computes all rows at once.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let x = lower.at_nominal(site.reads[0], site.at);
        Ok(Held::nominal(by_rows(x, site.lengths, self.axis, Val::log_softmax)))
    }
}

/// A function of each element less the greatest one along the axis, and of the sum of e^x of these.
pub(super) fn along_rows(x: &Array, axis: usize, one: impl Fn(f32, f32) -> f32) -> Array {
    let (firsts, step) = lines(&x.lengths, axis);
    let mut out = x.clone();
    for first in firsts {
        let all = (0..x.lengths[axis]).map(|i| first + i * step);
        let most = all.clone().map(|at| x.data[at]).fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = all.clone().map(|at| (x.data[at] - most).exp()).sum();
        all.for_each(|at| out.data[at] = one(x.data[at] - most, sum));
    }
    out
}

/// A function of the rows of a matrix, applied along an axis.
pub(super) fn by_rows<'b>(
    x: Val<'b>,
    lengths: &[usize],
    axis: usize,
    function: impl Fn(Val<'b>) -> Val<'b>,
) -> Val<'b> {
    let rank = lengths.len();
    let last: Vec<usize> = (0..rank).filter(|k| *k != axis).chain([axis]).collect();
    let turned: Vec<usize> = last.iter().map(|k| lengths[*k]).collect();
    let n = lengths[axis];
    let back: Vec<u8> = (0..rank)
        .map(|k| if k == axis { rank - 1 } else { k - usize::from(k > axis) })
        .map(|k| k as u8)
        .collect();
    let turn = |x: Val<'b>, axes: Vec<u8>| {
        if axis + 1 == rank { x } else { x.builder().apply(Op::Transpose(axes), &[x]) }
    };
    let rows = turn(x, last.iter().map(|k| *k as u8).collect());
    let rows = rows.reshape(shape(&[turned.iter().product::<usize>() / n, n]));
    turn(function(rows).reshape(shape(&turned)), back)
}

/// Reads a layer along an axis. Before set 13 the operator covers all axes from the given one on.
pub(super) fn along(
    op: &Reading<'_>,
    import: &mut Import,
    kind: impl Fn(usize) -> Kind,
) -> Result<Known, Fault> {
    let rank = import.lengths(op.layer(import, 0)?).len();
    let before = import.opset < 13;
    let axis = op.axis(op.int("axis", if before { 1 } else { -1 })?, rank)?;
    if !before || axis + 1 == rank {
        return op.alike(import, kind(axis));
    }
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let flat = [lengths[..axis].iter().product::<usize>(), lengths[axis..].iter().product()];
    let flat = reshaped(op, import, x, flat.to_vec())?;
    let Known::Layer(at) = flat else { return Err(op.error("it is known", "leave it out")) };
    let made = op.made(import, kind(1), vec![at], import.lengths(at).to_vec())?;
    reshaped(op, import, made, lengths)
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    along(op, import, |axis| Kind::LogSoftmax(LogSoftmax { axis }))
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn along_any_axis() {
        for axis in [-1, 1] {
            let mut w = Writer::new("l", 1, &[1, 2, 3]);
            let y = w.op("LogSoftmax", &["input"], &[("axis", Attribute::Int(axis))]);
            check(&w.finish(&y), 2.0, |x| {
                let row = |i: usize| {
                    if axis == 1 { vec![i % 3, 3 + i % 3] } else { (i / 3 * 3..i / 3 * 3 + 3).collect() }
                };
                let sum = |i: usize| row(i).iter().map(|at| x.data[*at].exp()).sum::<f32>();
                x.data.iter().enumerate().map(|(i, x)| x - sum(i).ln()).collect()
            });
        }
    }

    /// In set 11 it goes along all axes from the given one on.
    #[test]
    fn before_set_13() {
        let mut w = Writer::new("l", 1, &[2, 2, 2]);
        let y = w.op("LogSoftmax", &["input"], &[("axis", Attribute::Int(1))]);
        let mut model = w.finish(&y);
        model.opset = 11;
        check(&model, 2.0, |x| {
            let sum = |i: usize| x.data[i / 4 * 4..][..4].iter().map(|x| x.exp()).sum::<f32>();
            x.data.iter().enumerate().map(|(i, x)| x - sum(i).ln()).collect()
        });
    }
}
