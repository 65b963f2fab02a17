//! Functions that are no homogeneous ones: their operands have the nominal scale.

use super::lower::{Lower, shape};
use crate::{Kind, Layer, NnError};
use hushwire_compute::{Op, Reduction, Val};

/// LOCAL: most rows of a softmax, and most products of matrices of one layer, each of which is operations of its own.
const ROWS: usize = 4096;

impl<'b> Lower<'b, '_> {
    pub(super) fn function(&mut self, at: usize, layer: &Layer) -> Result<Val<'b>, NnError> {
        let x = self.at_nominal(layer.reads[0], at);
        Ok(match &layer.kind {
            Kind::Sigmoid => x.sigmoid(),
            Kind::Tanh => x.tanh(),
            Kind::Gelu(_) => self.gelu(x),
            Kind::Softmax(axis) => self.softmax(x, layer, *axis)?,
            Kind::LayerNorm(axis, _, _, epsilon) => self.normalized(x, at, layer, *axis, *epsilon),
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

    fn normalized(&mut self, x: Val<'b>, at: usize, layer: &Layer, axis: usize, epsilon: f32) -> Val<'b> {
        let (frac, cut) = (self.numbers.frac, self.numbers.cut);
        let n: usize = layer.lengths[axis..].iter().product();
        let rows = layer.lengths.iter().product::<usize>() / n;
        let whole = shape(&[rows, n]);
        let wide = |v: Val<'b>| v.reshape(shape(&[rows, 1])).broadcast(whole.clone());
        let x = x.reshape(whole.clone());
        let distance = x - wide(x.reduce(Reduction::Mean, 1));
        let variance = (distance * distance).rescale(frac).reduce(Reduction::Mean, 1);
        // A step at least, so that no deviation is 0.
        let least = (f64::from(epsilon) * 2f64.powi(frac.into())).round().max(1.0);
        let deviation = (variance + self.b.number(self.nominal(), least as i128)).sqrt();
        let unit = (distance * wide(deviation.reciprocal())).rescale(frac);
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
