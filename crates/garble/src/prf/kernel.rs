//! Fused kernels: labels are loaded, hashed and combined without leaving registers.
//!
//! A group has `G` vectors of gates, with one gate in each lane. Labels are keys. The best groups
//! have eight or twelve vectors of keys in parallel, since a key schedule is a chain, and a single
//! one would leave the AES units waiting.

use super::{LABEL, Operand, tweak};
use hushwire_aes::kernel::{encrypt_keyed, without_bit_0};
use hushwire_simd::{Kernel, Lanes};

/// The largest number of gates in a group: four vectors of four lanes.
pub(super) const MOST: usize = 16;
/// LOCAL: the number of vectors of gates in the largest group, which is the only one on the
/// portable tier; `MOST_GARBLED` is the number for ANDs that are garbled.
pub(super) const MOST_VECTORS: usize = 4;
const MOST_GARBLED: usize = 2;
/// The number of bytes behind a batch's last choice or row of bits, because whole vectors are
/// loaded.
pub(super) const PADDING: usize = 2 * MOST;

/// The state that a kernel keeps from step to step.
pub(super) struct Ready<L: Lanes> {
    /// The numbers of the next gates, one in each lane.
    gates: L::V,
    step: L::V,
    /// The mask of all bits but bit 0, which is the signal.
    pub(super) label: L::V,
    /// Moves bytes 0 to N − 1 to byte 0 of one lane each.
    spread: L::V,
}

impl<L: Lanes> Ready<L> {
    #[inline(always)]
    pub(super) fn new(l: L, first: u64) -> Self {
        let (mut lanes, mut spread) = ([0; 64], [0x80; 64]);
        for i in 0..L::N {
            lanes[16 * i] = i as u8;
            spread[16 * i] = i as u8;
        }
        let number = |n: u64| l.splat(&u128::from(n).to_le_bytes());
        Ready {
            gates: l.add64(number(first), l.load(&lanes)),
            step: number(L::N as u64),
            label: l.splat(&LABEL.0),
            spread: l.load(&spread),
        }
    }

    /// The numbers of the next vector of gates.
    #[inline(always)]
    pub(super) fn next(&mut self, l: L) -> L::V {
        let gates = self.gates;
        self.gates = l.add64(gates, self.step);
        gates
    }

    /// Puts one byte into the lowest byte of every lane.
    #[inline(always)]
    pub(super) fn bytes(&self, l: L, bytes: &[u8]) -> L::V {
        l.shuffle(l.splat(bytes.first_chunk().expect("padded")), self.spread)
    }

    /// The label of `x` with the signal of `y`.
    #[inline(always)]
    pub(super) fn with_signal(&self, l: L, x: L::V, y: L::V) -> L::V {
        l.or(l.and(self.label, x), l.andnot(self.label, y))
    }

    /// The labels of truth values 0 and 1, which differ by `differ`; the label of 0 has the signal
    /// of `y`.
    #[inline(always)]
    pub(super) fn pair(&self, l: L, zero: L::V, differ: L::V, y: L::V) -> (L::V, L::V) {
        let not_y = l.xor(y, l.splat(&1u128.to_le_bytes()));
        (self.with_signal(l, zero, y), self.with_signal(l, l.xor(zero, differ), not_y))
    }
}

/// The input of F.
#[inline(always)]
pub(super) fn input<L: Lanes>(l: L, gates: L::V, row: u8, side: Operand) -> L::V {
    l.xor(gates, l.splat(&tweak(0, row, side).0))
}

/// Reorders labels from truth values to signals; also returns a mask of the lanes where truth value
/// 0 has signal 0.
#[inline(always)]
pub(super) fn by_signal<L: Lanes>(l: L, [zero, one]: [L::V; 2]) -> ([L::V; 2], L::V) {
    let as_is = without_bit_0(l, zero);
    let swap = l.andnot(as_is, l.xor(zero, one));
    ([l.xor(zero, swap), l.xor(one, swap)], as_is)
}

