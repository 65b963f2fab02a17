//! Eliminates the positions, then the dense entries, of the rows that peeling leaves.

use core::marker::PhantomData;

use hushwire_ot::vole::Base;
use hushwire_simd::clmul::ClmulWords;

use super::NoSolution;
use super::{DENSE, Module};

/// The powers k̂, k̂², k̂³.
#[inline(always)]
pub(super) fn dense_powers<B: Base, W: ClmulWords>(dense: u64, words: W) -> [B; DENSE] {
    let k = B::from_word(dense);
    let square = k.times(k, words);
    [k, square, square.times(k, words)]
}

/// An equation: the sum of the sparse entries at `positions`, in descending order, and of multiples
/// of the dense ones.
#[derive(Clone)]
struct CoreRow<B, V> {
    positions: Vec<u32>,
    dense: [B; DENSE],
    value: V,
}

impl<B: Base, V: Module<B>> CoreRow<B, V> {
    fn add(&mut self, other: &Self) {
        let mut sum = Vec::with_capacity(self.positions.len() + other.positions.len());
        let (mut a, mut b) = (self.positions.iter().peekable(), other.positions.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x == y => {
                    a.next();
                    b.next();
                }
                (Some(x), y) if y.is_none_or(|y| *x > y) => {
                    sum.push(**x);
                    a.next();
                }
                (_, Some(y)) => {
                    sum.push(**y);
                    b.next();
                }
                _ => break,
            }
        }
        self.positions = sum;
        for (d, other) in self.dense.iter_mut().zip(other.dense) {
            *d = d.plus(other);
        }
        self.value = self.value.plus(other.value);
    }
}

/// Equations in echelon form: each leads with a different position, its largest.
pub(super) struct Core<B, V> {
    rows: Vec<CoreRow<B, V>>,
    /// Equations that only contain dense entries.
    dense: Vec<CoreRow<B, V>>,
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> Core<B, V> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), dense: Vec::new(), field: PhantomData }
    }

    pub(super) fn add(&mut self, mut positions: [u32; 3], dense: [B; DENSE], value: V) {
        positions.sort_unstable_by(|a, b| b.cmp(a));
        let mut row = CoreRow { positions: positions.to_vec(), dense, value };
        while let Some(lead) = row.positions.first().copied() {
            match self.rows.binary_search_by_key(&lead, |row| row.positions[0]) {
                Ok(at) => row.add(&self.rows[at]),
                Err(at) => return self.rows.insert(at, row),
            }
        }
        self.dense.push(row);
    }

    /// Sets the entries that the equations determine; returns the number of dense entries among
    /// them.
    pub(super) fn solve<W: ClmulWords>(
        mut self,
        sparse: &mut [V],
        dense: &mut [V],
        words: W,
    ) -> Result<usize, NoSolution> {
        let bound = self.solve_dense(dense, words)?;
        // Rows are in ascending order of their first position, so the others are already set.
        for row in &self.rows {
            let (lead, rest) = row.positions.split_first().expect("a row in echelon form leads");
            let value = rest.iter().fold(row.value, |sum, at| sum.plus(sparse[*at as usize]));
            sparse[*lead as usize] = sum_of(value, &row.dense, dense, words);
        }
        Ok(bound)
    }

    fn solve_dense<W: ClmulWords>(&mut self, dense: &mut [V], words: W) -> Result<usize, NoSolution> {
        let mut solved: Vec<(usize, CoreRow<B, V>)> = Vec::new();
        for mut row in core::mem::take(&mut self.dense) {
            for (lead, other) in &solved {
                scaled_away(&mut row, *lead, other, words);
            }
            let Some(lead) = row.dense.iter().position(|d| *d != B::default()) else {
                // The equation vanishes, or contradicts the others.
                if row.value == V::default() { continue } else { return Err(NoSolution) }
            };
            let inverse = row.dense[lead].inverse(words);
            row.dense = row.dense.map(|d| d.times(inverse, words));
            row.value = row.value.scaled(inverse, words);
            for (_, other) in &mut solved {
                let (row, other) = (&row, other);
                scaled_away(other, lead, row, words);
            }
            solved.push((lead, row));
        }
        for (lead, row) in &solved {
            dense[*lead] = V::default();
            // The row contains only entries that no equation leads with, and its own entry with
            // factor one.
            let mut others = row.dense;
            others[*lead] = B::default();
            dense[*lead] = sum_of(row.value, &others, dense, words);
        }
        Ok(solved.len())
    }
}

/// `value` plus the multiples of dense entries.
fn sum_of<B: Base, V: Module<B>, W: ClmulWords>(value: V, factors: &[B; DENSE], dense: &[V], words: W) -> V {
    factors.iter().zip(dense).fold(value, |sum, (factor, d)| sum.plus(d.scaled(*factor, words)))
}

/// Subtracts the multiple of `other`, whose factor at `lead` is one, that cancels `row`'s factor
/// there.
fn scaled_away<B: Base, V: Module<B>, W: ClmulWords>(
    row: &mut CoreRow<B, V>,
    lead: usize,
    other: &CoreRow<B, V>,
    words: W,
) {
    let factor = row.dense[lead];
    for (d, other) in row.dense.iter_mut().zip(other.dense) {
        *d = d.plus(other.times(factor, words));
    }
    row.value = row.value.plus(other.value.scaled(factor, words));
}
