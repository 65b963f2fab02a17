//! The portable tier: four blocks in eight 64-bit words, AES bit-sliced, no table and no
//! secret-dependent branch.
//!
//! Slicing 64 bytes (word `j`, byte `i`) gives eight planes; bit `8i + j` of plane `b` is bit `b`
//! of that byte:
//!
//! ```text
//! word j, byte i  ->  block j/2, AES row i & 3, AES column 2(j & 1) + (i >> 2)
//! ```
//!
//! MixColumns therefore rotates 32-bit halves by bytes, and ShiftRows moves bytes and swaps
//! neighbouring bits.

use crate::gf8::{affine_soft, mul_soft};
use crate::planes::{planes_linear, planes_mul, slice8};
use crate::{Kernel, Lanes, sbox};

/// The tier that every CPU has.
#[derive(Clone, Copy)]
pub struct Portable;

type FourBlocks = [u64; 8];

/// Swaps the bits of `q[hi]` under `mask` with those of `q[lo]` under `mask << s`.
#[inline(always)]
fn swap_move(q: &mut FourBlocks, lo: usize, hi: usize, s: u32, mask: u64) {
    let t = ((q[lo] >> s) ^ q[hi]) & mask;
    q[hi] ^= t;
    q[lo] ^= t << s;
}

/// Turns bytes into planes, and planes into bytes.
#[inline(always)]
fn slice(q: &mut FourBlocks) {
    for i in [0, 2, 4, 6] {
        swap_move(q, i, i + 1, 1, 0x5555_5555_5555_5555);
    }
    for i in [0, 1, 4, 5] {
        swap_move(q, i, i + 2, 2, 0x3333_3333_3333_3333);
    }
    for i in 0..4 {
        swap_move(q, i, i + 4, 4, 0x0f0f_0f0f_0f0f_0f0f);
    }
}

/// Plain 64-bit words as Boolean gates.
struct WordGates;

impl sbox::Gates for WordGates {
    type W = u64;
    #[inline(always)]
    fn xor(&mut self, a: u64, b: u64) -> u64 {
        a ^ b
    }
    #[inline(always)]
    fn and(&mut self, a: u64, b: u64) -> u64 {
        a & b
    }
    #[inline(always)]
    fn not(&mut self, a: u64) -> u64 {
        !a
    }
}

#[inline(always)]
fn shift_rows(x: u64) -> u64 {
    let s = ((x & 0x5555_5555_5555_5555) << 1) | ((x >> 1) & 0x5555_5555_5555_5555);
    (x & 0x0000_00ff_0000_00ff)
        | ((x >> 32) & 0x0000_ff00)
        | ((s << 32) & 0x0000_ff00_0000_0000)
        | (s & 0x00ff_0000_00ff_0000)
        | ((s >> 32) & 0xff00_0000)
        | ((x << 32) & 0xff00_0000_0000_0000)
}

/// Rotates the bytes of every column by one row: the byte of row `r` moves to row `r + 1`.
#[inline(always)]
fn next_row(x: u64) -> u64 {
    ((x >> 8) & 0x00ff_ffff_00ff_ffff) | ((x << 24) & 0xff00_0000_ff00_0000)
}

#[inline(always)]
fn mix_columns(q: &mut FourBlocks) {
    let t: FourBlocks = std::array::from_fn(|b| q[b] ^ next_row(q[b]));
    for b in 0..8 {
        let double = match b {
            0 => t[7],
            1 | 3 | 4 => t[b - 1] ^ t[7],
            _ => t[b - 1],
        };
        // 2(a0+a1) + a1 + a2 + a3, where a2 + a3 is a0 + a1 rotated by two rows.
        q[b] = double ^ next_row(q[b]) ^ next_row(next_row(t[b]));
    }
}

#[inline(always)]
fn sub_shift(q: &mut FourBlocks) {
    *q = sbox::forward(&mut WordGates, *q);
    for plane in q.iter_mut() {
        *plane = shift_rows(*plane);
    }
}

#[inline(always)]
fn zip(a: FourBlocks, b: FourBlocks, f: impl Fn(u64, u64) -> u64) -> FourBlocks {
    std::array::from_fn(|i| f(a[i], b[i]))
}

