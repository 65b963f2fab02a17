//! Half gates of n − 1 garblers for one evaluator, party 0. Between two parties the scheme is that
//! of KRRW18 (Figure 4). Among more it is YWZ20's improvement of WRK17, with tables that are
//! derived here.
//!
//! Garbler i has labels A, B of α, β at Λ = 0 under Δ_i. Its H_j and H'_j are the hashes for the
//! label of garbler j. Everything that the evaluator needs is linear in Λ_α and Λ_β, because r = s
//! ⊕ Λ_α λ_β ⊕ Λ_β λ_α. One block for each coefficient therefore replaces one block for each row:
//!
//! ```text
//! for its own label   G_0 = H_i(A) ⊕ H_i(A ⊕ Δ_i) ⊕ Σ_j K_i[λ_β,j] ⊕ λ_β,i Δ_i
//!                     G_1 = H'_i(B) ⊕ H'_i(B ⊕ Δ_i) ⊕ A ⊕ Σ_j K_i[λ_α,j] ⊕ λ_α,i Δ_i
//!                     C   = H_i(A) ⊕ H'_i(B) ⊕ Σ_j K_i[s_j] ⊕ s_i Δ_i, the label of γ at Λ = 0;
//!                         garbler 1 says bit 0, and clears it
//! for garbler j's     G_0 = H_j(A) ⊕ H_j(A ⊕ Δ_i) ⊕ M_j[λ_β,i]
//!                     G_1 = H'_j(B) ⊕ H'_j(B ⊕ Δ_i) ⊕ M_j[λ_α,i]
//!                     G_2 = H_j(A) ⊕ H'_j(B) ⊕ M_j[s_i]
//! evaluator           L_j = Σ_i (H_j(L_α,i) ⊕ H'_j(L_β,i)) ⊕ Q ⊕ Λ_α P_0 ⊕ Λ_β (P_1 ⊕ L_α,j)
//!                     Λ_γ = bit 0 of L_1;   P_0 = Σ_i G_0 ⊕ M_j[λ_β,0]
//!                     P_1 = Σ_i G_1 ⊕ M_j[λ_α,0],   Q = Σ_i G_2 ⊕ M_j[s_0]: summed with tables,
//!                     and garbler 1's bit with its Q
//! ```
//!
//! Bit 0 of Δ is 1, and bit 0 of garbler 1's labels at Λ = 0 is 0, so that its labels carry Λ
//! through XORs. Its labels of inputs are set to the Λ that all parties received.
//!
//! H_j(L_α,i) ⊕ Λ_α G_0 is H_j(A) plus Λ_α times the rest of G_0, and likewise with β, so that L_j
//! = C_j ⊕ (r ⊕ Λ_α Λ_β) Δ_j. The abstract of YWZ20 saves 2 κ bits for each AND and garbler over
//! WRK17's 4 (n − 1) κ, by half gates for the garbler's own label alone. The tables here have (3 n
//! − 4) κ bits in place of (4 n − 6) κ. The evaluator learns of garbler i exactly what a row of
//! WRK17 tells: its own labels, and M_j[r_i] of corrupted garblers j. One of H(A) and H(A ⊕ Δ) is
//! unknown to it for α, and one for β; they hide everything but that one sum.
//!
//! **The check.** The tables are not authenticated towards the evaluator. It checks all ANDs at
//! once, before any output is decoded:
//!
//! ```text
//! 0 → i   Λ of all ANDs, a seed of weights χ, a hash of all L_i
//!         (a bit an AND, where WRK17 has ρ bits for each of four rows)
//! i → 0   F_i = Σ χ M_0[r_i], once the hash is that of C_i ⊕ Λ Δ_i
//! 0       Σ_i F_i = Σ χ (Σ_i K_0[r_i] ⊕ (r_0 ⊕ Λ_γ ⊕ Λ_α Λ_β) Δ_0), or it ends
//! ```
//!
//! *Soundness.* Tables and Λ are fixed before χ is sent. Let t be Λ_γ ⊕ Λ_α Λ_β ⊕ r of each AND.
//! The garblers' messages must then be off by (Σ χ t) Δ_0, which is 0 with probability 2^−128, and
//! otherwise known to no garbler. If all t are 0, then by induction every Λ is right.
//!
//! *A corrupted evaluator* receives F_i only if it has the labels of the Λ that it sent. It knows
//! one label of each wire of an honest garbler, the one for the right Λ, since no peer has a MAC of
//! another bit. For the right Λ, M_0[r_i] is what a row of WRK17 gives it. F_i therefore tells
//! nothing new, whatever χ is, and whether or not others received the same χ.
//!
//! *Corrupted garblers* receive Λ and hashes before the check. These messages, and whether an
//! honest party aborts, are exactly independent of the inputs: for other values on the wires there
//! are other masks λ_0 of the evaluator, and other parts of triples, under which it sends the same
//! messages. To see this, choose λ_γ,0 AND by AND so that r_0, and with it L_j and Λ_γ, stay the
//! same; the opened d and e stay the same with the parts of a and b. Everything that an honest
//! party compares is a function of these. Outputs are decoded only if all t are 0.

