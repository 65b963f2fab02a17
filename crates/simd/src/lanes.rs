//! The vector interface that every tier implements, and the kernel interface that
//! [`crate::dispatch`] calls.

/// A vector of `N` 128-bit lanes and the operations on it. Tokens implement it, and each is a proof
/// that the CPU has the features.
///
/// Memory order is little-endian everywhere: byte `i` of a vector is byte `i` of the slice it was
/// loaded from.
pub trait Lanes: Copy + Send + Sync {
    /// The number of 128-bit lanes (AES blocks) in a vector.
    const N: usize;
    /// The number of bytes in a vector, `16 * N`.
    const BYTES: usize = 16 * Self::N;
    /// Whether [`Lanes::gf8_mul`] and [`Lanes::gf8_affine`] are single instructions in this tier.
    const GFNI: bool;
    /// Whether AES is computed in bit slices. A round is then hundreds of instructions: kernels
    /// call it, and do not inline it.
    const SOFT: bool = false;
    /// The vector.
    type V: Copy;

    /// A vector of zero bits.
    fn zero(self) -> Self::V;
    /// The same 16 bytes in every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// The first [`Lanes::BYTES`] bytes of `src`.
    ///
    /// # Panics
    /// If `src` is shorter (the caller's bug).
    fn load(self, src: &[u8]) -> Self::V;
    /// The first words of `src`, `2 * N` of them.
    ///
    /// # Panics
    /// If there are fewer (the caller's bug).
    #[inline(always)]
    fn load64(self, src: &[u64]) -> Self::V {
        let mut bytes = [[0; 8]; 8];
        for (bytes, word) in bytes.iter_mut().zip(&src[..2 * Self::N]) {
            *bytes = word.to_le_bytes();
        }
        self.load(bytes.as_flattened())
    }
    /// Writes to the first `2 * N` words of `dst`.
    ///
    /// # Panics
    /// If `dst` is shorter (the caller's bug).
    #[inline(always)]
    fn store64(self, v: Self::V, dst: &mut [u64]) {
        let mut bytes = [0; 64];
        self.store(v, &mut bytes);
        for (word, bytes) in dst[..2 * Self::N].iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    /// Writes to the first [`Lanes::BYTES`] bytes of `dst`.
    ///
    /// # Panics
    /// If `dst` is shorter (the caller's bug).
    fn store(self, v: Self::V, dst: &mut [u8]);
    /// Stores past the caches if the CPU can and `dst` is aligned to a vector. [`Lanes::fence`]
    /// must follow the last such store.
    ///
    /// # Panics
    /// The same as for [`Lanes::store`].
    #[inline(always)]
    fn stream(self, v: Self::V, dst: &mut [u8]) {
        self.store(v, dst);
    }
    /// Calls [`Lanes::stream`] if `streamed` is set, otherwise [`Lanes::store`].
    #[inline(always)]
    fn put(self, v: Self::V, dst: &mut [u8], streamed: bool) {
        if streamed {
            self.stream(v, dst);
        } else {
            self.store(v, dst);
        }
    }
    /// Ends a run of [`Lanes::stream`]: its writes come before all later ones.
    #[inline(always)]
    fn fence(self) {}
    /// Bitwise XOR.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise AND.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise OR.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// `!a & b`.
    fn andnot(self, a: Self::V, b: Self::V) -> Self::V;
    /// Logical shift right of every 64-bit word by `S` bits, `S < 64`.
    fn shr64<const S: i32>(self, a: Self::V) -> Self::V;
    /// Logical shift left of every 64-bit word by `S` bits, `S < 64`.
    fn shl64<const S: i32>(self, a: Self::V) -> Self::V;
    /// Logical shift right of every 64-bit word by `bits`, a public number up to 64; 64 gives 0.
    fn shr64_by(self, a: Self::V, bits: u32) -> Self::V;
    /// Logical shift left of every 64-bit word by `bits`, a public number up to 64; 64 gives 0.
    fn shl64_by(self, a: Self::V, bits: u32) -> Self::V;
    /// Wrapping addition of 64-bit words.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;
    /// Moves bytes within each 128-bit lane: byte `i` of a lane becomes byte `idx[i] & 15` of it,
    /// or 0 if `idx[i]` has its top bit set. Indices are public.
    fn shuffle(self, a: Self::V, idx: Self::V) -> Self::V;
    /// One AES round on every lane: ShiftRows, SubBytes, MixColumns, then `^ key`.
    fn enc(self, state: Self::V, key: Self::V) -> Self::V;
    /// The last AES round (no MixColumns) on every lane.
    fn enc_last(self, state: Self::V, key: Self::V) -> Self::V;
    /// Bytewise product in GF(2^8) modulo x^8+x^4+x^3+x+1.
    fn gf8_mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bytewise `M·x` over GF(2) with GFNI's matrix layout: byte `7-i` of `matrix` is the row that
    /// makes output bit `i`.
    fn gf8_affine(self, a: Self::V, matrix: u64) -> Self::V;

    /// Interleaves the `W`-bit elements (`W` = 8, 16, 32 or 64) of the lower halves of each 128-bit
    /// lane, then of the upper halves: `(a0 b0 a1 b1 .., ..)`.
    fn unpack<const W: usize>(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);

    /// Interleaves the lanes of `a` and `b`, `a0 b0 a1 b1 ..`, into two vectors.
    fn zip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// The even lanes of `a` followed by `b`, then the odd lanes: the inverse of [`Lanes::zip`].
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);

