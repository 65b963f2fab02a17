//! AES-NI, VAES-256 and VAES-512 tokens, with and without GFNI.

use crate::gf8::{affine_soft, mul_soft};
use crate::planes::{planes_mul, slice8};
use crate::{Kernel, Lanes, Tier};
use std::arch::{asm, x86_64::*};
use std::mem::MaybeUninit;

/// The AES-NI token, with one block in each vector; with GFNI if `G` is set. Only
/// [`crate::dispatch`] makes it, after detection.
#[derive(Clone, Copy)]
pub struct X128<const G: bool>(());
/// The token of VAES on 256-bit vectors; with GFNI if `G` is set. Only [`crate::dispatch`] makes
/// it, after detection.
#[derive(Clone, Copy)]
pub struct X256<const G: bool>(());
/// The token of VAES on 512-bit vectors; with GFNI if `G` is set. Only [`crate::dispatch`] makes
/// it, after detection.
#[derive(Clone, Copy)]
pub struct X512<const G: bool>(());

/// Runs `kernel` behind the wrapper of its tier. The caller has checked that the CPU has `tier`
/// and, if `gfni`, GFNI.
pub(crate) fn run<K: Kernel>(tier: Tier, gfni: bool, kernel: K) -> K::Out {
    // The kernel's constants prevent the compilation of wrappers that it does not request.
    let gfni = K::GFNI && gfni;
    // SAFETY: `dispatch` checked the tier and GFNI against what was detected, and each wrapper
    // enables only features that its tier's detection requires.
    unsafe {
        match tier {
            Tier::Portable | Tier::Neon if !K::PORTABLE => {
                unreachable!("a kernel of AES instructions on the portable tier")
            }
            Tier::Portable | Tier::Neon => crate::portable::run(kernel),
            Tier::AesNi if K::GFNI && gfni => x128g(kernel),
            Tier::AesNi => x128(kernel),
            Tier::Vaes256 | Tier::Vaes512 if K::NARROW => {
                unreachable!("a kernel of single blocks on a wider tier")
            }
            Tier::Vaes256 if K::GFNI && gfni => x256g(kernel),
            Tier::Vaes256 => x256(kernel),
            Tier::Vaes512 if K::GFNI && gfni => x512g(kernel),
            // Every CPU of this tier has GFNI. Only a caller can choose not to use it, and this
            // case is not worth a separate form.
            Tier::Vaes512 if K::GFNI => x256(kernel),
            Tier::Vaes512 => x512(kernel),
        }
    }
}

/// Puts an object with the alignment of `V` into the caller's frame, and so aligns the frame. LLVM
/// aligns a frame only for its objects: without such an object, spilled vectors cross cache lines.
#[inline(always)]
fn align_frame<V>() {
    let place = MaybeUninit::<V>::uninit();
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {} */", in(reg) &raw const place, options(nostack, preserves_flags)) }
}

macro_rules! wrapper {
    ($name:ident, $features:literal, $token:expr, $v:ty) => {
        #[target_feature(enable = $features)]
        fn $name<K: Kernel>(kernel: K) -> K::Out {
            align_frame::<$v>();
            kernel.run($token)
        }
    };
}
wrapper!(
    x512g,
    "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,sse4.1,ssse3,gfni",
    X512::<true>(()),
    __m512i
);
wrapper!(x512, "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,sse4.1,ssse3", X512::<false>(()), __m512i);
wrapper!(x256g, "vaes,aes,avx2,sse4.1,ssse3,gfni", X256::<true>(()), __m256i);
wrapper!(x256, "vaes,aes,avx2,sse4.1,ssse3", X256::<false>(()), __m256i);
wrapper!(x128g, "aes,sse4.1,ssse3,gfni", X128::<true>(()), __m128i);
wrapper!(x128, "aes,sse4.1,ssse3", X128::<false>(()), __m128i);

/// Runs a portable bytewise operation through memory, only if GFNI is missing, off the fast paths.
macro_rules! through_memory {
    ($self:ident, $n:literal, $f:ident, $a:expr, $b:expr) => {{
        let (mut x, mut y) = ([0u8; $n], [0u8; $n]);
        $self.store($a, &mut x);
        $self.store($b, &mut y);
        for (p, q) in x.iter_mut().zip(y) {
            *p = $f(*p, q);
        }
        $self.load(&x)
    }};
}

