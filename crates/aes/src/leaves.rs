//! Sums over the leaf streams of one tree: two leaves in IKNP, more in SoftSpoken (ePrint
//! 2022/192).
//!
//! ```text
//! r_y[i] = AES_{leaf y}(LE128(first + i))      y in 0 .. 2^k
//! u[i]   = ⊕ of all r_y[i]
//! v_b[i] = ⊕ of those r_y[i] where bit b of y is set
//! ```
//!
//! A group of leaves is encrypted in registers and folded there. On level `b` of the butterfly, the
//! odd leaves are added to row `b` and the sums of neighbours go up a level. If a tree has several
//! groups, their sums are added in memory, within the caches.

use crate::alone::unknown;
use crate::batch::{Counter, runs};
use crate::{Aes128, Backend};
use hushwire_block::{
    Block, as_bytes_mut,
    registry::{self, STREAM},
};
use hushwire_simd::{Kernel, Lanes};

/// The largest number of bits of a leaf's number within a group.
const BITS: usize = 4;

/// The task: the sums for blocks `start..end` of every row.
struct LeafSums<'a> {
    leaves: &'a [Aes128],
    punctured: bool,
    first: u128,
    start: usize,
    end: usize,
    rows: LeafRows<'a>,
}

/// The output: rows of `width` blocks, `bits` of them in `v`. `u` is empty if the caller does not
/// need it.
struct LeafRows<'a> {
    bits: usize,
    width: usize,
    u: &'a mut [u8],
    v: &'a mut [u8],
}

impl LeafRows<'_> {
    /// Adds the sums of group `g`, which has `2^low.len()` leaves, to the blocks from `at` on.
    #[inline(always)]
    fn put<L: Lanes, const C: usize>(
        &mut self,
        l: L,
        g: usize,
        at: usize,
        sum: &[L::V; C],
        low: &[[L::V; C]],
    ) {
        if !self.u.is_empty() {
            put(l, sum, g == 0, &mut self.u[16 * at..]);
        }
        for (b, low) in low.iter().enumerate() {
            put(l, low, g == 0, &mut self.v[16 * (b * self.width + at)..]);
        }
        for b in low.len()..self.bits {
            // The group's number is the upper bits of its leaves' numbers.
            let bit = 1 << (b - low.len());
            if g & bit != 0 {
                put(l, sum, g == bit, &mut self.v[16 * (b * self.width + at)..]);
            }
        }
    }
}

impl Kernel for LeafSums<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        // In bit slices, the leaves of a group share no work.
        if L::SOFT {
            self.all::<L, true>(l);
        } else {
            self.all::<L, false>(l);
        }
    }
}

/// The same sums without batching, one leaf after another.
struct LeafByLeaf<'a>(LeafSums<'a>);

impl Kernel for LeafByLeaf<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        self.0.all::<L, true>(l);
    }
}

/// Encrypts `x[y]` under leaf `y`, for leaves from `FROM` on, all leaves round by round.
#[inline(always)]
fn together<L: Lanes, const G: usize, const C: usize, const FROM: usize>(
    l: L,
    group: &[Aes128; G],
    x: &mut [[L::V; C]; G],
) {
    for y in FROM..G {
        let key = l.splat(&group[y].round_keys()[0]);
        for j in 0..C {
            x[y][j] = l.xor(x[y][j], key);
        }
    }
    for r in 1..10 {
        for y in FROM..G {
            let key = l.splat(&group[y].round_keys()[r]);
            for j in 0..C {
                x[y][j] = l.enc(x[y][j], key);
            }
        }
    }
    for y in FROM..G {
        let key = l.splat(&group[y].round_keys()[10]);
        for j in 0..C {
            x[y][j] = l.enc_last(x[y][j], key);
        }
    }
}

