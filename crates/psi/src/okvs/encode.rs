//! Solves a bin of a clustered store: peeling, then the core, then back-substitution.

use core::marker::PhantomData;

use hushwire_ot::vole::Base;
use hushwire_prg::Prg;
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};

use super::two_core::{Core, dense_powers};
use super::{DENSE, Digest, Layout, Module, NoSolution, dense};

/// SECURITY: the largest number of rows of a core that is eliminated. A larger core counts as a
/// failure; it occurs only for chosen digests.
pub(super) const MOST: usize = 1 << 11;

/// The rows that have a position: their count, and the XOR of their numbers.
#[derive(Clone, Copy, Default)]
struct PeelCell {
    rows: u32,
    sum: u32,
}

/// The rows of one bin, and the memory for solving it.
pub(crate) struct Peeler<B, V> {
    layout: Layout,
    clmul: Clmul,
    positions: Vec<[u32; 3]>,
    dense: Vec<u64>,
    values: Vec<V>,
    cells: Vec<PeelCell>,
    /// The rows, and the positions at which they were peeled, in that order.
    order: Vec<[u32; 2]>,
    stack: Vec<u32>,
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> Peeler<B, V> {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            layout: *layout,
            clmul: Clmul::best(),
            positions: Vec::new(),
            dense: Vec::new(),
            values: Vec::new(),
            cells: Vec::new(),
            order: Vec::new(),
            stack: Vec::new(),
            field: PhantomData,
        }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.positions.clear();
        self.dense.clear();
        self.values.clear();
    }

    /// Adds a pair to the bin.
    #[inline]
    pub(crate) fn push(&mut self, digest: &Digest, value: V) {
        self.positions.push(self.layout.positions(digest));
        self.dense.push(dense(digest));
        self.values.push(value);
    }

    /// See [`Encoder::solve`](super::Encoder::solve).
    pub(crate) fn solve(&mut self, out: &mut [V], fill: Option<&mut Prg>) -> Result<usize, NoSolution> {
        assert_eq!(out.len(), self.layout.bin_entries(), "the entries of a bin");
        match fill {
            None => out.fill(V::default()),
            Some(prg) => out.fill_with(|| V::random(prg)),
        }
        self.count();
        for at in 0..self.cells.len() {
            self.peel(at as u32);
        }
        self.clmul.run(Solve { peeler: self, out, field: PhantomData })
    }

    fn count(&mut self) {
        self.cells.clear();
        self.cells.resize(self.layout.bin_entries() - DENSE, PeelCell::default());
        self.order.clear();
        for (row, positions) in self.positions.iter().enumerate() {
            for at in positions {
                let cell = &mut self.cells[*at as usize];
                cell.rows += 1;
                cell.sum ^= row as u32;
            }
        }
    }

    /// Peels rows as long as position `at`, or a position that becomes free on the way, belongs to
    /// one row only.
    #[inline]
    fn peel(&mut self, at: u32) {
        let mut next = Some(at);
        while let Some(at) = next {
            let PeelCell { rows: 1, sum: row } = self.cells[at as usize] else {
                next = self.stack.pop();
                continue;
            };
            self.order.push([row, at]);
            self.remove(row);
            next = self.stack.pop();
        }
    }

    fn remove(&mut self, row: u32) {
        for at in self.positions[row as usize] {
            let cell = &mut self.cells[at as usize];
            cell.rows -= 1;
            cell.sum ^= row;
            if cell.rows == 1 {
                self.stack.push(at);
            }
        }
    }

    /// The numbers of the rows that are not peeled.
    fn unpeeled(&self) -> Vec<u32> {
        let mut there = vec![true; self.positions.len()];
        self.order.iter().for_each(|[row, _]| there[*row as usize] = false);
        (0..there.len() as u32).filter(|row| there[*row as usize]).collect()
    }

    /// Removes repeated rows, and continues to peel. Returns the core's rows.
    ///
    /// # Errors
    /// Two rows differ only in their values, or the core is too large.
    fn core(&mut self) -> Result<Vec<u32>, NoSolution> {
        let mut rows = self.unpeeled();
        rows.sort_unstable_by_key(|row| (self.dense[*row as usize], *row));
        let same = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            self.dense[a] == self.dense[b] && self.positions[a] == self.positions[b]
        };
        let (mut twice, mut differ) = (vec![], false);
        let mut first = 0;
        for i in 1..rows.len() {
            if same(rows[first], rows[i]) {
                differ |= self.values[rows[first] as usize] != self.values[rows[i] as usize];
                twice.push(rows[i]);
            } else {
                first = i;
            }
        }
        if differ {
            return Err(NoSolution);
        }
        for row in &twice {
            self.remove(*row);
            // The row no longer has a position.
            self.order.push([*row, u32::MAX]);
        }
        while let Some(at) = self.stack.pop() {
            self.peel(at);
        }
        let rows = self.unpeeled();
        self.order.retain(|[_, at]| *at != u32::MAX);
        if rows.len() > MOST { Err(NoSolution) } else { Ok(rows) }
    }
}

/// The part of [`Peeler::solve`] that multiplies.
struct Solve<'a, B, V> {
    peeler: &'a mut Peeler<B, V>,
    out: &'a mut [V],
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> WordKernel for Solve<'_, B, V> {
    type Out = Result<usize, NoSolution>;

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> Self::Out {
        let Solve { peeler, out, .. } = self;
        let (sparse, dense) = out.split_at_mut(peeler.cells.len());
        let mut bound = 0;
        if peeler.order.len() < peeler.positions.len() {
            let rows = peeler.core()?;
            let mut core = Core::new();
            for row in rows {
                let row = row as usize;
                core.add(peeler.positions[row], dense_powers(peeler.dense[row], words), peeler.values[row]);
            }
            bound = core.solve(sparse, dense, words)?;
        }
        let is_dense = dense.iter().any(|d| *d != V::default());
        for [row, at] in peeler.order.iter().rev() {
            let (row, at) = (*row as usize, *at as usize);
            let [a, b, c] = peeler.positions[row].map(|at| sparse[at as usize]);
            let mut value = peeler.values[row].plus(a).plus(b).plus(c);
            if is_dense {
                let powers: [B; DENSE] = dense_powers(peeler.dense[row], words);
                for (power, d) in powers.iter().zip(&*dense) {
                    value = value.plus(d.scaled(*power, words));
                }
            }
            // One of the three terms is the old content at that place.
            sparse[at] = sparse[at].plus(value);
        }
        Ok(bound)
    }
}