macro_rules! lanes {
    ($token:ident, $features:literal, $n:literal, $bytes:literal, $v:ty, load $load:ident, store $store:ident, zero $zero:ident,
     splat $splat:expr, xor $xor:ident, and $and:ident, or $or:ident, andnot $andnot:ident, add64 $add64:ident,
     srl $srl:ident, sll $sll:ident, shuffle $shuffle:ident, enc $enc:ident, last $last:ident, mul $mul:ident,
     affine $affine:ident, set64 $set64:ident, unpack $(($lo:ident, $hi:ident))*,
     gather $gather:ident, each $each:ident, scatter $scatter:ident, zip $zip:ident, unzip $unzip:ident,
     abreast $abreast:ident $(,
     trade $trade:ident, turned $turned:ident, halves $halves:ident)?) => {
        impl<const G: bool> Lanes for $token<G> {
            const N: usize = $n;
            const GFNI: bool = G;
            type V = $v;

            #[inline(always)]
            fn slice(self, v: &mut [$v; 8]) {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn out_of_line<const G: bool>(l: $token<G>, v: &mut [$v; 8]) {
                    slice8(l, v);
                }
                // SAFETY: the token proves the features.
                unsafe { out_of_line(self, v) }
            }
            #[inline(always)]
            fn planes_mul(self, a: &[$v; 8], b: &[$v; 8]) -> [$v; 8] {
                #[target_feature(enable = $features)]
                #[inline(never)]
                fn out_of_line<const G: bool>(l: $token<G>, a: &[$v; 8], b: &[$v; 8]) -> [$v; 8] {
                    planes_mul(l, a, b)
                }
                // SAFETY: the token proves the features.
                unsafe { out_of_line(self, a, b) }
            }
            #[inline(always)]
            fn zero(self) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $zero() }
            }
            #[inline(always)]
            fn splat(self, block: &[u8; 16]) -> $v {
                // SAFETY: the token proves the features; `block` is 16 readable bytes, any
                // alignment.
                unsafe { $splat(_mm_loadu_si128(block.as_ptr().cast())) }
            }
            #[inline(always)]
            fn load(self, src: &[u8]) -> $v {
                assert!(src.len() >= $bytes);
                // SAFETY: the token proves the features; the length was checked, alignment is not
                // needed.
                unsafe { $load(src.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, v: $v, dst: &mut [u8]) {
                assert!(dst.len() >= $bytes);
                // SAFETY: the token proves the features; the length was checked, alignment is not
                // needed.
                unsafe { $store(dst.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn xor(self, a: $v, b: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $xor(a, b) }
            }
            #[inline(always)]
            fn and(self, a: $v, b: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $and(a, b) }
            }
            #[inline(always)]
            fn or(self, a: $v, b: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $or(a, b) }
            }
            #[inline(always)]
            fn andnot(self, a: $v, b: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $andnot(a, b) }
            }
            #[inline(always)]
            fn shr64<const S: i32>(self, a: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $srl(a, _mm_cvtsi32_si128(S)) }
            }
            #[inline(always)]
            fn shl64<const S: i32>(self, a: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $sll(a, _mm_cvtsi32_si128(S)) }
            }
            #[inline(always)]
            fn shr64_by(self, a: $v, bits: u32) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $srl(a, _mm_cvtsi32_si128(bits.cast_signed())) }
            }
            #[inline(always)]
            fn shl64_by(self, a: $v, bits: u32) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $sll(a, _mm_cvtsi32_si128(bits.cast_signed())) }
            }
            #[inline(always)]
            fn add64(self, a: $v, b: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $add64(a, b) }
            }
            #[inline(always)]
            fn shuffle(self, a: $v, idx: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $shuffle(a, idx) }
            }
            #[inline(always)]
            fn enc(self, state: $v, key: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $enc(state, key) }
            }
            #[inline(always)]
            fn enc_last(self, state: $v, key: $v) -> $v {
                // SAFETY: the token proves the features.
                unsafe { $last(state, key) }
            }
            #[inline(always)]
            fn gf8_mul(self, a: $v, b: $v) -> $v {
                if G {
                    // SAFETY: `G` is true only for tokens made after GFNI was detected.
                    unsafe { $mul(a, b) }
                } else {
                    through_memory!(self, $bytes, mul_soft, a, b)
                }
            }
            #[inline(always)]
            fn gf8_affine(self, a: $v, matrix: u64) -> $v {
                if G {
                    // SAFETY: `G` is true only for tokens made after GFNI was detected.
                    unsafe { $affine::<0>(a, $set64(matrix.cast_signed())) }
                } else {
                    let soft = |x: u8, _: u8| affine_soft(x, matrix);
                    through_memory!(self, $bytes, soft, a, a)
                }
            }
            #[inline(always)]
            fn gf8_affine_each(self, x: $v, matrices: $v) -> $v {
                if G {
                    // SAFETY: `G` is true only for tokens made after GFNI was detected.
                    unsafe { $affine::<0>(x, matrices) }
                } else {
                    let (mut bytes, mut rows) = ([0u8; $bytes], [0u8; $bytes]);
                    self.store(x, &mut bytes);
                    self.store(matrices, &mut rows);
                    for (word, m) in bytes.chunks_exact_mut(8).zip(rows.chunks_exact(8)) {
                        let m = u64::from_le_bytes(std::array::from_fn(|i| m[i]));
                        word.iter_mut().for_each(|b| *b = affine_soft(*b, m));
                    }
                    self.load(&bytes)
                }
            }
            #[inline(always)]
            fn unpack<const W: usize>(self, a: $v, b: $v) -> ($v, $v) {
                let width = W.trailing_zeros() - 3;
                let mut at = 0;
                $(
                    if width == at {
                        // SAFETY: the token proves the features.
                        return unsafe { ($lo(a, b), $hi(a, b)) };
                    }
                    at += 1;
                )*
                unreachable!("{W} bits, element {at}")
            }
            #[inline(always)]
            #[allow(unused_unsafe)] // one lane needs no feature
            fn zip(self, a: $v, b: $v) -> ($v, $v) {
                // SAFETY: the token proves the features.
                unsafe { $zip(a, b) }
            }
            #[inline(always)]
            #[allow(unused_unsafe)] // one lane needs no feature
            fn unzip(self, a: $v, b: $v) -> ($v, $v) {
                // SAFETY: the token proves the features.
                unsafe { $unzip(a, b) }
            }
            #[inline(always)]
            fn abreast(self, a: $v, b: $v) -> ($v, $v) {
                // SAFETY: the token proves the features.
                unsafe { $abreast(a, b) }
            }
            #[inline(always)]
            fn load_strided(self, src: &[u8], stride: usize) -> $v {
                assert!(fits($n, src.len(), stride));
                // SAFETY: the token proves the features; every lane's 16 bytes are inside `src`.
                unsafe { $gather(src.as_ptr(), stride) }
            }
            #[inline(always)]
            fn load_pairs(self, src: &[[u8; 16]], at: &[[u32; 2]]) -> ($v, $v) {
                let at: &[[u32; 2]; $n] = at.first_chunk().expect("a pair for every lane");
                let (mut a, mut b) = ([src.as_ptr(); $n], [src.as_ptr(); $n]);
                for i in 0..$n {
                    a[i] = &src[at[i][0] as usize];
                    b[i] = &src[at[i][1] as usize];
                }
                // SAFETY: the token proves the features; every pointer is that of a block.
                unsafe { ($each(a), $each(b)) }
            }
            #[inline(always)]
            fn store_strided(self, v: $v, dst: &mut [u8], stride: usize) {
                assert!(fits($n, dst.len(), stride));
                // SAFETY: the token proves the features; every lane's 16 bytes are inside `dst`.
                unsafe { $scatter(v, dst.as_mut_ptr(), stride) }
            }
            $(
                #[inline(always)]
                fn stream(self, v: $v, dst: &mut [u8]) {
                    assert!(dst.len() >= $bytes);
                    let to = dst.as_mut_ptr();
                    if to.addr().is_multiple_of($bytes) {
                        // SAFETY: the token proves the features; length and alignment were checked.
                        // The trait requires that a fence follows.
                        unsafe { _mm512_stream_si512(to.cast(), v) }
                    } else {
                        self.store(v, dst);
                    }
                }
                #[inline(always)]
                fn fence(self) {
                    // SAFETY: every x86-64 CPU has this instruction.
                    unsafe { _mm_sfence() }
                }
                #[inline(always)]
                fn trade8(self, a: $v, b: $v) -> ($v, $v) {
                    // SAFETY: the token proves the features.
                    unsafe { $trade(a, b) }
                }
                #[inline(always)]
                fn unzip_turned(self, a: $v, b: $v) -> ($v, $v) {
                    // SAFETY: the token proves the features.
                    unsafe { $turned(a, b) }
                }
                #[inline(always)]
                fn load_halves(self, src: &[u8], stride: usize, apart: usize) -> [$v; 8] {
                    let end = stride.checked_mul(7).and_then(|last| last.checked_add(apart)?.checked_add($bytes / 2));
                    assert!(end.is_some_and(|end| end <= src.len()));
                    let mut v = [self.zero(); 8];
                    for (i, v) in v.iter_mut().enumerate() {
                        // SAFETY: the token proves the features; the last half, at
                        // `7 stride + apart`, is inside `src`.
                        *v = unsafe { $halves(src.as_ptr().add(i * stride), apart) };
                    }
                    v
                }
            )?
        }
    };
}

