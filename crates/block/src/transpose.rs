//! Transposition of row-major bit matrices; OT extension transposes 128 × n bits.
//!
//! A tile is 128 rows by one vector of column bytes. It is transposed as an index permutation in
//! three steps. `c` is the column's byte, `j` its bit, and the row is `r = 8 h + k`:
//!
//! ```text
//! load            register h,k   byte c   bit j
//! unpack 3 times  register h,..  byte k   bit j   rows of a group become bytes of a 64-bit word
//! turn            register h,..  byte j   bit k   8 × 8 bits in every word, one GFNI instruction
//! unpack 4 times  register c,j   byte h   bit k   row 8 c + j of the result, 16 bytes
//! ```

use crate::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes, Tier, dispatch};

/// Transposes `rows × cols` bits from `src` (rows of `cols / 8` bytes) to `dst` (`cols` rows of
/// `rows / 8` bytes). It uses GFNI if the CPU has it.
///
/// # Panics
/// If `rows` or `cols` is not a multiple of 8, a slice does not hold exactly the matrix, or the CPU
/// lacks `tier`.
pub fn bits(tier: Tier, src: &[u8], rows: usize, cols: usize, dst: &mut [u8]) {
    bits_with(tier, true, src, rows, cols, dst);
}

/// [`bits`], with GFNI only if `gfni`.
///
/// # Panics
/// The same as for [`bits`].
pub fn bits_with(tier: Tier, gfni: bool, src: &[u8], rows: usize, cols: usize, dst: &mut [u8]) {
    assert!(rows.is_multiple_of(8) && cols.is_multiple_of(8), "{rows} × {cols} bits are not whole bytes");
    let bytes = (rows / 8).checked_mul(cols).expect("the matrix fits in memory");
    assert!(src.len() == bytes && dst.len() == bytes, "{rows} × {cols} bits are {bytes} bytes");
    if bytes > 0 {
        dispatch(tier, gfni, BitMatrix { src, dst, rows, cols, streamed: false });
    }
}

/// Transposes 128 rows of W blocks, row-major, to 128 W columns of one block: bit `r` of `out[c]`
/// is bit `c` of row `r`.
///
/// # Panics
/// If `rows` is empty or not 128 rows, `out` has another length, or the CPU lacks `tier`.
pub fn rows128(tier: Tier, gfni: bool, rows: &[Block], out: &mut [Block]) {
    turn128(tier, gfni, rows, out, false);
}

/// The same as [`rows128`], but writes `out` past the caches if the CPU can and `out` is aligned to
/// 64 bytes. It is for results that exceed the caches and are not read soon.
///
/// # Panics
/// The same as for [`rows128`].
pub fn rows128_streamed(tier: Tier, gfni: bool, rows: &[Block], out: &mut [Block]) {
    turn128(tier, gfni, rows, out, true);
}

fn turn128(tier: Tier, gfni: bool, rows: &[Block], out: &mut [Block], streamed: bool) {
    assert!(!rows.is_empty() && rows.len().is_multiple_of(128), "{} blocks are not 128 rows", rows.len());
    assert_eq!(out.len(), rows.len(), "a block for every column");
    let (cols, src, dst) = (rows.len(), as_bytes(rows), as_bytes_mut(out));
    dispatch(tier, gfni, BitMatrix { src, dst, rows: 128, cols, streamed });
}