use crate::{
    hash::hash,
    masks::{Job, Masks},
    room::HashKeys,
    rows::{AndLayer, Rows},
    shares::{Blocks, Shares, add, blocks, pack, unpack},
    tables::Tables,
    wrk::{Labels, fresh},
};
use hushwire_block::{Block, Buffer, as_bytes, from_bytes, from_bytes_mut};
use hushwire_ot::Context;
use hushwire_prg::Prg;
use std::ops::Range;
use zeroize::Zeroizing;

/// LOCAL: the number of blocks that are hashed at a time.
const STRIP: usize = 1 << 10;

/// The number of blocks of an AND's table from one garbler among `n` parties.
const fn table_blocks(n: usize) -> usize {
    3 * n - 4
}

/// The number of bytes of `garbler`'s tables of `ands` ANDs among `n` parties: their blocks, then
/// one bit for each AND from garbler 1.
pub(crate) const fn table_bytes([garbler, n]: [usize; 2], ands: usize) -> usize {
    16 * table_blocks(n) * ands + if garbler == 1 { ands.div_ceil(8) } else { 0 }
}

/// The hashes of an AND: for the label of each of m garblers, left and right, one hash for each of
/// m labels. Tweaks continue from AND to AND.
fn keys(context: &Context) -> HashKeys {
    HashKeys::new(context.backend, context.sid, "half gates")
}

/// The number that selects the hash key for a layer's ANDs, from `first` on. A key serves 2^20
/// labels; a layer uses one key.
fn number(m: usize, first: usize) -> u64 {
    (2 * m * first) as u64
}

/// The tweak of a garbler's first hash of a label of an AND.
fn tweak(m: usize, and: usize, garbler: usize, right: bool) -> u128 {
    let label = (and as u128 * m as u128 + garbler as u128 - 1) * 2 + u128::from(right);
    label * m as u128
}

/// A share's part in a label under this party's Δ: keys of the peers' bits, and Δ where its own bit
/// is 1.
fn part(shares: &Shares, delta: Block, k: usize) -> Block {
    shares.keys.iter().fold(delta.and_bit(shares.bit(k)), |sum, keys| sum ^ keys[k])
}

/// A garbler's state while it walks the program.
pub(crate) struct Garbling {
    pub(crate) labels: Labels,
    rows: Rows<Block>,
    keys: HashKeys,
    /// Labels, and their hashes.
    scratch: [Blocks; 2],
    /// Tables and bits that were made but not yet sent.
    ready: Vec<u8>,
    bits: Vec<u8>,
}

