//! Half gates of one garbler, party 1, for one evaluator, party 0 (KRRW18, Figure 4): 257 bits an AND.
//!
//! With the labels A, B of α, β at Λ = 0, g the garbler's and e the evaluator's shares:
//!
//! ```text
//! G_0 = H(A) ⊕ H(A ⊕ Δ) ⊕ K[λ_β,e] ⊕ λ_β,g Δ
//! G_1 = H'(B) ⊕ H'(B ⊕ Δ) ⊕ A ⊕ K[λ_α,e] ⊕ λ_α,g Δ
//! C   = H(A) ⊕ H'(B) ⊕ K[s_e] ⊕ s_g Δ, and bit 0 of C is sent
//! evaluator: L = H(L_α) ⊕ H'(L_β) ⊕ M[s_e] ⊕ Λ_α (G_0 ⊕ M[λ_β,e]) ⊕ Λ_β (G_1 ⊕ M[λ_α,e] ⊕ L_α),   Λ_γ = bit 0 of L ⊕ that of C
//! ```
//!
//! Nothing of this is authenticated: before any output is decoded the evaluator says Λ of all ANDs, and the garbler one hash of its
//! MACs of c = s ⊕ Λ_α λ_β ⊕ Λ_β λ_α, whose sum must be Λ_γ ⊕ Λ_α Λ_β.
//!
//! **What the evaluator says is proven first**, by a hash of the labels of all ANDs, which the garbler compares with that of C ⊕ Λ_γ Δ. Without
//! it, an evaluator that flips the Λ of an AND which another reads as α has the garbler's hash over c_g ⊕ λ_β,g there: it knows keys and Δ, tries
//! both bits, has λ_β and with it the wire. The hash tells the garbler nothing: the labels of an evaluator that follows the protocol are a
//! function of Λ and of what the garbler knows.

use crate::{
    masks::{Job, Masks},
    room::HashKeys,
    rows::Rows,
    shares::{Blocks, Shares, blocks, pack, unpack},
    wrk::{Evaluated, Labels, fresh},
};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_ot::Context;
use hushwire_prg::Prg;

/// Bytes of the tables of `ands` ANDs: two blocks each, then a bit each.
pub(crate) const fn table_bytes(ands: usize) -> usize {
    32 * ands + ands.div_ceil(8)
}

/// The keys of H and H'. Those for a layer are of its first AND: tweaks go on where the next span begins.
fn keys(context: &Context) -> [HashKeys; 2] {
    ["half gates, left", "half gates, right"].map(|label| HashKeys::new(context.backend, context.sid, label))
}

/// A share's part in a label: keys of the peer's bit, and Δ where this party's bit is 1.
fn part(shares: &Shares, delta: Block, k: usize) -> Block {
    shares.keys[0][k] ^ delta.and_bit(shares.bit(k))
}

/// The garbler's tables of all ANDs.
pub(crate) fn garble(job: &Job<'_>, own: &mut Prg) -> (Labels, Vec<u8>) {
    let Job { context, delta, program, instances, masks, .. } = *job;
    let ands = masks.s.len();
    let mut inputs = blocks(masks.inputs.len());
    fresh(own, &mut inputs);
    let mut tables = Vec::with_capacity(table_bytes(ands));
    let mut bits = Vec::with_capacity(ands);
    let mut made = blocks(ands);
    let mut rows = Rows::new(program, instances, 1, vec![Block::ZERO], inputs.iter().copied());
    let mut pads: [Blocks; 2] = [blocks(0), blocks(0)];
    let mut operands: [Blocks; 2] = [blocks(0), blocks(0)];
    let mut keys = keys(context);
    rows.run(context.backend, program, |layer| {
        let (len, first) = (layer.len(), layer.first);
        for which in 0..2 {
            if operands[which].len() < len {
                operands[which] = blocks(len);
                pads[which] = blocks(2 * len);
            }
            let operand = &mut operands[which][..len];
            operand.iter_mut().zip(layer.operand(which)).for_each(|(to, row)| *to = row[0]);
            let (pads, _) = pads[which][..2 * len].as_chunks_mut();
            context.backend.pads_tccr(keys[which].at(first as u64), first as u128, delta, operand, pads);
        }
        for k in 0..len {
            let [a0, a1, b0, b1] = [pads[0][2 * k], pads[0][2 * k + 1], pads[1][2 * k], pads[1][2 * k + 1]];
            let at = first + k;
            let left = a0 ^ a1 ^ part(&masks.beta, delta, at);
            let right = b0 ^ b1 ^ operands[0][k] ^ part(&masks.alpha, delta, at);
            let c = a0 ^ b0 ^ part(&masks.s, delta, at);
            tables.extend_from_slice(as_bytes(&[left, right]));
            bits.push(c.0[0] & 1);
            made[at] = c;
            layer.products[k] = c;
        }
    });
    tables.extend(pack(&bits));
    (Labels { inputs, outputs: rows.outputs(program), ands: made }, tables)
}