/// Whether `lanes` pieces of 16 bytes, `stride` apart, lie within `len` bytes.
#[inline(always)]
fn fits(lanes: usize, len: usize, stride: usize) -> bool {
    len >= 16 && (lanes == 1 || stride <= (len - 16) / (lanes - 1))
}

/// Reads a lane at `p`.
#[inline(always)]
unsafe fn gather128(p: *const u8, _: usize) -> __m128i {
    // SAFETY: the caller checked that 16 bytes are readable there.
    unsafe { _mm_loadu_si128(p.cast()) }
}

/// Reads two lanes, `stride` apart.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn gather256(p: *const u8, stride: usize) -> __m256i {
    // SAFETY: the caller checked that both lanes are readable.
    unsafe { _mm256_loadu2_m128i(p.add(stride).cast(), p.cast()) }
}

/// Reads four lanes, `stride` apart.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn gather512(p: *const u8, stride: usize) -> __m512i {
    // SAFETY: the caller checked that all lanes are readable.
    unsafe {
        let lane = |i: usize| _mm_loadu_si128(p.add(i * stride).cast());
        let v = _mm512_zextsi128_si512(lane(0));
        let v = _mm512_inserti32x4::<1>(v, lane(1));
        let v = _mm512_inserti32x4::<2>(v, lane(2));
        _mm512_inserti32x4::<3>(v, lane(3))
    }
}

