//! Normalizer.

use super::prelude::*;
use hushwire_compute::{Reduction, Scalar};

pub(super) const NORMALIZER: Operator = Operator {
    attributes: &["norm"],
    error: Bound::share(2.0, 1.0).over("norms from 1 on"),
    ..Operator::ml("Normalizer", "Each element divided by the norm of its row: L1, L2 or MAX.", read)
};

/// The norm of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Norm {
    Sum,
    Root,
    Most,
}

/// Elements divided by the norm of their row, along the last axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalizer {
    norm: Norm,
}

impl Normalizer {
    fn of(&self, row: &[f32]) -> f32 {
        match self.norm {
            Norm::Sum => row.iter().map(|x| x.abs()).sum(),
            Norm::Root => row.iter().map(|x| x * x).sum::<f32>().sqrt(),
            Norm::Most => row.iter().copied().fold(f32::NEG_INFINITY, f32::max),
        }
    }
}

impl Definition for Normalizer {
    fn name(&self) -> &'static str {
        "Normalizer"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    /// A row whose norm is 0 is unchanged.
    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let mut out = Array::clone(&reads[0]);
        for row in out.data.chunks_mut(to[to.len() - 1]) {
            let norm = self.of(row);
            if norm != 0.0 {
                row.iter_mut().for_each(|x| *x /= norm);
            }
        }
        out
    }

    fn root(&self, x: &Array) -> f32 {
        let n = x.lengths.last().copied().unwrap_or(1);
        x.data.chunks(n).map(|row| self.of(row).abs()).fold(0.0, f32::max)
    }

    /// Squares have 64-bit words. The least norm is one step, so that a row of zeros is unchanged.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let Numbers { bits, frac, .. } = lower.numbers;
        let x = lower.at_nominal(site.reads[0], site.at);
        let n = site.lengths[site.lengths.len() - 1];
        let rows = site.lengths.iter().product::<usize>() / n;
        let whole = shape(&[rows, n]);
        let x = x.reshape(whole.clone());
        let norm = match self.norm {
            Norm::Sum => x.abs().reduce(Reduction::Sum, 1),
            Norm::Most => x.reduce(Reduction::Max, 1),
            Norm::Root => {
                let wide = x.cast(Scalar::Fixed { bits: 64, frac });
                let squares = (wide * wide).reduce(Reduction::Sum, 1).rescale(frac);
                squares.sqrt().cast(lower.fixed(frac))
            }
        };
        let step = lower.b.number(lower.fixed(frac), 1);
        let norm = match self.norm {
            Norm::Most => {
                let zero = norm.equals(lower.b.number(lower.fixed(frac), 0).broadcast(shape(&[rows])));
                let one = lower.b.number(lower.fixed(frac), 1 << frac).broadcast(shape(&[rows]));
                lower.b.select(zero, one, norm)
            }
            _ => norm.max(step.broadcast(shape(&[rows]))),
        };
        debug_assert!(bits <= 64);
        let norm = norm.reshape(shape(&[rows, 1])).broadcast(whole);
        Ok(Held::nominal(x.divide(norm).reshape(shape(site.lengths))))
    }

    /// The room of the norm, and of its square in 64-bit words.
    fn room(&self, room: &Room<'_>) -> f64 {
        let norm = room.left(room.root, room.reads[0].node, 0.0);
        let square = 63.0 - 2.0 * (room.root * room.scale(room.reads[0].node)).log2();
        room.own(0.0).min(if self.norm == Norm::Root { norm.min(square) } else { norm })
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    by(op, import, &x, &op.text("norm", "MAX")?)
}

/// A value divided by a norm along the last axis.
pub(super) fn by(op: &Reading<'_>, import: &mut Import, x: &Known, norm: &str) -> Result<Known, Fault> {
    let Known::Layer(at) = *x else { return Err(op.error("its value is known", "leave it out")) };
    let norm = match norm {
        "L1" => Norm::Sum,
        "L2" => Norm::Root,
        "MAX" => Norm::Most,
        other => return Err(op.error(format!("its norm is {}", shown(other)), "take L1, L2 or MAX")),
    };
    let lengths = import.lengths(at).to_vec();
    if lengths.is_empty() {
        return Err(op.error("its value has no axis", "give it rows"));
    }
    op.made(import, Kind::Normalizer(Normalizer { norm }), vec![at], lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check_ml;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn rows_have_norms() {
        for norm in ["L1", "L2", "MAX"] {
            let mut w = Writer::new("normalizer", 1, &[1, 6]);
            let y = w.op("Normalizer", &["input"], &[("norm", Attribute::Text(norm.into()))]);
            check_ml(w.finish(&y), 4.0, |x| {
                let norm = match norm {
                    "L1" => x.data.iter().map(|x| x.abs()).sum::<f32>(),
                    "L2" => x.data.iter().map(|x| x * x).sum::<f32>().sqrt(),
                    _ => x.data.iter().copied().fold(f32::MIN, f32::max),
                };
                x.data.iter().map(|x| x / norm).collect()
            });
        }
    }
}
