//! One endpoint of Ferret: rounds, trees, and the stock of OTs. A round makes t trees from its
//! base. R of them become the base of the next round, spread over the chunks of this one; the
//! others are output.

use core::marker::PhantomData;

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Buffer};
use hushwire_machine::Process;
use zeroize::{Zeroize, Zeroizing};

use super::check::{LeafCheck, STEPS};
use super::nodes::Copy;
use super::params::{SPARE, Set};
use super::tree::{Grower, SpcotEnd, Tree};
use crate::{CheckStep, Context, Extension, Level, OtError, Role, Security};

/// One endpoint; [`super::Sender`] and [`super::Receiver`] are the two roles.
pub struct Ferret<S, E> {
    context: Context,
    set: Set,
    /// The process that drew the secrets of the rows below.
    process: Process,
    end: E,
    grower: Grower,
    /// The k entries of the table, then h COTs for each tree.
    base: Buffer,
    /// The base of the next round.
    next: Buffer,
    round: u64,
    /// The number of trees made in this round; it is below t except at the end of a last round.
    /// `refilled` is the number of those that belong to the next round's base.
    made: usize,
    refilled: usize,
    /// The number of OTs still to be taken, if it was announced; `is_last` is whether this round is
    /// enough for them, and therefore has no refill.
    left: Option<usize>,
    is_last: bool,
    /// The key of this round's LPN matrix.
    code: Aes128,
    stock: Stock,
    /// The backend for writing outputs.
    outputs: Backend,
    is_open: bool,
    check: Option<LeafCheck>,
    level: PhantomData<S>,
}

/// The OTs of a chunk that were not taken yet.
struct Stock {
    blocks: Buffer,
    at: usize,
}

impl Stock {
    fn len(&self) -> usize {
        self.blocks.blocks().len() - self.at
    }

    fn take(&mut self, backend: Backend, to: &mut [Block]) {
        backend.run(Copy {
            from: &self.blocks.blocks()[self.at..self.at + to.len()],
            to,
            streamed: backend.is_streamed(),
        });
        self.at += to.len();
    }
}

/// A public key that both endpoints derive; it differs for every set, round and use.
pub(crate) fn public_key(context: &Context, set: &Set, label: &str, round: u64) -> Aes128 {
    let sid = context.sid.child(set.name(), round).child(label, 0);
    let mut key = [0; 16];
    key.copy_from_slice(&sid.0[..16]);
    Aes128::on(context.backend, &key)
}

/// Zero blocks.
pub(crate) fn buffer(blocks: usize) -> Buffer {
    let mut buffer = Buffer::new();
    buffer.set_len(16 * blocks);
    buffer
}

impl<S: Security, E: SpcotEnd> Ferret<S, E> {
    /// An endpoint from the COTs of the first round, `set.base()` of them.
    pub(super) fn new(context: &Context, set: Set, process: Process, end: E, base: Buffer) -> Self {
        assert_eq!(base.blocks().len(), set.base(), "the COTs that a round starts from");
        Self {
            context: *context,
            set,
            process,
            end,
            grower: Grower::new(context.backend, set.leaves(), public_key(context, &set, "half tree", 0)),
            base,
            next: buffer(set.refill_trees() * set.leaves()),
            round: 0,
            made: 0,
            refilled: 0,
            left: None,
            is_last: false,
            code: public_key(context, &set, "code", 0),
            stock: Stock { blocks: Buffer::new(), at: 0 },
            outputs: context.backend,
            is_open: false,
            check: (S::LEVEL == Level::Malicious).then(|| LeafCheck::new(context, &set)),
            level: PhantomData,
        }
    }

    /// The parameter set.
    #[must_use]
    pub fn set(&self) -> Set {
        self.set
    }

    /// The number of trees of the refill that are made with the next `trees` trees.
    fn refill_due(&self, trees: usize) -> usize {
        if self.is_last { 0 } else { self.set.refill_share(self.made - self.refilled, trees) }
    }

    /// The number of OTs of the next chunk's trees that are kept for the check.
    fn spare_due(&self) -> usize {
        if self.check.as_ref().is_some_and(LeafCheck::wants_spare) { SPARE } else { 0 }
    }

