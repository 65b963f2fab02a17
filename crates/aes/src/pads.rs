//! Pads of OT from correlated blocks: the hashes of the sender's block for both choices.
//!
//! ```text
//! out[i] = [H(q_i), H(q_i ⊕ Δ)]       the receiver holds one of the two inputs and hashes it with
//!                                     `ccr` or `tccr`
//! ```

use crate::batch::{Counter, runs, sigma};
use crate::{Aes128, Backend};
use hushwire_block::{
    Block, as_bytes, as_bytes_mut,
    registry::{self, HASH},
};
use hushwire_simd::{Kernel, Lanes};

/// A hash of pairs of inputs that differ by Δ, four vectors of pairs at a time.
trait PairHash {
    /// Round keys, Δ and counters in registers.
    type InRegisters<L: Lanes>;
    /// Loads keys and counters into registers.
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L>;
    /// Returns the hashes of q in the first half and of q ⊕ Δ in the second. It must be marked
    /// `#[inline(always)]`.
    fn step<L: Lanes>(l: L, ready: &mut Self::InRegisters<L>, q: [L::V; 4]) -> [L::V; 8];
}

/// π(σ(x)) ⊕ σ(x).
struct Ccr<'a>(&'a Aes128, Block);

impl PairHash for Ccr<'_> {
    type InRegisters<L: Lanes> = ([L::V; 11], L::V);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), l.splat(&self.1.sigma().0))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, delta): &mut Self::InRegisters<L>, q: [L::V; 4]) -> [L::V; 8] {
        let mut x = [l.zero(); 8];
        for i in 0..4 {
            // σ is linear, so that one application serves both inputs.
            x[i] = sigma(l, q[i]);
            x[4 + i] = l.xor(x[i], *delta);
        }
        let masks = x;
        l.encrypt_xor(keys, &masks, &mut x);
        x
    }
}

/// π(π(x) ⊕ i) ⊕ π(x), with one tweak i for both inputs.
struct Tccr<'a>(&'a Aes128, Block, u128);

impl PairHash for Tccr<'_> {
    type InRegisters<L: Lanes> = ([L::V; 11], L::V, Counter<L, 4>);
    #[inline(always)]
    fn ready<L: Lanes>(&self, l: L) -> Self::InRegisters<L> {
        (self.0.vectors(l), l.splat(&self.1.0), Counter::new(l, self.2, 1))
    }
    #[inline(always)]
    fn step<L: Lanes>(l: L, (keys, delta, tweaks): &mut Self::InRegisters<L>, q: [L::V; 4]) -> [L::V; 8] {
        let mut x = [l.zero(); 8];
        for i in 0..4 {
            x[i] = q[i];
            x[4 + i] = l.xor(q[i], *delta);
        }
        l.encrypt(keys, &mut x);
        let masks = x;
        let t = tweaks.next(l);
        for i in 0..4 {
            x[i] = l.xor(x[i], t[i]);
            x[4 + i] = l.xor(x[4 + i], t[i]);
        }
        l.encrypt_xor(keys, &masks, &mut x);
        x
    }
}

/// Writes pads, or, if `XOR` is set, XORs them onto the messages in `out`.
struct Pads<'a, P, const XOR: bool> {
    pair: P,
    q: &'a [u8],
    messages: &'a [u8],
    out: &'a mut [u8],
    streamed: bool,
}

impl<P: PairHash, const XOR: bool> Pads<'_, P, XOR> {
    /// Makes eight vectors of pads, interleaved, from four vectors of q.
    #[inline(always)]
    fn step<L: Lanes>(
        l: L,
        ready: &mut P::InRegisters<L>,
        src: &[u8],
        messages: &[u8],
        dst: &mut [u8],
        streamed: bool,
    ) {
        let mut q = [l.zero(); 4];
        for (q, src) in q.iter_mut().zip(src.chunks_exact(L::BYTES)) {
            *q = l.load(src);
        }
        let x = P::step(l, ready, q);
        for (i, dst) in dst.chunks_exact_mut(2 * L::BYTES).enumerate().take(4) {
            let (mut lo, mut hi) = l.zip(x[i], x[4 + i]);
            if XOR {
                let m = &messages[2 * i * L::BYTES..2 * (i + 1) * L::BYTES];
                lo = l.xor(lo, l.load(m));
                hi = l.xor(hi, l.load(&m[L::BYTES..]));
            }
            l.put(lo, dst, streamed);
            l.put(hi, &mut dst[L::BYTES..], streamed);
        }
    }
}

