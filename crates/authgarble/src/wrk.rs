//! Garbled ANDs of n − 1 garblers for one evaluator, party 0 (WRK17b, Π_mpc).
//!
//! Garbler i has labels L_{w,0} and L_{w,1} = L_{w,0} ⊕ Δ_i of its own for every wire, indexed by Λ_w. For Λ_α = u, Λ_β = v:
//!
//! ```text
//! r_i = s_i ⊕ u λ_β,i ⊕ v λ_α,i        party 0 adds u v; Σ r = Λ_γ
//! row (u, v): n blocks under H(L_{α,u}, L_{β,v}):   M_j[r_i] for every peer j,   L_{γ,0} ⊕ Σ_j K_i[r_j] ⊕ r_i Δ_i
//! the evaluator compares M_0[r_i] with its key, sums all r, and adds M_i[r_j] of all j to the last block: L_{γ,Λ_γ}
//! ```
//!
//! H(A, B)_t = tccr(2 A ⊕ 4 B, n g + t) for AND g, with 2 and 4 in GF(2^128): Δ comes in as 2 Δ, 4 Δ or 6 Δ.
//!
//! ```text
//! table of an AND: row (0,0), (0,1), (1,0), (1,1), of n blocks each: 64 n bytes
//! ```

use crate::{
    masks::{Job, Masks},
    room::hash_key,
    rows::{Layer, Rows},
    shares::{Blocks, blocks, one},
};
use hushwire_block::{Block, Gf128, from_bytes, from_bytes_mut};
use hushwire_ot::Context;
use hushwire_prg::Prg;
use zeroize::Zeroizing;

/// LOCAL: ANDs that are hashed at a time.
const STRIP: usize = 256;

/// Bytes of an AND's table from one of `n` parties' garblers.
pub(crate) const fn table_bytes(n: usize) -> usize {
    64 * n
}

/// 2 A ⊕ 4 B.
#[inline]
fn mix(a: Block, b: Block) -> Block {
    let b = Gf128(b.to_u128()).mul_x();
    Block::from_u128(Gf128(a.to_u128() ^ b.0).mul_x().0)
}

/// H of consecutive ANDs from `first` on, `n` blocks each: `x` repeats every input n times.
fn hash(context: &Context, garbler: usize, first: u64, n: usize, x: &[Block], out: &mut [Block]) {
    let way = context.sid.child("rows of garbler", garbler as u64);
    let (mut from, mut number) = (0, first);
    while from < x.len() {
        // A key serves 2^20 ANDs.
        let left = ((1 << 20) - number % (1 << 20)) as usize;
        let to = x.len().min(from + n * left);
        let key = hash_key(context.backend, &way, "hash", number);
        let tweak = u128::from(number) * n as u128;
        context.backend.tccr::<1>(&key, tweak, &x[from..to], &mut out[from..to]);
        number += ((to - from) / n) as u64;
        from = to;
    }
}

/// The labels that a garbler keeps for the online phase.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Labels {
    /// L_{w,0} of inputs and outputs: bit after bit, instance after instance.
    pub(crate) inputs: Blocks,
    pub(crate) outputs: Blocks,
}

/// A label with bit 0 clear.
pub(crate) fn fresh(own: &mut Prg, labels: &mut [Block]) {
    own.fill_blocks(labels);
    labels.iter_mut().for_each(|label| label.0[0] &= 0xfe);
}

/// Garbler `me`'s tables of all ANDs.
pub(crate) fn garble(job: &Job<'_>, own: &mut Prg) -> (Labels, Vec<u8>) {
    let Job { context, me, n, delta, program, instances, masks } = *job;
    let ands = masks.s.len();
    let mut inputs = blocks(masks.inputs.len());
    fresh(own, &mut inputs);
    let mut made = blocks(ands);
    fresh(own, &mut made);
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; ands]);
    let mut rows = Rows::new(program, instances, 1, vec![Block::ZERO], inputs.iter().copied());
    rows.run(context.backend, program, |layer| {
        let operands = layer.operand(0).zip(layer.operand(1));
        for (pair, (a, b)) in pairs[layer.first..].iter_mut().zip(operands) {
            *pair = [a[0], b[0]];
        }
        let len = layer.len();
        layer.products.copy_from_slice(&made[layer.first..layer.first + len]);
    });
    let outputs = rows.outputs(program);
    drop(rows);
    let mut tables = vec![0; ands * table_bytes(n)];
    let (mut x, mut pads) = (blocks(STRIP * n), blocks(STRIP * n));
    for first in (0..ands).step_by(STRIP) {
        let len = STRIP.min(ands - first);
        for (row, [u, v]) in
            [[false, false], [false, true], [true, false], [true, true]].into_iter().enumerate()
        {
            for k in 0..len {
                let [a, b] = pairs[first + k];
                let y = mix(a ^ delta.and_bit(u), b ^ delta.and_bit(v));
                x[k * n..(k + 1) * n].fill(y);
            }
            hash(context, me, first as u64, n, &x[..len * n], &mut pads[..len * n]);
            for k in 0..len {
                let at = ((first + k) * 4 + row) * 16 * n;
                let table = from_bytes_mut(&mut tables[at..at + 16 * n]);
                table.copy_from_slice(&pads[k * n..(k + 1) * n]);
                fill(table, job, first + k, [u, v], made[first + k]);
            }
        }
    }
    (Labels { inputs, outputs }, tables)
}

