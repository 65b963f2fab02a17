//! One end: COTs in, trees, rounds.

use hushwire_aes::Aes128;
use hushwire_block::{Block, Gf128, as_bytes_mut};
use zeroize::Zeroize;

use super::code;
use crate::ferret::Set;
use crate::ferret::end::public_key;
use crate::ferret::nodes::Patch;
use crate::ferret::tree::{End, Grower, Tree};
use crate::machine::{Guarded, Latch, guarded};
use crate::{Context, Extension, OtError, Role, Round, SemiHonest};

/// Trees of a message at most. AGREEMENT.
const BURST: usize = 16;
/// The first step's name.
const COTS: &str = "vole: COTs";
/// COTs of a base VOLE: one for each bit of u.
const PACK: usize = 128;

/// Both parties' state; columns are q at the sender, t and u at the receiver.
pub(super) struct Vole<E> {
    context: Context,
    set: Set,
    cots: Box<dyn Extension<SemiHonest>>,
    end: E,
    grower: Grower,
    /// k table entries, then one VOLE for each tree; shorter until the first round has its COTs.
    base: Vec<Vec<Block>>,
    /// The next round's.
    next: Vec<Vec<Block>>,
    /// COTs on their way to a base VOLE.
    carry: Vec<Block>,
    /// The round's COTs for trees.
    paths: Vec<Block>,
    round: u64,
    made: usize,
    keys: Keys,
    stock: Vec<Vec<Block>>,
    taken: usize,
    /// From the beginning of a call to its last step: after an error, or a call that was dropped, it stays.
    busy: bool,
}

/// A round's public keys.
struct Keys {
    code: Aes128,
    leaves: Aes128,
}

impl Keys {
    fn new(context: &Context, set: &Set, round: u64) -> Self {
        Keys {
            code: public_key(context, set, "vole code", round),
            leaves: public_key(context, set, "vole leaves", round),
        }
    }
}

impl<E: End> Vole<E> {
    pub(super) fn new(context: &Context, set: Set, cots: Box<dyn Extension<SemiHonest>>, end: E) -> Self {
        assert_eq!(cots.role(), E::ROLE, "an end stands on the same end");
        let columns = if E::ROLE == Role::Sender { 1 } else { 2 };
        // With room for all that ever comes: growing would leave copies behind.
        let empty = |len: usize| (0..columns).map(|_| Vec::with_capacity(len)).collect::<Vec<_>>();
        let base_len = set.secrets() + set.trees();
        let refill = base_len.next_multiple_of(set.leaves());
        Self {
            context: *context,
            set,
            cots,
            end,
            grower: Grower::new(context.backend, set.leaves(), public_key(context, &set, "vole tree", 0)),
            base: empty(refill),
            next: empty(refill),
            carry: Vec::with_capacity(PACK),
            paths: Vec::with_capacity(set.trees() * set.depth()),
            round: 0,
            made: 0,
            keys: Keys::new(context, &set, 0),
            stock: empty(BURST.min(set.trees()) * set.leaves()),
            taken: 0,
            busy: false,
        }
    }

    /// Δ at the sender.
    pub(super) fn delta(&self) -> Option<Block> {
        self.end.delta()
    }

    /// The round, and its keys: of the code, of leaves, of trees.
    #[cfg(test)]
    pub(super) fn keys(&self) -> (u64, [&Aes128; 3]) {
        (self.round, [&self.keys.code, &self.keys.leaves, self.grower.key()])
    }

    /// Room for everything secret that grows.
    #[cfg(test)]
    pub(super) fn room(&self) -> Vec<usize> {
        let columns = [&self.base, &self.next, &self.stock].into_iter().flatten();
        columns.chain([&self.carry, &self.paths]).map(Vec::capacity).collect()
    }

    /// VOLEs that a round starts from.
    fn base_len(&self) -> usize {
        self.set.secrets() + self.set.trees()
    }

    /// COTs that are missing before trees can be made.
    fn cots_due(&self) -> usize {
        let packed = (self.base_len() - self.base[0].len()) * PACK - self.carry.len();
        packed + self.set.trees() * self.set.depth() - self.paths.len()
    }