    /// The number of trees in the next chunk if `wanted` OTs are needed and none is in stock; trees
    /// of the refill are not counted.
    fn trees_for(&self, wanted: usize) -> usize {
        let refill = if self.is_last { 0 } else { self.set.refill_trees() };
        self.set.trees_for(wanted, self.spare_due(), self.made - self.refilled + refill)
    }

    /// Makes the round's next trees in `out`; `heard` or `said` has their messages.
    pub(super) fn trees(&mut self, heard: &[u8], said: &mut [u8], out: &mut [Block]) {
        let (set, bytes) = (self.set, self.set.tree_bytes());
        // A check binds a chunk's messages before it weighs a leaf. Without a check, trees are
        // processed one by one, so that their leaves stay in the first-level cache.
        let group = if self.check.is_some() { set.chunk_trees() } else { 1 };
        for (i, out) in out.chunks_mut(group * set.leaves()).enumerate() {
            let trees = out.len() / set.leaves();
            let span = i * group * bytes..(i * group + trees) * bytes;
            let (heard, said) = match E::ROLE {
                Role::Sender => (heard, &mut said[span]),
                Role::Receiver => (&heard[span], &mut *said),
            };
            let (table, cots) = self.base.blocks().split_at(set.secrets());
            let mut places = Zeroizing::new(Vec::with_capacity(trees));
            for (j, leaves) in out.chunks_exact_mut(set.leaves()).enumerate() {
                let span = j * bytes..(j + 1) * bytes;
                let (heard, said) = match E::ROLE {
                    Role::Sender => (heard, &mut said[span]),
                    Role::Receiver => (&heard[span], &mut *said),
                };
                let cots = &cots[(self.made + j) * set.depth()..][..set.depth()];
                let grower = &mut self.grower;
                let place = self.end.tree(Tree { grower, cots, heard, said, leaves });
                places.push(j * set.leaves() + place);
            }
            if let Some(check) = &mut self.check {
                check.trees(if E::ROLE == Role::Sender { said } else { heard }, out, &places);
            }
            let first = self.made as u128 * (10 * set.leaves() / 4) as u128;
            self.context.backend.lpn_accumulate(&self.code, first, table, out);
            self.made += trees;
        }
        self.is_open = true;
    }

    /// Begins a new round after all trees of this one are made.
    fn turn(&mut self) {
        if self.made == self.set.trees() && !self.is_last {
            core::mem::swap(&mut self.base, &mut self.next);
            self.base[16 * self.set.base()..].zeroize();
            self.base.set_len(16 * self.set.base());
            // The old base is spent, and growing the buffer would leave a copy of it behind.
            self.next.zeroize();
            self.next.set_len(16 * self.set.refill_trees() * self.set.leaves());
            self.round += 1;
            (self.made, self.refilled) = (0, 0);
            self.see_end();
            self.code = public_key(&self.context, &self.set, "code", self.round);
            self.grower.set_key(public_key(&self.context, &self.set, "half tree", self.round));
        }
    }

    /// Determines, before a round's first tree, whether the round is the last one.
    fn see_end(&mut self) {
        self.is_last = self.left.is_some_and(|left| self.set.is_enough(S::LEVEL, left));
        if self.is_last {
            self.next.zeroize();
            self.next = Buffer::new();
        }
    }

    /// Keeps 128 COTs for the open segment's check.
    pub(super) fn give_spare(&mut self, spare: &[Block]) {
        if let Some(check) = &mut self.check {
            check.give_spare(spare);
        }
    }
}

impl<S: Security, E: SpcotEnd> Extension<S> for Ferret<S, E> {
    fn role(&self) -> Role {
        E::ROLE
    }

    fn speaker(&self) -> Role {
        Role::Sender
    }

    fn process(&self) -> Process {
        self.process
    }

    fn delta(&self) -> Option<Block> {
        self.end.delta()
    }

    fn chunk_len(&self, wanted: usize) -> usize {
        let have = self.stock.len();
        if have > 0 {
            return wanted.min(have);
        }
        wanted.min(self.trees_for(wanted) * self.set.leaves() - self.spare_due())
    }

