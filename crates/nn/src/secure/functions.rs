//! Functions that are no homogeneous ones: their operands have the nominal scale. That of a layer normalization has any.

use super::{
    Numbers,
    lower::{Lower, shape},
};
use crate::{Kind, Layer, NnError};
use hushwire_compute::{Op, Reduction, Scalar, Val};

/// LOCAL: most rows of a softmax, and most products of matrices of one layer, each of which is operations of its own.
const ROWS: usize = 4096;

/// Fractional bits of the sum of squares while its root is taken, as many as leave the steps of the root in words of 64 bits.
const ROOT: u8 = 20;

/// The sizes of a layer normalization's numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normalization {
    /// Bits that distances have below a step of their operand, so that the mean's rounding is less than theirs.
    pub(super) guard: u8,
    /// Bits of the root and of the factor of a row, and fractional bits of their quotient's steps.
    bits: u8,
    quotient: u8,
    /// Fractional bits of products of distances and factors.
    point: u8,
    /// The root of the greatest sum of squares.
    pub(super) most: f64,
}

impl Normalization {
    pub(super) fn new(numbers: Numbers, n: usize) -> Self {
        let guard = ((64 - numbers.bits) / 4).min(2);
        // No result is greater than √n, and a twentieth more for what is rounded.
        let fits = |point: &u8| n as f64 * 1.05 <= 2f64.powi(2 * i32::from(numbers.bits - 1 - point));
        let point = (numbers.frac..numbers.bits - 1).rev().find(fits).unwrap_or(numbers.frac);
        // Words of 64 bits hold what a quotient of 40 bits takes inside.
        let (bits, quotient, most) =
            if numbers.bits <= 32 { (40, 14, 2f64.powi(39 - 10)) } else { (64, ROOT, 2f64.powf(31.5)) };
        Normalization { guard, bits, quotient, point, most }
    }
}