/// The same as [`together`], one leaf after another.
#[inline(always)]
fn one_by_one<L: Lanes, const G: usize, const C: usize, const FROM: usize>(
    l: L,
    group: &[Aes128; G],
    x: &mut [[L::V; C]; G],
) {
    for y in FROM..unknown(G) {
        l.encrypt(&group[y].vectors(l), &mut x[y]);
    }
}

/// Adds the odd ones of `2 n` neighbours to `row`; the sums of neighbours become the first `n`
/// elements.
#[inline(always)]
fn level<L: Lanes, const G: usize, const C: usize>(
    l: L,
    n: usize,
    x: &mut [[L::V; C]; G],
    row: &mut [L::V; C],
) {
    for i in 0..n {
        for j in 0..C {
            row[j] = l.xor(row[j], x[2 * i + 1][j]);
            x[i][j] = l.xor(x[2 * i][j], x[2 * i + 1][j]);
        }
    }
}

/// Writes vectors if `write` is set, otherwise XORs them into `dst`.
#[inline(always)]
fn put<L: Lanes, const C: usize>(l: L, v: &[L::V; C], write: bool, dst: &mut [u8]) {
    let dst = &mut dst[..C * L::BYTES];
    for j in 0..C {
        let dst = &mut dst[j * L::BYTES..(j + 1) * L::BYTES];
        let sum = if write { v[j] } else { l.xor(v[j], l.load(dst)) };
        l.store(sum, dst);
    }
}

impl LeafSums<'_> {
    /// Processes all leaves; if `ALONE` is set, one after another.
    #[inline(always)]
    fn all<L: Lanes, const ALONE: bool>(mut self, l: L) {
        // Eight states fill the pipeline and fit in 16 registers. Sixteen fit in 32 registers and
        // save sums in memory.
        match (self.leaves.len(), L::N == 4) {
            (2, _) => self.groups::<L, 2, 4, ALONE>(l),
            (4, _) => self.groups::<L, 4, 2, ALONE>(l),
            (_, true) => self.groups::<L, 16, 1, ALONE>(l),
            (_, false) => self.groups::<L, 8, 1, ALONE>(l),
        }
    }

    /// Takes `G` leaves at a time, with `C` vectors of counters under each.
    #[inline(always)]
    fn groups<L: Lanes, const G: usize, const C: usize, const ALONE: bool>(&mut self, l: L) {
        for (g, group) in self.leaves.as_chunks::<G>().0.iter().enumerate() {
            if g == 0 && self.punctured {
                self.group::<L, G, C, 1, ALONE>(l, g, group);
            } else {
                self.group::<L, G, C, 0, ALONE>(l, g, group);
            }
        }
    }

    /// Processes the leaves of group `g` from `FROM` on.
    #[inline(always)]
    fn group<L: Lanes, const G: usize, const C: usize, const FROM: usize, const ALONE: bool>(
        &mut self,
        l: L,
        g: usize,
        group: &[Aes128; G],
    ) {
        let (bits, n) = (G.ilog2() as usize, C * L::N);
        let mut counter = Counter::<L, C>::new(l, self.first, 1);
        let mut at = self.start;
        while at < self.end {
            let mut x = [counter.next(l); G];
            if ALONE {
                one_by_one::<L, G, C, FROM>(l, group, &mut x);
            } else {
                together::<L, G, C, FROM>(l, group, &mut x);
            }
            if FROM == 1 {
                x[0] = [l.zero(); C];
            }
            let mut low = [[l.zero(); C]; BITS];
            // The levels are unrolled by hand, because their registers must be known at compile
            // time.
            level(l, G / 2, &mut x, &mut low[0]);
            level(l, G / 4, &mut x, &mut low[1]);
            level(l, G / 8, &mut x, &mut low[2]);
            level(l, G / 16, &mut x, &mut low[3]);
            if self.end - at >= n {
                self.rows.put(l, g, at, &x[0], &low[..bits]);
            } else {
                self.tail(l, g, at, &x[0], &low[..bits]);
            }
            at += n;
        }
    }

    /// The same as [`LeafRows::put`] for the last blocks, through rows that are as wide as the
    /// vectors.
    #[inline(always)]
    fn tail<L: Lanes, const C: usize>(
        &mut self,
        l: L,
        g: usize,
        at: usize,
        sum: &[L::V; C],
        low: &[[L::V; C]],
    ) {
        let LeafRows { bits, width, u, v } = &mut self.rows;
        let (n, len) = (16 * C * L::N, 16 * (self.end - at));
        let (mut staged_u, mut staged_v) = ([0; 512], [0; 8 * 512]);
        let row = |b: usize| 16 * (b * *width + at)..16 * (b * *width + at) + len;
        for b in 0..*bits {
            staged_v[b * n..b * n + len].copy_from_slice(&v[row(b)]);
        }
        if !u.is_empty() {
            staged_u[..len].copy_from_slice(&u[row(0)]);
        }
        let mut staged = LeafRows { bits: *bits, width: C * L::N, u: &mut staged_u, v: &mut staged_v };
        staged.put(l, g, 0, sum, low);
        for b in 0..*bits {
            v[row(b)].copy_from_slice(&staged_v[b * n..b * n + len]);
        }
        if !u.is_empty() {
            u[row(0)].copy_from_slice(&staged_u[..len]);
        }
    }
}