    fn chunk_bytes(&self, len: usize) -> usize {
        if self.stock.len() > 0 {
            0
        } else {
            let trees = self.trees_for(len);
            (self.refill_due(trees) + trees) * self.set.tree_bytes()
        }
    }

    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        let bytes = self.chunk_bytes(blocks.len());
        let message = if E::ROLE == Role::Sender { said.len() } else { heard.len() };
        if message != bytes {
            return Err(OtError::malformed("ferret: trees", format!("{message} bytes instead of {bytes}")));
        }
        self.left = self.left.map(|left| left.checked_sub(blocks.len()).expect("no more OTs than was said"));
        self.is_open = true;
        if self.stock.len() > 0 {
            self.stock.take(self.outputs, blocks);
            return Ok(());
        }
        let (trees, spare) = (self.trees_for(blocks.len()), self.spare_due());
        let refill = self.refill_due(trees);
        let cut = refill * self.set.tree_bytes();
        let (heard_first, heard) = heard.split_at(cut.min(heard.len()));
        let cut = cut.min(said.len());
        let (said_first, said) = said.split_at_mut(cut);
        if refill > 0 {
            let mut next = core::mem::take(&mut self.next);
            let leaves = self.refilled * self.set.leaves()..(self.refilled + refill) * self.set.leaves();
            self.trees(heard_first, said_first, &mut next.blocks_mut()[leaves]);
            self.refilled += refill;
            self.next = next;
        }
        let leaves = trees * self.set.leaves();
        let yields = leaves - spare;
        assert!(blocks.len() <= yields, "as many OTs as were promised");
        // Trees that are written past the caches are made inside them first.
        if blocks.len() == leaves && !self.outputs.is_streamed() {
            self.trees(heard, said, blocks);
        } else {
            let mut stock = core::mem::take(&mut self.stock.blocks);
            stock.set_len(16 * leaves);
            self.trees(heard, said, stock.blocks_mut());
            if yields < leaves {
                self.give_spare(&stock.blocks()[yields..]);
                stock[16 * yields..].zeroize();
            }
            stock.set_len(16 * yields);
            self.stock = Stock { blocks: stock, at: 0 };
            self.stock.take(self.outputs, blocks);
        }
        self.turn();
        Ok(())
    }

    fn limit(&mut self, count: usize) {
        assert!(self.round == 0 && self.made == 0, "a limit is said before the first chunk");
        self.left = Some(count);
        self.see_end();
    }

    fn stream(&mut self, on: bool) {
        self.outputs = self.context.backend.streamed(on);
    }

    fn check_steps(&self) -> &[CheckStep] {
        if self.check.is_some() { &STEPS } else { &[] }
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn close_segment(&mut self) {
        self.is_open = false;
        if let Some(check) = &mut self.check {
            check.close();
        }
    }

    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let delta = self.end.delta();
        self.check.as_mut().expect("semi-honest modes have no check").step(step, delta, heard, said)
    }
}

