//! LayerNormalization.

use super::{norms, prelude::*};
use crate::array::{places, steps};
use hushwire_compute::{Reduction, Scalar, Val};

pub(super) const LAYER_NORMALIZATION: Operator = Operator {
    inputs: 3,
    attributes: &["axis", "epsilon", "stash_type"],
    outputs: 3,
    error: norms::NORMAL,
    ..Operator::several(
        "LayerNormalization",
        "Along all axes from `axis` on: minus the mean, divided by the standard deviation, times weights, plus weights.",
        all,
    )
};

/// The value; and the mean and the inverse of the deviation, if they are read.
fn all(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let mut made = vec![read(op, import)?];
    if op.node.outputs.len() < 2 {
        return Ok(made);
    }
    let x = op.input(import, 0)?;
    let rank = import.lengths_of(&x).len();
    let axis = op.axis(op.int("axis", -1)?, rank)?;
    let mean = norms::reduced(op, import, "ReduceMean", &x, axis..rank)?;
    let distance = op.call(import, "Sub", &[&x, &mean], &[])?;
    let square = op.call(import, "Mul", &[&distance, &distance], &[])?;
    let variance = norms::reduced(op, import, "ReduceMean", &square, axis..rank)?;
    let epsilon = Known::floats(&[], vec![op.float("epsilon", 1e-5)?]);
    let variance = op.call(import, "Add", &[&variance, &epsilon], &[])?;
    let root = op.call(import, "Sqrt", &[&variance], &[])?;
    made.extend([mean, op.call(import, "Reciprocal", &[&root], &[])?]);
    Ok(made)
}

/// Normalizes along all axes from `axis` on: subtracts the mean, divides by the standard deviation,
/// multiplies by weights, and adds weights.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerNorm {
    pub(crate) axis: usize,
    pub(crate) scale: Arc<Vec<f32>>,
    pub(crate) shift: Arc<Vec<f32>>,
    /// The number added to the variance.
    pub(crate) epsilon: f32,
}

/// The fractional bits of the sum of squares during its root: the most that leave the root's
/// intermediate values in 64-bit words.
const ROOT: u8 = 20;

/// The sizes of the numbers within a layer normalization.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// The bits of distances below a step of the operand. They make the error of a rounded mean
    /// smaller than that of rounded distances.
    guard: u8,
    /// The width of a row's root and factor, and the fractional bits of their quotient.
    bits: u8,
    quotient: u8,
    /// The fractional bits of products of distances and factors.
    point: u8,
    /// The root of the greatest sum of squares.
    most: f64,
}

impl Sizes {
    fn new(numbers: Numbers, n: usize) -> Self {
        let guard = ((64 - numbers.bits) / 4).min(2);
        // No result exceeds √n; a twentieth more allows for rounding.
        let fits = |point: &u8| n as f64 * 1.05 <= 2f64.powi(2 * i32::from(numbers.bits - 1 - point));
        let point = (numbers.frac..numbers.bits - 1).rev().find(fits).unwrap_or(numbers.frac);
        // 64-bit words hold the intermediate values of a 40-bit quotient.
        let (bits, quotient, most) =
            if numbers.bits <= 32 { (40, 14, 2f64.powi(39 - 10)) } else { (64, ROOT, 2f64.powf(31.5)) };
        Sizes { guard, bits, quotient, point, most }
    }
}

impl LayerNorm {
    /// The number of elements of a row.
    fn count(&self) -> usize {
        self.scale.len()
    }
}

