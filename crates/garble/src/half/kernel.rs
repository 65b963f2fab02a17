//! Fused kernels for garbling and evaluating: labels are gathered, hashed and combined without
//! leaving registers.
//!
//! A group has `M` vectors of labels for `M / 2` vectors of gates: `[a, b, a, b, …]`. Every vector
//! has tweaks of its own, with `P = 2` tweaks for each gate.

use super::hash::Hashes;
use super::work::{GateGroups, KernelWork, Next};
use hushwire_aes::kernel::{Tweaks, without_bit_0};
use hushwire_simd::{Kernel, Lanes, prefetch};

/// Makes the tables and labels of gates from number `first` on, in groups of at most `M` vectors of
/// labels: 4 or 8.
pub(super) struct GarbleAnds<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) delta: [u8; 16],
    pub(super) first: u64,
    pub(super) work: KernelWork<'a>,
    pub(super) tables: &'a mut [u8],
}

impl<H: Hashes, const M: usize> Kernel for GarbleAnds<'_, H, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let GarbleAnds { hash, mut first, mut work, mut tables, .. } = self;
        let ready = hash.ready(l);
        let delta = l.splat(&self.delta);
        let hashed = H::delta(l, delta);
        let alone = work.alone();
        while let Some(Next { wires, pairs, n, out }) = work.next() {
            let copies = are_copies::<L>(&pairs[..n]);
            let mut part = GateGroups::new(n, pairs.len().min(out.len() / 16).min(tables.len() / 32), alone);
            while let Some(vectors) = part.next::<L, M>() {
                if vectors == M && !L::SOFT {
                    loop {
                        let (at, gate) = (part.at, first + part.at as u64);
                        let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &mut tables[32 * at..]);
                        garble::<L, H, M>(l, hash, &ready, delta, hashed, gate, copies, wires, p, o, t);
                        if !part.again(M / 2 * L::N) {
                            break;
                        }
                    }
                    continue;
                }
                let (at, gate) = (part.at, first + part.at as u64);
                let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &mut tables[32 * at..]);
                match vectors {
                    4 if M > 4 || L::SOFT => {
                        garble::<L, H, 4>(l, hash, &ready, delta, hashed, gate, copies, wires, p, o, t);
                    }
                    2 if !L::SOFT => {
                        garble::<L, H, 2>(l, hash, &ready, delta, hashed, gate, copies, wires, p, o, t);
                    }
                    _ => {
                        let (mut q, mut made, mut table) = ([[0; 2]; 8], [0; 128], [0; 256]);
                        q[..n].copy_from_slice(&pairs[..n]);
                        let (p, m, u) = (&q[..], &mut made[..], &mut table[..]);
                        if L::SOFT {
                            garble::<L, H, 4>(l, hash, &ready, delta, hashed, gate, copies, wires, p, m, u);
                        } else {
                            garble::<L, H, 2>(l, hash, &ready, delta, hashed, gate, copies, wires, p, m, u);
                        }
                        o[..16 * n].copy_from_slice(&made[..16 * n]);
                        t[..32 * n].copy_from_slice(&table[..32 * n]);
                    }
                }
            }
            first += n as u64;
            tables = &mut std::mem::take(&mut tables)[32 * n..];
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
    copies: bool,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &mut [u8],
) {
    let (bytes, pairs) = (M / 2 * L::BYTES, &pairs[..M / 2 * L::N]);
    let (out, tables) = (&mut out[..bytes], &mut tables[..2 * bytes]);
    let tweaks = Tweaks::<L, M>::new::<2>(l, gate).next(l);
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

/// Whether the first vector's gates read adjacent wires, as the copies of one gate do.
#[inline(always)]
fn are_copies<L: Lanes>(pairs: &[[u32; 2]]) -> bool {
    let copy = |i: usize| pairs[i] == [pairs[0][0] + i as u32, pairs[0][1] + i as u32];
    L::N > 1 && pairs.len() >= L::N && (1..L::N).all(copy)
}

/// The operands of a vector of gates. It tests for copies only if the first vector of the layer had
/// copies: in layers of different gates, adjacent operands are rare and branches on them
/// unpredictable.
#[inline(always)]
fn load<L: Lanes>(l: L, copies: bool, wires: &[[u8; 16]], pairs: &[[u32; 2]]) -> (L::V, L::V) {
    if copies && are_copies::<L>(pairs) {
        let of = |w: u32| l.load(wires[w as usize..][..L::N].as_flattened());
        return (of(pairs[0][0]), of(pairs[0][1]));
    }
    l.load_pairs(wires, pairs)
}

/// LOCAL: the number of bytes by which tables are prefetched. The CPU prefetches by itself, but not
/// across pages, so that wide tiers would wait.
const AHEAD: usize = 2048;

/// Uses the tables of the gates from number `first` on.
pub(super) struct EvaluateAnds<'a, H, const M: usize> {
    pub(super) hash: &'a H,
    pub(super) first: u64,
    pub(super) work: KernelWork<'a>,
    pub(super) tables: &'a [u8],
}

impl<H: Hashes, const M: usize> Kernel for EvaluateAnds<'_, H, M> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let EvaluateAnds { hash, mut first, mut work, mut tables } = self;
        let ready = hash.ready(l);
        let alone = work.alone();
        while let Some(Next { wires, pairs, n, out }) = work.next() {
            let copies = are_copies::<L>(&pairs[..n]);
            let mut part = GateGroups::new(n, pairs.len().min(out.len() / 16).min(tables.len() / 32), alone);
            while let Some(vectors) = part.next::<L, M>() {
                if vectors == M && !L::SOFT {
                    loop {
                        let (at, gate) = (part.at, first + part.at as u64);
                        let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &tables[32 * at..]);
                        evaluate::<L, H, M>(l, hash, &ready, gate, copies, wires, p, o, t);
                        if !part.again(M / 2 * L::N) {
                            break;
                        }
                    }
                    continue;
                }
                let (at, gate) = (part.at, first + part.at as u64);
                let (p, o, t) = (&pairs[at..], &mut out[16 * at..], &tables[32 * at..]);
                match vectors {
                    4 if M > 4 || L::SOFT => {
                        evaluate::<L, H, 4>(l, hash, &ready, gate, copies, wires, p, o, t);
                    }
                    2 if !L::SOFT => evaluate::<L, H, 2>(l, hash, &ready, gate, copies, wires, p, o, t),
                    _ => {
                        let (mut q, mut made, mut table) = ([[0; 2]; 8], [0; 128], [0; 256]);
                        q[..n].copy_from_slice(&pairs[..n]);
                        table[..32 * n].copy_from_slice(&t[..32 * n]);
                        if L::SOFT {
                            evaluate::<L, H, 4>(l, hash, &ready, gate, copies, wires, &q, &mut made, &table);
                        } else {
                            evaluate::<L, H, 2>(l, hash, &ready, gate, copies, wires, &q, &mut made, &table);
                        }
                        o[..16 * n].copy_from_slice(&made[..16 * n]);
                    }
                }
            }
            first += n as u64;
            tables = &tables[32 * n..];
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
    copies: bool,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &[u8],
) {
    let (bytes, pairs) = (M / 2 * L::BYTES, &pairs[..M / 2 * L::N]);
    if let (true, Some(ahead)) = (L::N > 1, tables.get(AHEAD..AHEAD + 2 * bytes)) {
        prefetch(ahead);
    }
    let (out, tables) = (&mut out[..bytes], &tables[..2 * bytes]);
    let tweaks = Tweaks::<L, M>::new::<2>(l, gate).next(l);
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
