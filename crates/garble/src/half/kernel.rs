//! Garbling and evaluating, fused: labels are gathered, hashed and combined without leaving registers.
//!
//! A group is `M` vectors of labels, `M / 2` of gates: `[a, b, a, b, …]`. Every vector has tweaks of its own, `P = 2` to a
//! gate.

use super::forms::SOFT_VECTORS;
use super::hash::Hashes;
use hushwire_aes::kernel::{Tweaks, without_bit_0};
use hushwire_simd::{Kernel, Lanes};

/// Most gates in a group: eight vectors of labels, four lanes each.
const MOST: usize = 16;

/// Makes tables and labels of `pairs.len()` gates from number `first` on.
pub(super) struct GarbleAnds<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) delta: [u8; 16],
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a mut [u8],
}

impl<H: Hashes, const M: usize> Kernel for GarbleAnds<'_, H, M> {
    const PORTABLE: bool = M == SOFT_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let GarbleAnds { hash, first, wires, pairs, out, tables, .. } = self;
        let ready = hash.ready(l);
        let delta = l.splat(&self.delta);
        let hashed = H::delta(l, delta);
        let (gates, n, copies) = (M / 2 * L::N, pairs.len(), are_copies::<L>(pairs));
        if (M == 2 || L::SOFT) && n < gates {
            // Where no narrower vector is to be had.
            let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 32 * MOST]);
            p[..n].copy_from_slice(pairs);
            let now = Tweaks::<L, M>::new::<2>(l, first).next(l);
            garble::<L, H, M>(l, hash, &ready, delta, hashed, first, now, copies, wires, &p, &mut o, &mut t);
            out.copy_from_slice(&o[..16 * n]);
            tables.copy_from_slice(&t[..32 * n]);
            return;
        }
        let mut from = 0;
        loop {
            let mut tweaks = Tweaks::<L, M>::new::<2>(l, first + from as u64);
            let mut gate = first + from as u64;
            let tables = tables[32 * from..].chunks_exact_mut(32 * gates);
            let groups = pairs[from..].chunks_exact(gates).zip(out[16 * from..].chunks_exact_mut(16 * gates));
            for ((p, o), t) in groups.zip(tables) {
                let now = tweaks.next(l);
                garble::<L, H, M>(l, hash, &ready, delta, hashed, gate, now, copies, wires, p, o, t);
                gate += gates as u64;
            }
            let rest = (n - from) % gates;
            if rest == 0 || M > 2 && !L::SOFT && rest <= L::N {
                break;
            }
            // Once more, with some gates again, to the same result, rather than with fewer of them.
            from = n - gates;
        }
        if M > 2 && !L::SOFT && !(n - from).is_multiple_of(gates) {
            let at = n - L::N;
            let gate = first + at as u64;
            let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &mut tables[32 * at..]);
            let now = Tweaks::<L, 2>::new::<2>(l, gate).next(l);
            garble::<L, H, 2>(l, hash, &ready, delta, hashed, gate, now, copies, wires, p, o, t);
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn garble<L: Lanes, H: Hashes, const M: usize>(
    l: L,
    hash: &H,
    ready: &H::Ready<L>,
    delta: L::V,
    hashed: L::V,
    gate: u64,
    tweaks: [L::V; M],
    copies: bool,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &mut [u8],
) {
    let mut x = [l.zero(); M];
    for g in 0..M / 2 {
        (x[2 * g], x[2 * g + 1]) = load(l, copies, wires, &pairs[g * L::N..]);
    }
    let h = hash.twins(l, ready, hashed, gate, &tweaks, &x);
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

/// Whether the first vector's gates read wires side by side, as copies of one gate do.
#[inline(always)]
fn are_copies<L: Lanes>(pairs: &[[u32; 2]]) -> bool {
    let copy = |i: usize| pairs[i] == [pairs[0][0] + i as u32, pairs[0][1] + i as u32];
    L::N > 1 && pairs.len() >= L::N && (1..L::N).all(copy)
}

/// The operands of a vector of gates. It is looked at for copies only where the first of its layer was one: in layers of
/// gates that differ, those that happen to lie side by side cannot be foretold.
#[inline(always)]
fn load<L: Lanes>(l: L, copies: bool, wires: &[[u8; 16]], pairs: &[[u32; 2]]) -> (L::V, L::V) {
    if copies && are_copies::<L>(pairs) {
        let of = |w: u32| l.load(wires[w as usize..][..L::N].as_flattened());
        return (of(pairs[0][0]), of(pairs[0][1]));
    }
    l.load_pairs(wires, pairs)
}

/// Uses the tables of `pairs.len()` gates from number `first` on.
pub(super) struct EvaluateAnds<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a [u8],
}