impl<P: PairHash, const XOR: bool> Kernel for Pads<'_, P, XOR> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (half, full) = (4 * L::BYTES, 8 * L::BYTES);
        let mut ready = self.pair.ready(l);
        let mut from = self.q.chunks_exact(half);
        let mut to = self.out.chunks_exact_mut(full);
        let mut messages = self.messages.chunks_exact(full);
        for (src, dst) in (&mut from).zip(&mut to) {
            let m = if XOR { messages.next().unwrap_or_default() } else { &[] };
            Self::step(l, &mut ready, src, m, dst, self.streamed);
        }
        if self.streamed {
            l.fence();
        }
        let (src, dst) = (from.remainder(), to.into_remainder());
        if !src.is_empty() {
            let (mut x, mut m, mut y) = ([0; 256], [0; 512], [0; 512]);
            x[..src.len()].copy_from_slice(src);
            let rest = messages.remainder();
            m[..rest.len()].copy_from_slice(rest);
            Self::step(l, &mut ready, &x[..half], &m[..full], &mut y[..full], false);
            dst.copy_from_slice(&y[..dst.len()]);
        }
    }
}

impl Backend {
    fn pads<P: PairHash, const XOR: bool>(
        self,
        pair: P,
        q: &[Block],
        messages: &[[Block; 2]],
        out: &mut [[Block; 2]],
    ) {
        let messages = as_bytes(messages.as_flattened());
        self.run_batch(Pads::<_, XOR> {
            pair,
            q: as_bytes(q),
            messages,
            out: as_bytes_mut(out.as_flattened_mut()),
            streamed: self.is_streamed(),
        });
    }

    /// `out[i] = [ccr(q[i]), ccr(q[i] ⊕ delta)]` with [`Backend::ccr`]'s hash.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pads_ccr(&self, key: &Aes128, delta: Block, q: &[Block], out: &mut [[Block; 2]]) {
        assert_eq!(q.len(), out.len(), "a pair of pads per OT");
        self.pads::<_, false>(Ccr(key, delta), q, &[], out);
    }

    /// [`Backend::pads_ccr`], XORed with `messages`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pads_ccr_xor(
        &self,
        key: &Aes128,
        delta: Block,
        q: &[Block],
        messages: &[[Block; 2]],
        out: &mut [[Block; 2]],
    ) {
        assert_eq!(q.len(), out.len(), "a pair of pads per OT");
        assert_eq!(q.len(), messages.len(), "a pair of messages per OT");
        self.pads::<_, true>(Ccr(key, delta), q, messages, out);
    }

    /// `out[i] = [tccr(q[i]), tccr(q[i] ⊕ delta)]` with the hash of [`Backend::tccr`], both with
    /// tweak first + i.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pads_tccr(&self, key: &Aes128, first: u128, delta: Block, q: &[Block], out: &mut [[Block; 2]]) {
        assert_eq!(q.len(), out.len(), "a pair of pads per OT");
        registry::used(HASH, key.bytes(), first, q.len());
        for (first, start, end) in runs(first, q.len()) {
            self.pads::<_, false>(Tccr(key, delta, first), &q[start..end], &[], &mut out[start..end]);
        }
    }

    /// [`Backend::pads_tccr`], XORed with `messages`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pads_tccr_xor(
        &self,
        key: &Aes128,
        first: u128,
        delta: Block,
        q: &[Block],
        messages: &[[Block; 2]],
        out: &mut [[Block; 2]],
    ) {
        assert_eq!(q.len(), out.len(), "a pair of pads per OT");
        assert_eq!(q.len(), messages.len(), "a pair of messages per OT");
        registry::used(HASH, key.bytes(), first, q.len());
        for (first, start, end) in runs(first, q.len()) {
            let (q, messages, out) = (&q[start..end], &messages[start..end], &mut out[start..end]);
            self.pads::<_, true>(Tccr(key, delta, first), q, messages, out);
        }
    }
}
