//! Garbled ANDs of n − 1 garblers for one evaluator, party 0 (WRK17b, Π_mpc).
//!
//! Garbler i has labels L_{w,0} and L_{w,1} = L_{w,0} ⊕ Δ_i for every wire, indexed by Λ_w. For Λ_α
//! = u, Λ_β = v:
//!
//! ```text
//! r_i = s_i ⊕ u λ_β,i ⊕ v λ_α,i        party 0 adds u v; Σ r = Λ_γ
//! row (u, v): n blocks under H(L_{α,u}, L_{β,v}):
//!             M_j[r_i] for every peer j,   L_{γ,0} ⊕ Σ_j K_i[r_j] ⊕ r_i Δ_i
//! the evaluator compares M_0[r_i] with its key, sums all r, and adds M_i[r_j] of all j to the last
//! block: L_{γ,Λ_γ}
//! ```
//!
//! H(A, B)_t = tccr(2 A ⊕ 4 B, n g + t) for AND g, with 2 and 4 in GF(2^128): Δ enters as 2 Δ, 4 Δ
//! or 6 Δ.
//!
//! ```text
//! table of an AND: row (0,0), (0,1), (1,0), (1,1), of n blocks each: 64 n bytes
//! ```

use crate::{
    hash::hash,
    masks::{Job, Masks},
    room::HashKeys,
    rows::{AndLayer, Rows},
    shares::{Blocks, Shares, blocks, one},
    tables::Tables,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer, Gf128, abreast, from_bytes, from_bytes_mut, registry};
use hushwire_ot::Context;
use hushwire_prg::Prg;
use std::ops::Range;
use zeroize::Zeroizing;

/// LOCAL: the number of ANDs that are hashed at a time.
const STRIP: usize = 256;

/// The number of bytes of an AND's table from one garbler among `n` parties.
pub(crate) const fn table_bytes(n: usize) -> usize {
    64 * n
}

/// 2 A ⊕ 4 B.
#[inline]
fn mix(a: Block, b: Block) -> Block {
    let b = Gf128(b.to_u128()).mul_x();
    Block::from_u128(Gf128(a.to_u128() ^ b.0).mul_x().0)
}

/// The keys of a garbler's hash H.
fn keys(context: &Context, garbler: usize) -> HashKeys {
    HashKeys::new(context.backend, context.sid.child("rows of garbler", garbler as u64), "hash")
}

/// H of consecutive ANDs from `first` on, `n` blocks each. `x` has one input for each AND, and is
/// overwritten.
fn hashes(backend: Backend, keys: &mut HashKeys, first: u64, n: usize, x: &mut [Block], out: &mut [Block]) {
    let (mut from, mut number) = (0, first);
    while from < x.len() {
        // A key serves 2^20 ANDs.
        let left = ((1 << 20) - number % (1 << 20)) as usize;
        let to = x.len().min(from + left);
        let (x, out) = (&mut x[from..to], &mut out[n * from..n * to]);
        hash(backend, keys.at(number), x, out, n, |k| (u128::from(number) + k as u128) * n as u128);
        number += (to - from) as u64;
        from = to;
    }
}

/// The labels that a garbler keeps for the online phase.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Labels {
    /// L_{w,0} of inputs and, for rows, of outputs: bit after bit, instance after instance.
    pub(crate) inputs: Blocks,
    pub(crate) outputs: Blocks,
    /// L_{γ,0} of every AND with half gates; empty for rows, which prove themselves.
    pub(crate) ands: Blocks,
    /// For half gates, the MACs towards the evaluator of this garbler's shares of λ_β, λ_α and s of
    /// every AND.
    pub(crate) macs: [Blocks; 3],
}

/// Draws labels with bit 0 clear.
pub(crate) fn fresh(own: &mut Prg, labels: &mut [Block]) {
    own.fill_blocks(labels);
    labels.iter_mut().for_each(|label| label.0[0] &= 0xfe);
}

/// A garbler's labels of all wires that ANDs read and write.
pub(crate) struct Garbling {
    pub(crate) labels: Labels,
    /// L_{α,0} and L_{β,0} of every AND, side by side.
    operands: Blocks,
    /// L_{γ,0} of every AND.
    made: Blocks,
    /// Scratch memory for each thread.
    places: Vec<ThreadScratch>,
}

