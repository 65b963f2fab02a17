//! Set-up: row-based COTs make one round of the small set, which makes the base of the wanted set.

use hushwire_block::Buffer;
use hushwire_prg::Seed;
use zeroize::Zeroize;

use super::end::{Ferret, buffer};
use super::params::{SPARE, Set};
use super::tree::{End, SpcotReceiver, SpcotSender};
use crate::machine::{Guarded, Latch, guarded};
use crate::pipeline::SEGMENT;
use crate::{Context, Extension, Level, Machine, OtError, Role, Round, Security};

/// Trees of one message of the small set: long enough that messages cost little, short enough that both parties work at
/// once. AGREEMENT.
const BURST: usize = 64;

/// The next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Chunks of rows; so many since the segment began.
    Rows(usize),
    /// A step of the rows' check.
    RowsCheck(usize),
    /// Trees of the small set.
    Trees,
    /// A step of their check.
    TreesCheck(usize),
    /// No step is left.
    Done,
}

/// The set-up of one end; see [`super::SenderBoot`] and [`super::ReceiverBoot`].
pub struct Boot<S: Security, E> {
    context: Context,
    set: Set,
    phase: Phase,
    rows: Box<dyn Extension<S>>,
    /// Row-based COTs, of which `have` are there; then the trees of the small set, if there is one.
    base: Buffer,
    have: usize,
    small: Option<Ferret<S, E>>,
    /// For the small set, and for the wanted one.
    ends: [Option<E>; 2],
    /// Whether this party spoke in this tick, and with it did its part.
    spoke: bool,
    latch: Latch,
}

impl<S: Security> Boot<S, SpcotSender> {
    /// The sender's set-up for `set`, from the sender's end of a row-based extension, whose Δ it keeps. `seed` is this
    /// party's secret randomness.
    ///
    /// # Panics
    /// If `rows` is not a sender.
    #[must_use]
    pub fn new(context: &Context, set: Set, rows: Box<dyn Extension<S>>, seed: &Seed) -> Self {
        let delta = rows.delta().expect("a sender stands on a sender");
        let end = |label| Some(SpcotSender::new(context, delta, &seed.derive(label, &[])));
        let ends = [end("ferret bootstrap"), end("ferret")];
        Boot::begin(context, set, rows, ends)
    }
}

impl<S: Security> Boot<S, SpcotReceiver> {
    /// The receiver's set-up for `set`, from the receiver's end of a row-based extension; it needs no randomness of its
    /// own, for its choices come from there.
    ///
    /// # Panics
    /// If `rows` is not a receiver.
    #[must_use]
    pub fn new(context: &Context, set: Set, rows: Box<dyn Extension<S>>) -> Self {
        Boot::begin(context, set, rows, [Some(SpcotReceiver), Some(SpcotReceiver)])
    }
}

impl<S: Security, E: End> Boot<S, E> {
    fn begin(context: &Context, set: Set, rows: Box<dyn Extension<S>>, ends: [Option<E>; 2]) -> Self {
        assert_eq!(rows.role(), E::ROLE, "an end stands on the same end");
        let base = buffer(set.rows());
        Self {
            context: *context,
            set,
            phase: Phase::Rows(0),
            rows,
            base,
            have: 0,
            small: None,
            ends,
            spoke: false,
            latch: Latch::new(),
        }
    }

    /// The extension, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    #[must_use]
    pub fn finish(mut self) -> Ferret<S, E> {
        assert!(self.round(0).is_none(), "finish comes after the last step");
        let end = self.ends[1].take().expect("taken once");
        Ferret::new(&self.context, self.set, end, core::mem::take(&mut self.base))
    }

    /// Row-based COTs of the next chunk.
    fn chunk(&self) -> usize {
        self.rows.chunk_len(self.set.rows() - self.have)
    }

    /// Trees that the small set makes for the wanted one, and how many come next.
    fn burst(&self, small: &Set) -> (usize, usize) {
        let trees = self.set.bootstrap_trees::<S>(small);
        (trees, BURST.min(trees - self.have))
    }