/// Reads the block at each pointer.
#[inline(always)]
unsafe fn each128([p]: [*const [u8; 16]; 1]) -> __m128i {
    // SAFETY: the caller's pointers are to readable blocks.
    unsafe { _mm_loadu_si128(p.cast()) }
}

/// Reads the block at each pointer.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn each256([p, q]: [*const [u8; 16]; 2]) -> __m256i {
    // SAFETY: the caller's pointers are to readable blocks.
    unsafe { _mm256_loadu2_m128i(q.cast(), p.cast()) }
}

/// Reads the block at each pointer.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn each512(p: [*const [u8; 16]; 4]) -> __m512i {
    // SAFETY: the caller's pointers are to readable blocks.
    unsafe {
        let lane = |i: usize| _mm_loadu_si128(p[i].cast());
        let v = _mm512_zextsi128_si512(lane(0));
        let v = _mm512_inserti32x4::<1>(v, lane(1));
        let v = _mm512_inserti32x4::<2>(v, lane(2));
        _mm512_inserti32x4::<3>(v, lane(3))
    }
}

/// Writes a lane at `p`.
#[inline(always)]
unsafe fn scatter128(v: __m128i, p: *mut u8, _: usize) {
    // SAFETY: the caller checked that 16 bytes are writable there.
    unsafe { _mm_storeu_si128(p.cast(), v) }
}

/// Writes two lanes, `stride` apart.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn scatter256(v: __m256i, p: *mut u8, stride: usize) {
    // SAFETY: the caller checked that both lanes are writable.
    unsafe { _mm256_storeu2_m128i(p.add(stride).cast(), p.cast(), v) }
}

/// Writes four lanes, `stride` apart.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn scatter512(v: __m512i, p: *mut u8, stride: usize) {
    // SAFETY: the caller checked that all lanes are writable.
    unsafe {
        _mm_storeu_si128(p.cast(), _mm512_castsi512_si128(v));
        _mm_storeu_si128(p.add(stride).cast(), _mm512_extracti32x4_epi32::<1>(v));
        _mm_storeu_si128(p.add(2 * stride).cast(), _mm512_extracti32x4_epi32::<2>(v));
        _mm_storeu_si128(p.add(3 * stride).cast(), _mm512_extracti32x4_epi32::<3>(v));
    }
}

/// With one lane, there is nothing to interleave.
#[inline(always)]
fn pair(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    (a, b)
}