impl Backend {
    fn sums(self, sums: LeafSums<'_>) {
        if self.is_batched() { self.run(sums) } else { self.run_alone(LeafByLeaf(sums)) }
    }

    /// Sums the streams of the leaves. With r_y\[i\] = AES under `leaves[y]` of LE128(first + i),
    /// counting modulo 2^128, it sets `u[i]` to the XOR of all r_y\[i\]. It sets row b of `v`, that
    /// is `v[b * u.len() + i]`, to the XOR of those r_y\[i\] for which bit b of y is set.
    ///
    /// # Panics
    /// If the number of leaves is not 2, 4, 16 or 256, or `v` does not have a row for every bit of
    /// their numbers.
    pub fn leaf_sums(&self, leaves: &[Aes128], first: u128, u: &mut [Block], v: &mut [Block]) {
        let (bits, width) = (bits(leaves), u.len());
        assert_eq!(v.len(), bits * width, "a row for every bit");
        let (u, v) = (as_bytes_mut(u), as_bytes_mut(v));
        leaves.iter().for_each(|leaf| registry::used(STREAM, leaf.bytes(), first, width));
        for (first, start, end) in runs(first, width) {
            let rows = LeafRows { bits, width, u: &mut *u, v: &mut *v };
            self.sums(LeafSums { leaves, punctured: false, first, start, end, rows });
        }
    }

    /// Makes the rows `v` of [`Backend::leaf_sums`] from all leaves but the first. No row contains
    /// the first leaf, so that its place may hold any key. A party that lacks leaf α puts leaf α ⊕
    /// y in place y.
    ///
    /// # Panics
    /// If the number of leaves is not 2, 4, 16 or 256, or `v` is not divisible into one row for
    /// every bit of their numbers.
    pub fn leaf_sums_punctured(&self, leaves: &[Aes128], first: u128, v: &mut [Block]) {
        let bits = bits(leaves);
        let width = v.len() / bits;
        assert_eq!(v.len(), bits * width, "a row for every bit");
        let v = as_bytes_mut(v);
        leaves[1..].iter().for_each(|leaf| registry::used(STREAM, leaf.bytes(), first, width));
        for (first, start, end) in runs(first, width) {
            let rows = LeafRows { bits, width, u: &mut [], v: &mut *v };
            self.sums(LeafSums { leaves, punctured: true, first, start, end, rows });
        }
    }
}

/// The number of bits of a leaf's number.
fn bits(leaves: &[Aes128]) -> usize {
    assert!(matches!(leaves.len(), 2 | 4 | 16 | 256), "{} leaves: not 2, 4, 16 or 256", leaves.len());
    leaves.len().ilog2() as usize
}
