//! Fused kernels for garbling and evaluating, as for half gates. A group has `M` vectors of gates;
//! only their first operands are hashed.

use crate::half::hash::{Hashes, Mi};
use hushwire_aes::kernel::{Tweaks, without_bit_0};
use hushwire_simd::{Kernel, Lanes};

/// LOCAL: the number of vectors in the largest group, which is the only one on the portable tier.
const MOST_VECTORS: usize = 4;
/// The largest number of gates in a group: four vectors of four lanes.
const MOST: usize = 16;

/// The operands of both kernels; `out` and the tables have one block for each gate.
pub(super) struct Gates<'a> {
    pub(super) hash: &'a Mi,
    pub(super) first: u64,
    pub(super) wires: &'a [[u8; 16]],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) out: &'a mut [u8],
}

/// Makes tables.
pub(super) struct GarbleAnds<'a, const M: usize> {
    pub(super) gates: Gates<'a>,
    pub(super) delta: [u8; 16],
    pub(super) tables: &'a mut [u8],
}

/// The evaluator's kernel.
pub(super) struct EvaluateAnds<'a, const M: usize> {
    pub(super) gates: Gates<'a>,
    pub(super) tables: &'a [u8],
}

/// The mask of all bits but bit 0.
const ABOVE: [u8; 16] = (u128::MAX - 1).to_le_bytes();

#[inline(always)]
fn load<L: Lanes, const M: usize>(l: L, wires: &[[u8; 16]], pairs: &[[u32; 2]]) -> ([L::V; M], [L::V; M]) {
    let (mut a, mut b) = ([l.zero(); M], [l.zero(); M]);
    for i in 0..M {
        (a[i], b[i]) = l.load_pairs(wires, &pairs[i * L::N..]);
    }
    (a, b)
}

impl<const M: usize> Kernel for GarbleAnds<'_, M> {
    const PORTABLE: bool = M == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Gates { hash, first, wires, pairs, out } = self.gates;
        let (n, ready, above) = (M * L::N, hash.ready(l), l.splat(&ABOVE));
        let delta = Mi::delta(l, l.splat(&self.delta));
        let mut tweaks = Tweaks::<L, M>::new::<1>(l, first);
        let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 16 * MOST]);
        for ((pairs, out), tables) in
            pairs.chunks(n).zip(out.chunks_mut(16 * n)).zip(self.tables.chunks_mut(16 * n))
        {
            let whole = pairs.len() == n;
            p[..pairs.len()].copy_from_slice(pairs);
            let (a, b) = load::<L, M>(l, wires, &p);
            let h = hash.twins(l, &ready, delta, first, &tweaks.next(l), &a);
            let (to, table) = if whole { (&mut *out, &mut *tables) } else { (&mut o[..], &mut t[..]) };
            for i in 0..M {
                let zero = l.and(h[i][0], above);
                let table_i = l.xor3(zero, l.and(h[i][1], above), b[i]);
                l.store(zero, &mut to[i * L::BYTES..]);
                l.store(table_i, &mut table[i * L::BYTES..]);
            }
            if !whole {
                out.copy_from_slice(&o[..out.len()]);
                tables.copy_from_slice(&t[..tables.len()]);
            }
        }
    }
}

impl<const M: usize> Kernel for EvaluateAnds<'_, M> {
    const PORTABLE: bool = M == MOST_VECTORS;
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Gates { hash, first, wires, pairs, out } = self.gates;
        let (n, ready, above) = (M * L::N, hash.ready(l), l.splat(&ABOVE));
        let mut tweaks = Tweaks::<L, M>::new::<1>(l, first);
        let (mut p, mut o, mut t) = ([[0; 2]; MOST], [0; 16 * MOST], [0; 16 * MOST]);
        for ((pairs, out), tables) in
            pairs.chunks(n).zip(out.chunks_mut(16 * n)).zip(self.tables.chunks(16 * n))
        {
            let whole = pairs.len() == n;
            p[..pairs.len()].copy_from_slice(pairs);
            let (a, b) = load::<L, M>(l, wires, &p);
            let h = hash.singles(l, &ready, first, &tweaks.next(l), &a);
            if !whole {
                t[..tables.len()].copy_from_slice(tables);
            }
            let (to, table) = if whole { (&mut *out, tables) } else { (&mut o[..], &t[..]) };
            for i in 0..M {
                let other = l.xor(l.load(&table[i * L::BYTES..]), b[i]);
                let other = l.andnot(without_bit_0(l, a[i]), other);
                l.store(l.xor(l.and(h[i], above), other), &mut to[i * L::BYTES..]);
            }
            if !whole {
                out.copy_from_slice(&o[..out.len()]);
            }
        }
    }
}
