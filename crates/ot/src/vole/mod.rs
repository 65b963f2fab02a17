//! Vector oblivious linear evaluation over GF(2^128), from Ferret's skeleton.
//!
//! **Functionality.** The sender holds Δ and gets q, the receiver gets u and t = q + u·Δ, all in GF(2^128), u random: what
//! PSI from VOLE (ePrint 2022/320) spends. A call of `extend` makes as many as its slices hold.
//!
//! **Paper.** Ferret, ePrint 2020/924, Fig. 3, as carried to larger fields by Wolverine, ePrint 2020/925, Fig. 7 and 8
//! (single-point VOLE, extension).
//!
//! ```text
//! base      k + t VOLEs, 128 COTs each: u = Σ b_j X^j, t = Σ M_j X^j, q = Σ K_j X^j; later from the refill
//! tree      Ferret's, on h COTs; its leaves are hashed, so that no sum of them is Δ
//!           d = Σ leaves + K of a base VOLE (β, M): at α the receiver holds leaf + β·Δ
//! output    the leaf, and at the receiver β at α, plus Σ of ten a_i·table[index_i]
//! round     R = ⌈(k + t) / 2^h⌉ trees become the next base, t − R come out
//! ```
//!
//! **Deviations.** The code's ten coefficients are uniform in GF(2^128). With coefficients from GF(2), as sums over prime
//! fields may have them, every GF(2)-linear map of the field would make an LPN instance over GF(2) of the outputs, with
//! the same code and half the noise (β maps to 0 half the time): the sets' margins would be gone.
//!
//! **Security.** Semi-honest. It rests on LPN over GF(2^128) with regular noise and a 10-local code with uniform
//! coefficients, **which no estimate of ours backs**: the numbers of [`Set`] were estimated over GF(2). They are used for
//! their shape. Trees: circular correlation robustness of the hash, for levels and for leaves, each under its own key.
//!
//! **Notation.** Δ, q, t, u, β: GF(2^128); K, M, b: a COT's ends; α: place of a leaf, h bits.
//!
//! **Rounds and bytes.** 16 (h + 1) bytes a tree from the sender, 16 trees a message at most; t·h COTs a round, and
//! 128 (k + t) for the first.
//!
//! **Constant time.** Secret: Δ, COTs, tables, leaves, α, β. Every leaf is touched alike. Public: the code.

mod code;
mod steps;
#[cfg(test)]
mod tests;

use hushwire_block::Gf128;
use hushwire_prg::Seed;

use crate::ferret::Set;
use crate::ferret::tree::{SpcotReceiver, SpcotSender};
use crate::{Context, Extension, SemiHonest};

pub use steps::Extend;
use steps::Vole;

/// The end that holds Δ.
pub struct Sender {
    vole: Vole<SpcotSender>,
}

/// The end that gets u.
pub struct Receiver {
    vole: Vole<SpcotReceiver>,
}

impl Sender {
    /// On the sender's end of an extension, whose Δ it keeps. `seed` is this party's secret randomness.
    ///
    /// # Panics
    /// If `cots` is not a sender.
    #[must_use]
    pub fn new(context: &Context, set: Set, cots: Box<dyn Extension<SemiHonest>>, seed: &Seed) -> Self {
        let delta = cots.delta().expect("a sender stands on a sender");
        let trees = SpcotSender::new(context, delta, &seed.derive("vole", &[]));
        Self { vole: Vole::new(context, set, cots, trees) }
    }

    /// Δ.
    #[must_use]
    pub fn delta(&self) -> Gf128 {
        self.vole.delta().expect("the sender holds it").into()
    }

    /// Fills `q`; the receiver asks for as many.
    pub fn extend<'a>(&'a mut self, q: &'a mut [Gf128]) -> Extend<'a, SpcotSender> {
        Extend::new(&mut self.vole, vec![q])
    }
}

impl Receiver {
    /// On the receiver's end of an extension.
    ///
    /// # Panics
    /// If `cots` is not a receiver.
    #[must_use]
    pub fn new(context: &Context, set: Set, cots: Box<dyn Extension<SemiHonest>>) -> Self {
        Self { vole: Vole::new(context, set, cots, SpcotReceiver) }
    }

    /// Fills `t` and `u`; the sender asks for as many.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn extend<'a>(&'a mut self, t: &'a mut [Gf128], u: &'a mut [Gf128]) -> Extend<'a, SpcotReceiver> {
        assert_eq!(t.len(), u.len(), "a t for every u");
        Extend::new(&mut self.vole, vec![t, u])
    }
}
