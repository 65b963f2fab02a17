//! MatMul.

use super::{dense, prelude::*};
use crate::{array::together, onnx::Attribute};
use hushwire_compute::Val;

pub(super) const MATMUL: Operator = Operator {
    inputs: 2,
    error: Bound::ROUNDED,
    ..Operator::new(
        "MatMul",
        "The product of matrices of values, or with a matrix of weights on either side; axes before are repeated.",
        read,
    )
};

/// The product of two matrices of values.
#[derive(Clone, Debug, PartialEq)]
pub struct MatMul;

impl Definition for MatMul {
    fn name(&self) -> &'static str {
        "MatMul"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn products(&self, made: u64, reads: &[&[usize]]) -> u64 {
        made * reads[0].last().copied().unwrap_or_default() as u64
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let [m, n] = [to[to.len() - 2], to[to.len() - 1]];
        let k = reads[0].lengths[reads[0].lengths.len() - 1];
        let all = |x: &Array, sizes: [usize; 2]| x.broadcast(&[&to[..to.len() - 2], &sizes].concat());
        let (a, b) = (all(&reads[0], [m, k]), all(&reads[1], [k, n]));
        let mut out = Array::zeros(to);
        for (at, sums) in out.data.chunks_mut(m * n).enumerate() {
            let one = Array::new(&[m, k], a.data[at * m * k..][..m * k].to_vec());
            let other = Array::new(&[k, n], b.data[at * k * n..][..k * n].to_vec());
            sums.copy_from_slice(&dense::dense(&one, &other, &vec![0.0; n], &[m, n]).data);
        }
        out
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let frac = lower.numbers.frac;
        let x = lower.at_nominal(site.reads[0], site.at);
        let y = lower.at_nominal(site.reads[1], site.at + 1_000_000);
        let a = lower.lengths(site.reads[0]);
        let rank = site.lengths.len();
        if rank == 2 {
            return Ok(Held::nominal(x.matmul(y).rescale(frac)));
        }
        let [m, k, n] = [site.lengths[rank - 2], a[a.len() - 1], site.lengths[rank - 1]];
        let batch = &site.lengths[..rank - 2];
        let count: usize = batch.iter().product();
        site.check_rows(self.name(), count)?;
        let x = along(x, a, &[batch, &[m, k]].concat());
        let y = along(y, lower.lengths(site.reads[1]), &[batch, &[k, n]].concat());
        let [x, y] = [x.reshape(shape(&[count * m, k])), y.reshape(shape(&[count * k, n]))];
        let one = |i: u64| {
            let rows = |v: Val<'b>, of: usize| v.slice(i * of as u64, (i + 1) * of as u64);
            rows(x, m).matmul(rows(y, k))
        };
        let all: Vec<_> = (0..count as u64).map(one).collect();
        Ok(Held::nominal(lower.b.concat(0, &all).rescale(frac).reshape(shape(site.lengths))))
    }

    /// The room is that of products before they are cut.
    fn room(&self, room: &Room<'_>) -> f64 {
        room.own(room.frac())
    }
}

/// A value as a matrix. A vector becomes a row or a column.
fn matrix(op: &Reading<'_>, import: &mut Import, of: &Known, axis: usize) -> Result<(Known, bool), Fault> {
    let mut lengths = import.lengths_of(of);
    if lengths.len() != 1 {
        return Ok((of.clone(), false));
    }
    lengths.insert(axis, 1);
    Ok((reshaped(op, import, of, &lengths)?, true))
}

fn reshaped(op: &Reading<'_>, import: &mut Import, of: &Known, to: &[usize]) -> Result<Known, Fault> {
    let to = Known::Ints(vec![to.len()], to.iter().map(|n| *n as i64).collect());
    op.call(import, "Reshape", &[of, &to], &[])
}

/// Matrices along the last two axes, transposed.
pub(super) fn turned(op: &Reading<'_>, import: &mut Import, of: &Known) -> Result<Known, Fault> {
    let rank = import.lengths_of(of).len();
    let axes: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    match of {
        Known::Layer(_) => {
            let axes = axes.iter().map(|axis| *axis as i64).collect();
            op.call(import, "Transpose", &[of], &[("perm", Attribute::Ints(axes))])
        }
        known => Ok(Known::Floats(Arc::new(op.known_weights(known)?.transposed(&axes)))),
    }
}

/// The product of matrices of values or of weights. Operands may also be vectors.
pub(super) fn product(op: &Reading<'_>, import: &mut Import, x: &Known, y: &Known) -> Result<Known, Fault> {
    let ((x, row), (y, column)) = (matrix(op, import, x, 0)?, matrix(op, import, y, 1)?);
    let (a, b) = (import.lengths_of(&x), import.lengths_of(&y));
    let fits = a.len() >= 2 && b.len() >= 2 && a[a.len() - 1] == b[b.len() - 2];
    let batch = if fits { together(&a[..a.len() - 2], &b[..b.len() - 2]) } else { None };
    let Some(batch) = batch else {
        let cause = format!("its values have the lengths {a:?} and {b:?}");
        return Err(op.error(cause, "give it matrices that fit each other"));
    };
    let made = match (&x, &y) {
        (Known::Layer(at), Known::Layer(by)) => {
            let lengths = [&batch[..], &[a[a.len() - 2], b[b.len() - 1]]].concat();
            op.made(import, Kind::MatMul(MatMul), vec![*at, *by], lengths)?
        }
        (Known::Layer(_), _) => {
            if b[..b.len() - 2].iter().any(|n| *n != 1) {
                return by_each(op, import, x.clone(), &*op.known_weights(&y)?, &batch)
                    .and_then(|made| without(op, import, made, row, column));
            }
            // One matrix for all, which may be written with more axes.
            let more = [vec![1; b.len().saturating_sub(a.len())], a.clone()].concat();
            let x = super::pick::reshaped(op, import, x.clone(), more)?;
            let Known::Layer(at) = &x else { return Err(op.error("it is known", "leave it out")) };
            let weights = Array::clone(&*op.known_weights(&y)?).reshaped(&b[b.len() - 2..]);
            let outputs = weights.lengths[1];
            dense::made(op, import, *at, Arc::new(weights), vec![0.0; outputs])?
        }
        // (y' x')', whose matrix is on the right.
        (_, Known::Layer(_)) => {
            let (x, y) = (turned(op, import, &x)?, turned(op, import, &y)?);
            let made = product(op, import, &y, &x)?;
            turned(op, import, &made)?
        }
        _ => return Err(op.error("it multiplies weights", "fold what is known before the export")),
    };
    without(op, import, made, row, column)
}

