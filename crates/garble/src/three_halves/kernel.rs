//! Fused kernels for garbling and evaluating: labels are gathered, hashed and combined without
//! leaving registers.
//!
//! A lane is a gate. Its two words are the left and right halves of a value, or two masks. A group
//! has `M` / 3 vectors of gates, and hashes `[a, b, a ⊕ b, a, b, …]`.
//!
//! The formula that [`super`] writes with matrices is linear in three vectors of two labels, with V
//! = A_L ⊕ B_R and Y = A_R ⊕ B_L:
//!
//! ```text
//! uw = (A_L ⊕ Y, B_R ⊕ Y)     vv = (V, V)     p = (B_L, A_R)     those of (Δ, Δ): duw, dvv
//! R(A, B) = (r, r') uw ⊕ (r', r) vv ⊕ (¬i, ¬j) p
//! C0 = base_00 ⊕ ¬a ¬b Δ
//! (G0, G1) = (h(A0) ⊕ h(A1), h(B0) ⊕ h(B1)) ⊕ p ⊕ Δ ⊕ (a, b) uw ⊕ (b, a) vv
//!            ⊕ (r ⊕ b, r' ⊕ a) duw ⊕ (r' ⊕ a, r ⊕ b) dvv
//! G2 = h(A0 ⊕ B0) ⊕ h(A0 ⊕ B1) ⊕ left ⊕ right of ((b, a) uw ⊕ (r ⊕ b, r' ⊕ a) Δ)
//! ```
//!
//! The p, uw and vv of C0 and G are those of (A0, B0). G is base_00 ⊕ base_11 and base_00 ⊕
//! base_01, with equal terms cancelled.

use super::sigma::sigma;
use hushwire_aes::kernel::{Tweaks, encrypt_keyed};
use hushwire_simd::{Kernel, Lanes};

/// LOCAL: the number of vectors of labels in the larger group.
pub(super) const MOST_VECTORS: usize = 12;

/// The largest number of gates in a group: four vectors of four lanes.
const MOST: usize = 16;

/// Bit 0 of both words.
const BIT: [u8; 16] = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
const ONES: [u8; 16] = [0xff; 16];
const LEFT: [u8; 16] = (u64::MAX as u128).to_le_bytes();

/// A kernel in groups of `M` vectors of labels: 3 or [`MOST_VECTORS`]; the portable tier uses only
/// the latter.
pub(super) struct Grouped<K, const M: usize>(pub(super) K);

/// Labels of signal 0, one in each lane.
#[derive(Clone, Copy)]
struct AtZero<V>(V);

/// Swaps the two words of each lane.
#[inline(always)]
fn swap<L: Lanes>(l: L, x: L::V) -> L::V {
    l.shuffle(x, l.splat(&[8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7]))
}

/// A mask of the words whose bit 0 is 0.
#[inline(always)]
fn without_bit<L: Lanes>(l: L, x: L::V) -> L::V {
    l.add64(l.and(x, l.splat(&BIT)), l.splat(&ONES))
}

/// A mask of the words whose bit 0 is 1.
#[inline(always)]
fn with_bit<L: Lanes>(l: L, x: L::V) -> L::V {
    l.add64(l.andnot(x, l.splat(&BIT)), l.splat(&ONES))
}

/// `x ^ a & b`.
#[inline(always)]
fn plus<L: Lanes>(l: L, x: L::V, a: L::V, b: L::V) -> L::V {
    l.xor(x, l.and(a, b))
}

/// Byte `k` of the window, in every byte of lane `k`.
#[inline(always)]
fn spread<L: Lanes>(l: L, window: &[u8; 16]) -> L::V {
    let mut at = [0; 64];
    for (k, lane) in at.chunks_exact_mut(16).enumerate() {
        lane.fill(k as u8);
    }
    l.shuffle(l.splat(window), l.load(&at))
}

/// uw, vv and p of two labels.
#[inline(always)]
fn linear<L: Lanes>(l: L, a: L::V, b: L::V) -> [L::V; 3] {
    let vy = l.xor(a, swap(l, b));
    let (vv, yy) = l.unpack::<64>(vy, vy);
    let left = l.splat(&LEFT);
    let ends = l.or(l.and(left, a), l.andnot(left, b));
    [l.xor(ends, yy), vv, l.xor3(a, b, ends)]
}

