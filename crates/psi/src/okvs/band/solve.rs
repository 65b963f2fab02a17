//! Solves a bin: sorts rows by their starts, eliminates, then computes entries from the last to the
//! first.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::{Block, as_bytes_mut};
use hushwire_ot::vole::Base;
use hushwire_prg::Prg;
use hushwire_simd::{Kernel, Lanes};

use super::rows::{BATCH, Band, GROUP, Makes, Sum, WORDS, plane, seed};
use crate::okvs::NoSolution;
use crate::okvs::{Digest, Module};

/// The words of a row: a ring of columns. A band covers a part of it, from any start.
const RING: usize = 8;
/// The number of groups of eight columns of the ring.
const BYTES: usize = 8 * RING;

/// A row; bit i is column i modulo the ring.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct BandRow([u64; RING]);

/// The rows of one bin, and the memory for solving it.
pub(crate) struct Solver<B, V> {
    band: Band,
    makes: Makes,
    starts: Vec<u32>,
    seeds: Vec<Block>,
    values: Vec<V>,
    /// Rows in the order of their starts, and the first row of each start.
    order: Vec<u32>,
    firsts: Vec<u32>,
    /// The columns that lead a row, as bits; the row and value of each.
    taken: Vec<u64>,
    rows: Vec<BandRow>,
    of_rows: Vec<V>,
    /// The words of entries, followed by space.
    planes: [Vec<Block>; 2],
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> Solver<B, V> {
    pub(crate) fn new(backend: Backend, band: &Band) -> Self {
        let columns = band.columns().next_multiple_of(64);
        let plane = |is_there: bool| {
            let count = if is_there { columns } else { 0 };
            plane(core::iter::empty(), count, 64 * RING)
        };
        Self {
            band: *band,
            makes: Makes::new(backend),
            starts: Vec::new(),
            seeds: Vec::new(),
            values: Vec::new(),
            order: Vec::new(),
            firsts: Vec::new(),
            taken: vec![0; columns / 64],
            rows: vec![BandRow::default(); columns],
            of_rows: vec![V::default(); columns],
            planes: [plane(true), plane(V::WORDS > 1)],
            field: PhantomData,
        }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.seeds.clear();
        self.values.clear();
    }

    /// Adds a pair to the bin.
    #[inline]
    pub(crate) fn push(&mut self, digest: &Digest, value: V) {
        self.starts.push(self.band.start(digest));
        self.seeds.push(seed(digest));
        self.values.push(value);
    }

    /// See [`Encoder::solve`](crate::okvs::Encoder::solve).
    pub(crate) fn solve(&mut self, out: &mut [V], fill: Option<&mut Prg>) -> Result<(), NoSolution> {
        assert_eq!(out.len(), self.band.columns(), "the entries of a bin");
        match fill {
            None => out.fill(V::default()),
            Some(prg) => out.fill_with(|| V::random(prg)),
        }
        self.sort();
        self.taken.fill(0);
        let (order, backend) = (core::mem::take(&mut self.order), self.makes.backend);
        let mut bands = [[0; WORDS]; BATCH];
        let mut solved = Ok(());
        for rows in order.chunks(BATCH) {
            let bands = &mut bands[..rows.len()];
            let seeds = rows.iter().map(|row| self.seeds[*row as usize]);
            self.band.rows(&self.makes, seeds, bands);
            solved = backend.run(Reduce { solver: self, rows, bands, field: PhantomData });
            if solved.is_err() {
                break;
            }
        }
        self.order = order;
        solved?;
        backend.run(Back { solver: self, out, field: PhantomData });
        Ok(())
    }

    /// Sorts rows by their starts.
    fn sort(&mut self) {
        self.firsts.clear();
        self.firsts.resize(self.band.columns() + 1, 0);
        self.starts.iter().for_each(|start| self.firsts[*start as usize + 1] += 1);
        for i in 1..self.firsts.len() {
            self.firsts[i] += self.firsts[i - 1];
        }
        self.order.resize(self.starts.len(), 0);
        for (row, start) in self.starts.iter().enumerate() {
            let next = &mut self.firsts[*start as usize];
            self.order[*next as usize] = row as u32;
            *next += 1;
        }
    }

    /// Reduces a row from the left until it leads with a column that no other row leads with.
    #[inline(always)]
    fn reduce(&mut self, start: usize, band: &[u64; WORDS], mut value: V) -> Result<(), NoSolution> {
        let mut row = BandRow::default();
        let (first, shift) = (start / 64, start % 64);
        let mut carry = 0;
        for (i, word) in band.iter().enumerate() {
            row.0[(first + i) % RING] = word << shift | carry;
            // Two shifts, since a shift by 64 would do nothing.
            carry = word >> 1 >> (63 - shift);
        }
        row.0[(first + WORDS) % RING] = carry;
        for word in first..first + RING {
            loop {
                let bits = row.0[word % RING];
                if bits == 0 {
                    break;
                }
                let column = 64 * word + bits.trailing_zeros() as usize;
                let bit = bits & bits.wrapping_neg();
                if self.taken[word] & bit == 0 {
                    self.taken[word] |= bit;
                    self.rows[column] = row;
                    self.of_rows[column] = value;
                    return Ok(());
                }
                let other = &self.rows[column];
                row.0.iter_mut().zip(other.0).for_each(|(word, other)| *word ^= other);
                value = value.plus(self.of_rows[column]);
            }
        }
        // A repeated row, or one that contradicts others.
        if value == V::default() { Ok(()) } else { Err(NoSolution) }
    }
}

/// The part of [`Solver::solve`] that makes rows lead with different columns.
struct Reduce<'a, B, V> {
    solver: &'a mut Solver<B, V>,
    rows: &'a [u32],
    bands: &'a [[u64; WORDS]],
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> Kernel for Reduce<'_, B, V> {
    type Out = Result<(), NoSolution>;

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> Self::Out {
        let Reduce { solver, rows, bands, .. } = self;
        for (row, band) in rows.iter().zip(bands) {
            let row = *row as usize;
            solver.reduce(solver.starts[row] as usize, band, solver.values[row])?;
        }
        Ok(())
    }
}