fn to_bytes(a: &FourBlocks) -> [u8; 64] {
    let mut out = [0; 64];
    for (o, w) in out.chunks_exact_mut(8).zip(a) {
        o.copy_from_slice(&w.to_le_bytes());
    }
    out
}

fn from_bytes(b: &[u8; 64]) -> FourBlocks {
    std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| b[8 * i + j])))
}

/// Puts `W` zero bits after each `W`-bit element of the lower 32 bits.
#[inline(always)]
fn spread<const W: usize>(x: u64) -> u64 {
    let mut x = x & 0xffff_ffff;
    if W <= 16 {
        x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    }
    if W <= 8 {
        x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    }
    x
}

/// Runs a kernel in this tier. It is not inlined, so that one copy serves every caller of
/// `dispatch`.
#[inline(never)]
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Out {
    kernel.run(Portable)
}

/// AES on every block: slices once for a whole cipher, not once for each round. It is not inlined,
/// since bit-sliced rounds are long and kernels are many.
#[inline(never)]
fn encrypt_all(keys: &[FourBlocks], blocks: &mut [FourBlocks]) {
    let mut sliced = [[0; 8]; 15];
    let sliced = &mut sliced[..keys.len()];
    sliced.copy_from_slice(keys);
    sliced.iter_mut().for_each(slice);
    let (first, last) = (sliced[0], sliced[keys.len() - 1]);
    for block in blocks {
        let mut q = *block;
        slice(&mut q);
        q = Portable.xor(q, first);
        for key in &sliced[1..keys.len() - 1] {
            sub_shift(&mut q);
            mix_columns(&mut q);
            q = Portable.xor(q, *key);
        }
        sub_shift(&mut q);
        q = Portable.xor(q, last);
        slice(&mut q);
        *block = q;
    }
}

impl Lanes for Portable {
    const N: usize = 4;
    const GFNI: bool = false;
    const SOFT: bool = true;
    type V = FourBlocks;

