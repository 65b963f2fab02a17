//! MatMul.

use super::{dense, prelude::*};
use hushwire_compute::Val;

pub(super) const MATMUL: Operator = Operator {
    inputs: 2,
    ..Operator::new("MatMul", "The product with a matrix of weights, or of matrices of values.", read)
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
        let (a, b) = (&reads[0], &reads[1]);
        let [k, n] = [b.lengths[b.lengths.len() - 2], b.lengths[b.lengths.len() - 1]];
        let m = to[to.len() - 2];
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
        let (a, b) = (lower.lengths(site.reads[0]), lower.lengths(site.reads[1]));
        let rank = site.lengths.len();
        if rank == 2 {
            return Ok(Held::nominal(x.matmul(y).rescale(frac)));
        }
        let [m, k, n] = [a[rank - 2], a[rank - 1], b[rank - 1]];
        let count: usize = site.lengths[..rank - 2].iter().product();
        site.check_rows(self.name(), count)?;
        let [x, y] = [x.reshape(shape(&[count * m, k])), y.reshape(shape(&[count * k, n]))];
        let one = |i: u64| {
            let rows = |v: Val<'b>, of: usize| v.slice(i * of as u64, (i + 1) * of as u64);
            rows(x, m).matmul(rows(y, k))
        };
        let all: Vec<_> = (0..count as u64).map(one).collect();
        Ok(Held::nominal(lower.b.concat(0, &all).rescale(frac).reshape(shape(site.lengths))))
    }

    /// As for products before they are cut.
    fn room(&self, room: &Room<'_>) -> f64 {
        room.own(room.frac())
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let Known::Layer(by) = op.input(import, 1)? else {
        let weights = op.weights(import, 1)?;
        let outputs = weights.lengths.last().copied().unwrap_or(1);
        return dense::made(op, import, at, weights, vec![0.0; outputs]);
    };
    let (a, b) = (import.lengths(at).to_vec(), import.lengths(by).to_vec());
    let rank = a.len();
    if rank < 2 || b.len() != rank || a[..rank - 2] != b[..rank - 2] || a[rank - 1] != b[rank - 2] {
        let cause = format!("its values have the lengths {a:?} and {b:?}");
        return Err(op.error(cause, "give it matrices that fit each other, equally many on both sides"));
    }
    let lengths = [&a[..rank - 1], &b[rank - 1..]].concat();
    op.made(import, Kind::MatMul(MatMul), vec![at, by], lengths)
}
