//! Entries from learning parity with noise over B: a table of packed entries, and trees that hide
//! one noisy place each.
//!
//! ```text
//! base     k entries: the table; one entry for each tree (β, its noise); h COTs for each tree; one
//!          entry that hides the check
//! tree     a half tree, as Ferret's; w_j = H(j, leaf_j), of which the receiver misses w_α
//!          S: d = q_β ⊕ (⊕ w_j), q_j = w_j         R: t_j = w_j, but t_α = d ⊕ t_β ⊕ (⊕_{j≠α}
//!                                                  t_j) = q_α + βΔ; u_α = β
//! output   q, t, u ⊕ the code's sums of ten entries of the table, each times a uniform element of
//!          B
//! round    R = ⌈(k + t) / 2^h⌉ trees become the next table and the next βs, the others come out;
//!          k, t of the next round, h of this one
//! ```
//!
//! The set of the first round is the smallest, because its table is packed from OTs. Entries that
//! do not fit into that round come from a larger set, which takes fewer bytes for each entry; each
//! smaller set then only makes the table of the next. The rounds of a set have at most its t trees:
//! rounds with fewer trees are the same LPN with fewer outputs.
//!
//! H is π(π(x) ⊕ j) ⊕ π(x), and not the cheaper hash with σ. The receiver gets H(j, y ⊕ Δ) ⊕ βΔ for
//! a y that it knows. For a β that acts like σ on a part of Δ, the sum of σ(Δ) and βΔ would lack
//! that part.

use core::marker::PhantomData;

use hushwire_aes::Aes128;
use hushwire_block::{Block, Buffer, Gf128, registry};
use hushwire_prg::Seed;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::code::{Code, TableEntry, pair};
use super::field::{Base, Field};
use super::plan::{Turn, VolePlan, tree_bytes};
use super::seal::Seal;
use crate::ferret::Set;
use crate::ferret::end::{buffer, public_key};
use crate::ferret::nodes::Patch;
use crate::ferret::tree::{Grower, SpcotEnd, SpcotReceiver, SpcotSender, Tree};
use crate::{CheckStep, Context, Level, OtError, Role, Security};

/// The name under which tests record the use of an entry of the base that hides one tree's noise.
const NOISE: &str = "entry of a tree's noise";

/// A party's part of the trees.
enum Half<F: Field> {
    Sender { trees: Box<SpcotSender>, q: Buffer },
    Receiver { t: Buffer, u: Vec<F::Base> },
}

/// The state of growing entries.
pub(super) struct Growing<S: Security, F: Field> {
    context: Context,
    plan: VolePlan,
    count: usize,
    half: Half<F>,
    /// This round's base, and the finished part of the next base: blocks at the sender, pairs at
    /// the receiver. They use huge pages, which speed up random reads.
    table: Buffer,
    next: Buffer,
    grower: Grower,
    hash: Aes128,
    code: Code,
    cots: Buffer,
    round: usize,
    /// The trees of this round, the COTs that all trees have used, and the entries that are made.
    made: usize,
    taken: usize,
    entries: usize,
    leaves: Buffer,
    values: Buffer,
    noise: Vec<F::Base>,
    seal: Option<Seal>,
    level: PhantomData<S>,
}

/// A party's packed entries, and its other inputs.
pub(super) enum Base0<F: Field> {
    Sender { delta: Block, q: Buffer, seed: Seed },
    Receiver { t: Buffer, u: Vec<F::Base> },
}

