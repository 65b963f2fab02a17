//! The vector interface every tier implements, and the kernel interface that [`crate::dispatch`] calls.

/// A vector of `N` 128-bit lanes and the operations on it. Implemented by tokens: having one proves the features.
///
/// Memory order is little-endian everywhere: byte `i` of a vector is byte `i` of the slice it was loaded from.
pub trait Lanes: Copy + Send + Sync {
    /// 128-bit lanes (AES blocks) in a vector.
    const N: usize;
    /// Bytes in a vector, `16 * N`.
    const BYTES: usize = 16 * Self::N;
    /// Whether [`Lanes::gf8_mul`] and [`Lanes::gf8_affine`] are single instructions here.
    const GFNI: bool;
    /// The vector.
    type V: Copy;

    /// All zero.
    fn zero(self) -> Self::V;
    /// The same 16 bytes in every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// The first [`Lanes::BYTES`] bytes of `src`.
    ///
    /// # Panics
    /// If `src` is shorter (the caller's bug).
    fn load(self, src: &[u8]) -> Self::V;
    /// Writes to the first [`Lanes::BYTES`] bytes of `dst`.
    ///
    /// # Panics
    /// If `dst` is shorter (the caller's bug).
    fn store(self, v: Self::V, dst: &mut [u8]);
    /// Bitwise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// `!a & b`.
    fn andnot(self, a: Self::V, b: Self::V) -> Self::V;
    /// Logical shift right of every 64-bit word by `S` bits, `S < 64`.
    fn shr64<const S: i32>(self, a: Self::V) -> Self::V;
    /// Logical shift left of every 64-bit word by `S` bits, `S < 64`.
    fn shl64<const S: i32>(self, a: Self::V) -> Self::V;
    /// Wrapping addition of 64-bit words.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Moves bytes inside each 128-bit lane: byte `i` of a lane becomes byte `idx[i] & 15` of it, or 0 where
    /// `idx[i]` has its top bit set. Indices are public.
    fn shuffle(self, a: Self::V, idx: Self::V) -> Self::V;
    /// One AES round on every lane: ShiftRows, SubBytes, MixColumns, then `^ key`.
    fn enc(self, state: Self::V, key: Self::V) -> Self::V;
    /// The last AES round (no MixColumns) on every lane.
    fn enc_last(self, state: Self::V, key: Self::V) -> Self::V;
    /// Bytewise product in GF(2^8) modulo x^8+x^4+x^3+x+1.
    fn gf8_mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bytewise `M·x` over GF(2), `M` as GFNI's: byte `7-i` of `matrix` is the row that makes output bit `i`.
    fn gf8_affine(self, a: Self::V, matrix: u64) -> Self::V;

    /// `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }

    /// Encrypts `M` vectors under `R - 1`-round AES (`R` = 11, 13 or 15 round keys), interleaved to fill the pipeline.
    #[inline(always)]
    fn encrypt<const M: usize, const R: usize>(self, keys: &[Self::V; R], blocks: &mut [Self::V; M]) {
        for b in blocks.iter_mut() {
            *b = self.xor(*b, keys[0]);
        }
        for key in &keys[1..R - 1] {
            for b in blocks.iter_mut() {
                *b = self.enc(*b, *key);
            }
        }
        for b in blocks.iter_mut() {
            *b = self.enc_last(*b, keys[R - 1]);
        }
    }
}

/// A computation written once for every tier.
///
/// Mark `run` and everything it calls `#[inline(always)]`: only then does it compile with the tier's instructions.
pub trait Kernel {
    /// What it returns.
    type Out;
    /// Runs with the given tier's operations.
    fn run<L: Lanes>(self, lanes: L) -> Self::Out;
}