/// The scratch memory of one thread.
struct ThreadScratch {
    /// The inputs and the outputs of the hashes for each of the four rows.
    scratch: [Blocks; 5],
    keys: HashKeys,
}

impl Garbling {
    /// Draws labels and walks the program.
    pub(crate) fn new(job: &Job<'_>, threads: usize, own: &mut Prg) -> Garbling {
        let Job { context, me, n, program, instances, masks, .. } = *job;
        let ands = masks.s.len();
        let mut inputs = blocks(masks.inputs.len());
        fresh(own, &mut inputs);
        let mut made = blocks(ands);
        fresh(own, &mut made);
        let mut operands = blocks(2 * ands);
        let mut rows = Rows::new(program, instances, 1, vec![Block::ZERO], inputs.iter().copied());
        rows.run(context.backend, program, |layer| {
            let pairs = layer.operands.of(0).zip(layer.operands.of(1));
            for (pair, (a, b)) in operands[2 * layer.first..].chunks_exact_mut(2).zip(pairs) {
                pair.copy_from_slice(&[a[0], b[0]]);
            }
            let len = layer.products.len();
            layer.products.copy_from_slice(&made[layer.first..layer.first + len]);
        });
        let labels =
            Labels { inputs, outputs: rows.outputs(program), ands: blocks(0), macs: Default::default() };
        let place = |_| ThreadScratch {
            scratch: std::array::from_fn(|_| blocks(STRIP * n)),
            keys: keys(context, me),
        };
        Garbling { labels, operands, made, places: (0..threads).map(place).collect() }
    }

    /// Appends garbler `me`'s tables of the ANDs in `range` to `out`.
    pub(crate) fn tables(&mut self, job: &Job<'_>, range: Range<usize>, out: &mut Vec<u8>) {
        let Garbling { operands, made, places, .. } = self;
        let (begin, threads) = (out.len(), places.len());
        let each = range.len().div_ceil(threads).next_multiple_of(STRIP);
        out.resize(begin + range.len() * table_bytes(job.n), 0);
        let parts = out[begin..].chunks_mut(each * table_bytes(job.n)).zip(places.iter_mut());
        let parts = range.step_by(each).zip(parts).collect();
        abreast(threads, parts, |(first, (tables, place))| {
            place.tables(job, [&*operands, &*made], first, tables);
        });
    }
}

impl ThreadScratch {
    /// The tables of the ANDs from `first` on; `operands` and `made` are their labels at Λ = 0.
    fn tables(&mut self, job: &Job<'_>, [operands, made]: [&[Block]; 2], first: usize, out: &mut [u8]) {
        let Job { context: Context { backend, .. }, n, delta, .. } = *job;
        let ThreadScratch { scratch: [x, pads @ ..], keys } = self;
        for (first, tables) in (first..).step_by(STRIP).zip(out.chunks_mut(STRIP * table_bytes(n))) {
            let tables = from_bytes_mut(tables);
            let len = tables.len() / (4 * n);
            for (row, pads) in pads.iter_mut().enumerate() {
                let [u, v] = [delta.and_bit(row & 2 != 0), delta.and_bit(row & 1 != 0)];
                let pairs = operands[2 * first..2 * (first + len)].chunks_exact(2);
                for (x, pair) in x.iter_mut().zip(pairs) {
                    *x = mix(pair[0] ^ u, pair[1] ^ v);
                }
                registry::strand(row as u8, || {
                    hashes(*backend, keys, first as u64, n, &mut x[..len], &mut pads[..len * n]);
                });
            }
            for (k, table) in tables.chunks_exact_mut(4 * n).enumerate() {
                for (row, pads) in table.chunks_exact_mut(n).zip(&*pads) {
                    row.copy_from_slice(&pads[k * n..(k + 1) * n]);
                }
                fill(table, job, first + k, made[first + k]);
            }
        }
    }
}