/// Replaces every `y` by AES_key(y) ⊕ y.
#[inline(always)]
fn hash<L: Lanes, const M: usize, const H: usize>(l: L, keys: &[L::V; M], y: &mut [[L::V; H]; M]) {
    if M == 12 {
        // The calls are unrolled by hand, since a loop would copy all values through memory.
        hash_four(l, 0, keys, y);
        hash_four(l, 1, keys, y);
        hash_four(l, 2, keys, y);
    } else {
        let masks = *y;
        encrypt_keyed(l, keys, &masks, y);
    }
}

/// The same for four values, three places apart.
#[inline(always)]
fn hash_four<L: Lanes, const M: usize, const H: usize>(
    l: L,
    h: usize,
    keys: &[L::V; M],
    y: &mut [[L::V; H]; M],
) {
    let keys = [keys[h], keys[3 + h], keys[6 + h], keys[9 + h]];
    let masks = [y[h], y[3 + h], y[6 + h], y[9 + h]];
    let mut four = masks;
    encrypt_keyed(l, &keys, &masks, &mut four);
    [y[h], y[3 + h], y[6 + h], y[9 + h]] = four;
}

/// Makes the tables and labels of `pairs.len()` gates from number `first` on.
pub(super) struct GarbleAnds<'a> {
    pub(super) start: [u8; 16],
    pub(super) delta: [u8; 16],
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    /// (r, r') in bits 0 and 1 of one byte for each gate, followed by 16 unused bytes.
    pub(super) coins: &'a [u8],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a mut [[u8; 24]],
    pub(super) bits: &'a mut [u8],
}

/// The constants that all groups share.
struct Ready<V> {
    start: V,
    delta: V,
    /// σ(Δ).
    hashed: V,
    duw: V,
    dvv: V,
}

