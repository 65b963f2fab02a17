//! The kernel of matrix products: `z += x_i (y_i + y_{i+1}) + x_{i+1} y_i` as one product of twice
//! the depth.
//!
//! ```text
//! left panel    M rows: place p of every row of x_i, then of x_{i+1}      broadcast to registers
//! right panel   N columns: row p of y_i + y_{i+1}, then of y_i            stays in the L1 cache
//! block         right panels of BLOCK columns, left panels of ROWS rows   stay in the L2 cache
//! ```
//!
//! Results of fewer columns than [`NARROW`] are computed as inner products of gathered rows and
//! transposed columns, because a panel would be mostly padding.

use super::{bilinear::FactorShares, dot::inner, word::Word};
use hushwire_aes::Backend;
use hushwire_block::{Flat, Wiped};
use hushwire_simd::{Kernel, Lanes};
use std::ops::Range;

/// LOCAL: rows and columns of the sums that stay in registers. Loops over [`N`] places become
/// vectors on every tier; 3 × 64 numbers of 64 bits take 24 of the 32 vectors of the widest tier.
const M: usize = 3;
const N: usize = 64;
/// LOCAL: bytes of a right panel.
const PANEL: usize = 32 << 10;
/// LOCAL: columns and rows of a block.
const BLOCK: usize = 8 * N;
const ROWS: usize = 22 * M;
/// LOCAL: the number of columns below which results are inner products, and the numbers gathered at
/// a time.
const NARROW: usize = 8;
const GATHERED: usize = 512;

/// The left factor, row by row. It need not lie in memory as a row-major matrix.
///
/// The kernel takes it as a trait object. It asks for a line of a panel at a time, so the call
/// costs little. The kernel's code, which is long on every tier, then exists once per word type.
pub(super) trait Left<W> {
    /// Copies the places from `from` on of one of its rows. `words` is the share `share` of the
    /// data from which the factor is made: x_i (0) or x_{i+1} (1).
    fn copy(&self, words: &[W], share: usize, row: usize, from: usize, out: &mut [W]);
}

/// A factor that all parties know is not a pair of shares. The kernel multiplies it by putting one
/// half of its depth in place of each share:
///
/// ```text
/// a b = a' b' + a'' b''       a' the first half of a's columns, b' the first half of b's rows;
///                             for an odd depth a'' ends in zeros
///     = x_i (y_i + y_{i+1}) + x_{i+1} y_i     with x_i = a', x_{i+1} = a'', y_i = b'',
///                                             y_{i+1} = b' − b''
/// ```
struct HalvedFactor<'a, W> {
    left: &'a dyn Left<W>,
    depth: usize,
}

impl<W: Word> Left<W> for HalvedFactor<'_, W> {
    fn copy(&self, words: &[W], share: usize, row: usize, from: usize, out: &mut [W]) {
        let first = share * self.depth.div_ceil(2) + from;
        let len = out.len().min(self.depth.saturating_sub(first));
        let (there, beyond) = out.split_at_mut(len);
        self.left.copy(words, share, row, first, there);
        beyond.fill(W::default());
    }
}

/// Computes `z += a b` for a left factor that is made from `a`, and `b`, row-major. The operands
/// are plain numbers, not shares.
pub(super) fn plain<W: Word>(
    backend: Backend,
    left: &dyn Left<W>,
    [rows, depth, columns]: [usize; 3],
    a: &[W],
    b: &[W],
    z: &mut [W],
) {
    let half = depth.div_ceil(2);
    let (first, second) = b.split_at(half * columns);
    let mut y = zeros(first.len(), W::default());
    y[..second.len()].copy_from_slice(second);
    let y_next: Vec<W> = first.iter().zip(&*y).map(|(first, second)| first.minus(*second)).collect();
    let y_next = Wiped::new(y_next);
    let left = HalvedFactor { left, depth };
    Gemm { left: &left, shape: [rows, half, columns], x: [a, a], y: [&y, &y_next], z }.run(backend);
}

/// Adds the product of the left factor (`rows` × `depth`) and `y` (`depth` × `columns`, row-major)
/// to `z`.
pub(super) struct Gemm<'a, W> {
    pub left: &'a dyn Left<W>,
    /// Rows, depth, columns.
    pub shape: [usize; 3],
    pub x: FactorShares<'a, W>,
    pub y: FactorShares<'a, W>,
    pub z: &'a mut [W],
}

/// The range of a block: rows, columns and depth.
#[derive(Clone)]
struct GemmPart {
    columns: Range<usize>,
    depth: Range<usize>,
}

