//! The XORs of PRF garbling, which have tables of their own. The header of [`super`] has the
//! formulas and the notation.

use super::Operand;
use super::kernel::{
    MOST, MOST_VECTORS, Ready, by_signal, hash_flat, hash_pairs, input, load_zipped, store_zipped,
};
use hushwire_aes::kernel::without_bit_0;
use hushwire_simd::{Kernel, Lanes};

/// Makes the tables and labels of XORs. A gate has 32 bytes of labels on each wire, for truth
/// values 0 and 1, and 16 bytes of tables.
pub(super) struct GarbleXors<'a, const G: usize> {
    /// The number of the first gate.
    pub(super) first: u64,
    pub(super) left: &'a [u8],
    pub(super) right: &'a [u8],
    pub(super) made: &'a mut [u8],
    pub(super) tables: &'a mut [u8],
}

impl<const G: usize> Kernel for GarbleXors<'_, G> {
    const PORTABLE: bool = G == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (bytes, mut ready) = (G * L::BYTES, Ready::new(l, self.first));
        for (g, tables) in self.tables.chunks_mut(bytes).enumerate() {
            let (at, n) = (2 * g * bytes, tables.len());
            let (left, right) = (&self.left[at..at + 2 * n], &self.right[at..at + 2 * n]);
            let made = &mut self.made[at..at + 2 * n];
            if n == bytes {
                garble_xors::<L, G>(l, &mut ready, left, right, made, tables);
            } else {
                let mut pad = [[0; 32 * MOST]; 4];
                let [x, y, m, t] = &mut pad;
                x[..2 * n].copy_from_slice(left);
                y[..2 * n].copy_from_slice(right);
                garble_xors::<L, G>(l, &mut ready, x, y, m, t);
                made.copy_from_slice(&m[..2 * n]);
                tables.copy_from_slice(&t[..n]);
            }
        }
    }
}

/// Garbles a group of XORs.
#[inline(always)]
fn garble_xors<L: Lanes, const G: usize>(
    l: L,
    ready: &mut Ready<L>,
    left: &[u8],
    right: &[u8],
    made: &mut [u8],
    tables: &mut [u8],
) {
    // For every vector of gates: L^0, L^1 and R[1].
    let (mut keys, mut f) = ([[l.zero(); 3]; G], [[l.zero(); 3]; G]);
    for g in 0..G {
        let at = 2 * g * L::BYTES;
        let gates = ready.next(l);
        let [left_0, left_1] = load_zipped(l, &left[at..]);
        let ([_, right_signal_1], _) = by_signal(l, load_zipped(l, &right[at..]));
        keys[g] = [left_0, left_1, right_signal_1];
        let input_left = input(l, gates, 0, Operand::Left);
        f[g] = [input_left, input_left, input(l, gates, 0, Operand::Right)];
    }
    hash_threes(l, &keys, &mut f);
    for g in 0..G {
        let at = 2 * g * L::BYTES;
        let [right_0, right_1] = load_zipped(l, &right[at..]);
        let ([right_signal_0, _], pr_0) = by_signal(l, [right_0, right_1]);
        let d = l.xor(f[g][0], f[g][1]);
        let table = l.and(ready.label, l.xor3(f[g][2], right_signal_0, d));
        l.store(table, &mut tables[g * L::BYTES..]);
        let zero = l.xor3(f[g][0], right_signal_0, l.andnot(pr_0, d));
        let signals = l.xor(keys[g][0], right_0);
        let (zero, one) = ready.pair(l, zero, d, signals);
        store_zipped(l, zero, one, &mut made[at..]);
    }
}

/// AES of `f` under `keys`, all of them in parallel.
#[inline(always)]
fn hash_threes<L: Lanes, const G: usize>(l: L, keys: &[[L::V; 3]; G], f: &mut [[L::V; 3]; G]) {
    const { assert!(G == 1 || G == 4, "three or twelve vectors of keys") };
    if G == 4 {
        hash_flat::<L, G, 3, 12>(l, keys, f);
    } else {
        hash_flat::<L, G, 3, 3>(l, keys, f);
    }
}

/// Evaluates XORs. A gate has 16 bytes on each wire, and 16 bytes of tables.
pub(super) struct EvaluateXors<'a, const G: usize> {
    /// The number of the first gate.
    pub(super) first: u64,
    pub(super) left: &'a [u8],
    pub(super) right: &'a [u8],
    pub(super) made: &'a mut [u8],
    pub(super) tables: &'a [u8],
}

impl<const G: usize> Kernel for EvaluateXors<'_, G> {
    const PORTABLE: bool = G == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (bytes, mut ready) = (G * L::BYTES, Ready::new(l, self.first));
        for (g, made) in self.made.chunks_mut(bytes).enumerate() {
            let (at, n) = (g * bytes, made.len());
            let [left, right, tables] = [self.left, self.right, self.tables].map(|x| &x[at..at + n]);
            if n == bytes {
                evaluate_xors::<L, G>(l, &mut ready, left, right, made, tables);
            } else {
                let mut pad = [[0; 16 * MOST]; 4];
                let [x, y, m, t] = &mut pad;
                x[..n].copy_from_slice(left);
                y[..n].copy_from_slice(right);
                t[..n].copy_from_slice(tables);
                evaluate_xors::<L, G>(l, &mut ready, x, y, m, t);
                made.copy_from_slice(&m[..n]);
            }
        }
    }
}

/// Evaluates a group of XORs.
#[inline(always)]
fn evaluate_xors<L: Lanes, const G: usize>(
    l: L,
    ready: &mut Ready<L>,
    left: &[u8],
    right: &[u8],
    made: &mut [u8],
    tables: &[u8],
) {
    let (mut keys, mut f) = ([[l.zero(); 2]; G], [[l.zero(); 2]; G]);
    for g in 0..G {
        let at = g * L::BYTES;
        let gates = ready.next(l);
        keys[g] = [l.load(&left[at..]), l.load(&right[at..])];
        f[g] = [input(l, gates, 0, Operand::Left), input(l, gates, 0, Operand::Right)];
    }
    hash_pairs::<L, G>(l, &keys, &mut f);
    for g in 0..G {
        let ([left, right], [f_left, f_right]) = (keys[g], f[g]);
        let table = l.load(&tables[g * L::BYTES..]);
        // F_L ⊕ R, and where R has signal 1, F_L ⊕ F_R ⊕ T.
        let other = l.andnot(without_bit_0(l, right), l.xor3(f_right, right, table));
        let label = l.xor3(f_left, right, other);
        l.store(ready.with_signal(l, label, l.xor(left, right)), &mut made[g * L::BYTES..]);
    }
}