impl<const M: usize> Kernel for Grouped<GarbleAnds<'_>, M> {
    const PORTABLE: bool = M == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Grouped(this) = self;
        let gates = M / 3 * L::N;
        let delta = l.splat(&this.delta);
        let [duw, dvv, _] = linear(l, delta, delta);
        let ready = Ready { start: l.splat(&this.start), delta, hashed: sigma(l, delta), duw, dvv };
        let mut tweaks = Tweaks::<L, M>::new::<3>(l, this.first);
        let n = this.pairs.len();
        let (mut last_pairs, mut last_coins) = ([[0; 2]; MOST], [0; 2 * MOST]);
        let (mut last_out, mut last_tables, mut last_bits) = ([0; 16 * MOST], [[0; 24]; MOST], [0; MOST]);
        for at in (0..n).step_by(gates) {
            let t = tweaks.next(l);
            let end = n.min(at + gates);
            let whole = end - at == gates;
            // Both cases share one call, since a second one would double the code.
            let (pairs, coins, out, tables, bits) = if whole {
                let (out, tables) = (&mut this.out[16 * at..16 * end], &mut this.tables[at..end]);
                (&this.pairs[at..end], &this.coins[at..], out, tables, &mut this.bits[at..end])
            } else {
                last_pairs[..end - at].copy_from_slice(&this.pairs[at..]);
                last_coins[..end - at].copy_from_slice(&this.coins[at..end]);
                let (out, tables) = (&mut last_out[..], &mut last_tables[..]);
                (&last_pairs[..], &last_coins[..], out, tables, &mut last_bits[..])
            };
            garble(l, &ready, &t, this.wires, pairs, coins, out, tables, bits);
            if !whole {
                this.out[16 * at..].copy_from_slice(&last_out[..16 * (end - at)]);
                this.tables[at..].copy_from_slice(&last_tables[..end - at]);
                this.bits[at..].copy_from_slice(&last_bits[..end - at]);
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn garble<L: Lanes, const M: usize>(
    l: L,
    ready: &Ready<L::V>,
    tweaks: &[L::V; M],
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    coins: &[u8],
    out: &mut [u8],
    tables: &mut [[u8; 24]],
    bits: &mut [u8],
) {
    let delta = ready.delta;
    let (mut keys, mut y) = ([l.zero(); M], [[l.zero(); 2]; M]);
    let (mut signals, mut labels) = ([l.zero(); 4], [[AtZero(l.zero()); 2]; 4]);
    for g in 0..M / 3 {
        let (a, b) = l.load_pairs(wires, &pairs[g * L::N..]);
        let ab = without_bit(l, l.unpack::<64>(a, b).0);
        let (not_pa, not_pb) = l.unpack::<64>(ab, ab);
        let a0 = l.xor(a, l.andnot(not_pa, delta));
        let b0 = l.xor(b, l.andnot(not_pb, delta));
        (signals[g], labels[g]) = (ab, [AtZero(a0), AtZero(b0)]);
        // σ is linear, so that a few applications serve all labels of a gate.
        let (sa, sb) = (sigma(l, a0), sigma(l, b0));
        let sums = [sa, sb, l.xor(sa, sb)];
        for h in 0..3 {
            keys[3 * g + h] = l.xor(tweaks[3 * g + h], ready.start);
            y[3 * g + h] = [sums[h], l.xor(sums[h], ready.hashed)];
        }
    }
    hash(l, &keys, &mut y);
    for g in 0..M / 3 {
        let ([ha0, ha1], [hb0, hb1], [hc0, hc1]) = (y[3 * g], y[3 * g + 1], y[3 * g + 2]);
        let [AtZero(a0), AtZero(b0)] = labels[g];
        let (ab, ba) = (signals[g], swap(l, signals[g]));
        let window = coins[g * L::N..].first_chunk().expect("coins have bytes behind them");
        let drawn = spread(l, window);
        let r = with_bit(l, l.unpack::<64>(drawn, l.shr64::<1>(drawn)).0);
        let r_ = swap(l, r);
        let [uw, vv, p] = linear(l, a0, b0);
        let (h, m) = l.unpack::<64>(ha0, hb0);
        let (hc, mc) = l.unpack::<64>(hc0, hc0);
        let (hd, md) = l.unpack::<64>(l.xor(ha0, ha1), l.xor(hb0, hb1));
        let cd = l.xor(hc0, hc1);
        let zero = plus(l, plus(l, l.xor3(h, hc, p), r, uw), r_, vv);
        let zero = l.xor(zero, l.andnot(ab, l.andnot(ba, delta)));
        l.store(zero, &mut out[g * L::BYTES..]);
        let (rb, ra) = (l.xor(r, ba), l.xor(r_, ab));
        let g01 = plus(l, plus(l, l.xor3(hd, p, delta), ab, uw), ba, vv);
        let g01 = plus(l, plus(l, g01, rb, ready.duw), ra, ready.dvv);
        let both = plus(l, l.and(ba, uw), rb, delta);
        let g2 = l.xor3(cd, both, swap(l, both));
        // Left word: z0 in bit 0, z2 in bit 2. Right word: z1 in bit 0, z3 in bit 2, z4 in bit 3.
        let bit = l.splat(&BIT);
        let z01 = l.and(l.xor3(m, mc, r), bit);
        let z23 = l.shl64::<2>(l.and(l.xor(md, ab), bit));
        let z4 = l.shl64::<3>(l.and(l.xor3(cd, ab, ba), l.andnot(l.splat(&LEFT), bit)));
        let z = l.or(z01, l.or(z23, z4));
        let (mut g01_bytes, mut g2_bytes, mut z_bytes) = ([0; 64], [0; 64], [0; 64]);
        l.store(g01, &mut g01_bytes);
        l.store(g2, &mut g2_bytes);
        l.store(z, &mut z_bytes);
        let (tables, bits) = (&mut tables[g * L::N..][..L::N], &mut bits[g * L::N..][..L::N]);
        for k in 0..L::N {
            tables[k][..16].copy_from_slice(&g01_bytes[16 * k..16 * k + 16]);
            tables[k][16..].copy_from_slice(&g2_bytes[16 * k..16 * k + 8]);
            bits[k] = z_bytes[16 * k] | z_bytes[16 * k + 8] << 1;
        }
    }
}

/// Uses the tables of `pairs.len()` gates from number `first` on.
pub(super) struct EvaluateAnds<'a> {
    pub(super) start: [u8; 16],
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
    pub(super) tables: &'a [u8],
    /// One byte for each gate.
    pub(super) bits: &'a [u8],
}

impl<const M: usize> Kernel for Grouped<EvaluateAnds<'_>, M> {
    const PORTABLE: bool = M == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Grouped(this) = self;
        let gates = M / 3 * L::N;
        let start = l.splat(&this.start);
        let mut tweaks = Tweaks::<L, M>::new::<3>(l, this.first);
        let n = this.pairs.len();
        let (mut last_pairs, mut last_out) = ([[0; 2]; MOST], [0; 16 * MOST]);
        let (mut last_tables, mut padded) = ([0; 24 * MOST], [0; 2 * MOST]);
        for at in (0..n).step_by(gates) {
            let t = tweaks.next(l);
            let end = n.min(at + gates);
            let whole = end - at == gates;
            // Bits are read 16 at a time.
            padded[..end - at].copy_from_slice(&this.bits[at..end]);
            let (pairs, out, tables) = if whole {
                (&this.pairs[at..end], &mut this.out[16 * at..16 * end], &this.tables[24 * at..24 * end])
            } else {
                last_pairs[..end - at].copy_from_slice(&this.pairs[at..]);
                last_tables[..24 * (end - at)].copy_from_slice(&this.tables[24 * at..]);
                (&last_pairs[..], &mut last_out[..], &last_tables[..])
            };
            evaluate(l, start, &t, this.wires, pairs, out, tables, &padded);
            if !whole {
                this.out[16 * at..].copy_from_slice(&last_out[..16 * (end - at)]);
            }
        }
    }
}