impl<W: Word> Gemm<'_, W> {
    pub(super) fn run(mut self, backend: Backend) {
        let [rows, depth, columns] = self.shape;
        if depth == 0 {
            return;
        }
        if columns < NARROW {
            return backend.run(Narrow(self));
        }
        let deep = (PANEL / (2 * N * W::Wide::BYTES)).min(depth);
        let mut right =
            zeros::<[W::Wide; N]>(columns.min(BLOCK).div_ceil(N) * 2 * deep, [W::Wide::default(); N]);
        let mut left = zeros::<[W::Wide; M]>(rows.min(ROWS).div_ceil(M) * 2 * deep, [W::Wide::default(); M]);
        for column in (0..columns).step_by(BLOCK) {
            for from in (0..depth).step_by(deep) {
                let part = GemmPart {
                    columns: column..columns.min(column + BLOCK),
                    depth: from..depth.min(from + deep),
                };
                self.pack_right(&part, &mut right);
                for row in (0..rows).step_by(ROWS) {
                    let rows = row..rows.min(row + ROWS);
                    self.pack_left(rows.clone(), &part, &mut left);
                    self.multiply(backend, rows, &part, &left, &right);
                }
            }
        }
    }
}

fn zeros<T: Flat>(len: usize, zero: T) -> Wiped<Vec<T>> {
    Wiped::new(vec![zero; len])
}

impl<W: Word> Gemm<'_, W> {
    fn pack_right(&self, part: &GemmPart, panels: &mut [[W::Wide; N]]) {
        let (columns, deep) = (self.shape[2], part.depth.len());
        let starts = part.columns.clone().step_by(N);
        for (from, panel) in starts.zip(panels.chunks_exact_mut(2 * deep)) {
            let width = N.min(part.columns.end - from);
            let (sums, plain) = panel.split_at_mut(deep);
            for (p, (sums, plain)) in part.depth.clone().zip(sums.iter_mut().zip(plain)) {
                let [y, y_next] = self.y.map(|s| &s[p * columns + from..][..width]);
                for j in 0..width {
                    sums[j] = y[j].plus(y_next[j]).widen();
                    plain[j] = y[j].widen();
                }
            }
        }
    }

    fn pack_left(&self, rows: Range<usize>, part: &GemmPart, panels: &mut [[W::Wide; M]]) {
        let deep = part.depth.len();
        let mut line = Wiped::new([W::default(); PANEL / (4 * N)]);
        let line = &mut line[..deep];
        for (r, row) in rows.enumerate() {
            let panel = &mut panels[r / M * 2 * deep..][..2 * deep];
            for (share, half) in panel.chunks_exact_mut(deep).enumerate() {
                self.left.copy(self.x[share], share, row, part.depth.start, line);
                half.iter_mut().zip(&*line).for_each(|(places, word)| places[r % M] = word.widen());
            }
        }
    }

    fn multiply(
        &mut self,
        backend: Backend,
        rows: Range<usize>,
        part: &GemmPart,
        left: &[[W::Wide; M]],
        right: &[[W::Wide; N]],
    ) {
        let (columns, deep) = (self.shape[2], part.depth.len());
        for (from, right) in part.columns.clone().step_by(N).zip(right.chunks_exact(2 * deep)) {
            let width = N.min(part.columns.end - from);
            for (row, left) in rows.clone().step_by(M).zip(left.chunks_exact(2 * deep)) {
                let sums = backend.run(Tile { left, right });
                for (row, sums) in (row..rows.end).zip(&sums) {
                    let z = &mut self.z[row * columns + from..][..width];
                    z.iter_mut().zip(sums).for_each(|(z, sum)| *z = z.plus(W::narrow(*sum)));
                }
            }
        }
    }
}

/// Results with few columns: the right factor is transposed, and each row gives inner products.
struct Narrow<'a, W>(Gemm<'a, W>);

impl<W: Word> Kernel for Narrow<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Gemm { left, shape: [rows, depth, columns], x, y, z } = self.0;
        let turned = y.map(|share| {
            let mut turned = zeros(share.len(), W::default());
            for (p, row) in share.chunks_exact(columns).enumerate() {
                row.iter().enumerate().for_each(|(j, word)| turned[j * depth + p] = *word);
            }
            turned
        });
        let mut gathered = [Wiped::new([W::default(); GATHERED]), Wiped::new([W::default(); GATHERED])];
        for row in 0..rows {
            for from in (0..depth).step_by(GATHERED) {
                let len = GATHERED.min(depth - from);
                let [own, next] = &mut gathered;
                let (own, next) = (&mut own[..len], &mut next[..len]);
                left.copy(x[0], 0, row, from, own);
                left.copy(x[1], 1, row, from, next);
                for (j, z) in z[row * columns..][..columns].iter_mut().enumerate() {
                    let y = [&turned[0][j * depth + from..][..len], &turned[1][j * depth + from..][..len]];
                    *z = z.plus(inner([own, next], y));
                }
            }
        }
    }
}

/// The sums of a panel's rows and columns.
struct Tile<'a, T> {
    left: &'a [[T; M]],
    right: &'a [[T; N]],
}

impl<T: Word> Kernel for Tile<'_, T> {
    type Out = [[T; N]; M];
    /// A separate kernel with plain loops, on purpose: unrolled, or inlined into the loops around
    /// it, they are not always vectorized.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> [[T; N]; M] {
        let mut sums = [[T::default(); N]; M];
        for (left, right) in self.left.iter().zip(self.right) {
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = sums[i][j].plus(left[i].times(right[j]));
                }
            }
        }
        sums
    }
}
