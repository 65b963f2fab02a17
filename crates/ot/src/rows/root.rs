//! The result of a set-up: keys from which any number of lanes extend. Each lane has its own
//! counters and transcript, and can be forked once.

use core::marker::PhantomData;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;

use crate::{CheckStep, Context, Extension, Level, Role, Security};

use super::{
    RowKind,
    kind::Proof,
    receiver::{self, Receiver},
    sender::{self, Sender},
};

/// The part that both roots share.
struct Root {
    kind: RowKind,
    context: Context,
    /// The seed that binds the messages of the set-up.
    setup: Seed,
    /// The lanes that were forked: a repeated counter would give the same pads twice.
    lanes: Mutex<HashSet<u16>>,
}

impl Root {
    /// The context of a lane that was not forked before.
    fn lane(&self, lane: u16) -> Context {
        let fresh = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).insert(lane);
        assert!(fresh, "lane {lane} is forked once");
        self.context.child("rows lane", u64::from(lane))
    }

    fn steps(&self, level: Level) -> Vec<CheckStep> {
        let [challenge, answer] = self.kind.cost(level).check_bytes;
        let step = |name, from, bytes| CheckStep { name, from, bytes };
        match self.kind.proof(level) {
            Proof::None => Vec::new(),
            Proof::Rows => vec![step("row check", Role::Receiver, answer)],
            Proof::Pairs => vec![
                step("challenge of row pairs", Role::Sender, challenge),
                step("hashes of row pairs", Role::Receiver, answer),
            ],
        }
    }
}

/// The sender's keys after a set-up.
pub struct RootSender<S> {
    root: Root,
    keys: Arc<sender::Keys>,
    seed: Seed,
    level: PhantomData<S>,
}

/// The receiver's keys after a set-up.
pub struct RootReceiver<S> {
    root: Root,
    keys: Arc<receiver::Keys>,
    level: PhantomData<S>,
}

impl<S: Security> RootSender<S> {
    pub(super) fn new(context: Context, setup: Seed, keys: sender::Keys, seed: Seed) -> Self {
        let root = Root { kind: keys.kind, context, setup, lanes: Mutex::default() };
        RootSender { root, keys: Arc::new(keys), seed, level: PhantomData }
    }

    /// The correlation Δ of all lanes, secret; bit 0 is 1.
    #[must_use]
    pub fn delta(&self) -> Block {
        self.keys.delta.block(Clmul::best())
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> &sender::Keys {
        &self.keys
    }

    /// An extension with its own counters and transcript; Δ is that of all lanes.
    ///
    /// # Panics
    /// If `lane` was forked before.
    #[must_use]
    pub fn fork(&self, lane: u16) -> Box<dyn Extension<S>> {
        let context = self.root.lane(lane);
        let coins = Prg::new(
            context.backend,
            &self.seed.derive("rows coins of a lane", &lane.to_le_bytes()),
            "rows coins",
        );
        let (proof, steps) = (self.root.kind.proof(S::LEVEL), self.root.steps(S::LEVEL));
        let keys = Arc::clone(&self.keys);
        Box::new(Sender::new(keys, context, proof, steps, lane, self.root.setup.expose(), coins))
    }
}

#[cfg(test)]
impl<S> RootSender<S> {
    pub(super) fn setup(&self) -> &[u8; 16] {
        self.root.setup.expose()
    }
}

#[cfg(test)]
impl<S> RootReceiver<S> {
    pub(super) fn setup(&self) -> &[u8; 16] {
        self.root.setup.expose()
    }
}

impl<S: Security> RootReceiver<S> {
    pub(super) fn new(context: Context, setup: Seed, keys: receiver::Keys) -> Self {
        let root = Root { kind: keys.kind, context, setup, lanes: Mutex::default() };
        RootReceiver { root, keys: Arc::new(keys), level: PhantomData }
    }

    /// An extension with its own counters and transcript.
    ///
    /// # Panics
    /// If `lane` was forked before.
    #[must_use]
    pub fn fork(&self, lane: u16) -> Box<dyn Extension<S>> {
        Box::new(self.receiver(lane))
    }

    pub(super) fn receiver(&self, lane: u16) -> Receiver {
        let context = self.root.lane(lane);
        let (proof, steps) = (self.root.kind.proof(S::LEVEL), self.root.steps(S::LEVEL));
        let keys = Arc::clone(&self.keys);
        Receiver::new(keys, context, proof, steps, lane, self.root.setup.expose())
    }
}
