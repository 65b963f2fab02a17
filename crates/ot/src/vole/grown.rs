//! Entries from learning parity with noise over B: a table of packed entries, and trees that hide one noisy place each.
//!
//! ```text
//! base     k entries: the table; one entry for each tree (β, its noise); h COTs for each tree; one entry that hides the check
//! tree     a half tree, as Ferret's; w_j = H(j, leaf_j), of which the receiver misses w_α
//!          S: d = q_β ⊕ (⊕ w_j), q_j = w_j         R: t_j = w_j, but t_α = d ⊕ t_β ⊕ (⊕_{j≠α} t_j) = q_α + βΔ; u_α = β
//! output   q, t, u ⊕ the code's sums of ten entries of the table, each times a uniform element of B
//! round    R = ⌈(k + t) / 2^h⌉ trees become the next table and the next βs, the others come out
//! ```
//!
//! H is π(π(x) ⊕ j) ⊕ π(x), and not the cheaper hash with σ: the receiver gets H(j, y ⊕ Δ) ⊕ βΔ for some y that it knows, and for a β that is
//! like σ on a part of Δ, the sum of σ(Δ) and βΔ would lack that part.

use core::marker::PhantomData;

use hushwire_aes::Aes128;
use hushwire_block::{Block, Buffer, Gf128};
use hushwire_prg::Seed;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::code::{Code, Pair};
use super::field::{Base, Field};
use super::seal::{SEAL, Seal};
use crate::ferret::Set;
use crate::ferret::end::public_key;
use crate::ferret::nodes::Patch;
use crate::ferret::tree::{End, Grower, SpcotReceiver, SpcotSender, Tree};
use crate::{CheckStep, Context, Level, OtError, Role, Security};

/// AGREEMENT: trees of a message: as many as make a message cost little beside them, few enough that both parties work at
/// once.
const BURST: usize = 64;

/// The price of a number of entries. AGREEMENT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The trees of each round: those that become the next round's base come first, and no last round has any.
    rounds: Vec<[usize; 2]>,
    /// Packed entries and COTs that it starts from.
    pub(super) entries: usize,
    pub(super) cots: usize,
}

/// Trees of a round that become the next round's base.
fn refill(set: &Set) -> usize {
    (set.secrets() + set.trees()).div_ceil(set.leaves())
}

impl Plan {
    pub(super) fn new(set: &Set, level: Level, count: usize) -> Self {
        let (mut rounds, mut left) = (vec![], count);
        while left > set.trees() * set.leaves() {
            rounds.push([refill(set), set.trees() - refill(set)]);
            left -= rounds[rounds.len() - 1][1] * set.leaves();
        }
        rounds.push([0, left.div_ceil(set.leaves())]);
        let trees: usize = rounds.iter().flatten().sum();
        let spare = usize::from(level == Level::Malicious);
        let entries = set.secrets() + rounds[0].iter().sum::<usize>() + spare;
        Self { rounds, entries, cots: trees * set.depth() }
    }

    fn trees(&self) -> usize {
        self.rounds.iter().flatten().sum()
    }

    /// Trees of each message.
    fn bursts(&self) -> impl Iterator<Item = usize> + use<> {
        let trees = self.trees();
        (0..trees).step_by(BURST).map(move |at| BURST.min(trees - at))
    }

    /// Messages, each with its sender and bytes.
    pub(super) fn messages(&self, set: &Set, level: Level) -> Vec<(Role, usize)> {
        let trees = self.bursts().map(|trees| (Role::Sender, trees * tree_bytes(set)));
        let check = SEAL.iter().map(|step| (step.from, step.bytes));
        trees.chain(check.filter(|_| level == Level::Malicious)).collect()
    }
}

/// c of each level, then d.
fn tree_bytes(set: &Set) -> usize {
    set.tree_bytes() + 16
}

/// A party's part of the trees.
enum Half<F: Field> {
    Sender { trees: Box<SpcotSender>, table: Vec<Block>, next: Vec<Block>, q: Buffer },
    Receiver { table: Vec<Pair<F>>, next: Vec<Pair<F>>, t: Buffer, u: Vec<F::Base> },
}

/// Entries as they grow.
pub(super) struct Growing<S: Security, F: Field> {
    context: Context,
    set: Set,
    plan: Plan,
    count: usize,
    half: Half<F>,
    grower: Grower,
    hash: Aes128,
    code: Code,
    cots: Buffer,
    round: usize,
    /// Trees of this round, of all rounds, and entries that are made.
    made: usize,
    trees: usize,
    entries: usize,
    leaves: Buffer,
    values: Buffer,
    noise: Vec<F::Base>,
    seal: Option<Seal>,
    level: PhantomData<S>,
}