/// Zipping two lanes is its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
fn zip256(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn zip512(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let lo = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let hi = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    (_mm512_permutex2var_epi64(a, lo, b), _mm512_permutex2var_epi64(a, hi, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn unzip512(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b))
}

/// Uses a shift and a blend for each result. Unpacking needs no shift, but only the shuffle port,
/// which would become the limit.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn trade512(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let first = _mm512_mask_blend_epi8(ODD, a, _mm512_slli_epi16::<8>(b));
    (first, _mm512_mask_blend_epi8(ODD, _mm512_srli_epi16::<8>(a), b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn unzip_turned512(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let even = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    let odd = _mm512_setr_epi32(4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
    (_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b))
}

/// Passes both values through one statement without instructions.
macro_rules! abreast {
    ($name:ident, $feature:literal, $class:ident, $v:ty) => {
        #[target_feature(enable = $feature)]
        #[inline]
        fn $name(mut a: $v, mut b: $v) -> ($v, $v) {
            // SAFETY: the assembly is empty.
            unsafe {
                asm!("/* {0} {1} */", inout($class) a, inout($class) b, options(pure, nomem, nostack, preserves_flags));
            }
            (a, b)
        }
    };
}
abreast!(abreast128, "sse4.1", xmm_reg, __m128i);
abreast!(abreast256, "avx2", ymm_reg, __m256i);
abreast!(abreast512, "avx512f", zmm_reg, __m512i);

/// Reads two halves of 32 bytes that start `apart` bytes from each other.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn halves512(p: *const u8, apart: usize) -> __m512i {
    // SAFETY: the caller checked that both are readable.
    unsafe {
        let low = _mm512_zextsi256_si512(_mm256_loadu_si256(p.cast()));
        _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(p.add(apart).cast()))
    }
}

#[inline(always)]
fn same(v: __m128i) -> __m128i {
    v
}

lanes!(X128, "aes,sse4.1,ssse3", 1, 16, __m128i, load _mm_loadu_si128, store _mm_storeu_si128, zero _mm_setzero_si128,
    splat same, xor _mm_xor_si128, and _mm_and_si128, or _mm_or_si128, andnot _mm_andnot_si128,
    add64 _mm_add_epi64, srl _mm_srl_epi64, sll _mm_sll_epi64, shuffle _mm_shuffle_epi8, enc _mm_aesenc_si128,
    last _mm_aesenclast_si128, mul _mm_gf2p8mul_epi8, affine _mm_gf2p8affine_epi64_epi8, set64 _mm_set1_epi64x,
    unpack (_mm_unpacklo_epi8, _mm_unpackhi_epi8) (_mm_unpacklo_epi16, _mm_unpackhi_epi16) (_mm_unpacklo_epi32, _mm_unpackhi_epi32) (_mm_unpacklo_epi64, _mm_unpackhi_epi64),
    gather gather128, each each128, scatter scatter128, zip pair, unzip pair, abreast abreast128);
lanes!(X256, "vaes,aes,avx2,sse4.1,ssse3", 2, 32, __m256i, load _mm256_loadu_si256, store _mm256_storeu_si256, zero _mm256_setzero_si256,
    splat _mm256_broadcastsi128_si256, xor _mm256_xor_si256, and _mm256_and_si256, or _mm256_or_si256,
    andnot _mm256_andnot_si256, add64 _mm256_add_epi64, srl _mm256_srl_epi64, sll _mm256_sll_epi64,
    shuffle _mm256_shuffle_epi8, enc _mm256_aesenc_epi128, last _mm256_aesenclast_epi128,
    mul _mm256_gf2p8mul_epi8, affine _mm256_gf2p8affine_epi64_epi8, set64 _mm256_set1_epi64x,
    unpack (_mm256_unpacklo_epi8, _mm256_unpackhi_epi8) (_mm256_unpacklo_epi16, _mm256_unpackhi_epi16) (_mm256_unpacklo_epi32, _mm256_unpackhi_epi32) (_mm256_unpacklo_epi64, _mm256_unpackhi_epi64),
    gather gather256, each each256, scatter scatter256, zip zip256, unzip zip256, abreast abreast256);
lanes!(X512, "avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,avx2,sse4.1,ssse3", 4, 64, __m512i, load _mm512_loadu_si512, store _mm512_storeu_si512, zero _mm512_setzero_si512,
    splat _mm512_broadcast_i32x4, xor _mm512_xor_si512, and _mm512_and_si512, or _mm512_or_si512,
    andnot _mm512_andnot_si512, add64 _mm512_add_epi64, srl _mm512_srl_epi64, sll _mm512_sll_epi64,
    shuffle _mm512_shuffle_epi8, enc _mm512_aesenc_epi128, last _mm512_aesenclast_epi128,
    mul _mm512_gf2p8mul_epi8, affine _mm512_gf2p8affine_epi64_epi8, set64 _mm512_set1_epi64,
    unpack (_mm512_unpacklo_epi8, _mm512_unpackhi_epi8) (_mm512_unpacklo_epi16, _mm512_unpackhi_epi16) (_mm512_unpacklo_epi32, _mm512_unpackhi_epi32) (_mm512_unpacklo_epi64, _mm512_unpackhi_epi64),
    gather gather512, each each512, scatter scatter512, zip zip512, unzip unzip512, abreast abreast512,
    trade trade512, turned unzip_turned512, halves halves512);