impl<H: Hashes, const M: usize> Kernel for EvaluateAnds<'_, H, M> {
    const PORTABLE: bool = M == SOFT_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let EvaluateAnds { hash, first, wires, pairs, out, tables } = self;
        let ready = hash.ready(l);
        let (gates, n, copies) = (M / 2 * L::N, pairs.len(), are_copies::<L>(pairs));
        if (M == 2 || L::SOFT) && n < gates {
            // Where no narrower vector is to be had.
            let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 32 * MOST]);
            p[..n].copy_from_slice(pairs);
            t[..32 * n].copy_from_slice(tables);
            let now = Tweaks::<L, M>::new::<2>(l, first).next(l);
            evaluate::<L, H, M>(l, hash, &ready, first, now, copies, wires, &p, &mut o, &t);
            out.copy_from_slice(&o[..16 * n]);
            return;
        }
        let mut from = 0;
        loop {
            let mut tweaks = Tweaks::<L, M>::new::<2>(l, first + from as u64);
            let mut gate = first + from as u64;
            let tables = tables[32 * from..].chunks_exact(32 * gates);
            let groups = pairs[from..].chunks_exact(gates).zip(out[16 * from..].chunks_exact_mut(16 * gates));
            for ((p, o), t) in groups.zip(tables) {
                let now = tweaks.next(l);
                evaluate::<L, H, M>(l, hash, &ready, gate, now, copies, wires, p, o, t);
                gate += gates as u64;
            }
            let rest = (n - from) % gates;
            if rest == 0 || M > 2 && !L::SOFT && rest <= L::N {
                break;
            }
            // Once more, with some gates again, to the same result, rather than with fewer of them.
            from = n - gates;
        }
        if M > 2 && !L::SOFT && !(n - from).is_multiple_of(gates) {
            let at = n - L::N;
            let gate = first + at as u64;
            let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &tables[32 * at..]);
            let now = Tweaks::<L, 2>::new::<2>(l, gate).next(l);
            evaluate::<L, H, 2>(l, hash, &ready, gate, now, copies, wires, p, o, t);
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn evaluate<L: Lanes, H: Hashes, const M: usize>(
    l: L,
    hash: &H,
    ready: &H::Ready<L>,
    gate: u64,
    tweaks: [L::V; M],
    copies: bool,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &[u8],
) {
    let mut x = [l.zero(); M];
    for g in 0..M / 2 {
        (x[2 * g], x[2 * g + 1]) = load(l, copies, wires, &pairs[g * L::N..]);
    }
    let h = hash.singles(l, ready, gate, &tweaks, &x);
    for g in 0..M / 2 {
        let (a, b) = (x[2 * g], x[2 * g + 1]);
        let table = &tables[2 * g * L::BYTES..];
        let (tg, te) = l.unzip(l.load(table), l.load(&table[L::BYTES..]));
        let tg = l.andnot(without_bit_0(l, a), tg);
        let te = l.andnot(without_bit_0(l, b), l.xor(te, a));
        l.store(l.xor3(l.xor(h[2 * g], h[2 * g + 1]), tg, te), &mut out[g * L::BYTES..]);
    }
}