/// The shares in an AND's rows (0,0), (0,1), (1,0) and (1,1), computed from shares of s, λ_α and
/// λ_β: s ⊕ u λ_β ⊕ v λ_α.
#[inline]
fn four(Masks { alpha, beta, s, .. }: &Masks, list: impl Fn(&Shares) -> &[Block], k: usize) -> [Block; 4] {
    let (s, alpha, beta) = (list(s)[k], list(alpha)[k], list(beta)[k]);
    [s, s ^ alpha, s ^ beta, s ^ alpha ^ beta]
}

/// Adds the values of an AND's four rows to its table of hashes.
#[inline]
fn fill(table: &mut [Block], job: &Job<'_>, k: usize, label: Block) {
    let Job { me, n, delta, masks, .. } = *job;
    let mut sums = [label, label, label, label ^ one(me, delta)];
    for slot in 0..n - 1 {
        let rows =
            four(masks, |list| &list.macs[slot], k).into_iter().zip(four(masks, |list| &list.keys[slot], k));
        for (row, (mac, key)) in rows.enumerate() {
            table[row * n + slot] ^= mac;
            sums[row] ^= if slot == 0 { key ^ delta.and_bit(mac.lsb()) } else { key };
        }
    }
    for (row, sum) in sums.into_iter().enumerate() {
        table[row * n + n - 1] ^= sum;
    }
}

/// Memory for all garblers' tables, with party 0's bits of the four rows of every AND, one byte for
/// each AND.
pub(crate) fn own(job: &Job<'_>) -> Tables {
    let bits = |k| {
        let rows = four(job.masks, |list| &list.macs[0], k);
        rows.iter().rev().fold(0, |byte, mac| byte << 1 | u8::from(mac.lsb())) ^ 8
    };
    let ands = job.masks.s.len();
    let place = |_| {
        let mut tables = Buffer::new();
        tables.set_len(table_bytes(job.n) * ands);
        tables
    };
    let of = (1..job.n).map(place).collect();
    Tables { of, own: Zeroizing::new((0..ands).map(bits).collect()), checks: blocks(0) }
}

/// Takes the tables of the ANDs from `first` on from the garbler of `slot`, and adds party 0's part
/// to them. This part has the keys of the garbler's bits, after which an honest MAC leaves a
/// multiple of party 0's Δ, and the MACs for the label. Nothing else is then read online.
pub(crate) fn absorb(job: &Job<'_>, slot: usize, first: usize, message: &[u8], tables: &mut [u8]) {
    let Job { n, masks, .. } = *job;
    let tables = &mut tables[table_bytes(n) * first..][..message.len()];
    tables.copy_from_slice(message);
    for (k, table) in from_bytes_mut(tables).chunks_exact_mut(4 * n).enumerate() {
        let keys = four(masks, |list| &list.keys[slot], first + k);
        let mut macs = four(masks, |list| &list.macs[slot], first + k);
        macs[3] ^= Block::from_u128(1);
        for (row, (key, mac)) in table.chunks_exact_mut(n).zip(keys.into_iter().zip(macs)) {
            row[0] ^= key;
            row[n - 1] ^= mac;
        }
    }
}

/// The evaluator's result: Λ and the labels of the outputs.
pub(crate) struct Evaluated {
    /// Λ of every output bit, one a byte.
    pub(crate) outputs: Vec<u8>,
    /// The labels of the outputs, garbler after garbler.
    pub(crate) labels: Vec<Blocks>,
    /// Whether the MACs of all rows were right.
    pub(crate) well: bool,
}

/// Evaluates all ANDs. `tables` and `labels` (of the inputs) are ordered by garbler; `inputs` has Λ
/// of the inputs, one a byte.
pub(crate) fn evaluate(job: &Job<'_>, tables: &Tables, inputs: &[u8], labels: &[&[Block]]) -> Evaluated {
    // The compiler unrolls loops over parties if their number is known.
    match job.n {
        3 => evaluate_of::<3>(job, tables, inputs, labels),
        4 => evaluate_of::<4>(job, tables, inputs, labels),
        5 => evaluate_of::<5>(job, tables, inputs, labels),
        _ => evaluate_of::<0>(job, tables, inputs, labels),
    }
}