/// A product without the row or the column that was added to a vector.
fn without(
    op: &Reading<'_>,
    import: &mut Import,
    made: Known,
    row: bool,
    column: bool,
) -> Result<Known, Fault> {
    if !row && !column {
        return Ok(made);
    }
    let mut lengths = import.lengths_of(&made);
    if column {
        lengths.pop();
    }
    if row {
        lengths.remove(lengths.len() - if column { 1 } else { 2 });
    }
    reshaped(op, import, &made, &lengths)
}

/// Products with a different matrix of weights for each place of the axes before, as a convolution
/// whose groups are those places. First axes along which the matrices are the same are its images.
fn by_each(
    op: &Reading<'_>,
    import: &mut Import,
    x: Known,
    weights: &Array,
    batch: &[usize],
) -> Result<Known, Fault> {
    let (a, b) = (import.lengths_of(&x), &weights.lengths);
    let [m, k, n] = [a[a.len() - 2], b[b.len() - 2], b[b.len() - 1]];
    let own = &b[..b.len() - 2];
    let missing = batch.len() - own.len();
    let first = missing + own.iter().take_while(|n| **n == 1).count();
    let (images, groups): (usize, usize) = (batch[..first].iter().product(), batch[first..].iter().product());
    let x = super::pick::repeated(op, import, x, &[batch, &[m, k]].concat())?;
    let x = super::pick::reshaped(op, import, x, vec![images, groups, m, k])?;
    let x = super::pick::turned(op, import, &x, &[0, 1, 3, 2])?;
    let x = super::pick::reshaped(op, import, x, vec![images, groups * k, m, 1])?;
    let each = Array::clone(weights).reshaped(&[&own[first - missing..], &[k, n]].concat());
    let each = each.broadcast(&[&batch[first..], &[k, n]].concat()).reshaped(&[groups, k, n]);
    let filters = each.transposed(&[0, 2, 1]).reshaped(&[groups * n, k, 1, 1]);
    let attributes = [("group", Attribute::Int(groups as i64))];
    let made = op.call(import, "Conv", &[&x, &Known::Floats(Arc::new(filters))], &attributes)?;
    let made = super::pick::reshaped(op, import, made, vec![images, groups, n, m])?;
    let made = super::pick::turned(op, import, &made, &[0, 1, 3, 2])?;
    super::pick::reshaped(op, import, made, [batch, &[m, n]].concat())
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, y) = (op.input(import, 0)?, op.input(import, 1)?);
    product(op, import, &x, &y)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    /// The elements of a product of matrices, which are repeated along the first axis if necessary.
    fn product(x: &[f32], y: &[f32], [count, m, k, n]: [usize; 4]) -> Vec<f32> {
        let one = |i: usize| {
            let (batch, row, column) = (i / (m * n), i / n % m, i % n);
            let part = |of: &[f32], each: usize| of[batch % (of.len() / each) * each..][..each].to_vec();
            let (x, y) = (part(x, m * k), part(y, k * n));
            (0..k).map(|j| x[row * k + j] * y[j * n + column]).sum()
        };
        (0..count * m * n).map(one).collect()
    }

    #[test]
    fn of_values_with_more_axes_and_of_vectors() {
        let mut w = Writer::new("m", 1, &[1, 2, 2, 3]);
        let sums = [("axes", Attribute::Ints(vec![1])), ("keepdims", Attribute::Int(0))];
        let sums = w.op("ReduceMax", &["input"], &sums);
        let turned = w.op("Transpose", &[&sums], &[("perm", Attribute::Ints(vec![0, 2, 1]))]);
        let y = w.op("MatMul", &["input", &turned], &[]);
        check(&w.finish(&y), 16.0, |x| {
            let most: Vec<f32> = (0..6).map(|i| x.data[i].max(x.data[6 + i])).collect();
            let turned: Vec<f32> = (0..6).map(|i| most[i % 2 * 3 + i / 2]).collect();
            product(&x.data, &turned, [2, 2, 3, 2])
        });
        let weights = [0.5, -1.0, 0.25, 1.5, -0.75, 2.0];
        for (lengths, m) in [(&[2][..], 1), (&[3, 2], 3)] {
            let mut w = Writer::new("m", 1, &[1, 2, 3]);
            let by = w.weights(lengths, weights[..2 * m].to_vec());
            let y = w.op("MatMul", &[&by, "input"], &[]);
            check(&w.finish(&y), 3.0, |x| product(&weights[..2 * m], &x.data, [1, m, 2, 3]));
        }
        let mut w = Writer::new("m", 1, &[1, 2, 3]);
        let by = w.weights(&[3], weights[..3].to_vec());
        let y = w.op("MatMul", &["input", &by], &[]);
        check(&w.finish(&y), 3.0, |x| product(&x.data, &weights[..3], [1, 2, 3, 1]));
    }
}