/// The part of [`Solver::solve`] that finds entries.
struct Back<'a, B, V> {
    solver: &'a mut Solver<B, V>,
    out: &'a mut [V],
    field: PhantomData<B>,
}

impl<B: Base, V: Module<B>> Kernel for Back<'_, B, V> {
    type Out = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Back { solver, out, .. } = self;
        let Solver { taken, rows, of_rows, planes, .. } = solver;
        let [low, high] = planes;
        let (low, high) = (as_bytes_mut(low), as_bytes_mut(high));
        for at in (0..out.len().div_ceil(8)).rev() {
            let leads = (taken[at / 8] >> (8 * (at % 8))) as u8;
            let out = &mut out[8 * at..];
            let count = out.len().min(8);
            let (rows, of_rows) = (&rows[8 * at..8 * at + 8], &of_rows[8 * at..8 * at + 8]);
            // The part of each row that comes from entries after these eight; then the entries,
            // from the last one on.
            let (mut sums, mut near) = ([[0; 2]; 8], [0; 8]);
            for i in (0..count).filter(|i| leads >> i & 1 == 1) {
                let bits = as_bits(&rows[i]);
                near[i] = bits[at % BYTES];
                let mut sum = [Sum::new(l); 2];
                for j in 1..=8 * WORDS {
                    let (bits, place) = (bits[(at + j) % BYTES], GROUP * (at + j));
                    sum[0].add(l, &low[place..place + GROUP], bits);
                    if V::WORDS > 1 {
                        sum[1].add(l, &high[place..place + GROUP], bits);
                    }
                }
                sums[i] = sum.map(|sum| sum.total(l));
            }
            let mut found = [[0; 2]; 8];
            for i in (0..count).rev() {
                if leads >> i & 1 == 0 {
                    found[i] = out[i].words();
                    continue;
                }
                let value = of_rows[i].words();
                let mut sum = [sums[i][0] ^ value[0], sums[i][1] ^ value[1]];
                for j in i + 1..8 {
                    let mask = 0u64.wrapping_sub(u64::from(near[i]) >> j & 1);
                    sum = [sum[0] ^ found[j][0] & mask, sum[1] ^ found[j][1] & mask];
                }
                found[i] = sum;
                out[i] = V::of_words(sum);
            }
            for (i, [a, b]) in found.into_iter().enumerate() {
                let at = GROUP * at + 8 * i;
                low[at..at + 8].copy_from_slice(&a.to_le_bytes());
                if V::WORDS > 1 {
                    high[at..at + 8].copy_from_slice(&b.to_le_bytes());
                }
            }
        }
    }
}

/// The bits of a row, byte by byte.
#[inline(always)]
fn as_bits(row: &BandRow) -> [u8; BYTES] {
    let mut bits = [0; BYTES];
    for (word, bits) in row.0.iter().zip(bits.chunks_exact_mut(8)) {
        bits.copy_from_slice(&word.to_le_bytes());
    }
    bits
}