/// A party's packed entries, and what else it brings.
pub(super) enum Base0<F: Field> {
    Sender { delta: Block, q: Buffer, seed: Seed },
    Receiver { t: Buffer, u: Vec<F::Base> },
}

impl<S: Security, F: Field> Growing<S, F> {
    /// For `count` entries from a base as the plan has it.
    pub(super) fn new(context: &Context, set: &Set, count: usize, base: Base0<F>, cots: Buffer) -> Self {
        let plan = Plan::new(set, S::LEVEL, count);
        assert_eq!(cots.blocks().len(), plan.cots, "the COTs of all trees");
        let mut wide = Buffer::new();
        wide.set_len(16 * count);
        let spare = plan.entries - 1;
        let hides = S::LEVEL == Level::Malicious;
        // The table and the next one change places at every turn: room in both for either, or the smaller would grow and leave a copy behind.
        let room = plan.entries.max(set.leaves() * plan.rounds[0][0]);
        let (half, seal) = match base {
            Base0::Sender { delta, mut q, seed } => {
                assert_eq!(q.blocks().len(), plan.entries, "the entries of the base");
                let seal =
                    hides.then(|| Seal::new(context, set, Some(delta), q.blocks()[spare], Gf128::ZERO));
                let trees = Box::new(SpcotSender::new(context, delta, &seed));
                let [mut table, next] = [(); 2].map(|()| Vec::with_capacity(room));
                table.extend_from_slice(q.blocks());
                q.zeroize();
                (Half::Sender { trees, table, next, q: wide }, seal)
            }
            Base0::Receiver { mut t, mut u } => {
                assert!(
                    t.blocks().len() == plan.entries && u.len() == plan.entries,
                    "the entries of the base"
                );
                let seal =
                    hides.then(|| Seal::new(context, set, None, t.blocks()[spare], F::whole(u[spare])));
                let [mut table, next] = [(); 2].map(|()| Vec::with_capacity(room));
                table.extend(t.blocks().iter().copied().zip(u.iter().copied()));
                t.zeroize();
                u.zeroize();
                (Half::Receiver { table, next, t: wide, u: Vec::with_capacity(count) }, seal)
            }
        };
        let [mut leaves, mut values] = [Buffer::new(), Buffer::new()];
        leaves.set_len(16 * set.leaves());
        values.set_len(16 * set.leaves());
        let (grower, hash, code) = keys(context, set, 0);
        let grower = Grower::new(context.backend, set.leaves(), grower);
        Self {
            context: *context,
            set: *set,
            plan,
            count,
            half,
            grower,
            hash,
            code,
            cots,
            round: 0,
            made: 0,
            trees: 0,
            entries: 0,
            leaves,
            values,
            noise: vec![F::Base::default(); set.leaves()],
            seal,
            level: PhantomData,
        }
    }

    /// The next message.
    pub(super) fn step(&self) -> Option<CheckStep> {
        let left = self.plan.trees() - self.trees;
        if left > 0 {
            let bytes = left.min(BURST) * tree_bytes(&self.set);
            return Some(CheckStep { name: "VOLE: trees", from: Role::Sender, bytes });
        }
        self.seal.as_ref()?.step()
    }