/// Transposes 64 rows of W blocks, row-major, to 128 W columns of one word: bit `r` of `out[c]` is
/// bit `c` of row `r`.
///
/// # Panics
/// If `rows` is empty or not 64 rows, `out` has another length, or the CPU lacks `tier`.
pub fn rows64(tier: Tier, gfni: bool, rows: &[Block], out: &mut [u64]) {
    assert!(!rows.is_empty() && rows.len().is_multiple_of(64), "{} blocks are not 64 rows", rows.len());
    assert_eq!(out.len(), 2 * rows.len(), "a word for every column");
    // The right half of a strip becomes rows 64 to 127, below the left half.
    const STRIP: usize = 32;
    let width = rows.len() / 64;
    let mut folded = vec![Block::ZERO; 64 * STRIP.min(width + width % 2)];
    let mut columns = folded.clone();
    for left in (0..width).step_by(STRIP) {
        let n = (width - left).min(STRIP);
        let half = n.div_ceil(2);
        for (r, row) in rows.chunks_exact(width).enumerate() {
            let (low, high) = row[left..left + n].split_at(half);
            folded[r * half..][..half].copy_from_slice(low);
            folded[(64 + r) * half..][..n - half].copy_from_slice(high);
        }
        let columns = &mut columns[..128 * half];
        rows128(tier, gfni, &folded[..128 * half], columns);
        let (low, high) = out[128 * left..128 * (left + n)].split_at_mut(128 * half);
        for (out, column) in low.iter_mut().zip(&*columns) {
            *out = column.to_u128() as u64;
        }
        for (out, column) in high.iter_mut().zip(&*columns) {
            *out = (column.to_u128() >> 64) as u64;
        }
    }
}

struct BitMatrix<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    rows: usize,
    cols: usize,
    streamed: bool,
}

/// The number of bytes of a row that are copied together if rows lie so far apart that they drop
/// out of the second-level cache. It is long enough for prefetchers, and short enough that 128
/// pieces fit into that cache.
const STRIP: usize = 2048;

impl Kernel for BitMatrix<'_> {
    const GFNI: bool = true;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let BitMatrix { src, dst, rows, cols, streamed } = self;
        let (width, height) = (cols / 8, rows / 8);
        let direct = width <= 2 * STRIP;
        let mut strip = vec![0; if direct { 0 } else { 128 * STRIP }];
        // Buffers: 8 × 8 rows by one vector, between the two halves of a tile; a cut-off tile's
        // input; its output.
        let mut mid = [l.zero(); 128];
        let whole = rows.is_multiple_of(128) && width.is_multiple_of(L::BYTES);
        let room = if whole { 0 } else { 128 * L::BYTES };
        let (mut from, mut to) = (vec![0; room], vec![0; room]);
        for row in (0..rows).step_by(128) {
            let (src, r) = (&src[row * width..], (rows - row).min(128));
            for left in (0..width).step_by(if direct { width } else { STRIP }) {
                let (src, stride, c) = if direct {
                    (src, width, width)
                } else {
                    let c = (width - left).min(STRIP);
                    for (i, line) in strip.chunks_exact_mut(STRIP).take(r).enumerate() {
                        line[..c].copy_from_slice(&src[i * width + left..][..c]);
                    }
                    (&strip[..], STRIP, c)
                };
                for col in (0..c).step_by(L::BYTES) {
                    let dst = &mut dst[8 * (left + col) * height + row / 8..];
                    let c = (c - col).min(L::BYTES);
                    if r == 128 && c == L::BYTES {
                        tile(l, &src[col..], stride, &mut mid, dst, height, streamed);
                        continue;
                    }
                    for (i, line) in from.chunks_exact_mut(L::BYTES).take(r).enumerate() {
                        line[..c].copy_from_slice(&src[i * stride + col..][..c]);
                    }
                    tile(l, &from, L::BYTES, &mut mid, &mut to, 16, false);
                    for (i, line) in to.chunks_exact(16).take(8 * c).enumerate() {
                        dst[i * height..i * height + r / 8].copy_from_slice(&line[..r / 8]);
                    }
                }
            }
        }
        if streamed {
            l.fence();
        }
    }
}

