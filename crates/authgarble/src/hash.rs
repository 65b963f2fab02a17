//! The tweakable hash tccr(x, i) = π(π(x) ⊕ i) ⊕ π(x) (GKWY, ePrint 2019/074, section 7.4), for
//! each input with several tweaks.

use crate::shares::Blocks;
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{
    Block,
    registry::{self, HASH},
};

/// Sets `out[m k + t]` to tccr(x[k], tweak(k) + t) for t < m; `x` is overwritten.
///
/// The m hashes of an input share its first permutation, so that m + 1 calls of the permutation
/// replace 2 m.
pub(crate) fn hash(
    backend: Backend,
    key: &Aes128,
    x: &mut [Block],
    out: &mut [Block],
    m: usize,
    tweak: impl Fn(usize) -> u128,
) {
    registry::note(|| {
        for k in 0..x.len() {
            // Consecutive inputs with one tweak differ by Δ.
            let of = tweak(k);
            if k == 0 || tweak(k - 1) != of {
                registry::used(HASH, &key.round_keys()[0], of, m);
            }
        }
    });
    if backend.is_batched() {
        backend.ecb_encrypt(key, x);
        for (k, (out, x)) in out.chunks_exact_mut(m).zip(&*x).enumerate() {
            for (out, tweak) in out.iter_mut().zip(tweak(k)..) {
                *out = *x ^ Block::from_u128(tweak);
            }
        }
        backend.ecb_encrypt(key, out);
        for (out, x) in out.chunks_exact_mut(m).zip(&*x) {
            out.iter_mut().for_each(|out| *out ^= *x);
        }
    } else {
        // The loop goes block by block, which is how the implementation `ref` is measured.
        for (k, (out, x)) in out.chunks_exact_mut(m).zip(&*x).enumerate() {
            out.fill(*x);
            let inputs = Blocks::of(out.iter().copied());
            registry::silent(|| backend.tccr::<1>(key, tweak(k), &inputs, out));
        }
    }
}
