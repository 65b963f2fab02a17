//! PMULL, part of ARMv8's AES feature.

use super::{ClmulSum, ClmulWords, WordKernel, fold_with, scale_add_with};
use std::arch::aarch64::vmull_p64;

#[target_feature(enable = "neon,aes")]
#[inline]
pub(super) fn mul(a: u64, b: u64) -> u128 {
    vmull_p64(a, b)
}

/// Proof that the CPU has PMULL; only [`run`] makes it.
#[derive(Clone, Copy)]
pub(super) struct Pmull(());

impl ClmulWords for Pmull {
    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u128 {
        // SAFETY: the token exists only inside `run`, whose caller has detected the features.
        unsafe { mul(a, b) }
    }
}

#[target_feature(enable = "neon,aes")]
pub(super) fn run<K: WordKernel>(kernel: K) -> K::Out {
    kernel.run(Pmull(()))
}

#[target_feature(enable = "neon,aes")]
pub(super) fn fold(a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
    fold_with(|a, b| vmull_p64(a, b), a, x, sums);
}

#[target_feature(enable = "neon,aes")]
pub(super) fn scale_add(c: u128, tail: u64, e: &[u64], q: &mut [u8]) {
    scale_add_with(|a, b| vmull_p64(a, b), c, tail, e, q);
}