/// Adds what a row says.
#[inline]
fn fill(table: &mut [Block], job: &Job<'_>, k: usize, [u, v]: [bool; 2], label: Block) {
    let Job { me, delta, masks: Masks { alpha, beta, s, .. }, .. } = *job;
    let of = |list: fn(&crate::shares::Shares) -> &[Blocks], slot: usize| {
        list(s)[slot][k] ^ list(beta)[slot][k].and_bit(u) ^ list(alpha)[slot][k].and_bit(v)
    };
    let last = table.len() - 1;
    let mut sum = label ^ one(me, delta).and_bit(u && v);
    for slot in 0..last {
        let mac = of(|shares| &shares.macs, slot);
        sum ^= of(|shares| &shares.keys, slot);
        table[slot] ^= mac;
        if slot == 0 {
            sum ^= delta.and_bit(mac.lsb());
        }
    }
    table[last] ^= sum;
}

/// The evaluator's result: Λ and the labels of the outputs.
pub(crate) struct Evaluated {
    /// Λ of every output bit, one a byte.
    pub(crate) outputs: Vec<u8>,
    /// Garbler after garbler.
    pub(crate) labels: Vec<Blocks>,
    /// Whether every row's MAC was right.
    pub(crate) well: bool,
}

/// Evaluates all ANDs: `tables` and `labels` of the inputs by garbler, `inputs` Λ of the inputs, one a byte.
pub(crate) fn evaluate(job: &Job<'_>, tables: &[Vec<u8>], inputs: &[u8], labels: &[&[Block]]) -> Evaluated {
    let Job { context, n, program, instances, .. } = *job;
    let width = n;
    let row = |k: usize| {
        let public = Block::from_u128(u128::from(inputs[k]));
        labels.iter().map(move |labels| labels[k]).chain([public])
    };
    let mut rows =
        Rows::new(program, instances, width, vec![Block::ZERO; width], (0..inputs.len()).flat_map(row));
    let mut well = true;
    let (mut x, mut pads) = (blocks(0), blocks(0));
    rows.run(context.backend, program, |mut layer| {
        if x.len() < layer.len() * n {
            (x, pads) = (blocks(layer.len() * n), blocks(layer.len() * n));
        }
        let mut scratch = [&mut x[..layer.len() * n], &mut pads[..layer.len() * n]];
        well &= ands(job, tables, &mut layer, &mut scratch);
    });
    let out = rows.outputs(program);
    let of = |g: usize| Zeroizing::new(out.iter().skip(g).step_by(width).copied().collect::<Vec<_>>());
    let outputs = out.iter().skip(n - 1).step_by(width).map(|public| public.0[0] & 1).collect();
    Evaluated { outputs, labels: (0..n - 1).map(of).collect(), well }
}

/// The ANDs of a layer; whether all MACs are right.
fn ands(job: &Job<'_>, tables: &[Vec<u8>], layer: &mut Layer<'_>, [x, pads]: &mut [&mut [Block]; 2]) -> bool {
    let Job { context, n, delta, masks, .. } = *job;
    let first = layer.first;
    let Masks { alpha, beta, s, .. } = masks;
    let public: Vec<[bool; 2]> =
        layer.operand(0).zip(layer.operand(1)).map(|(a, b)| [a[n - 1].lsb(), b[n - 1].lsb()]).collect();
    // Its own part: the bits, and the MACs that the labels take.
    for (k, (product, [u, v])) in layer.products.chunks_exact_mut(n).zip(&public).enumerate() {
        let k = first + k;
        let flip = Block::from_u128(u128::from(*u && *v));
        for slot in 0..n - 1 {
            let mac = s.macs[slot][k] ^ beta.macs[slot][k].and_bit(*u) ^ alpha.macs[slot][k].and_bit(*v);
            product[slot] = mac ^ flip;
        }
        product[n - 1] = Block::from_u128(u128::from(product[0].lsb()));
    }
    let mut wrong = Block::ZERO;
    for slot in 0..n - 1 {
        let garbler = slot + 1;
        for (k, (a, b)) in layer.operand(0).zip(layer.operand(1)).enumerate() {
            x[k * n..(k + 1) * n].fill(mix(a[slot], b[slot]));
        }
        hash(context, garbler, first as u64, n, x, pads);
        for (k, (product, [u, v])) in layer.products.chunks_exact_mut(n).zip(&public).enumerate() {
            let k_all = first + k;
            let row = 2 * usize::from(*u) + usize::from(*v);
            let at = (k_all * 4 + row) * 16 * n;
            let row = from_bytes(&tables[slot][at..at + 16 * n]);
            let pad = &pads[k * n..(k + 1) * n];
            let mac = row[0] ^ pad[0];
            let key = s.keys[slot][k_all]
                ^ beta.keys[slot][k_all].and_bit(*u)
                ^ alpha.keys[slot][k_all].and_bit(*v);
            let miss = mac ^ key ^ delta.and_bit(mac.lsb());
            wrong = Block::from_u128(wrong.to_u128() | miss.to_u128());
            product[n - 1] ^= Block::from_u128(u128::from(mac.lsb()));
            product[slot] ^= row[n - 1] ^ pad[n - 1];
            // M_i of what this garbler has, for the labels of the others.
            for other in (0..n - 1).filter(|other| *other != slot) {
                let block = other + 1 - usize::from(other + 1 > garbler);
                product[other] ^= row[block] ^ pad[block];
            }
        }
    }
    crate::shares::same(&wrong.0, &[0; 16])
}