/// Evaluates among N parties, or among any number if N is 0.
fn evaluate_of<const N: usize>(
    job: &Job<'_>,
    tables: &Tables,
    inputs: &[u8],
    labels: &[&[Block]],
) -> Evaluated {
    let Job { context, n, program, instances, .. } = *job;
    let width = width(n);
    let row = |k: usize| {
        let public = Block::from_u128(u128::from(inputs[k]));
        let row = labels.iter().map(move |labels| labels[k]).chain([public]);
        row.chain(std::iter::repeat_n(Block::ZERO, width - n))
    };
    let mut rows =
        Rows::new(program, instances, width, vec![Block::ZERO; width], (0..inputs.len()).flat_map(row));
    let mut well = true;
    let (mut x, mut pads) = (blocks(0), blocks(0));
    let mut keys: Vec<HashKeys> = (1..n).map(|garbler| keys(context, garbler)).collect();
    let mut at = Vec::new();
    rows.run(context.backend, program, |mut layer| {
        let len = layer.products.len() / width;
        if pads.len() < len * n {
            (x, pads) = (blocks(len * (n - 1)), blocks(len * n));
        }
        let mut scratch = [&mut x[..len * (n - 1)], &mut pads[..len * n]];
        well &= ands::<N>(job, tables, &mut keys, &mut layer, &mut at, &mut scratch);
    });
    let out = rows.outputs(program);
    let of = |g: usize| Blocks::of(out.iter().skip(g).step_by(width).copied());
    let outputs = out.iter().skip(n - 1).step_by(width).map(|public| public.0[0] & 1).collect();
    Evaluated { outputs, labels: (0..n - 1).map(of).collect(), well }
}

/// LOCAL: the number of blocks of a wire at the evaluator among `n` parties: labels by garbler,
/// then Λ, and one more if that fills a vector.
fn width(n: usize) -> usize {
    if n % 4 == 3 { n + 1 } else { n }
}

/// Evaluates the ANDs of a layer; returns whether all MACs are right.
fn ands<const N: usize>(
    job: &Job<'_>,
    tables: &Tables,
    keys: &mut [HashKeys],
    layer: &mut AndLayer<'_, Block>,
    at: &mut Vec<usize>,
    [x, pads]: &mut [&mut [Block]; 2],
) -> bool {
    let Job { context, delta, .. } = *job;
    let n = if N == 0 { job.n } else { N };
    let (first, width) = (layer.first, width(n));
    let len = layer.products.len() / width;
    at.clear();
    for (k, (a, b)) in layer.operands.of(0).zip(layer.operands.of(1)).enumerate() {
        at.push(2 * usize::from(a[n - 1].lsb()) + usize::from(b[n - 1].lsb()));
        for slot in 0..n - 1 {
            x[slot * len + k] = mix(a[slot], b[slot]);
        }
    }
    // The place of a row, and the row's part of the sum.
    for (k, (product, row)) in layer.products.chunks_exact_mut(width).zip(&*at).enumerate() {
        product.fill(Block::ZERO);
        product[n - 1] = Block::from_u128(u128::from(tables.own[first + k] >> row & 1));
    }
    let mut wrong = Block::ZERO;
    for slot in 0..n - 1 {
        let x = &mut x[slot * len..(slot + 1) * len];
        hashes(context.backend, &mut keys[slot], first as u64, n, x, pads);
        let table: &[Block] = from_bytes(tables.of(slot));
        let rows = table[4 * n * first..4 * n * (first + len)].chunks_exact(4 * n).zip(&*at);
        let products = layer.products.chunks_exact_mut(width).zip(pads.chunks_exact(n));
        for ((product, pad), (table, row)) in products.zip(rows) {
            let row = &table[row * n..(row + 1) * n];
            let mac = row[0] ^ pad[0];
            let miss = mac ^ delta.and_bit(mac.lsb());
            wrong = Block::from_u128(wrong.to_u128() | miss.to_u128());
            product[n - 1] ^= Block::from_u128(u128::from(mac.lsb()));
            product[slot] ^= row[n - 1] ^ pad[n - 1];
            // The MACs M_i that this garbler holds, for the labels of the other garblers.
            for other in (0..n - 1).filter(|other| *other != slot) {
                // The other garbler's slot at this garbler, which has no slot for itself.
                let block = other + usize::from(other < slot);
                product[other] ^= row[block] ^ pad[block];
            }
        }
    }
    crate::shares::same(&wrong.0, &[0; 16])
}