    /// Interleaves the even bytes of `a` and `b`, `a0 b0 a2 b2 ..`, then the odd bytes: transposes
    /// 2 × 2 bytes.
    #[inline(always)]
    fn trade8(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        let even = self.splat(&[0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0]);
        let first = self.or(self.and(even, a), self.shl64::<8>(self.and(even, b)));
        (first, self.or(self.and(even, self.shr64::<8>(a)), self.andnot(even, b)))
    }

    /// [`Lanes::unzip`] followed by a transposition of `N × 4` words of 32 bits to `4 × N` in each
    /// vector: word `4 i + j` becomes word `N j + i`.
    #[inline(always)]
    fn unzip_turned(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        let turned = |v| {
            let (mut from, mut to) = ([0; 64], [0; 64]);
            self.store(v, &mut from);
            for i in 0..Self::N {
                for j in 0..4 {
                    let (f, t) = (16 * i + 4 * j, 4 * (Self::N * j + i));
                    to[t..t + 4].copy_from_slice(&from[f..f + 4]);
                }
            }
            self.load(&to)
        };
        let (even, odd) = self.unzip(a, b);
        (turned(even), turned(odd))
    }

    /// Loads eight vectors that start `stride` bytes apart. The second half of each lies `apart`
    /// bytes after the start of its first half.
    ///
    /// # Panics
    /// If `src` ends before the last half (the caller's bug).
    #[inline(always)]
    fn load_halves(self, src: &[u8], stride: usize, apart: usize) -> [Self::V; 8] {
        let (mut v, half) = ([self.zero(); 8], Self::BYTES / 2);
        for i in 0..8 {
            let mut bytes = [0; 64];
            bytes[..half].copy_from_slice(&src[i * stride..][..half]);
            bytes[half..2 * half].copy_from_slice(&src[i * stride + apart..][..half]);
            v[i] = self.load(&bytes);
        }
        v
    }

    /// Loads lane `i` from the 16 bytes at `i * stride`.
    ///
    /// # Panics
    /// If `src` ends before the last lane (the caller's bug).
    #[inline(always)]
    fn load_strided(self, src: &[u8], stride: usize) -> Self::V {
        let mut bytes = [0; 64];
        for i in 0..Self::N {
            bytes[16 * i..16 * i + 16].copy_from_slice(&src[i * stride..i * stride + 16]);
        }
        self.load(&bytes)
    }

    /// Loads lane `i` of two vectors from the blocks of `src` at the indices `at[i]`; pairs beyond
    /// the last lane are ignored.
    ///
    /// # Panics
    /// If there are fewer pairs than lanes, or an index is outside `src` (the caller's bug).
    #[inline(always)]
    fn load_pairs(self, src: &[[u8; 16]], at: &[[u32; 2]]) -> (Self::V, Self::V) {
        let (mut a, mut b) = ([0; 64], [0; 64]);
        for i in 0..Self::N {
            a[16 * i..16 * i + 16].copy_from_slice(&src[at[i][0] as usize]);
            b[16 * i..16 * i + 16].copy_from_slice(&src[at[i][1] as usize]);
        }
        (self.load(&a), self.load(&b))
    }

    /// Stores lane `i` to the 16 bytes at `i * stride`.
    ///
    /// # Panics
    /// If `dst` ends before the last lane (the caller's bug).
    #[inline(always)]
    fn store_strided(self, v: Self::V, dst: &mut [u8], stride: usize) {
        let mut bytes = [0; 64];
        self.store(v, &mut bytes);
        for i in 0..Self::N {
            dst[i * stride..i * stride + 16].copy_from_slice(&bytes[16 * i..16 * i + 16]);
        }
    }