impl<S, E> Drop for Ferret<S, E> {
    fn drop(&mut self) {
        for secret in [&mut self.base, &mut self.next, &mut self.stock.blocks] {
            secret.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{TINY, context, deal, ends, extend, no_edit, stream};
    use super::super::tree::SpcotReceiver;
    use super::*;
    use crate::{Malicious, SemiHonest, Sid};
    use std::collections::HashSet;

    #[test]
    fn every_round_use_set_and_session_has_a_key_of_its_own() {
        let mut seen = HashSet::new();
        for sid in [1, 2] {
            let context = Context { sid: Sid([sid; 32]), backend: Backend::best() };
            for set in [super::super::B10, super::super::B11] {
                for label in ["half tree", "code"] {
                    for round in 0..3 {
                        let key = *public_key(&context, &set, label, round).round_keys();
                        assert!(seen.insert(key), "{label} of round {round} of {}", set.name());
                    }
                }
            }
        }
    }

    #[test]
    fn rounds_go_on_with_their_own_keys() {
        let mut ends = ends::<SemiHonest>(Backend::best(), TINY);
        let round = (TINY.trees() - TINY.refill_trees()) * TINY.leaves();
        let mut seen = HashSet::new();
        for number in 0..3 {
            for label in ["code", "half tree"] {
                let wanted = *public_key(&context(Backend::best()), &TINY, label, number).round_keys();
                for key in [[&ends.0.code, ends.0.grower.key()], [&ends.1.code, ends.1.grower.key()]] {
                    assert_eq!(*key[usize::from(label != "code")].round_keys(), wanted, "{label} {number}");
                }
                assert!(seen.insert(wanted));
            }
            extend(&mut ends, round, 16, no_edit).expect("an honest run");
        }
    }

    /// A receiver that records the COTs of its trees.
    struct Noting(SpcotReceiver, Vec<Block>);

    impl SpcotEnd for Noting {
        const ROLE: Role = Role::Receiver;
        fn tree(&mut self, tree: Tree<'_>) -> usize {
            self.1.extend_from_slice(tree.cots);
            self.0.tree(tree)
        }
        fn delta(&self) -> Option<Block> {
            None
        }
    }

    #[test]
    fn every_tree_has_cots_of_its_own() {
        let (mut s, _) = ends::<SemiHonest>(Backend::best(), TINY);
        let mut base = buffer(TINY.base());
        deal(&mut stream(2), Role::Receiver, base.blocks_mut());
        let noting = Noting(SpcotReceiver, vec![]);
        let (context, process) = (context(Backend::best()), Process::here());
        let mut r = Ferret::<SemiHonest, _>::new(&context, TINY, process, noting, base);
        while s.round < 2 {
            let len = s.chunk_len(usize::MAX);
            let mut message = vec![0; s.chunk_bytes(len)];
            let mut blocks = vec![Block::ZERO; len];
            s.chunk(&[], &mut message, &mut blocks).expect("an honest run");
            r.chunk(&message, &mut [], &mut blocks).expect("an honest run");
        }
        // If two trees had the same COTs, both would hide the same place, and the sum of their
        // messages would reveal information about both.
        let cots = &r.end.1;
        assert_eq!(cots.len(), 2 * TINY.trees() * TINY.depth());
        assert_eq!(cots.iter().collect::<HashSet<_>>().len(), cots.len());
    }

    /// COTs that hide a check's places are spent: any other use of them would reveal the check's
    /// choices.
    #[test]
    fn spare_cots_come_out_nowhere_else() {
        let (mut s, mut r) = ends::<Malicious>(Backend::best(), TINY);
        let (mut spent, mut out) = (HashSet::new(), HashSet::new());
        // Two chunks for each segment, and enough segments to end a round.
        for segment in 0..6 {
            for _ in 0..2 {
                let len = s.chunk_len(usize::MAX);
                let mut message = vec![0; s.chunk_bytes(len)];
                let (mut q, mut t) = (vec![Block::ZERO; len], vec![Block::ZERO; len]);
                s.chunk(&[], &mut message, &mut q).expect("an honest run");
                r.chunk(&message, &mut [], &mut t).expect("an honest run");
                out.extend(q.into_iter().chain(t));
            }
            for end in [s.check.as_ref(), r.check.as_ref()] {
                let spare = end.expect("there is a check").spare();
                assert_eq!(spare.len(), SPARE, "segment {segment}");
                // The endpoints' COTs are equal if the choice is 0, and no two segments share any.
                spent.extend(spare.iter().map(|block| (*block, segment)));
            }
            s.close_segment();
            r.close_segment();
        }
        assert!(s.round > 0);
        assert!(spent.iter().all(|(block, _)| !out.contains(block)));
        let blocks: HashSet<_> = spent.iter().map(|(block, _)| block).collect();
        assert_eq!(blocks.len(), spent.len(), "no COT hides two segments");
    }

    #[test]
    fn a_spent_base_is_wiped() {
        let mut ends = ends::<SemiHonest>(Backend::best(), TINY);
        let round = (TINY.trees() - TINY.refill_trees()) * TINY.leaves();
        for number in 1..3 {
            extend(&mut ends, round, 16, no_edit).expect("an honest run");
            let (s, r) = &ends;
            assert_eq!([s.round, r.round], [number; 2]);
            for next in [&s.next, &r.next] {
                assert!(
                    next.len() == 16 * TINY.refill_trees() * TINY.leaves() && next.iter().all(|b| *b == 0)
                );
            }
            assert!(s.base.iter().any(|b| *b != 0) && r.base.iter().any(|b| *b != 0));
        }
    }
}