/// Loads blocks from `src`: those at even places, and those at odd places.
#[inline(always)]
pub(super) fn load_zipped<L: Lanes>(l: L, src: &[u8]) -> [L::V; 2] {
    let (x, y) = l.unzip(l.load(src), l.load(&src[L::BYTES..]));
    [x, y]
}

#[inline(always)]
pub(super) fn store_zipped<L: Lanes>(l: L, x: L::V, y: L::V, dst: &mut [u8]) {
    let (first, second) = l.zip(x, y);
    l.store(first, dst);
    l.store(second, &mut dst[L::BYTES..]);
}

/// Makes the tables and labels of `pairs.len()` ANDs from number `first` on.
pub(super) struct GarbleAnds<'a, const G: usize> {
    pub(super) first: u64,
    /// Labels of truth values 0 and 1, alternating.
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    /// Permute bits, 0 or 1, followed by [`PADDING`] bytes.
    pub(super) choices: &'a [u8],
    pub(super) made: &'a mut [u8],
    pub(super) tables: &'a mut [u8],
    pub(super) bits: &'a mut [u8],
}

impl<const G: usize> Kernel for GarbleAnds<'_, G> {
    const PORTABLE: bool = G == MOST_GARBLED;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (group, mut ready) = (G * L::N, Ready::new(l, self.first));
        for (g, bits) in self.bits.chunks_mut(group).enumerate() {
            let (at, n) = (g * group, bits.len());
            let (made, tables) = (&mut self.made[32 * at..][..32 * n], &mut self.tables[32 * at..][..32 * n]);
            let (pairs, choices) = (&self.pairs[at..at + n], &self.choices[at..]);
            let mut c = [[0; 64]; G];
            if n == group {
                garble_ands(l, &mut ready, self.wires, pairs, choices, made, tables, &mut c);
            } else {
                let (mut p, mut m, mut t) = ([[0; 2]; MOST], [0; 32 * MOST], [0; 32 * MOST]);
                p[..n].copy_from_slice(pairs);
                garble_ands(l, &mut ready, self.wires, &p, choices, &mut m, &mut t, &mut c);
                made.copy_from_slice(&m[..32 * n]);
                tables.copy_from_slice(&t[..32 * n]);
            }
            for i in 0..n {
                bits[i] = c[i / L::N][16 * (i % L::N)];
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn garble_ands<L: Lanes, const G: usize>(
    l: L,
    ready: &mut Ready<L>,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    choices: &[u8],
    made: &mut [u8],
    tables: &mut [u8],
    bits: &mut [[u8; 64]; G],
) {
    // Labels by signal, left and right, and a mask of the lanes where truth value 0 has signal 0.
    let (mut keys, mut as_is) = ([[l.zero(); 4]; G], [[l.zero(); 2]; G]);
    let mut f = [[[l.zero(); 2]; 4]; G];
    for g in 0..G {
        let (mut left, mut right) = ([[0; 2]; 4], [[0; 2]; 4]);
        for i in 0..L::N {
            let [a, b] = pairs[g * L::N + i];
            (left[i], right[i]) = ([2 * a, 2 * a + 1], [2 * b, 2 * b + 1]);
        }
        let ((l0, l1), (r0, r1)) = (l.load_pairs(wires, &left), l.load_pairs(wires, &right));
        let (([l0, l1], pl_0), ([r0, r1], pr_0)) = (by_signal(l, [l0, l1]), by_signal(l, [r0, r1]));
        (keys[g], as_is[g]) = ([l0, l1, r0, r1], [pl_0, pr_0]);
        let gates = ready.next(l);
        for a in 0..2 {
            for b in 0..2 {
                let row = (2 * a + b) as u8;
                f[g][a][b] = input(l, gates, row, Operand::Left);
                f[g][2 + b][a] = input(l, gates, row, Operand::Right);
            }
        }
    }
    hash_fours(l, &keys, &mut f);
    for g in 0..G {
        let (made, tables) = (&mut made[2 * g * L::BYTES..], &mut tables[2 * g * L::BYTES..]);
        ands_made(l, ready, &f[g], as_is[g], &choices[g * L::N..], made, tables, &mut bits[g]);
    }
}

/// The tables, labels and rows' bits of a vector of ANDs.
#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a vector has, all of it in registers")]
fn ands_made<L: Lanes>(
    l: L,
    ready: &Ready<L>,
    f: &[[L::V; 2]; 4],
    [pl_0, pr_0]: [L::V; 2],
    choices: &[u8],
    made: &mut [u8],
    tables: &mut [u8],
    bits: &mut [u8; 64],
) {
    let mut k = [l.zero(); 4];
    for a in 0..2 {
        for b in 0..2 {
            k[2 * a + b] = l.xor(f[a][b], f[2 + b][a]);
        }
    }

    let (k13, k23) = (l.xor(k[1], k[3]), l.xor(k[2], k[3]));
    let all = l.xor3(k[0], k[1], k23);
    let t1 = l.xor(k23, l.and(pl_0, all));
    let t2 = l.xor(k13, l.and(pr_0, all));
    store_zipped(l, l.and(ready.label, t1), l.and(ready.label, t2), tables);

    let choice = ready.bytes(l, choices);
    let zero = l.xor(k[0], l.andnot(l.or(pl_0, pr_0), all));
    let (zero, one) = ready.pair(l, zero, all, choice);
    store_zipped(l, zero, one, made);

    // The row of truth value 1, as masks.
    let both = l.or(pl_0, pr_0);
    let s =
        [l.xor(both, l.splat(&[0xff; 16])), l.andnot(pl_0, pr_0), l.andnot(pr_0, pl_0), l.and(pl_0, pr_0)];
    let mut c = [l.zero(); 4];
    for r in 0..4 {
        c[r] = l.andnot(ready.label, l.xor3(k[r], choice, s[r]));
    }
    let low = l.or(c[0], l.shl64::<1>(c[1]));
    l.store(l.or(low, l.or(l.shl64::<2>(c[2]), l.shl64::<3>(c[3]))), bits);
}

/// Evaluates `pairs.len()` ANDs from number `first` on.
pub(super) struct EvaluateAnds<'a, const G: usize> {
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) made: &'a mut [u8],
    pub(super) tables: &'a [u8],
    /// The rows' bits, followed by [`PADDING`] bytes.
    pub(super) bits: &'a [u8],
}