impl Garbling {
    pub(crate) fn new(job: &Job<'_>, own: &mut Prg) -> Garbling {
        let Job { context, n, program, instances, masks, .. } = *job;
        let mut inputs = blocks(masks.inputs.len());
        fresh(own, &mut inputs);
        let rows = Rows::new(program, instances, 1, vec![Block::ZERO], inputs.iter().copied());
        let macs = [&masks.beta, &masks.alpha, &masks.s].map(|list| Blocks::of(list.macs[0].iter().copied()));
        let labels = Labels { inputs, outputs: blocks(0), ands: blocks(masks.s.len()), macs };
        let strip = strip(n - 1);
        let scratch = [blocks(4 * strip), blocks(4 * strip * (n - 1))];
        Garbling { labels, rows, keys: keys(context), scratch, ready: vec![], bits: vec![] }
    }

    /// Appends this garbler's tables of the ANDs in `range` to `out`. Ranges must come in order.
    pub(crate) fn tables(&mut self, job: &Job<'_>, range: Range<usize>, out: &mut Vec<u8>) {
        let Job { context: Context { backend, .. }, me, n, delta, program, .. } = *job;
        let Garbling { labels, rows, keys, scratch: [x, pads], ready, bits } = self;
        let m = n - 1;
        rows.advance(*backend, program, range.end, |layer| {
            let AndLayer { operands, first, products } = layer;
            let key = keys.at(number(m, first));
            let mut pairs = operands.of(0).zip(operands.of(1));
            for (made, products) in (first..).step_by(strip(m)).zip(products.chunks_mut(strip(m))) {
                let len = products.len();
                for (x, (a, b)) in x.chunks_exact_mut(4).zip(pairs.by_ref().take(len)) {
                    x.copy_from_slice(&[a[0], a[0] ^ delta, b[0], b[0] ^ delta]);
                }
                // Saves A, which the next steps overwrite in `x`.
                products.iter_mut().zip(x.chunks_exact(4)).for_each(|(product, x)| *product = x[0]);
                let (x, pads) = (&mut x[..4 * len], &mut pads[..4 * len * m]);
                hash(*backend, key, x, pads, m, |k| tweak(m, made + k / 4, me, k % 4 > 1));
                for ((k, label), pads) in (made..).zip(products).zip(pads.chunks_exact(4 * m)) {
                    *label = fill(job, k, *label, pads, ready);
                    if me == 1 {
                        bits.push(label.0[0] & 1);
                        label.0[0] &= 0xfe;
                    }
                    labels.ands[k] = *label;
                }
            }
        });
        out.extend(ready.drain(..16 * table_blocks(n) * range.len()));
        if me == 1 {
            out.extend(pack(&bits.drain(..range.len()).collect::<Vec<_>>()));
        }
    }
}

/// The number of ANDs that are hashed at a time.
fn strip(m: usize) -> usize {
    (STRIP / (4 * m)).max(1)
}

/// Appends an AND's table to `out`, and returns the label of the AND's output at Λ = 0. `pads` are
/// the hashes of A, A ⊕ Δ, B and B ⊕ Δ.
#[inline]
fn fill(job: &Job<'_>, k: usize, a: Block, pads: &[Block], out: &mut Vec<u8>) -> Block {
    let Job { me, n, delta, masks: Masks { alpha, beta, s, .. }, .. } = *job;
    let m = n - 1;
    let mut label = Block::ZERO;
    for target in 0..m {
        let [a0, a1, b0, b1] = [0, 1, 2, 3].map(|of| pads[of * m + target]);
        if target + 1 == me {
            label = a0 ^ b0 ^ part(s, delta, k);
            let halves = [a0 ^ a1 ^ part(beta, delta, k), b0 ^ b1 ^ a ^ part(alpha, delta, k)];
            out.extend_from_slice(as_bytes(&halves));
        } else {
            // The MACs for garbler `target + 1` are one slot later, after the evaluator's, and this
            // party has no slot for itself.
            let slot = target + usize::from(target + 1 < me);
            let [alpha, beta, s] = [alpha, beta, s].map(|shares| shares.macs[slot][k]);
            out.extend_from_slice(as_bytes(&[a0 ^ a1 ^ beta, b0 ^ b1 ^ alpha, a0 ^ b0 ^ s]));
        }
    }
    label
}

