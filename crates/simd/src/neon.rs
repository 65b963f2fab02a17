//! The ARMv8 tier: AES instructions on 128-bit NEON vectors.

use crate::gf8::{affine_soft, mul_soft};
use crate::planes::{planes_mul, slice8};
use crate::{Kernel, Lanes};
use std::arch::aarch64::*;

/// The ARMv8 AES token. Only [`crate::dispatch`] makes it, after detection.
#[derive(Clone, Copy)]
pub struct Neon(());

/// Runs `kernel` behind the wrapper; the caller has checked that the CPU has the AES instructions.
pub(crate) fn run<K: Kernel>(kernel: K) -> K::Out {
    #[target_feature(enable = "neon,aes")]
    fn wrapped<K: Kernel>(kernel: K) -> K::Out {
        kernel.run(Neon(()))
    }
    // SAFETY: `dispatch` checked the tier, whose detection requires exactly these features.
    unsafe { wrapped(kernel) }
}

macro_rules! op {
    ($name:ident($($a:ident),*) $e:expr) => {
        #[inline(always)]
        fn $name(self $(, $a: uint8x16_t)*) -> uint8x16_t {
            // SAFETY: the token proves the features.
            unsafe { $e }
        }
    };
}

impl Neon {
    fn bytes(self, v: uint8x16_t) -> [u8; 16] {
        let mut out = [0; 16];
        self.store(v, &mut out);
        out
    }
}

// Intrinsics need features that the methods lack. `run`'s wrapper has them, and all methods are
// inlined there.
#[allow(inline_always_mismatching_target_features)]
impl Lanes for Neon {
    const N: usize = 1;
    const GFNI: bool = false;
    type V = uint8x16_t;

    op!(zero() vdupq_n_u8(0));
    op!(xor(a, b) veorq_u8(a, b));
    op!(and(a, b) vandq_u8(a, b));
    op!(or(a, b) vorrq_u8(a, b));
    op!(andnot(a, b) vbicq_u8(b, a));
    op!(add64(a, b) vreinterpretq_u8_u64(vaddq_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))));
    // TBL answers 0 for every index above 15; bits 4..6 of an index are ignored here as on x86.
    op!(shuffle(a, idx) vqtbl1q_u8(a, vandq_u8(idx, vdupq_n_u8(0x8f))));
    // AESE adds its key before SubBytes, so the round key goes in afterwards.
    op!(enc(state, key) veorq_u8(vaesmcq_u8(vaeseq_u8(state, vdupq_n_u8(0))), key));
    op!(enc_last(state, key) veorq_u8(vaeseq_u8(state, vdupq_n_u8(0)), key));

    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> uint8x16_t {
        self.load(block)
    }
    #[inline(always)]
    fn load(self, src: &[u8]) -> uint8x16_t {
        assert!(src.len() >= 16);
        // SAFETY: the token proves the features; the length was checked, alignment is not needed.
        unsafe { vld1q_u8(src.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, v: uint8x16_t, dst: &mut [u8]) {
        assert!(dst.len() >= 16);
        // SAFETY: the token proves the features; the length was checked, alignment is not needed.
        unsafe { vst1q_u8(dst.as_mut_ptr(), v) }
    }
    #[inline(always)]
    fn shr64<const S: i32>(self, a: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves the features.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(-i64::from(S)))) }
    }
    #[inline(always)]
    fn shl64<const S: i32>(self, a: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token proves the features.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(i64::from(S)))) }
    }
    #[inline(always)]
    fn shr64_by(self, a: uint8x16_t, bits: u32) -> uint8x16_t {
        // SAFETY: the token proves the features.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(-i64::from(bits)))) }
    }
    #[inline(always)]
    fn shl64_by(self, a: uint8x16_t, bits: u32) -> uint8x16_t {
        // SAFETY: the token proves the features.
        unsafe { vreinterpretq_u8_u64(vshlq_u64(vreinterpretq_u64_u8(a), vdupq_n_s64(i64::from(bits)))) }
    }
    fn slice(self, v: &mut [uint8x16_t; 8]) {
        #[target_feature(enable = "neon,aes")]
        #[inline(never)]
        fn out_of_line(l: Neon, v: &mut [uint8x16_t; 8]) {
            slice8(l, v);
        }
        // SAFETY: the token proves the features.
        unsafe { out_of_line(self, v) }
    }
    fn planes_mul(self, a: &[uint8x16_t; 8], b: &[uint8x16_t; 8]) -> [uint8x16_t; 8] {
        #[target_feature(enable = "neon,aes")]
        #[inline(never)]
        fn out_of_line(l: Neon, a: &[uint8x16_t; 8], b: &[uint8x16_t; 8]) -> [uint8x16_t; 8] {
            planes_mul(l, a, b)
        }
        // SAFETY: the token proves the features.
        unsafe { out_of_line(self, a, b) }
    }
    fn gf8_mul(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        let (a, b) = (self.bytes(a), self.bytes(b));
        self.load(&std::array::from_fn::<u8, 16, _>(|i| mul_soft(a[i], b[i])))
    }
    fn gf8_affine(self, a: uint8x16_t, matrix: u64) -> uint8x16_t {
        self.load(&self.bytes(a).map(|x| affine_soft(x, matrix)))
    }
    #[inline(always)]
    fn zip(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        (a, b)
    }
    #[inline(always)]
    fn unzip(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        (a, b)
    }
    #[inline(always)]
    fn unpack<const W: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        macro_rules! zip {
            ($to:ident, $from:ident, $lo:ident, $hi:ident) => {{
                let (a, b) = ($to(a), $to(b));
                ($from($lo(a, b)), $from($hi(a, b)))
            }};
        }
        // SAFETY: the token proves the features.
        unsafe {
            match W {
                8 => (vzip1q_u8(a, b), vzip2q_u8(a, b)),
                16 => zip!(vreinterpretq_u16_u8, vreinterpretq_u8_u16, vzip1q_u16, vzip2q_u16),
                32 => zip!(vreinterpretq_u32_u8, vreinterpretq_u8_u32, vzip1q_u32, vzip2q_u32),
                _ => zip!(vreinterpretq_u64_u8, vreinterpretq_u8_u64, vzip1q_u64, vzip2q_u64),
            }
        }
    }
}