impl<const G: usize> Kernel for EvaluateAnds<'_, G> {
    const PORTABLE: bool = G == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (group, mut ready) = (G * L::N, Ready::new(l, self.first));
        for (g, made) in self.made.chunks_mut(16 * group).enumerate() {
            let (at, n) = (g * group, made.len() / 16);
            let (pairs, tables) = (&self.pairs[at..at + n], &self.tables[32 * at..][..32 * n]);
            let bits = &self.bits[at..];
            if n == group {
                evaluate_ands::<L, G>(l, &mut ready, self.wires, pairs, made, tables, bits);
            } else {
                let (mut p, mut m, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 32 * MOST]);
                p[..n].copy_from_slice(pairs);
                t[..32 * n].copy_from_slice(tables);
                evaluate_ands::<L, G>(l, &mut ready, self.wires, &p, &mut m, &t, bits);
                made.copy_from_slice(&m[..16 * n]);
            }
        }
    }
}

#[inline(always)]
fn evaluate_ands<L: Lanes, const G: usize>(
    l: L,
    ready: &mut Ready<L>,
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    made: &mut [u8],
    tables: &[u8],
    bits: &[u8],
) {
    let (mut keys, mut f) = ([[l.zero(); 2]; G], [[l.zero(); 2]; G]);
    for g in 0..G {
        let (a, b) = l.load_pairs(wires, &pairs[g * L::N..]);
        // The row is two bits of byte 8.
        let row = l.or(l.shl64::<1>(l.andnot(ready.label, a)), l.andnot(ready.label, b));
        let left = l.xor(ready.next(l), l.shuffle(row, l.splat(&TO_BYTE_8)));
        keys[g] = [a, b];
        f[g] = [left, l.xor(left, l.splat(&tweak(0, 0, Operand::Right).0))];
    }
    hash_pairs::<L, G>(l, &keys, &mut f);
    for g in 0..G {
        let [a, b] = keys[g];
        let (not_a, not_b) = (without_bit_0(l, a), without_bit_0(l, b));
        let [t1, t2] = load_zipped(l, &tables[2 * g * L::BYTES..]);
        let k = l.xor(f[g][0], f[g][1]);
        let label = l.xor3(k, l.andnot(not_b, t1), l.andnot(not_a, t2));
        let c = ready.bytes(l, &bits[g * L::N..]);
        let c = l.xor(c, l.andnot(not_a, l.xor(c, l.shr64::<2>(c))));
        let c = l.xor(c, l.andnot(not_b, l.xor(c, l.shr64::<1>(c))));
        l.store(ready.with_signal(l, label, l.xor(k, c)), &mut made[g * L::BYTES..]);
    }
}