/// The evaluator's part in P_0, P_1 and Q of every label of every AND. `checks` has its part in the
/// check, with its own Δ.
pub(crate) fn own(job: &Job<'_>) -> Tables {
    let Job { n, delta, masks: Masks { alpha, beta, s, .. }, .. } = *job;
    let mut sums = Buffer::new();
    sums.set_len(48 * (n - 1) * s.len());
    let mut checks = blocks(3 * s.len());
    let sums_of = from_bytes_mut(&mut sums).chunks_exact_mut(3 * (n - 1)).zip(checks.chunks_exact_mut(3));
    for (k, (sums, check)) in sums_of.enumerate() {
        for (slot, sums) in sums.chunks_exact_mut(3).enumerate() {
            sums.copy_from_slice(&[beta, alpha, s].map(|shares| shares.macs[slot][k]));
        }
        check.copy_from_slice(&[beta, alpha, s].map(|shares| part(shares, delta, k)));
    }
    Tables { of: vec![sums], own: Zeroizing::default(), checks }
}

/// Adds the tables of the ANDs in `range`, from the garbler of `slot`.
pub(crate) fn absorb(n: usize, slot: usize, range: Range<usize>, message: &[u8], tables: &mut Tables) {
    let (m, each) = (n - 1, table_blocks(n));
    let (message, bits) = message.split_at(16 * each * range.len());
    let sums = &mut from_bytes_mut(&mut tables.of[0])[3 * m * range.start..3 * m * range.end];
    for (sums, table) in sums.chunks_exact_mut(3 * m).zip(from_bytes(message).chunks_exact(each)) {
        // A garbler's own label has no third block.
        let (before, others) = table.split_at(3 * slot);
        let (halves, after) = others.split_at(2);
        add(&mut sums[..3 * slot], before);
        add(&mut sums[3 * slot..3 * slot + 2], halves);
        add(&mut sums[3 * slot + 3..], after);
    }
    if slot == 0 {
        for (sums, bit) in sums.chunks_exact_mut(3 * m).zip(unpack(bits, range.len())) {
            sums[2].0[0] ^= bit;
        }
    }
}

/// The evaluator's values of all ANDs, and Λ of the outputs.
pub(crate) struct Evaluated {
    /// Λ of every output bit, one a byte.
    pub(crate) outputs: Vec<u8>,
    /// Λ of every AND, one a byte.
    pub(crate) ands: Vec<u8>,
    /// The labels of every AND, by garbler.
    pub(crate) labels: Vec<Blocks>,
    /// The sum of all garblers' MACs that each AND must have.
    pub(crate) macs: Blocks,
}

/// Evaluates all ANDs. `labels` has the labels of the inputs by garbler, and `inputs` Λ of the
/// inputs, one a byte.
pub(crate) fn evaluate(job: &Job<'_>, tables: &Tables, inputs: &[u8], labels: &[&[Block]]) -> Evaluated {
    // The compiler unrolls loops over labels if their number is known.
    match job.n {
        2 => evaluate_of::<1>(job, tables, inputs, labels),
        3 => evaluate_of::<2>(job, tables, inputs, labels),
        4 => evaluate_of::<3>(job, tables, inputs, labels),
        5 => evaluate_of::<4>(job, tables, inputs, labels),
        _ => evaluate_of::<0>(job, tables, inputs, labels),
    }
}