#[inline(always)]
#[allow(clippy::too_many_arguments, reason = "what a group needs, all of it in registers")]
fn evaluate<L: Lanes, const M: usize>(
    l: L,
    start: L::V,
    tweaks: &[L::V; M],
    wires: &[[u8; 16]],
    pairs: &[[u32; 2]],
    out: &mut [u8],
    tables: &[u8],
    bits: &[u8; 2 * MOST],
) {
    let (mut keys, mut y) = ([l.zero(); M], [[l.zero(); 1]; M]);
    let mut labels = [[l.zero(); 2]; 4];
    for g in 0..M / 3 {
        let (a, b) = l.load_pairs(wires, &pairs[g * L::N..]);
        labels[g] = [a, b];
        let (sa, sb) = (sigma(l, a), sigma(l, b));
        let sums = [sa, sb, l.xor(sa, sb)];
        for h in 0..3 {
            keys[3 * g + h] = l.xor(tweaks[3 * g + h], start);
            y[3 * g + h] = [sums[h]];
        }
    }
    hash(l, &keys, &mut y);
    for g in 0..M / 3 {
        let ([ha], [hb], [hc], [a, b]) = (y[3 * g], y[3 * g + 1], y[3 * g + 2], labels[g]);
        let ij = with_bit(l, l.unpack::<64>(a, b).0);
        let either = l.xor(ij, swap(l, ij));
        let (h, m) = l.unpack::<64>(ha, hb);
        let (hc, mc) = l.unpack::<64>(hc, hc);
        let z = spread(l, bits[g * L::N..].first_chunk().expect("bytes behind them"));
        // z0 and z2, and z1 and z3, in bits 0 and 2.
        let z0123 = l.unpack::<64>(z, l.shr64::<1>(z)).0;
        let r = plus(l, plus(l, z0123, ij, l.shr64::<2>(z0123)), either, l.shr64::<4>(z));
        let r = with_bit(l, l.xor3(r, m, mc));
        let [uw, vv, p] = linear(l, a, b);
        let table = &tables[24 * g * L::N..];
        let (g01, g12) = (l.load_strided(table, 24), l.load_strided(&table[8..], 24));
        let g22 = l.unpack::<64>(g12, g12).1;
        let c = plus(l, plus(l, l.xor3(h, hc, l.andnot(ij, p)), ij, g01), either, g22);
        let c = plus(l, plus(l, c, r, uw), swap(l, r), vv);
        l.store(c, &mut out[g * L::BYTES..]);
    }
}