/// [`tile`] for tiers with vectors of four blocks, GFNI and a way to exchange bytes without
/// shuffling: stores are whole vectors.
///
/// ```text
///                 register          lane     byte    `c` has bits 5 to 0, h 3 to 0, k and j 2 to 0
/// load halves     h3 h1 h0 k c5     h2 c4    c3 c2 c1 c0
/// trade k0        h3 h1 h0 .. c0    h2 c4    c3 c2 c1 k0
/// unpack k1, k2   h3 h1 h0 ..       h2 c4    c1 k2 k1 k0
/// turn            h3 h1 h0 ..       h2 c4    c1 j2 j1 j0
/// unpack h1, h0   h3 ..             h2 c4    j1 j0 h1 h0
/// unzip and turn  c5 .. c0 j2       j1 j0    h3 h2 h1 h0      four rows 8 c + j of the result
/// ```
#[inline(always)]
fn tile_of_vectors<L: Lanes>(
    l: L,
    src: &[u8],
    width: usize,
    mid: &mut [L::V; 128],
    dst: &mut [u8],
    height: usize,
    streamed: bool,
) {
    for g in 0..8 {
        // Bits h3, h1 and h0 of the group's number; the vector's other half has h2 = 1.
        let h = (g & 4) << 1 | g & 3;
        for c5 in 0..2 {
            // Bytes from the last to the first, the order that `turn` expects.
            let mut v = l.load_halves(&src[8 * h * width + 32 * c5..], width, 32 * width);
            v.reverse();
            v = by_pairs(v, 1, |a, b| l.trade8(a, b));
            v = by_pairs(v, 2, |a, b| l.unpack::<16>(a, b));
            v = by_pairs(v, 4, |a, b| l.unpack::<32>(a, b));
            for (i, word) in v.into_iter().enumerate() {
                mid[64 * c5 + 8 * i + g] = turn(l, word);
            }
        }
    }
    for (group, i) in mid.chunks_exact(8).zip(0..) {
        let mut v = [l.zero(); 8];
        v.copy_from_slice(group);
        v = by_pairs(v, 2, |a, b| l.unpack::<8>(a, b));
        v = by_pairs(v, 1, |a, b| l.unpack::<8>(a, b));
        v = by_pairs(v, 4, |a, b| l.unzip_turned(a, b));
        // The group's number consists of c5 c2 c3 c0, the register's of c4 c1 j2.
        let row = 8 * ((i & 8) << 2 | (i & 4) | (i & 2) << 2 | i & 1);
        let dst = &mut dst[row * height..];
        if height == 16 {
            let dst = &mut dst[..16 * (8 * 18 + 8)];
            for (r, v) in v.into_iter().enumerate() {
                l.put(v, &mut dst[16 * (8 * ((r & 4) << 2 | r & 2) + 4 * (r & 1))..], streamed);
            }
        } else {
            for (r, v) in v.into_iter().enumerate() {
                let row = 8 * ((r & 4) << 2 | r & 2) + 4 * (r & 1);
                l.store_strided(v, &mut dst[row * height..], height);
            }
        }
    }
}

/// Applies `f` to pairs of registers whose numbers differ in `bit`.
#[inline(always)]
fn by_pairs<V: Copy>(mut v: [V; 8], bit: usize, f: impl Fn(V, V) -> (V, V)) -> [V; 8] {
    for i in 0..8 {
        if i & bit == 0 {
            (v[i], v[i | bit]) = f(v[i], v[i | bit]);
        }
    }
    v
}