    #[inline(always)]
    fn zero(self) -> FourBlocks {
        [0; 8]
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> FourBlocks {
        let half = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| block[8 * i + j]));
        std::array::from_fn(|i| half(i & 1))
    }
    #[inline(always)]
    fn load(self, src: &[u8]) -> FourBlocks {
        let src = &src[..64];
        std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| src[8 * i + j])))
    }
    #[inline(always)]
    fn store(self, v: FourBlocks, dst: &mut [u8]) {
        for (o, w) in dst[..64].chunks_exact_mut(8).zip(v) {
            o.copy_from_slice(&w.to_le_bytes());
        }
    }
    #[inline(always)]
    fn xor(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        zip(a, b, |x, y| x ^ y)
    }
    #[inline(always)]
    fn and(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        zip(a, b, |x, y| x & y)
    }
    #[inline(always)]
    fn or(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        zip(a, b, |x, y| x | y)
    }
    #[inline(always)]
    fn andnot(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        zip(a, b, |x, y| !x & y)
    }
    #[inline(always)]
    fn shr64<const S: i32>(self, a: FourBlocks) -> FourBlocks {
        a.map(|x| x >> S)
    }
    #[inline(always)]
    fn shl64<const S: i32>(self, a: FourBlocks) -> FourBlocks {
        a.map(|x| x << S)
    }
    #[inline(always)]
    fn shr64_by(self, a: FourBlocks, bits: u32) -> FourBlocks {
        a.map(|x| x.checked_shr(bits).unwrap_or(0))
    }
    #[inline(always)]
    fn shl64_by(self, a: FourBlocks, bits: u32) -> FourBlocks {
        a.map(|x| x.checked_shl(bits).unwrap_or(0))
    }
    #[inline(always)]
    fn add64(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        zip(a, b, u64::wrapping_add)
    }
    #[inline(never)]
    fn shuffle(self, a: FourBlocks, idx: FourBlocks) -> FourBlocks {
        let (a, idx) = (to_bytes(&a), to_bytes(&idx));
        let mut out = [0; 64];
        for (i, o) in out.iter_mut().enumerate() {
            // Indices are public; bytes are not.
            *o = if idx[i] & 0x80 == 0 { a[(i & !15) + usize::from(idx[i] & 15)] } else { 0 };
        }
        from_bytes(&out)
    }
    #[inline(never)]
    fn enc(self, state: FourBlocks, key: FourBlocks) -> FourBlocks {
        let mut q = state;
        slice(&mut q);
        sub_shift(&mut q);
        mix_columns(&mut q);
        slice(&mut q);
        self.xor(q, key)
    }
    #[inline(never)]
    fn enc_last(self, state: FourBlocks, key: FourBlocks) -> FourBlocks {
        let mut q = state;
        slice(&mut q);
        sub_shift(&mut q);
        slice(&mut q);
        self.xor(q, key)
    }
    #[inline(never)]
    fn gf8_mul(self, a: FourBlocks, b: FourBlocks) -> FourBlocks {
        let (a, b) = (to_bytes(&a), to_bytes(&b));
        from_bytes(&std::array::from_fn(|i| mul_soft(a[i], b[i])))
    }
    #[inline(never)]
    fn gf8_affine(self, a: FourBlocks, matrix: u64) -> FourBlocks {
        from_bytes(&to_bytes(&a).map(|x| affine_soft(x, matrix)))
    }

    #[inline(never)]
    fn slice(self, v: &mut [FourBlocks; 8]) {
        slice8(self, v);
    }
    #[inline(never)]
    fn planes_mul(self, a: &[FourBlocks; 8], b: &[FourBlocks; 8]) -> [FourBlocks; 8] {
        planes_mul(self, a, b)
    }
    #[inline(never)]
    fn planes_linear(self, a: &[FourBlocks; 8], matrix: u64) -> [FourBlocks; 8] {
        planes_linear(self, a, matrix)
    }

    #[inline(always)]
    fn encrypt<const M: usize, const R: usize>(self, keys: &[FourBlocks; R], blocks: &mut [FourBlocks; M]) {
        encrypt_all(keys, blocks);
    }

    fn encrypt_xor<const M: usize, const R: usize>(
        self,
        keys: &[FourBlocks; R],
        masks: &[FourBlocks; M],
        blocks: &mut [FourBlocks; M],
    ) {
        self.encrypt(keys, blocks);
        for (b, m) in blocks.iter_mut().zip(masks) {
            *b = self.xor(*b, *m);
        }
    }

    fn encrypt_sum<const M: usize, const R: usize>(
        self,
        k0: &[FourBlocks; R],
        k1: &[FourBlocks; R],
        blocks: &mut [FourBlocks; M],
    ) {
        let mut other = *blocks;
        self.encrypt(k0, blocks);
        self.encrypt(k1, &mut other);
        for (a, b) in blocks.iter_mut().zip(other) {
            *a = self.xor(*a, b);
        }
    }

    #[inline(always)]
    fn zip(self, [a0, a1, a2, a3, a4, a5, a6, a7]: FourBlocks, b: FourBlocks) -> (FourBlocks, FourBlocks) {
        ([a0, a1, b[0], b[1], a2, a3, b[2], b[3]], [a4, a5, b[4], b[5], a6, a7, b[6], b[7]])
    }
    #[inline(always)]
    fn unzip(self, [a0, a1, a2, a3, a4, a5, a6, a7]: FourBlocks, b: FourBlocks) -> (FourBlocks, FourBlocks) {
        ([a0, a1, a4, a5, b[0], b[1], b[4], b[5]], [a2, a3, a6, a7, b[2], b[3], b[6], b[7]])
    }

    fn unpack<const W: usize>(self, a: FourBlocks, b: FourBlocks) -> (FourBlocks, FourBlocks) {
        // Words 2i and 2i + 1 are the halves of lane i.
        let half = |h: usize| -> FourBlocks {
            std::array::from_fn(|j| {
                let (x, y) = (a[(j & !1) + h], b[(j & !1) + h]);
                if W == 64 {
                    return if j & 1 == 0 { x } else { y };
                }
                let s = 32 * (j & 1);
                spread::<W>(x >> s) | spread::<W>(y >> s) << W
            })
        };
        (half(0), half(1))
    }
}
