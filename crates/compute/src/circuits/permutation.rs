//! Permutations as decisions of the exchanges of sorting networks.

use super::stages::{Reg, Stages, bits_for};
use crate::ComputeError;
use hushwire_circuit::{sort, words};
use std::sync::Arc;

/// A column of exchanges that touch no row twice: their rows, and the decision of each.
struct ExchangeColumn {
    pairs: Vec<(usize, usize)>,
    swaps: Vec<Reg>,
}

/// A lower bound on the exchanges of a network for this many rows: those of the largest power of
/// two up to it, (p² − p + 4) 2^(p − 2) − 1 for 2^p rows (D. Knuth, TAOCP 3, section 5.2.2,
/// exercise 13).
fn least_exchanges(rows: usize) -> usize {
    let Some(p) = rows.checked_ilog2().filter(|p| *p > 1) else { return rows / 2 };
    let p = p as usize;
    ((p * p - p + 4) << (p - 2)) - 1
}

/// The columns of one network, run forwards or backwards.
#[derive(Clone)]
struct Pass {
    columns: Arc<Vec<ExchangeColumn>>,
    backwards: bool,
}

/// A permutation of rows: networks, one after another. An exchange is its own inverse, so the
/// inverse permutation has the columns in reverse order.
#[derive(Clone)]
pub(crate) struct Permutation {
    pub(crate) rows: usize,
    passes: Vec<Pass>,
}

impl Permutation {
    /// The order of records: `keys` has `width` registers a row, compared as unsigned numbers. Rows
    /// with equal keys keep their order.
    pub(crate) fn sorting(
        stages: &mut Stages,
        rows: usize,
        width: usize,
        keys: &[Reg],
    ) -> Result<Self, ComputeError> {
        // The row's number below the key makes all keys different.
        let bits = bits_for(rows);
        let wide = width + bits;
        // This is checked before memory is allocated for an impossible size.
        stages.room(least_exchanges(rows), 1 + 2 * wide)?;
        let numbers = stages.numbers(rows, bits)?;
        let mut records: Vec<Vec<Reg>> =
            (0..rows).map(|r| [&numbers[r * bits..][..bits], &keys[r * width..][..width]].concat()).collect();
        let mut columns = vec![];
        for pairs in sort::columns(rows) {
            let reads: Vec<Reg> =
                pairs.iter().flat_map(|(a, b)| [&records[*a][..], &records[*b][..]].concat()).collect();
            let made = stages.run(pairs.len(), &[wide; 2], reads, |b, two| {
                let swap = words::less(b, &two[1], &two[0]);
                let (low, high) = words::swap(b, swap, &two[0], &two[1]);
                [&[swap][..], &low, &high].concat()
            })?;
            let mut swaps = vec![];
            for ((a, b), made) in pairs.iter().zip(made.chunks_exact(1 + 2 * wide)) {
                swaps.push(made[0]);
                records[*a] = made[1..=wide].to_vec();
                records[*b] = made[1 + wide..].to_vec();
            }
            columns.push(ExchangeColumn { pairs, swaps });
        }
        Ok(Permutation { rows, passes: vec![Pass { columns: Arc::new(columns), backwards: false }] })
    }

    /// The inverse permutation.
    pub(crate) fn inverted(&self) -> Self {
        let turned = |pass: &Pass| Pass { columns: pass.columns.clone(), backwards: !pass.backwards };
        Permutation { rows: self.rows, passes: self.passes.iter().rev().map(turned).collect() }
    }

    /// This permutation followed by the other one.
    pub(crate) fn then(&self, other: &Self) -> Self {
        Permutation { rows: self.rows, passes: [&self.passes[..], &other.passes].concat() }
    }

    /// The rows, of `width` registers, in the order of the permutation.
    pub(crate) fn apply(
        &self,
        stages: &mut Stages,
        width: usize,
        rows: &[Reg],
    ) -> Result<Vec<Reg>, ComputeError> {
        if width == 0 {
            return Ok(vec![]);
        }
        let mut rows: Vec<Vec<Reg>> = rows.chunks_exact(width).map(<[Reg]>::to_vec).collect();
        for pass in &self.passes {
            let n = pass.columns.len();
            for k in 0..n {
                let column = &pass.columns[if pass.backwards { n - 1 - k } else { k }];
                let both = column.pairs.iter().zip(&column.swaps);
                let reads =
                    both.flat_map(|((a, b), swap)| [&[*swap][..], &rows[*a], &rows[*b]].concat()).collect();
                let made = stages.run(column.pairs.len(), &[1, width, width], reads, |b, read| {
                    let (low, high) = words::swap(b, read[0][0], &read[1], &read[2]);
                    [low, high].concat()
                })?;
                for ((a, b), made) in column.pairs.iter().zip(made.chunks_exact(2 * width)) {
                    rows[*a] = made[..width].to_vec();
                    rows[*b] = made[width..].to_vec();
                }
            }
        }
        Ok(rows.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_network_has_fewer_exchanges_than_is_said() {
        let exchanges = |rows: usize| sort::columns(rows).map(|column| column.len()).sum::<usize>();
        for p in 0..9 {
            assert_eq!(least_exchanges(1 << p), exchanges(1 << p), "2^{p} rows");
        }
        for rows in 0..300 {
            assert!(least_exchanges(rows) <= exchanges(rows), "{rows} rows");
        }
    }
}