    /// [`Lanes::gf8_affine`] with a separate matrix for each 64-bit word: word `i` of `matrices`
    /// multiplies every byte of word `i` of `x`.
    fn gf8_affine_each(self, x: Self::V, matrices: Self::V) -> Self::V {
        let (mut bytes, mut rows) = ([0; 64], [0; 64]);
        self.store(x, &mut bytes);
        self.store(matrices, &mut rows);
        for (word, m) in bytes.chunks_exact_mut(8).zip(rows.chunks_exact(8)) {
            let m = u64::from_le_bytes(std::array::from_fn(|i| m[i]));
            word.iter_mut().for_each(|b| *b = crate::gf8::affine_soft(*b, m));
        }
        self.load(&bytes)
    }

    /// Turns eight vectors of bytes into eight bit planes and back (see [`crate::bytes::Sliced`]).
    /// This and the other operations on planes are not inlined, because they would enlarge every
    /// kernel of every tier.
    fn slice(self, v: &mut [Self::V; 8]);
    /// Products of elements of GF(2^8) in bit planes.
    fn planes_mul(self, a: &[Self::V; 8], b: &[Self::V; 8]) -> [Self::V; 8];
    /// A GF(2)-linear map of elements in bit planes.
    #[inline(always)]
    fn planes_linear(self, a: &[Self::V; 8], matrix: u64) -> [Self::V; 8] {
        crate::planes::planes_linear(self, a, matrix)
    }

    /// Returns `a` and `b`, and makes the compiler compute both before it uses either. Chains of
    /// operations that are interleaved in the source then stay interleaved. A compiler tends to put
    /// one behind the other, which saves registers and leaves units idle.
    #[inline(always)]
    fn abreast(self, a: Self::V, b: Self::V) -> (Self::V, Self::V) {
        (a, b)
    }

    /// `a ^ b ^ c`.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }

    /// Encrypts `M` vectors with `R - 1`-round AES (`R` = 11, 13 or 15 round keys), interleaved to
    /// fill the pipeline.
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

    /// [`Lanes::encrypt`], then `blocks[i] ^= masks[i]`; the last round adds each mask with its
    /// key.
    #[inline(always)]
    fn encrypt_xor<const M: usize, const R: usize>(
        self,
        keys: &[Self::V; R],
        masks: &[Self::V; M],
        blocks: &mut [Self::V; M],
    ) {
        for b in blocks.iter_mut() {
            *b = self.xor(*b, keys[0]);
        }
        for key in &keys[1..R - 1] {
            for b in blocks.iter_mut() {
                *b = self.enc(*b, *key);
            }
        }
        for (b, m) in blocks.iter_mut().zip(masks) {
            *b = self.enc_last(*b, self.xor(keys[R - 1], *m));
        }
    }

    /// Replaces `blocks[i]` by `AES_k0(blocks[i]) ^ AES_k1(blocks[i])`, with `2 M` vectors in
    /// flight.
    #[inline(always)]
    fn encrypt_sum<const M: usize, const R: usize>(
        self,
        k0: &[Self::V; R],
        k1: &[Self::V; R],
        blocks: &mut [Self::V; M],
    ) {
        let mut other = *blocks;
        for (a, b) in blocks.iter_mut().zip(&mut other) {
            *a = self.xor(*a, k0[0]);
            *b = self.xor(*b, k1[0]);
        }
        for (x, y) in k0[1..R - 1].iter().zip(&k1[1..R - 1]) {
            for a in blocks.iter_mut() {
                *a = self.enc(*a, *x);
            }
            for b in &mut other {
                *b = self.enc(*b, *y);
            }
        }
        // The last round is linear in its key: the first cipher's output is part of the second's
        // last key.
        let last = self.xor(k0[R - 1], k1[R - 1]);
        for a in blocks.iter_mut() {
            *a = self.enc_last(*a, last);
        }
        for (a, b) in blocks.iter_mut().zip(other) {
            *a = self.enc_last(b, *a);
        }
    }
}

/// A computation written once for every tier.
///
/// `run` and everything that it calls must be marked `#[inline(always)]`: only then does it compile
/// with the tier's instructions.
pub trait Kernel {
    /// Whether the kernel uses GFNI ([`Lanes::GFNI`], [`Lanes::gf8_mul`], [`Lanes::gf8_affine`]).
    /// If so, each tier is compiled twice, with those instructions and without. `vaes512`, whose
    /// CPUs all have them, is an exception: without GFNI, `vaes256`'s form runs in its place.
    const GFNI: bool = false;
    /// Whether the kernel only needs single blocks. If so, the wider tiers are not compiled and
    /// must not be dispatched to.
    const NARROW: bool = false;
    /// Whether the portable tier runs this kernel. If another form serves that tier, this one is
    /// not compiled for it and must not be dispatched to it.
    const PORTABLE: bool = true;
    /// The kernel's result.
    type Out;
    /// Runs with the given tier's operations.
    fn run<L: Lanes>(self, lanes: L) -> Self::Out;
}