/// Moves byte 0 to byte 8 of a lane, and clears the others.
const TO_BYTE_8: [u8; 16] = {
    let mut idx = [0x80; 16];
    idx[8] = 0;
    idx
};

/// AES of `f` under `keys`, with two groups of keys in parallel.
#[inline(always)]
fn hash_fours<L: Lanes, const G: usize>(l: L, keys: &[[L::V; 4]; G], f: &mut [[[L::V; 2]; 4]; G]) {
    const { assert!(G == 1 || G == 2, "four or eight vectors of keys") };
    let zero = [l.zero(); 2];
    if G == 2 {
        let mut x = flat::<_, G, 4, 8>(f);
        encrypt_keyed(l, &flat::<_, G, 4, 8>(keys), &[zero; 8], &mut x);
        for g in 0..G {
            for i in 0..4 {
                f[g][i] = x[4 * g + i];
            }
        }
    } else {
        encrypt_keyed(l, &keys[0], &[zero; 4], &mut f[0]);
    }
}

/// AES of `f` under `keys`, all of them in parallel.
#[inline(always)]
pub(super) fn hash_pairs<L: Lanes, const G: usize>(l: L, keys: &[[L::V; 2]; G], f: &mut [[L::V; 2]; G]) {
    const { assert!(G == 1 || G == 2 || G == 4, "two, four or eight vectors of keys") };
    match G {
        4 => hash_flat::<L, G, 2, 8>(l, keys, f),
        2 => hash_flat::<L, G, 2, 4>(l, keys, f),
        _ => hash_flat::<L, G, 2, 2>(l, keys, f),
    }
}

/// AES of `f` under `keys`, with `W` keys for each vector of gates; `K` is `G W`.
#[inline(always)]
pub(super) fn hash_flat<L: Lanes, const G: usize, const W: usize, const K: usize>(
    l: L,
    keys: &[[L::V; W]; G],
    f: &mut [[L::V; W]; G],
) {
    let mut x = [[l.zero()]; K];
    for g in 0..G {
        for i in 0..W {
            x[W * g + i] = [f[g][i]];
        }
    }
    encrypt_keyed(l, &flat::<_, G, W, K>(keys), &[[l.zero()]; K], &mut x);
    for g in 0..G {
        for i in 0..W {
            f[g][i] = x[W * g + i][0];
        }
    }
}

/// Flattens `G` times `W` values; `K` is `G W`.
#[inline(always)]
fn flat<T: Copy, const G: usize, const W: usize, const K: usize>(x: &[[T; W]; G]) -> [T; K] {
    let mut all = [x[0][0]; K];
    for g in 0..G {
        for i in 0..W {
            all[W * g + i] = x[g][i];
        }
    }
    all
}
