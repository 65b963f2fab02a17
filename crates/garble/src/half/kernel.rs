//! Garbling and evaluating, fused: labels are gathered, hashed and combined without leaving registers.
//!
//! A group is `M` vectors of labels, `M / 2` of gates: `[a, b, a, b, …]`. Every vector has tweaks of its own, `P = 2` to a
//! gate.

use super::hash::Hashes;
use hushwire_aes::kernel::{Tweaks, without_bit_0};
use hushwire_simd::{Kernel, Lanes};

/// Most gates in a group: eight vectors of labels, four lanes each.
const MOST: usize = 16;

/// Makes tables and labels of `pairs.len()` gates from number `first` on.
pub(super) struct Garble<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) delta: [u8; 16],
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a mut [u8],
}

impl<H: Hashes, const M: usize> Kernel for Garble<'_, H, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let gates = M / 2 * L::N;
        let ready = self.hash.ready(l);
        let delta = l.splat(&self.delta);
        let hashed = H::delta(l, delta);
        let mut tweaks = Tweaks::<L, M>::new::<2>(l, self.first);
        let whole = self.pairs.len() / gates * gates;
        let (pairs, last) = self.pairs.split_at(whole);
        let (out, last_out) = self.out.split_at_mut(16 * whole);
        let (tables, last_tables) = self.tables.split_at_mut(32 * whole);
        for ((pairs, out), tables) in pairs
            .chunks_exact(gates)
            .zip(out.chunks_exact_mut(16 * gates))
            .zip(tables.chunks_exact_mut(32 * gates))
        {
            let t = tweaks.next(l);
            garble::<L, H, M>(l, &ready, delta, hashed, t, self.wires, pairs, out, tables);
        }
        if !last.is_empty() {
            let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 32 * MOST]);
            p[..last.len()].copy_from_slice(last);
            let tw = tweaks.next(l);
            garble::<L, H, M>(l, &ready, delta, hashed, tw, self.wires, &p, &mut o, &mut t);
            last_out.copy_from_slice(&o[..last_out.len()]);
            last_tables.copy_from_slice(&t[..last_tables.len()]);
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn garble<L: Lanes, H: Hashes, const M: usize>(
    l: L,
    ready: &H::Ready<L>,
    delta: L::V,
    hashed: L::V,
    tweaks: [L::V; M],
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &mut [u8],
) {
    let mut x = [l.zero(); M];
    for g in 0..M / 2 {
        (x[2 * g], x[2 * g + 1]) = l.load_pairs(wires, &pairs[g * L::N..]);
    }
    let h = H::twins(l, ready, hashed, &tweaks, &x);
    for g in 0..M / 2 {
        let (a0, b0) = (x[2 * g], x[2 * g + 1]);
        let ([ha0, ha1], [hb0, hb1]) = (h[2 * g], h[2 * g + 1]);
        let (not_pa, not_pb) = (without_bit_0(l, a0), without_bit_0(l, b0));
        let tg = l.xor3(ha0, ha1, l.andnot(not_pb, delta));
        let both = l.xor(hb0, hb1);
        let (first, second) = l.zip(tg, l.xor(both, a0));
        let c = l.xor3(l.xor(ha0, hb0), l.andnot(not_pa, tg), l.andnot(not_pb, both));
        l.store(c, &mut out[g * L::BYTES..]);
        l.store(first, &mut tables[2 * g * L::BYTES..]);
        l.store(second, &mut tables[(2 * g + 1) * L::BYTES..]);
    }
}

/// Uses the tables of `pairs.len()` gates from number `first` on.
pub(super) struct Evaluate<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a [u8],
}

impl<H: Hashes, const M: usize> Kernel for Evaluate<'_, H, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let gates = M / 2 * L::N;
        let ready = self.hash.ready(l);
        let mut tweaks = Tweaks::<L, M>::new::<2>(l, self.first);
        let whole = self.pairs.len() / gates * gates;
        let (pairs, last) = self.pairs.split_at(whole);
        let (out, last_out) = self.out.split_at_mut(16 * whole);
        let (tables, last_tables) = self.tables.split_at(32 * whole);
        for ((pairs, out), tables) in pairs
            .chunks_exact(gates)
            .zip(out.chunks_exact_mut(16 * gates))
            .zip(tables.chunks_exact(32 * gates))
        {
            let t = tweaks.next(l);
            evaluate::<L, H, M>(l, &ready, t, self.wires, pairs, out, tables);
        }
        if !last.is_empty() {
            let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 32 * MOST]);
            p[..last.len()].copy_from_slice(last);
            t[..last_tables.len()].copy_from_slice(last_tables);
            let tw = tweaks.next(l);
            evaluate::<L, H, M>(l, &ready, tw, self.wires, &p, &mut o, &t);
            last_out.copy_from_slice(&o[..last_out.len()]);
        }
    }
}

#[inline(always)]
fn evaluate<L: Lanes, H: Hashes, const M: usize>(
    l: L,
    ready: &H::Ready<L>,
    tweaks: [L::V; M],
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &[u8],
) {
    let mut x = [l.zero(); M];
    for g in 0..M / 2 {
        (x[2 * g], x[2 * g + 1]) = l.load_pairs(wires, &pairs[g * L::N..]);
    }
    let h = H::singles(l, ready, &tweaks, &x);
    for g in 0..M / 2 {
        let (a, b) = (x[2 * g], x[2 * g + 1]);
        let table = &tables[2 * g * L::BYTES..];
        let (tg, te) = l.unzip(l.load(table), l.load(&table[L::BYTES..]));
        let tg = l.andnot(without_bit_0(l, a), tg);
        let te = l.andnot(without_bit_0(l, b), l.xor(te, a));
        l.store(l.xor3(l.xor(h[2 * g], h[2 * g + 1]), tg, te), &mut out[g * L::BYTES..]);
    }
}