    /// Takes COTs: base VOLEs first, then paths of trees.
    fn feed(&mut self, mut cots: &[Block]) {
        while self.base[0].len() < self.base_len() && !cots.is_empty() {
            let (some, rest) = cots.split_at(cots.len().min(PACK - self.carry.len()));
            self.carry.extend(some);
            cots = rest;
            if self.carry.len() == PACK {
                let (mut sum, mut bits) = (Gf128::ZERO, 0);
                for cot in self.carry.iter().rev() {
                    sum = sum.mul_x() + Gf128::from(*cot);
                    bits = bits << 1 | cot.to_u128() & 1;
                }
                self.carry.clear();
                for (column, value) in self.base.iter_mut().zip([sum.into(), Block::from_u128(bits)]) {
                    column.push(value);
                }
            }
        }
        self.paths.extend(cots);
    }

    /// Trees of the next message when `wanted` VOLEs are to come out.
    fn trees_due(&self, wanted: usize) -> usize {
        let refill = self.base_len().saturating_sub(self.next[0].len()).div_ceil(self.set.leaves());
        let wanted = refill + wanted.div_ceil(self.set.leaves());
        wanted.min(self.set.trees() - self.made).min(BURST)
    }

    fn tree_bytes(&self) -> usize {
        self.set.tree_bytes() + 16
    }

    /// The next tree, into the refill or the stock.
    fn tree(&mut self, heard: &[u8], said: &mut [u8]) {
        let (depth, leaves, backend) = (self.set.depth(), self.set.leaves(), self.context.backend);
        let cut = self.set.tree_bytes();
        let (heard, heard_sum) = heard.split_at(cut.min(heard.len()));
        let at = cut.min(said.len());
        let (said, said_sum) = said.split_at_mut(at);
        let mut nodes = vec![Block::ZERO; leaves];
        let cots = &self.paths[self.made * depth..][..depth];
        let grower = &mut self.grower;
        let place = self.end.tree(Tree { grower, cots, heard, said, leaves: &mut nodes });
        let mut columns = vec![vec![Block::ZERO; leaves]; self.base.len()];
        backend.ccr(&self.keys.leaves, &nodes, &mut columns[0]);
        nodes.zeroize();
        // The leaf that the receiver does not know has some value in its sum and in its place; both go at once.
        let sum = columns[0].iter().fold(Block::ZERO, |sum, leaf| sum ^ *leaf);
        let mask = self.base[0][self.set.secrets() + self.made];
        if E::ROLE == Role::Sender {
            said_sum.copy_from_slice(&(sum ^ mask).0);
        } else {
            let mut said = Block::ZERO;
            said.0.copy_from_slice(heard_sum);
            let noise = self.base[1][self.set.secrets() + self.made];
            let right = Block::from_u128(0u128.wrapping_sub(place as u128 & 1));
            for (nodes, add) in columns.iter_mut().zip([sum ^ mask ^ said, noise]) {
                let add = [add ^ add & right, add & right];
                backend.run(Patch { nodes, pair: place / 2, add, keep: Block::ONES });
            }
        }
        let tables: Vec<&[Block]> = self.base.iter().map(|base| &base[..self.set.secrets()]).collect();
        let mut outputs: Vec<&mut [Block]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        let first = (self.made * leaves) as u128;
        code::accumulate(backend, &self.keys.code, first, &tables, &mut outputs);
        let refills = self.next[0].len() < self.base_len();
        let to = if refills { &mut self.next } else { &mut self.stock };
        for (to, column) in to.iter_mut().zip(&mut columns) {
            to.extend_from_slice(column);
            column.zeroize();
        }
        self.made += 1;
        self.turn();
    }

    /// A new round once all trees of this one are made.
    fn turn(&mut self) {
        if self.made < self.set.trees() {
            return;
        }
        let len = self.base_len();
        self.base.iter_mut().for_each(Zeroize::zeroize);
        core::mem::swap(&mut self.base, &mut self.next);
        for base in &mut self.base {
            as_bytes_mut(&mut base[len..]).zeroize();
            base.truncate(len);
        }
        self.paths.zeroize();
        self.round += 1;
        self.made = 0;
        self.keys = Keys::new(&self.context, &self.set, self.round);
        self.grower.set_key(public_key(&self.context, &self.set, "vole tree", self.round));
    }