impl<S: Security, F: Field> Growing<S, F> {
    /// Grows `count` entries from a base of the size that the plan for these sets gives.
    pub(super) fn new(context: &Context, sets: &[Set], count: usize, base: Base0<F>, cots: Buffer) -> Self {
        let plan = VolePlan::new(sets, S::LEVEL, count);
        let set = &sets[0];
        assert_eq!(cots.blocks().len(), plan.cots, "the COTs of all trees");
        let mut wide = Buffer::new();
        wide.set_len(16 * count);
        let spare = plan.entries - 1;
        let hides = S::LEVEL == Level::Malicious;
        let widest = plan.widest();
        let (half, [table, next], seal) = match base {
            Base0::Sender { delta, mut q, seed } => {
                assert_eq!(q.blocks().len(), plan.entries, "the entries of the base");
                let seal =
                    hides.then(|| Seal::new(context, set, Some(delta), q.blocks()[spare], Gf128::ZERO));
                let trees = Box::new(SpcotSender::new(context, delta, &seed));
                let mut tables = plan.rooms().map(buffer);
                tables[0].blocks_mut()[..plan.entries].copy_from_slice(q.blocks());
                q.zeroize();
                (Half::Sender { trees, q: wide }, tables, seal)
            }
            Base0::Receiver { mut t, mut u } => {
                assert!(
                    t.blocks().len() == plan.entries && u.len() == plan.entries,
                    "the entries of the base"
                );
                let seal =
                    hides.then(|| Seal::new(context, set, None, t.blocks()[spare], F::whole(u[spare])));
                let mut tables = plan.rooms().map(|entries| buffer(2 * entries));
                for ((place, t), u) in pairs_mut(&mut tables[0]).iter_mut().zip(t.blocks()).zip(&u) {
                    *place = pair(*t, *u);
                }
                t.zeroize();
                u.zeroize();
                (Half::Receiver { t: wide, u: Vec::with_capacity(count) }, tables, seal)
            }
        };
        let [mut leaves, mut values] = [Buffer::new(), Buffer::new()];
        leaves.set_len(16 * widest);
        values.set_len(16 * widest);
        let (grower, hash, code) = keys(context, set, 0);
        let grower = Grower::new(context.backend, widest, grower);
        Self {
            context: *context,
            plan,
            count,
            half,
            table,
            next,
            grower,
            hash,
            code,
            cots,
            round: 0,
            made: 0,
            taken: 0,
            entries: 0,
            leaves,
            values,
            noise: vec![F::Base::default(); widest],
            seal,
            level: PhantomData,
        }
    }

    /// The next message.
    pub(super) fn step(&self) -> Option<CheckStep> {
        if let Some(turn) = self.plan.rounds.get(self.round) {
            let bytes = turn.burst(self.made) * tree_bytes(&turn.set);
            return Some(CheckStep { name: "VOLE: trees", from: Role::Sender, bytes });
        }
        self.seal.as_ref()?.step()
    }