    /// Does that step, with one of the messages empty.
    pub(super) fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        if self.trees == self.plan.trees() {
            return self.seal.as_mut().expect("there is a step").act(heard, said);
        }
        let bytes = tree_bytes(&self.set);
        for message in said.chunks_exact_mut(bytes) {
            self.tree(&[], message);
        }
        for message in heard.chunks_exact(bytes) {
            self.tree(message, &mut []);
        }
        Ok(())
    }

    /// One tree; turns the round after its last.
    fn tree(&mut self, heard: &[u8], said: &mut [u8]) {
        let (set, backend) = (self.set, self.context.backend);
        let cots = &self.cots.blocks()[self.trees * set.depth()..][..set.depth()];
        let (leaves, values) = (self.leaves.blocks_mut(), self.values.blocks_mut());
        let noise = set.secrets() + self.made;
        let grower = &mut self.grower;
        let cut = set.tree_bytes();
        let [refill, _] = self.plan.rounds[self.round];
        let first = self.made * set.leaves();
        let outputs = if self.made < refill { 0 } else { set.leaves().min(self.count - self.entries) };
        match &mut self.half {
            Half::Sender { trees, table, next, q } => {
                let (levels, d) = said.split_at_mut(cut);
                trees.tree(Tree { grower, cots, heard: &[], said: levels, leaves: &mut *leaves });
                backend.tccr::<1>(&self.hash, first as u128, leaves, values);
                d.copy_from_slice(&(total(values) ^ table[noise]).0);
                if let Some(seal) = &mut self.seal {
                    seal.tree(said, values, None);
                }
                self.code.add::<F>(first, &table[..set.secrets()], values);
                if self.made < refill {
                    next.extend_from_slice(values);
                }
                q.blocks_mut()[self.entries..][..outputs].copy_from_slice(&values[..outputs]);
            }
            Half::Receiver { table, next, t, u } => {
                let (levels, d) = heard.split_at(cut);
                let place = SpcotReceiver.tree(Tree {
                    grower,
                    cots,
                    heard: levels,
                    said: &mut [],
                    leaves: &mut *leaves,
                });
                backend.tccr::<1>(&self.hash, first as u128, leaves, values);
                // What stands at α is part of the sum, and so goes.
                let (of_noise, beta) = table[noise];
                let add = total(values) ^ of_noise ^ block(d);
                let right = place & 1 == 1;
                let add = [add.and_bit(!right), add.and_bit(right)];
                backend.run(Patch { nodes: &mut *values, pair: place >> 1, add, keep: Block::ONES });
                if let Some(seal) = &mut self.seal {
                    seal.tree(heard, values, Some((place, F::whole(beta))));
                }
                for (j, noise) in self.noise.iter_mut().enumerate() {
                    let here = 0u64.wrapping_sub(u64::from((j as u64).ct_eq(&(place as u64)).unwrap_u8()));
                    *noise = beta.masked(here);
                }
                self.code.add_pairs::<F>(first, &table[..set.secrets()], values, &mut self.noise);
                if self.made < refill {
                    next.extend(values.iter().copied().zip(self.noise.iter().copied()));
                }
                t.blocks_mut()[self.entries..][..outputs].copy_from_slice(&values[..outputs]);
                u.extend_from_slice(&self.noise[..outputs]);
            }
        }
        self.entries += outputs;
        self.trees += 1;
        self.made += 1;
        if self.made == self.plan.rounds[self.round].iter().sum::<usize>() {
            self.turn();
        }
    }

    /// The next round, if there is one.
    fn turn(&mut self) {
        (self.round, self.made) = (self.round + 1, 0);
        if self.round == self.plan.rounds.len() {
            return;
        }
        match &mut self.half {
            Half::Sender { table, next, .. } => {
                core::mem::swap(table, next);
                next.iter_mut().for_each(Zeroize::zeroize);
                next.clear();
            }
            Half::Receiver { table, next, .. } => {
                core::mem::swap(table, next);
                wipe(next);
                next.clear();
            }
        }
        let (grower, hash, code) = keys(&self.context, &self.set, self.round as u64);
        self.grower.set_key(grower);
        (self.hash, self.code) = (hash, code);
    }

    /// The places of both tables: where one moved, it left a copy behind.
    #[cfg(test)]
    pub(super) fn tables(&self) -> [usize; 2] {
        let mut places = match &self.half {
            Half::Sender { table, next, .. } => [table, next].map(|table| table.as_ptr().addr()),
            Half::Receiver { table, next, .. } => [table, next].map(|table| table.as_ptr().addr()),
        };
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

/// The public keys of a round: of half trees, of the hash of leaves, of the code.
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

fn wipe<B: Base>(pairs: &mut [(Block, B)]) {
    for (t, u) in pairs {
        t.zeroize();
        u.zeroize();
    }
}

impl<S: Security, F: Field> Drop for Growing<S, F> {
    fn drop(&mut self) {
        for secret in [&mut self.cots, &mut self.leaves, &mut self.values] {
            secret.zeroize();
        }
        self.noise.zeroize();
        match &mut self.half {
            Half::Sender { table, next, q, .. } => {
                table.iter_mut().chain(next).for_each(Zeroize::zeroize);
                q.zeroize();
            }
            Half::Receiver { table, next, t, u } => {
                wipe(table);
                wipe(next);
                t.zeroize();
                u.zeroize();
            }
        }
    }
}