/// Evaluates for M garblers, or for any number if M is 0.
fn evaluate_of<const M: usize>(
    job: &Job<'_>,
    tables: &Tables,
    inputs: &[u8],
    labels: &[&[Block]],
) -> Evaluated {
    let Job { context, n, delta, program, instances, .. } = *job;
    let m = if M == 0 { n - 1 } else { M };
    let (sums, checks) = (from_bytes(&tables.of[0]), &tables.checks[..]);
    let ands = checks.len() / 3;
    let input = |k: usize| {
        labels.iter().enumerate().map(move |(slot, labels)| {
            let Block(mut label) = labels[k];
            if slot == 0 {
                label[0] = label[0] & 0xfe | inputs[k];
            }
            Block(label)
        })
    };
    let mut rows = Rows::new(program, instances, m, vec![Block::ZERO; m], (0..inputs.len()).flat_map(input));
    let mut lists: Vec<Blocks> = (0..m).map(|_| blocks(ands)).collect();
    let (mut public, mut macs) = (vec![0; ands], blocks(ands));
    let strip = strip(m);
    let (mut x, mut pads, mut keys) = (blocks(2 * m * strip), blocks(2 * m * m * strip), keys(context));
    rows.run(context.backend, program, |layer| {
        let AndLayer { operands, first, products } = layer;
        let key = keys.at(number(m, first));
        let pairs = || operands.of(0).zip(operands.of(1));
        let (mut hashed, mut pairs) = (pairs(), pairs());
        for (from, products) in (first..).step_by(strip).zip(products.chunks_mut(strip * m)) {
            let len = products.len() / m;
            for (x, (a, b)) in x.chunks_exact_mut(2 * m).zip(hashed.by_ref().take(len)) {
                for (x, (a, b)) in x.chunks_exact_mut(2).zip(a.iter().zip(b)) {
                    x.copy_from_slice(&[*a, *b]);
                }
            }
            let (x, pads) = (&mut x[..2 * m * len], &mut pads[..2 * m * m * len]);
            hash(context.backend, key, x, pads, m, |k| tweak(m, from, 1, false) + (k * m) as u128);
            let range = from..from + len;
            let sums = sums[3 * m * from..3 * m * range.end].chunks_exact(3 * m);
            let checks = checks[3 * from..3 * range.end].chunks_exact(3);
            let made = products.chunks_exact_mut(m).zip(&mut public[range.clone()]).zip(&mut macs[range]);
            let known = pads.chunks_exact(2 * m * m).zip(sums.zip(checks)).zip(pairs.by_ref());
            for (((product, public), mac), ((pads, (sums, check)), (a, b))) in made.zip(known) {
                let [u, v] = [a[0].lsb(), b[0].lsb()];
                for target in 0..m {
                    let mut label = at(&sums[3 * target..3 * target + 3], u, v) ^ a[target].and_bit(v);
                    for k in 0..2 * m {
                        label ^= pads[k * m + target];
                    }
                    product[target] = label;
                }
                let lambda = product[0].lsb();
                *public = u8::from(lambda);
                *mac = at(check, u, v) ^ delta.and_bit(lambda ^ (u & v));
            }
            for (slot, list) in lists.iter_mut().enumerate() {
                let labels = products.iter().skip(slot).step_by(m);
                list[from..from + len].iter_mut().zip(labels).for_each(|(to, label)| *to = *label);
            }
        }
    });
    let outputs = rows.outputs(program).iter().step_by(m).map(|label| label.0[0] & 1).collect();
    Evaluated { outputs, ands: public, labels: lists, macs }
}

/// The sum of three coefficients at Λ_α = u and Λ_β = v.
#[inline]
fn at(sums: &[Block], u: bool, v: bool) -> Block {
    sums[2] ^ sums[0].and_bit(u) ^ sums[1].and_bit(v)
}

/// A garbler's MACs of r of every AND, and Λ of the outputs, one a byte. Both follow from Λ of the
/// inputs and of the ANDs, one a byte.
pub(crate) fn macs(
    job: &Job<'_>,
    [beta, alpha, s]: &[Blocks; 3],
    inputs: &[u8],
    ands: &[u8],
) -> (Blocks, Vec<u8>) {
    let Job { context, program, instances, .. } = *job;
    let mut macs = blocks(ands.len());
    let mut rows = Rows::new(program, instances, 1, vec![0], inputs.iter().copied());
    rows.run(context.backend, program, |AndLayer { operands, first, products }| {
        for (k, (a, b)) in (first..).zip(operands.of(0).zip(operands.of(1))) {
            macs[k] = at(&[beta[k], alpha[k], s[k]], a[0] == 1, b[0] == 1);
        }
        let len = products.len();
        products.copy_from_slice(&ands[first..first + len]);
    });
    let outputs = rows.outputs(program);
    (macs, outputs)
}