    /// Makes or reads that message; one of `heard` and `said` is empty.
    pub(super) fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let Some(turn) = self.plan.rounds.get(self.round) else {
            return self.seal.as_mut().expect("there is a step").act(heard, said);
        };
        let bytes = tree_bytes(&turn.set);
        for message in said.chunks_exact_mut(bytes) {
            self.tree(&[], message);
        }
        for message in heard.chunks_exact(bytes) {
            self.tree(message, &mut []);
        }
        Ok(())
    }

    /// Makes one tree, and begins the next round after the last tree.
    fn tree(&mut self, heard: &[u8], said: &mut [u8]) {
        let turn = self.plan.rounds[self.round];
        let (set, refill, backend) = (turn.set, turn.refill, self.context.backend);
        let cots = &self.cots.blocks()[self.taken..][..set.depth()];
        let leaves = &mut self.leaves.blocks_mut()[..set.leaves()];
        let values = &mut self.values.blocks_mut()[..set.leaves()];
        let noise = set.secrets() + self.made;
        let refilled = self.made * set.leaves()..(self.made + 1) * set.leaves();
        let grower = &mut self.grower;
        let cut = set.tree_bytes();
        let first = self.made * set.leaves();
        let outputs = if self.made < refill { 0 } else { set.leaves().min(self.count - self.entries) };
        match &mut self.half {
            Half::Sender { trees, q } => {
                let table = self.table.blocks();
                registry::once(NOISE, &table[noise..=noise]);
                let (levels, d) = said.split_at_mut(cut);
                trees.tree(Tree { grower, cots, heard: &[], said: levels, leaves: &mut *leaves });
                backend.tccr::<1>(&self.hash, first as u128, leaves, values);
                d.copy_from_slice(&(total(values) ^ table[noise]).0);
                if let Some(seal) = &mut self.seal {
                    seal.tree(said, values, None);
                }
                self.code.add::<F>(first, &table[..set.secrets()], values);
                if self.made < refill {
                    self.next.blocks_mut()[refilled].copy_from_slice(values);
                }
                q.blocks_mut()[self.entries..][..outputs].copy_from_slice(&values[..outputs]);
            }
            Half::Receiver { t, u } => {
                let table: &[TableEntry] = self.table.blocks().as_chunks().0;
                let (levels, d) = heard.split_at(cut);
                let place = SpcotReceiver.tree(Tree {
                    grower,
                    cots,
                    heard: levels,
                    said: &mut [],
                    leaves: &mut *leaves,
                });
                backend.tccr::<1>(&self.hash, first as u128, leaves, values);
                // The value at α is part of the sum, and therefore cancels.
                let [of_noise, beta] = table[noise];
                registry::once(NOISE, &[of_noise]);
                let beta = F::Base::from_bytes(&beta.0);
                let add = total(values) ^ of_noise ^ block(d);
                let right = place & 1 == 1;
                let add = [add.and_bit(!right), add.and_bit(right)];
                backend.run(Patch { nodes: &mut *values, pair: place >> 1, add, keep: Block::ONES });
                if let Some(seal) = &mut self.seal {
                    seal.tree(heard, values, Some((place, F::whole(beta))));
                }
                let noises = &mut self.noise[..set.leaves()];
                for (j, noise) in noises.iter_mut().enumerate() {
                    let here = 0u64.wrapping_sub(u64::from((j as u64).ct_eq(&(place as u64)).unwrap_u8()));
                    *noise = beta.masked(here);
                }
                self.code.add_pairs::<F>(first, &table[..set.secrets()], values, noises);
                if self.made < refill {
                    let next = &mut pairs_mut(&mut self.next)[refilled];
                    for ((place, t), u) in next.iter_mut().zip(&*values).zip(&*noises) {
                        *place = pair(*t, *u);
                    }
                }
                t.blocks_mut()[self.entries..][..outputs].copy_from_slice(&values[..outputs]);
                u.extend_from_slice(&noises[..outputs]);
            }
        }
        self.entries += outputs;
        self.taken += set.depth();
        self.made += 1;
        if self.made == turn.trees() {
            self.turn();
        }
    }

    /// Begins the next round, if there is one.
    fn turn(&mut self) {
        (self.round, self.made) = (self.round + 1, 0);
        let Some(Turn { set, .. }) = self.plan.rounds.get(self.round) else { return };
        core::mem::swap(&mut self.table, &mut self.next);
        self.next.zeroize();
        let (grower, hash, code) = keys(&self.context, set, self.round as u64);
        self.grower.set_key(grower);
        (self.hash, self.code) = (hash, code);
    }

    /// The addresses of both tables, for tests: a table that moved left a copy behind.
    #[cfg(test)]
    pub(super) fn tables(&self) -> [usize; 2] {
        let mut places = [&self.table, &self.next].map(|table| table.as_ptr().addr());
        places.sort_unstable();
        places
    }

    /// The entries: q at the sender; t and u at the receiver.
    pub(super) fn take(&mut self) -> (Buffer, Vec<F::Base>) {
        match &mut self.half {
            Half::Sender { q, .. } => (core::mem::take(q), Vec::new()),
            Half::Receiver { t, u, .. } => (core::mem::take(t), core::mem::take(u)),
        }
    }
}

/// The public keys of a round: for half trees, for the hash of leaves, and for the code.
fn keys(context: &Context, set: &Set, round: u64) -> (Aes128, Aes128, Code) {
    let key = |label| public_key(context, set, label, round);
    let code = Code::new(context.backend, [key("vole code"), key("vole factors")]);
    (key("vole half tree"), key("vole leaves"), code)
}

fn total(blocks: &[Block]) -> Block {
    Block::from_u128(blocks.iter().fold(0, |sum, block| sum ^ block.to_u128()))
}

fn block(bytes: &[u8]) -> Block {
    Block(*bytes.first_chunk().expect("a block of 16 bytes"))
}

fn pairs_mut(table: &mut Buffer) -> &mut [TableEntry] {
    table.blocks_mut().as_chunks_mut().0
}

impl<S: Security, F: Field> Drop for Growing<S, F> {
    fn drop(&mut self) {
        for secret in [&mut self.cots, &mut self.leaves, &mut self.values, &mut self.table, &mut self.next] {
            secret.zeroize();
        }
        self.noise.zeroize();
        match &mut self.half {
            Half::Sender { q, .. } => q.zeroize(),
            Half::Receiver { t, u } => {
                t.zeroize();
                u.zeroize();
            }
        }
    }
}