/// Rearranges eight vectors: byte `i` of register `k` becomes byte `k` of 64-bit word `i`; register
/// `p` gets words 2p and 2p + 1 of every lane.
#[inline(always)]
fn words<L: Lanes>(l: L, v: [L::V; 8]) -> [L::V; 8] {
    let [a, b, c, d, e, f, g, h] = v;
    let ((ae0, ae1), (cg0, cg1)) = (l.unpack::<8>(a, e), l.unpack::<8>(c, g));
    let ((bf0, bf1), (dh0, dh1)) = (l.unpack::<8>(b, f), l.unpack::<8>(d, h));
    let ((x0, x1), (x2, x3)) = (l.unpack::<8>(ae0, cg0), l.unpack::<8>(ae1, cg1));
    let ((y0, y1), (y2, y3)) = (l.unpack::<8>(bf0, dh0), l.unpack::<8>(bf1, dh1));
    let ((z0, z1), (z2, z3)) = (l.unpack::<8>(x0, y0), l.unpack::<8>(x1, y1));
    let ((z4, z5), (z6, z7)) = (l.unpack::<8>(x2, y2), l.unpack::<8>(x3, y3));
    [z0, z1, z2, z3, z4, z5, z6, z7]
}

/// Transposes the 8 × 8 bits of every 64-bit word; if `L::GFNI` is set, the input has the word's
/// bytes reversed.
#[inline(always)]
fn turn<L: Lanes>(l: L, v: L::V) -> L::V {
    if L::GFNI {
        let unit = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        return l.gf8_affine_each(l.splat(&unit), v);
    }
    let mask = |m: u64| l.splat(&(u128::from(m) << 64 | u128::from(m)).to_le_bytes());
    let t = l.and(l.xor(v, l.shr64::<7>(v)), mask(0x00aa_00aa_00aa_00aa));
    let v = l.xor3(v, t, l.shl64::<7>(t));
    let t = l.and(l.xor(v, l.shr64::<14>(v)), mask(0x0000_cccc_0000_cccc));
    let v = l.xor3(v, t, l.shl64::<14>(t));
    let t = l.and(l.xor(v, l.shr64::<28>(v)), mask(0x0000_0000_f0f0_f0f0));
    l.xor3(v, t, l.shl64::<28>(t))
}

/// Transposes 128 rows, `width` bytes apart, by one vector, to `8 * L::BYTES` rows of 16 bytes,
/// `height` bytes apart.
#[inline(always)]
fn tile<L: Lanes>(
    l: L,
    src: &[u8],
    width: usize,
    mid: &mut [L::V; 128],
    dst: &mut [u8],
    height: usize,
    streamed: bool,
) {
    if L::GFNI && L::N == 4 {
        return tile_of_vectors(l, src, width, mid, dst, height, streamed);
    }
    for (h, group) in mid.chunks_exact_mut(8).enumerate() {
        let mut v = [l.zero(); 8];
        for (k, v) in v.iter_mut().enumerate() {
            let k = if L::GFNI { 7 - k } else { k };
            *v = l.load(&src[(8 * h + k) * width..]);
        }
        for (word, out) in words(l, v).into_iter().zip(group) {
            *out = turn(l, word);
        }
    }
    for p in 0..8 {
        let mut v = [l.zero(); 16];
        for (h, v) in v.iter_mut().enumerate() {
            *v = mid[8 * h + p];
        }
        // Four perfect shuffles turn the register's number h into the byte's number.
        let v = shuffled(l, shuffled(l, shuffled(l, shuffled(l, v))));
        for (q, v) in v.into_iter().enumerate() {
            l.store_strided(v, &mut dst[(16 * p + q) * height..], 128 * height);
        }
    }
}

/// Interleaves the bytes of registers i and i + 8.
#[inline(always)]
fn shuffled<L: Lanes>(l: L, v: [L::V; 16]) -> [L::V; 16] {
    let [a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7] = v;
    let ((c0, c1), (c2, c3)) = (l.unpack::<8>(a0, b0), l.unpack::<8>(a1, b1));
    let ((c4, c5), (c6, c7)) = (l.unpack::<8>(a2, b2), l.unpack::<8>(a3, b3));
    let ((d0, d1), (d2, d3)) = (l.unpack::<8>(a4, b4), l.unpack::<8>(a5, b5));
    let ((d4, d5), (d6, d7)) = (l.unpack::<8>(a6, b6), l.unpack::<8>(a7, b7));
    [c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4, d5, d6, d7]
}