impl Definition for LayerNorm {
    fn name(&self) -> &'static str {
        "LayerNormalization"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        match part {
            WeightPart::Factors => Cow::Borrowed(&self.scale),
            WeightPart::Terms => Cow::Borrowed(&self.shift),
            WeightPart::Least => Cow::Owned(vec![self.epsilon]),
            _ => Cow::Borrowed(&[]),
        }
    }

    fn factors(&self) -> Option<Factors> {
        Some(Factors { rows: self.scale.len(), inner: 1 })
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        let n = self.count();
        let mut out = Array::clone(&reads[0]);
        for line in out.data.chunks_mut(n) {
            let (mean, squares) = spread(line);
            let factor = 1.0 / (squares / n as f32 + self.epsilon).sqrt();
            for (i, x) in line.iter_mut().enumerate() {
                *x = (*x - mean) * factor * self.scale[i] + self.shift[i];
            }
        }
        out
    }

    fn root(&self, x: &Array) -> f32 {
        x.data.chunks(self.count()).map(|row| spread(row).1.sqrt()).fold(0.0, f32::max)
    }

    /// Distances d from the mean, times √n / √(Σ d² + n ε). Squares and their sum are whole numbers
    /// in 64-bit words, so that rows of small variance lose nothing. The scale of the operand
    /// cancels, so it can be arbitrary; ε at that scale is an input of the owner.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let Numbers { bits, frac, cut, .. } = lower.numbers;
        let n = self.count();
        let rows = site.lengths.iter().product::<usize>() / n;
        let whole = shape(&[rows, n]);
        let repeated = |v: Val<'b>| v.reshape(shape(&[rows, 1])).broadcast(whole.clone());
        let fixed = |bits, frac| Scalar::Fixed { bits, frac };
        let steps_of = |v: Val<'b>, frac: u8| v.cast(Scalar::Bits(64)).cast(fixed(64, frac));
        let sizes = Sizes::new(lower.numbers, n);
        let x = lower.value(site.reads[0]).reshape(whole.clone());
        let wide = x.cast(fixed(64, frac)) << sizes.guard.into();
        let distance = wide - repeated(wide.reduce(Reduction::Mean, 1));
        let least = lower.least(site.at, site.reads[0], Squares { count: n, guard: sizes.guard });
        let squares = (distance * distance).reduce(Reduction::Sum, 1) + least;
        let root = steps_of(squares, ROOT).sqrt();
        let root = if sizes.quotient == ROOT { root } else { steps_of(root, sizes.quotient) };
        let of = fixed(sizes.bits, sizes.quotient);
        // The root has ROOT / 2 fractional bits. The factor has the fractional bits for which
        // products of distances have room.
        let point = i32::from(sizes.point) + i32::from(ROOT / 2) - i32::from(sizes.quotient);
        let dividend = ((n as f64).sqrt() * 2f64.powi(point)).round();
        let factor = lower.b.number(of, dividend as i128).broadcast(shape(&[rows])).divide(root.cast(of));
        let factor = factor.cast(Scalar::Bits(sizes.bits.into())).cast(fixed(sizes.bits, sizes.point - frac));
        let factor = factor.cast(fixed(bits, sizes.point - frac));
        let unit = (distance.cast(fixed(bits, frac)) * repeated(factor)).rescale(sizes.point - frac);
        let [factors, terms] = lower.of_nominal(site.at, vec![1, n]);
        let made = unit * factors.broadcast(whole.clone()) + terms.broadcast(whole);
        Ok(Held::nominal(made.rescale(cut).reshape(shape(site.lengths))))
    }

    /// Bounds for the root of a sum of squares: `most` allows for the distances of all elements,
    /// each at most twice the greatest element, and `whole` for a single one.
    fn limits(&self, limits: &Limits<'_>) -> Vec<Limit> {
        let sizes = Sizes::new(limits.numbers, self.count());
        let whole = sizes.most / 2f64.powi(sizes.guard.into());
        let most = whole / (2.0 * limits.free * (self.count() as f64).sqrt());
        vec![Limit { read: 0, greatest: limits.reads[0], most, whole }]
    }

    fn room(&self, room: &Room<'_>) -> f64 {
        let sizes = Sizes::new(room.numbers, self.count());
        let root = room.root * room.scale(room.reads[0].node);
        room.own(room.cut()).min(sizes.most.log2() - f64::from(sizes.guard) - root.log2())
    }
}

/// The mean of numbers, and the sum of squared distances from it.
fn spread(row: &[f32]) -> (f32, f32) {
    let mean = row.iter().sum::<f32>() / row.len() as f32;
    (mean, row.iter().map(|x| (x - mean).powi(2)).sum())
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let lengths = import.lengths(at).to_vec();
    let axis = op.axis(op.int("axis", -1)?, lengths.len())?;
    let count: usize = lengths[axis..].iter().product();
    if op.int("stash_type", 1)? != 1 {
        return Err(op.error("its stash_type is another than float32", "export with stash_type 1"));
    }
    let fits = |array: Arc<Array>| {
        // Axes of length 1 before the normalized ones repeat; along any other axis, weights would
        // differ.
        let before = array.lengths.len().saturating_sub(lengths.len() - axis);
        if array.lengths[before..] == lengths[axis..] && array.data.len() == count {
            return Ok(array.data.clone());
        }
        let mut pairs = array.lengths.iter().rev().zip(lengths.iter().rev());
        if array.lengths.len() <= lengths.len() && pairs.all(|(own, n)| [1, *n].contains(own)) {
            let step = steps(&array.lengths);
            let skipped = lengths.len() - array.lengths.len();
            let step = |at: usize| match at.checked_sub(skipped) {
                Some(own) if array.lengths[own] > 1 => step[own],
                _ => 0,
            };
            // Weights that differ from row to row are not the weights of one row.
            if (0..axis).all(|at| step(at) == 0) {
                let step: Vec<usize> = (axis..lengths.len()).map(step).collect();
                return Ok(places(&lengths[axis..], &step).map(|i| array.data[i]).collect());
            }
        }
        let (own, elements) = (&array.lengths, &lengths[axis..]);
        let cause = format!("it has weights of the lengths {own:?} for elements of {elements:?}");
        Err(op.error(cause, "give it one for each"))
    };
    let scale = Arc::new(fits(op.weights(import, 1)?)?);
    let shift = Arc::new(op.maybe_weights(import, 2)?.map_or(Ok(vec![0.0; count]), fits)?);
    let epsilon = op.float("epsilon", 1e-5)?;
    op.made(import, Kind::LayerNorm(LayerNorm { axis, scale, shift, epsilon }), vec![at], lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn one_weight_for_all_elements() {
        let mut w = Writer::new("norm", 1, &[1, 2, 3]);
        let (scale, shift) = (w.weights(&[1], vec![0.5]), w.weights(&[2, 1], vec![0.25, -0.5]));
        let y = w.op("LayerNormalization", &["input", &scale, &shift], &[("axis", Attribute::Int(1))]);
        check(&w.finish(&y), 6.0, |x| {
            let mean = x.data.iter().sum::<f32>() / 6.0;
            let squares: f32 = x.data.iter().map(|x| (x - mean).powi(2)).sum();
            let factor = 1.0 / (squares / 6.0 + 1e-5).sqrt();
            let one = |(i, x): (usize, &f32)| (x - mean) * factor * 0.5 + [0.25, -0.5][i / 3];
            x.data.iter().enumerate().map(one).collect()
        });
    }
}
