//! Masks of all wires, and the products of the masks that ANDs take: the part of garbling that both forms share.
//!
//! Wire w has the mask λ_w, shared and authenticated; the evaluator sees Λ_w = z_w ⊕ λ_w. Inputs and ANDs have fresh masks,
//! XORs the sum of their operands'. For an AND (α, β, γ) with triple (a, b, c):
//!
//! ```text
//! d = λ_α ⊕ a, e = λ_β ⊕ b, opened with MACs;   σ = λ_α λ_β = c ⊕ d b ⊕ e a ⊕ d e;   s = σ ⊕ λ_γ
//! Λ_γ = s ⊕ Λ_α λ_β ⊕ Λ_β λ_α ⊕ Λ_α Λ_β
//! ```

use crate::{
    AuthError, Check,
    room::Room,
    rows::{Layer, Rows},
    shares::{Shares, add, one},
    stock::Triples,
};
use hushwire_block::Block;
use hushwire_circuit::Program;
use hushwire_ot::Context;

/// A circuit under way at one party, as both forms garble and evaluate it.
pub(crate) struct Job<'a> {
    pub(crate) context: &'a Context,
    pub(crate) me: usize,
    pub(crate) n: usize,
    pub(crate) delta: Block,
    pub(crate) program: &'a Program,
    pub(crate) instances: usize,
    pub(crate) masks: &'a Masks,
}

/// This party's shares of masks.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Masks {
    pub(crate) inputs: Shares,
    pub(crate) outputs: Shares,
    /// λ_α, λ_β and s of every AND; none once tables are made.
    pub(crate) alpha: Shares,
    pub(crate) beta: Shares,
    pub(crate) s: Shares,
}

impl Masks {
    /// Those of inputs and outputs alone.
    pub(crate) fn of_ends(inputs: Shares, outputs: Shares) -> Masks {
        let none = || Shares::zeros(0, 0);
        Masks { inputs, outputs, alpha: none(), beta: none(), s: none() }
    }
}

/// Walks the program, and opens what the ANDs need. `fresh` has a mask for every input bit, then for every AND.
pub(crate) async fn make(
    room: &mut Room,
    delta: Block,
    program: &Program,
    instances: usize,
    triples: Triples,
    fresh: Shares,
) -> Result<Masks, AuthError> {
    let (me, slots) = (room.talk.me(), room.talk.slots());
    let (ands, bits) = (triples.len(), fresh.len() - triples.len());
    let (mut alpha, mut beta) = (Shares::zeros(slots, ands), Shares::zeros(slots, ands));
    let outputs = {
        let row = |k: usize| fresh.lists().map(move |list| list[k]);
        let mut rows =
            Rows::new(program, instances, 2 * slots, constant(me, slots, delta), (0..bits).flat_map(row));
        rows.run(room.backend(), program, |layer| {
            gather(&layer, 0, &mut alpha);
            gather(&layer, 1, &mut beta);
            let first = bits + layer.first;
            for (k, product) in layer.products.chunks_exact_mut(2 * slots).enumerate() {
                product.iter_mut().zip(fresh.lists()).for_each(|(to, list)| *to = list[first + k]);
            }
        });
        columns(&rows.outputs(program), slots)
    };
    let Triples { mut a, mut b, c: mut s } = triples;
    for (sum, wire) in a.lists_mut().chain(b.lists_mut()).zip(alpha.lists().chain(beta.lists())) {
        add(sum, wire);
    }
    // d and e.
    let opened = room.open("opening masked wires", Check::MaskedWires, delta, &[&a, &b]).await?;
    let (d, e) = opened.split_at(ands);
    let lists = s.lists_mut().zip(fresh.lists()).zip(a.lists().zip(b.lists()));
    for (((s, fresh), (a, b)), (alpha, beta)) in lists.zip(alpha.lists().zip(beta.lists())) {
        let fresh = &fresh[bits..];
        for k in 0..ands {
            let (a, b) = (a[k] ^ alpha[k], b[k] ^ beta[k]);
            s[k] ^= fresh[k] ^ b.and_bit(d[k] == 1) ^ a.and_bit(e[k] == 1);
        }
    }
    let both: Vec<u8> = d.iter().zip(e).map(|(d, e)| d & e).collect();
    s.add_public(me, delta, 0, &both);
    Ok(Masks { inputs: fresh.part(&(0..bits)), outputs, alpha, beta, s })
}

/// A row of the public constant 1: its mask is 1, so that what the evaluator sees of it is 0.
fn constant(me: usize, slots: usize, delta: Block) -> Vec<Block> {
    let mut row = vec![Block::ZERO; 2 * slots];
    let at = if me == 0 { 0..slots } else { slots..slots + 1 };
    row[at].fill(one(me, delta));
    row
}

fn gather(layer: &Layer<'_, Block>, which: usize, to: &mut Shares) {
    for (k, row) in layer.operands.of(which).enumerate() {
        to.lists_mut().zip(row).for_each(|(list, block)| list[layer.first + k] = *block);
    }
}

/// Shares from rows.
fn columns(rows: &[Block], slots: usize) -> Shares {
    let mut shares = Shares::zeros(slots, rows.len() / (2 * slots));
    for (k, row) in rows.chunks_exact(2 * slots).enumerate() {
        shares.lists_mut().zip(row).for_each(|(list, block)| list[k] = *block);
    }
    shares
}
