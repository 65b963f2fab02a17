//! The masks of all wires, and the products of the masks that ANDs need. Both forms of garbling
//! share this part.
//!
//! Wire w has a mask λ_w, which is shared and authenticated; the evaluator sees Λ_w = z_w ⊕ λ_w.
//! Inputs and ANDs have fresh masks. The mask of an XOR is the sum of its operands' masks. For an
//! AND (α, β, γ) with the triple (a, b, c):
//!
//! ```text
//! d = λ_α ⊕ a, e = λ_β ⊕ b, opened with MACs;   σ = λ_α λ_β = c ⊕ d b ⊕ e a ⊕ d e;   s = σ ⊕ λ_γ
//! Λ_γ = s ⊕ Λ_α λ_β ⊕ Λ_β λ_α ⊕ Λ_α Λ_β
//! ```

use crate::{
    AuthError, Check,
    room::Room,
    rows::Rows,
    shares::{Blocks, Shares, add, one, worth},
    stock::Triples,
};
use hushwire_aes::Backend;
use hushwire_block::{Block, abreast};
use hushwire_circuit::Program;
use hushwire_ot::Context;

/// One party's view of a circuit that is being garbled or evaluated, in both forms.
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
    /// λ_α, λ_β and s of every AND; empty once the tables are made.
    pub(crate) alpha: Shares,
    pub(crate) beta: Shares,
    pub(crate) s: Shares,
}

impl Masks {
    /// The masks of inputs and outputs alone.
    pub(crate) fn of_ends(inputs: Shares, outputs: Shares) -> Masks {
        let none = || Shares::zeros(1, 0, 0);
        Masks { inputs, outputs, alpha: none(), beta: none(), s: none() }
    }
}

/// Walks the program, and opens the bits that the ANDs need. `fresh` has a mask for every input
/// bit, then for every AND.
pub(crate) async fn make(
    room: &mut Room,
    delta: Block,
    program: &Program,
    instances: usize,
    triples: Triples,
    fresh: Shares,
) -> Result<Masks, AuthError> {
    let (ands, bits) = (triples.len(), fresh.len() - triples.len());
    let (me, slots, threads) = (room.talk.me(), room.talk.slots(), worth(room.talk.threads(), ands));
    let [mut alpha, mut beta] = [0, 1].map(|_| Shares::zeros(threads, slots, ands));
    let mut outputs = Shares::zeros(1, slots, program.output_bits() * instances);
    // Each thread walks the program with some of the lists.
    let width = (2 * slots).div_ceil(threads);
    let constants = constant(me, slots, delta);
    let lists =
        fresh.lists().zip(&constants).zip(alpha.lists_mut().zip(beta.lists_mut())).zip(outputs.lists_mut());
    let mut columns: Vec<_> = lists
        .map(|(((fresh, one), (alpha, beta)), out)| MaskColumn {
            fresh,
            one: *one,
            operands: [alpha, beta],
            out,
        })
        .collect();
    let backend = room.backend();
    abreast(threads, columns.chunks_mut(width).collect(), |columns| {
        walk(backend, program, instances, bits, columns);
    });
    let Triples { mut a, mut b, c: mut s } = triples;
    let sums = a.lists_mut().chain(b.lists_mut()).zip(alpha.lists().chain(beta.lists()));
    abreast(threads, sums.collect(), |(sum, wire)| add(sum, wire));
    // d and e.
    let opened = room.open("opening masked wires", Check::MaskedWires, delta, &[&a, &b]).await?;
    let (d, e) = opened.split_at(ands);
    let lists = s.lists_mut().zip(fresh.lists()).zip(a.lists().zip(b.lists()));
    let lists = lists.zip(alpha.lists().zip(beta.lists())).collect();
    abreast(threads, lists, |(((s, fresh), (a, b)), (alpha, beta))| {
        let fresh = &fresh[bits..];
        for k in 0..ands {
            let (a, b) = (a[k] ^ alpha[k], b[k] ^ beta[k]);
            s[k] ^= fresh[k] ^ b.and_bit(d[k] == 1) ^ a.and_bit(e[k] == 1);
        }
    });
    let both: Vec<u8> = d.iter().zip(e).map(|(d, e)| d & e).collect();
    s.add_public(threads, me, delta, 0, &both);
    Shares::wipe(threads, [a, b]);
    Ok(Masks { inputs: fresh.part(&(0..bits)), outputs, alpha, beta, s })
}

/// One of the lists of shares during a walk of the program.
struct MaskColumn<'a> {
    /// The blocks of inputs, then of ANDs.
    fresh: &'a [Block],
    one: Block,
    /// The blocks of ANDs' operands, filled by the walk.
    operands: [&'a mut Blocks; 2],
    out: &'a mut Blocks,
}

/// Computes operands and outputs; the first `bits` masks belong to inputs.
fn walk(backend: Backend, program: &Program, instances: usize, bits: usize, columns: &mut [MaskColumn<'_>]) {
    let width = columns.len();
    let inputs = (0..bits).flat_map(|k| columns.iter().map(move |column| column.fresh[k]));
    let one = columns.iter().map(|column| column.one).collect();
    let mut rows = Rows::new(program, instances, width, one, inputs);
    rows.run(backend, program, |layer| {
        for which in [0, 1] {
            for (k, row) in (layer.first..).zip(layer.operands.of(which)) {
                columns.iter_mut().zip(row).for_each(|(column, block)| column.operands[which][k] = *block);
            }
        }
        for (k, product) in (bits + layer.first..).zip(layer.products.chunks_exact_mut(width)) {
            product.iter_mut().zip(&*columns).for_each(|(to, column)| *to = column.fresh[k]);
        }
    });
    for (k, row) in rows.outputs(program).chunks_exact(width).enumerate() {
        columns.iter_mut().zip(row).for_each(|(column, block)| column.out[k] = *block);
    }
}

/// A row of the public constant 1. Its mask is 1, so that the evaluator sees 0.
fn constant(me: usize, slots: usize, delta: Block) -> Vec<Block> {
    let mut row = vec![Block::ZERO; 2 * slots];
    let at = if me == 0 { 0..slots } else { slots..slots + 1 };
    row[at].fill(one(me, delta));
    row
}
