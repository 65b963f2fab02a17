//! Hashes from one fixed key π = AES_k.
//!
//! ```text
//! function  formula                  calls
//! ccr       π(σ(x)) ⊕ σ(x)           1      circular correlation robust, ideal permutation:
//!                                           GKWY, ePrint 2019/074, section 7.3
//! tccr      π(π(x) ⊕ i) ⊕ π(x)       2      tweakable circular correlation robust, ideal
//!                                           permutation: the same, section 7.4
//! prp       π(y) ⊕ y, y = σ(x) ⊕ i   1      the PRP garbling scheme of ZRE15 with σ for doubling;
//!                                           for half gates with a unique i per call pair
//! ```
//!
//! The tweak of input n is LE128(first + n / H): `H` consecutive inputs share a tweak. σ costs a
//! shuffle and no multiplication. A fixed key serves a bounded number of gates (2^20 by design);
//! then the session changes the key.

use crate::batch::{Across, BatchOp, Counter, runs, sigma};
use crate::{Aes128, Backend};
use hushwire_block::{
    Block, as_bytes, as_bytes_mut,
    registry::{self, HASH},
};
use hushwire_simd::Lanes;

struct Ccr<'a>(&'a Aes128);

impl BatchOp<8> for Ccr<'_> {
    type InRegisters<L: Lanes> = [L::V; 11];
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        self.0.vectors(l)
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, keys: &mut Self::InRegisters<L>, v: &mut [L::V; 8]) {
        for v in v.iter_mut() {
            *v = sigma(l, *v);
        }
        let masks = *v;
        l.encrypt_xor(keys, &masks, v);
    }
}

struct Tweaked<'a, const H: usize>(&'a Aes128, u128);
struct Prp<'a, const H: usize>(&'a Aes128, u128);

impl<const H: usize> BatchOp<8> for Tweaked<'_, H> {
    type InRegisters<L: Lanes> = ([L::V; 11], Counter<L, 8>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), Counter::new(l, self.1, H))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, tweaks): &mut Self::InRegisters<L>, v: &mut [L::V; 8]) {
        l.encrypt(keys, v);
        let masks = *v;
        for (v, t) in v.iter_mut().zip(tweaks.next(l)) {
            *v = l.xor(*v, t);
        }
        l.encrypt_xor(keys, &masks, v);
    }
}

impl<const H: usize> BatchOp<8> for Prp<'_, H> {
    type InRegisters<L: Lanes> = ([L::V; 11], Counter<L, 8>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), Counter::new(l, self.1, H))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, tweaks): &mut Self::InRegisters<L>, v: &mut [L::V; 8]) {
        for (v, t) in v.iter_mut().zip(tweaks.next(l)) {
            *v = l.xor(sigma(l, *v), t);
        }
        let masks = *v;
        l.encrypt_xor(keys, &masks, v);
    }
}

impl Backend {
    /// `out[n] = π(σ(x[n])) ⊕ σ(x[n])`: circular correlation robust.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn ccr(&self, key: &Aes128, x: &[Block], out: &mut [Block]) {
        assert_eq!(x.len(), out.len(), "a hash per input");
        self.run_batch(Across(Ccr(key), as_bytes(x), as_bytes_mut(out), self.is_streamed()));
    }

    /// `out[n] = π(π(x[n]) ⊕ i) ⊕ π(x[n])`, i = first + n / H: tweakable circular correlation
    /// robust. `H` is 1, 2, 4 or 8.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn tccr<const H: usize>(&self, key: &Aes128, first: u128, x: &[Block], out: &mut [Block]) {
        registry::used(HASH, key.bytes(), first, x.len().div_ceil(H));
        shared::<H>(first, x, out, |first, x, out| {
            self.run_batch(Across(Tweaked::<H>(key, first), x, out, self.is_streamed()));
        });
    }

    /// `out[n] = π(y) ⊕ y`, `y = σ(x[n]) ⊕ i`, `i = first + n / H`: half the calls of
    /// [`Backend::tccr`]. `H` is 1, 2, 4 or 8.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn prp<const H: usize>(&self, key: &Aes128, first: u128, x: &[Block], out: &mut [Block]) {
        registry::used(HASH, key.bytes(), first, x.len().div_ceil(H));
        shared::<H>(first, x, out, |first, x, out| self.run(Across(Prp::<H>(key, first), x, out, false)));
    }
}

/// Calls `f` for each run of tweaks.
fn shared<const H: usize>(first: u128, x: &[Block], out: &mut [Block], f: impl Fn(u128, &[u8], &mut [u8])) {
    const { assert!(H == 1 || H == 2 || H == 4 || H == 8, "1, 2, 4 or 8 inputs share a tweak") };
    assert_eq!(x.len(), out.len(), "a hash per input");
    for (first, start, end) in runs(first, x.len().div_ceil(H)) {
        let (start, end) = (H * start, x.len().min(H * end));
        f(first, as_bytes(&x[start..end]), as_bytes_mut(&mut out[start..end]));
    }
}