    /// This step's name, its sender and its bytes.
    fn step(&self) -> Option<(&'static str, Role, usize)> {
        let small = self.small.as_ref();
        match self.phase {
            Phase::Rows(_) => {
                Some(("ferret set-up: rows", self.rows.speaker(), self.rows.chunk_bytes(self.chunk())))
            }
            Phase::RowsCheck(i) => self.rows.check_steps().get(i).map(|s| (s.name, s.from, s.bytes)),
            Phase::Trees => {
                let set = small?.set();
                Some(("ferret set-up: trees", Role::Sender, self.burst(&set).1 * set.tree_bytes()))
            }
            Phase::TreesCheck(i) => small?.check_steps().get(i).map(|s| (s.name, s.from, s.bytes)),
            Phase::Done => None,
        }
    }

    /// Does this step, with its message on one of the two sides.
    fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        match (self.phase, &mut self.small) {
            (Phase::Rows(_), _) => {
                let len = self.chunk();
                let blocks = &mut self.base.blocks_mut()[self.have..self.have + len];
                self.have += len;
                self.rows.chunk(heard, said, blocks)
            }
            (Phase::RowsCheck(i), _) => self.rows.check(i, heard, said),
            (Phase::Trees, Some(small)) => {
                let set = small.set();
                let trees = if E::ROLE == Role::Sender { said.len() } else { heard.len() } / set.tree_bytes();
                let blocks = &mut self.base.blocks_mut()[self.have * set.leaves()..][..trees * set.leaves()];
                self.have += trees;
                small.trees(heard, said, blocks);
                Ok(())
            }
            (Phase::TreesCheck(i), Some(small)) => small.check(i, heard, said),
            (phase, _) => unreachable!("{phase:?} has no step"),
        }
    }

    /// After a step.
    fn next(&mut self) {
        self.phase = match self.phase {
            Phase::Rows(chunks) if chunks + 1 < SEGMENT && self.have < self.set.rows() => {
                Phase::Rows(chunks + 1)
            }
            Phase::Rows(_) => {
                self.rows.close_segment();
                self.rows_check(0)
            }
            Phase::RowsCheck(i) => self.rows_check(i + 1),
            Phase::Trees => self.trees(),
            Phase::TreesCheck(i) => self.trees_check(i + 1),
            Phase::Done => Phase::Done,
        };
    }

    fn rows_check(&mut self, step: usize) -> Phase {
        if step < self.rows.check_steps().len() {
            return Phase::RowsCheck(step);
        }
        if self.have < self.set.rows() {
            return Phase::Rows(0);
        }
        let Some(set) = self.set.bootstrap() else { return Phase::Done };
        let base = buffer(self.set.bootstrap_trees::<S>(&set) * set.leaves());
        let first = core::mem::replace(&mut self.base, base);
        let end = self.ends[0].take().expect("taken once");
        self.small = Some(Ferret::new(&self.context.child("ferret bootstrap", 0), set, end, first));
        self.have = 0;
        Phase::Trees
    }

    fn trees(&mut self) -> Phase {
        let small = self.small.as_mut().expect("the phase of trees has a small set");
        if self.have < self.set.bootstrap_trees::<S>(&small.set()) {
            return Phase::Trees;
        }
        if S::LEVEL == Level::Malicious {
            let blocks = self.base.blocks();
            small.give_spare(&blocks[blocks.len() - SPARE..]);
        }
        small.close_segment();
        self.trees_check(0)
    }

    fn trees_check(&mut self, step: usize) -> Phase {
        let small = self.small.as_ref().expect("the phase of trees has a small set");
        if step < small.check_steps().len() {
            return Phase::TreesCheck(step);
        }
        self.small = None;
        self.base[16 * self.set.base()..].zeroize();
        self.base.set_len(16 * self.set.base());
        Phase::Done
    }
}

guarded!([S: Security, E: End] Boot<S, E>);

impl<S: Security, E: End> Guarded for Boot<S, E> {
    fn exchange(&self) -> Option<Round> {
        let (name, from, bytes) = self.step()?;
        let (out, into) = if from == E::ROLE { (bytes, 0) } else { (0, bytes) };
        Some(Round { name, out, into })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        self.spoke = self.step().is_some_and(|(_, from, _)| from == E::ROLE);
        if self.spoke { self.act(&[], out) } else { Ok(()) }
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if !core::mem::take(&mut self.spoke) {
            self.act(message, &mut [])?;
        }
        self.next();
        // OTs in stock need no message.
        while matches!(self.phase, Phase::Rows(_)) && self.rows.chunk_bytes(self.chunk()) == 0 {
            self.act(&[], &mut [])?;
            self.next();
        }
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

impl<S: Security, E> Drop for Boot<S, E> {
    fn drop(&mut self) {
        self.base.zeroize();
    }
}