impl<'b> Lower<'b, '_> {
    pub(super) fn function(&mut self, at: usize, layer: &Layer) -> Result<Val<'b>, NnError> {
        if let Kind::LayerNorm(axis, ..) = &layer.kind {
            return Ok(self.normalized(at, layer, *axis));
        }
        let x = self.at_nominal(layer.reads[0], at);
        Ok(match &layer.kind {
            Kind::Sigmoid => x.sigmoid(),
            Kind::Tanh => x.tanh(),
            Kind::Gelu(_) => self.gelu(x),
            Kind::Softmax(axis) => self.softmax(x, layer, *axis)?,
            Kind::MatMul => {
                let y = self.at_nominal(layer.reads[1], at + 1_000_000);
                self.products([x, y], layer)?
            }
            // The caller has all others.
            _ => x,
        })
    }

    /// x times the logistic function of 2 √(2/π) (x + 0.044715 x³), which is within 0.0005 of x Φ(x) (D. Hendrycks and K. Gimpel,
    /// "Gaussian error linear units", 2016). Beyond ±8 nothing is left of the difference to 0 and x.
    fn gelu(&self, x: Val<'b>) -> Val<'b> {
        let frac = self.numbers.frac;
        let number = |x: f64| self.b.number(self.nominal(), (x * 2f64.powi(frac.into())).round() as i128);
        let near = x.clamp(number(-8.0), number(8.0)).wrapping();
        let square = (near * near).rescale(frac);
        let inner = (square * number(0.044_715)).rescale(frac) + number(1.0);
        let root = (2.0 / std::f64::consts::PI).sqrt();
        let inner = (near * inner).rescale(frac);
        let sigmoid = (inner * number(2.0 * root)).rescale(frac).sigmoid();
        (x * sigmoid).rescale(frac)
    }

    fn too_many(layer: &Layer, rows: usize) -> Result<(), NnError> {
        if rows <= ROWS {
            return Ok(());
        }
        let place = format!("layer {} ({})", layer.name, layer.kind.name());
        Err(NnError::new(place, format!("it has {rows} rows"), format!("at most {ROWS} are supported")))
    }

    /// Row after row, whose steps are abreast.
    fn softmax(&self, x: Val<'b>, layer: &Layer, axis: usize) -> Result<Val<'b>, NnError> {
        let rank = layer.lengths.len();
        let last: Vec<u8> = (0..rank).filter(|k| *k != axis).chain([axis]).map(|k| k as u8).collect();
        let n = layer.lengths[axis];
        let rows = layer.lengths.iter().product::<usize>() / n;
        Self::too_many(layer, rows)?;
        let x = self.b.apply(Op::Transpose(last.clone()), &[x]).reshape(shape(&[rows, n]));
        let row = |r: u64| x.slice(r, r + 1).reshape(shape(&[n])).softmax().reshape(shape(&[1, n]));
        let all: Vec<Val<'b>> = (0..rows as u64).map(row).collect();
        let turned: Vec<usize> = last.iter().map(|k| layer.lengths[usize::from(*k)]).collect();
        let back: Vec<u8> = (0..rank)
            .map(|k| if k == axis { rank - 1 } else { k - usize::from(k > axis) })
            .map(|k| k as u8)
            .collect();
        Ok(self.b.apply(Op::Transpose(back), &[self.b.concat(0, &all).reshape(shape(&turned))]))
    }

    /// Distances d from the mean, times √n / √(Σ d² + n ε). Squares and their sum are whole in words of 64 bits, so that rows of small variance
    /// lose nothing; and as the scale of the operand divides itself out, it is any: ε at that scale is an input of the owner's.
    fn normalized(&mut self, at: usize, layer: &Layer, axis: usize) -> Val<'b> {
        let Numbers { bits, frac, cut } = self.numbers;
        let n: usize = layer.lengths[axis..].iter().product();
        let rows = layer.lengths.iter().product::<usize>() / n;
        let whole = shape(&[rows, n]);
        let repeated = |v: Val<'b>| v.reshape(shape(&[rows, 1])).broadcast(whole.clone());
        let fixed = |bits, frac| Scalar::Fixed { bits, frac };
        let steps_of = |v: Val<'b>, frac: u8| v.cast(Scalar::Bits(64)).cast(fixed(64, frac));
        let sizes = Normalization::new(self.numbers, n);
        let x = self.value(layer.reads[0]).reshape(whole.clone());
        let wide = x.cast(fixed(64, frac)) << sizes.guard.into();
        let distance = wide - repeated(wide.reduce(Reduction::Mean, 1));
        let squares = (distance * distance).reduce(Reduction::Sum, 1) + self.least(at, layer.reads[0]);
        let root = steps_of(squares, ROOT).sqrt();
        let root = if sizes.quotient == ROOT { root } else { steps_of(root, sizes.quotient) };
        let of = fixed(sizes.bits, sizes.quotient);
        // The root has ROOT / 2 bits behind the point, and the factor as many as products of distances have room for.
        let point = i32::from(sizes.point) + i32::from(ROOT / 2) - i32::from(sizes.quotient);
        let dividend = ((n as f64).sqrt() * 2f64.powi(point)).round();
        let factor = self.b.number(of, dividend as i128).broadcast(shape(&[rows])).divide(root.cast(of));
        let factor = factor.cast(Scalar::Bits(sizes.bits.into())).cast(fixed(sizes.bits, sizes.point - frac));
        let factor = factor.cast(fixed(bits, sizes.point - frac));
        let unit = (distance.cast(fixed(bits, frac)) * repeated(factor)).rescale(sizes.point - frac);
        let [factors, terms] = self.of_nominal(at, vec![1, n]);
        let made = unit * factors.broadcast(whole.clone()) + terms.broadcast(whole);
        made.rescale(cut).reshape(shape(&layer.lengths))
    }

    fn products(&self, [x, y]: [Val<'b>; 2], layer: &Layer) -> Result<Val<'b>, NnError> {
        let frac = self.numbers.frac;
        let lengths = |v: Val<'b>| v.ty().and_then(|ty| ty.shape.lengths()).unwrap_or_default();
        let (a, b) = (lengths(x), lengths(y));
        let rank = layer.lengths.len();
        if rank == 2 || a.len() != rank || b.len() != rank {
            return Ok(x.matmul(y).rescale(frac));
        }
        let [m, k, n] = [a[rank - 2], a[rank - 1], b[rank - 1]];
        let count: usize = layer.lengths[..rank - 2].iter().product();
        Self::too_many(layer, count)?;
        let [x, y] = [x.reshape(shape(&[count * m, k])), y.reshape(shape(&[count * k, n]))];
        let one = |i: u64| {
            let rows = |v: Val<'b>, of: usize| v.slice(i * of as u64, (i + 1) * of as u64);
            rows(x, m).matmul(rows(y, k))
        };
        let all: Vec<Val<'b>> = (0..count as u64).map(one).collect();
        Ok(self.b.concat(0, &all).rescale(frac).reshape(shape(&layer.lengths)))
    }
}