    /// Moves stock to the columns of `out` from `at` on; returns how far they are filled.
    fn take(&mut self, out: &mut [&mut [Gf128]], at: usize) -> usize {
        let len = (self.stock[0].len() - self.taken).min(out[0].len() - at);
        for (out, stock) in out.iter_mut().zip(&mut self.stock) {
            for (out, value) in out[at..at + len].iter_mut().zip(&mut stock[self.taken..]) {
                *out = Gf128::from(*value);
                value.zeroize();
            }
        }
        self.taken += len;
        if self.taken == self.stock[0].len() {
            self.stock.iter_mut().for_each(Vec::clear);
            self.taken = 0;
        }
        at + len
    }
}

impl<E> Drop for Vole<E> {
    fn drop(&mut self) {
        let columns = [&mut self.base, &mut self.next, &mut self.stock];
        columns.into_iter().flatten().chain([&mut self.carry, &mut self.paths]).for_each(Zeroize::zeroize);
    }
}

/// One call of `extend`: run its steps.
#[must_use = "run its steps"]
pub struct Extend<'a, E> {
    vole: &'a mut Vole<E>,
    out: Vec<&'a mut [Gf128]>,
    done: usize,
    /// Whether this party spoke in this tick, and with it did its part.
    spoke: bool,
    latch: Latch,
}

impl<'a, E: End> Extend<'a, E> {
    pub(super) fn new(vole: &'a mut Vole<E>, mut out: Vec<&'a mut [Gf128]>) -> Self {
        let lost = core::mem::replace(&mut vole.busy, true);
        if lost {
            return Self { vole, out, done: 0, spoke: false, latch: Latch::lost(COTS) };
        }
        let done = vole.take(&mut out, 0);
        let mut call = Self { vole, out, done, spoke: false, latch: Latch::new() };
        call.rest();
        call
    }

    /// The end is free for the next call when this one is done.
    fn rest(&mut self) {
        self.vole.busy = self.done < self.out[0].len();
    }

    /// The next message's name, sender and bytes.
    fn part(&self) -> Option<(&'static str, Role, usize)> {
        let (vole, wanted) = (&self.vole, self.out[0].len() - self.done);
        let cots = vole.cots_due();
        if wanted == 0 {
            None
        } else if cots > 0 {
            let len = vole.cots.chunk_len(cots);
            Some((COTS, vole.cots.speaker(), vole.cots.chunk_bytes(len)))
        } else {
            Some(("vole: trees", Role::Sender, vole.trees_due(wanted) * vole.tree_bytes()))
        }
    }

    fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let vole = &mut *self.vole;
        match self.out[0].len() - self.done {
            0 => {}
            wanted if vole.cots_due() == 0 => {
                let bytes = vole.tree_bytes();
                for tree in 0..vole.trees_due(wanted) {
                    let span = tree * bytes..(tree + 1) * bytes;
                    match E::ROLE {
                        Role::Sender => vole.tree(&[], &mut said[span]),
                        Role::Receiver => vole.tree(&heard[span], &mut []),
                    }
                }
                self.done = vole.take(&mut self.out, self.done);
            }
            _ => {
                let mut cots = vec![Block::ZERO; vole.cots.chunk_len(vole.cots_due())];
                vole.cots.chunk(heard, said, &mut cots)?;
                vole.feed(&cots);
                cots.zeroize();
            }
        }
        Ok(())
    }
}

guarded!([E: End] Extend<'_, E>);

impl<E: End> Guarded for Extend<'_, E> {
    fn exchange(&self) -> Option<Round> {
        let (name, from, bytes) = self.part()?;
        let (out, into) = if from == E::ROLE { (bytes, 0) } else { (0, bytes) };
        Some(Round { name, out, into })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        self.spoke = self.part().is_some_and(|(_, from, _)| from == E::ROLE);
        if self.spoke { self.act(&[], out) } else { Ok(()) }
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if !core::mem::take(&mut self.spoke) {
            self.act(message, &mut [])?;
        }
        self.rest();
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}