/// The evaluator's values of all ANDs.
pub(crate) struct Ands {
    /// Λ, one a byte.
    pub(crate) public: Vec<u8>,
    /// The labels.
    pub(crate) labels: Blocks,
    /// The garbler's MACs of c, as they must be.
    pub(crate) macs: Blocks,
}

/// Evaluates all ANDs.
pub(crate) fn evaluate(job: &Job<'_>, tables: &[u8], inputs: &[u8], labels: &[Block]) -> (Evaluated, Ands) {
    let Job { context, delta, program, instances, masks, .. } = *job;
    let ands = masks.s.len();
    let (halves, bits) = tables.split_at(32 * ands);
    // Bits past the last are nothing that an evaluator looks at.
    let (halves, bits) = (from_bytes(halves).as_chunks::<2>().0, unpack(bits, ands));
    let row = |k: usize| [labels[k], Block::from_u128(u128::from(inputs[k]))];
    let mut rows = Rows::new(program, instances, 2, vec![Block::ZERO; 2], (0..inputs.len()).flat_map(row));
    let (mut public, mut expected, mut found) = (vec![0; ands], blocks(ands), blocks(ands));
    let mut hashes: [Blocks; 2] = [blocks(0), blocks(0)];
    let mut operands: [Blocks; 2] = [blocks(0), blocks(0)];
    let Masks { alpha, beta, s, .. } = masks;
    let mut keys = keys(context);
    rows.run(context.backend, program, |layer| {
        let (len, first) = (layer.len(), layer.first);
        for which in 0..2 {
            if operands[which].len() < len {
                operands[which] = blocks(len);
                hashes[which] = blocks(len);
            }
            let operand = &mut operands[which][..len];
            operand.iter_mut().zip(layer.operand(which)).for_each(|(to, row)| *to = row[0]);
            context.backend.tccr::<1>(
                keys[which].at(first as u64),
                first as u128,
                operand,
                &mut hashes[which][..len],
            );
        }
        let lambdas: Vec<[bool; 2]> =
            layer.operand(0).zip(layer.operand(1)).map(|(a, b)| [a[1].lsb(), b[1].lsb()]).collect();
        for (k, [u, v]) in lambdas.into_iter().enumerate() {
            let at = first + k;
            let [left, right] = halves[at];
            let label = hashes[0][k]
                ^ hashes[1][k]
                ^ s.macs[0][at]
                ^ (left ^ beta.macs[0][at]).and_bit(u)
                ^ (right ^ alpha.macs[0][at] ^ operands[0][k]).and_bit(v);
            let lambda = label.lsb() ^ (bits[at] == 1);
            public[at] = u8::from(lambda);
            found[at] = label;
            layer.products[2 * k] = label;
            layer.products[2 * k + 1] = Block::from_u128(u128::from(lambda));
            // The garbler's bit of c, by its key: c_g = c_e ⊕ Λ_γ ⊕ Λ_α Λ_β.
            let own = s.bit(at) ^ (beta.bit(at) & u) ^ (alpha.bit(at) & v) ^ lambda ^ (u & v);
            let key = s.keys[0][at] ^ beta.keys[0][at].and_bit(u) ^ alpha.keys[0][at].and_bit(v);
            expected[at] = key ^ delta.and_bit(own);
        }
    });
    let out = rows.outputs(program);
    let labels = Blocks::of(out.iter().step_by(2).copied());
    let outputs = out.iter().skip(1).step_by(2).map(|public| public.0[0] & 1).collect();
    (Evaluated { outputs, labels: vec![labels], well: true }, Ands { public, labels: found, macs: expected })
}

/// The garbler's MACs of c of every AND, from Λ of the inputs and of the ANDs, one a byte.
pub(crate) fn macs(job: &Job<'_>, inputs: &[u8], public: &[u8]) -> Blocks {
    let Job { context, program, instances, masks, .. } = *job;
    let mut macs = blocks(masks.s.len());
    let block = |bit: &u8| Block::from_u128(u128::from(*bit));
    let mut rows = Rows::new(program, instances, 1, vec![Block::ZERO], inputs.iter().map(block));
    let Masks { alpha, beta, s, .. } = masks;
    rows.run(context.backend, program, |layer| {
        for (k, (a, b)) in layer.operand(0).zip(layer.operand(1)).enumerate() {
            let at = layer.first + k;
            macs[at] =
                s.macs[0][at] ^ beta.macs[0][at].and_bit(a[0].lsb()) ^ alpha.macs[0][at].and_bit(b[0].lsb());
        }
        let len = layer.len();
        for (product, bit) in layer.products.iter_mut().zip(&public[layer.first..layer.first + len]) {
            *product = block(bit);
        }
    });
    macs
}
