//! The set-up: base OTs in the other direction, then a message that makes trees of their keys.
//!
//! ```text
//! receiver → sender   corrections of every tree's levels 2 to k
//!                     malicious: the sum of every tree's check blocks, one digest of all of them
//! ```

use core::{marker::PhantomData, sync::atomic::AtomicBool};

use hushwire_aes::Aes128;
use hushwire_block::{Block, as_bytes, from_bytes, from_bytes_mut};
use hushwire_machine::Process;
use hushwire_prg::Seed;

use crate::{
    Context, Exchanged, Level, Machine, OtError, Role, Round, Security, Transcript,
    base::{BaseProtocol, BaseReceiver, BaseSender},
    machine::{Guarded, Latch, guarded},
};

use super::{
    Kind, RootReceiver, RootSender,
    base::{self, AnyReceiver, AnySender},
    delta::Delta,
    receiver, sender,
    tree::{Digest, Secret, ggm_keys, grow, regrow, split},
};

/// The stage of a set-up.
enum Stage<B: ?Sized, T, R> {
    Base(Box<B>),
    Trees(T),
    Done(R),
    /// On the way from one to the next; a step that fails here leaves nothing to try again, which would be another
    /// guess of Δ.
    Gone,
}

/// The name of the message that makes the trees.
const TREES: &str = "GGM trees";

/// The sender's set-up at level `S`: receiver of the base OTs, whose choices are Δ.
///
/// Base OTs that are too weak for the level do not compile:
/// ```
/// # use hushwire_ot::{SemiHonest, base::NaorPinkas, rows::SetupSender};
/// let new = SetupSender::<SemiHonest>::new::<NaorPinkas>;
/// ```
/// ```compile_fail,E0271
/// # use hushwire_ot::{Malicious, base::NaorPinkas, rows::SetupSender};
/// let new = SetupSender::<Malicious>::new::<NaorPinkas>;
/// ```
pub struct SetupSender<S: Security> {
    kind: Kind,
    context: Context,
    transcript: Transcript,
    seed: Seed,
    delta: Option<Delta>,
    stage: Stage<dyn AnyReceiver<S::Base>, BaseReceiver<S::Base>, sender::Keys>,
    latch: Latch,
}

/// The receiver's set-up at level `S`: sender of the base OTs.
pub struct SetupReceiver<S: Security> {
    kind: Kind,
    context: Context,
    transcript: Transcript,
    own: Aes128,
    stage: Stage<dyn AnySender<S::Base>, Made, receiver::Keys>,
    latch: Latch,
    level: PhantomData<S>,
}

/// The receiver's trees, and the message that says them.
struct Made {
    message: Vec<u8>,
    leaves: Vec<Aes128>,
}

/// The seeds of a tree's leaves at `level`, and the blocks that are checked.
fn finish_leaves(context: &Context, level: Level, nodes: Secret) -> (Secret, Vec<[Block; 2]>) {
    match level {
        Level::SemiHonest => (nodes, Vec::new()),
        Level::Malicious => split(context.backend, &nodes),
    }
}

/// Adds a tree's leaves as keys.
fn expand(context: &Context, leaves: &Secret, keys: &mut Vec<Aes128>) {
    keys.extend(leaves.iter().map(|leaf| Aes128::on(context.backend, &leaf.0)));
}

impl<S: Security> SetupSender<S> {
    /// `context` is agreed and of no other set-up; `seed` is this party's secret randomness; what
    /// is drawn from it is another in every session, so that no choices, Δ or challenge ever come twice.
    ///
    /// # Errors
    /// [`OtError::Unsupported`] if `kind` does not exist at this level.
    pub fn new<B: BaseProtocol>(context: &Context, kind: Kind, seed: &Seed) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        let own = seed.derive("rows sender", &context.sid.0).derive("rows delta", &[]);
        Self::on::<B>(context, kind, seed, Delta::random(context.backend, kind, &own))
    }

    /// The same for a Δ of the caller's, of which bit 0 is taken as 1: a party that talks to several peers has one towards all
    /// of them. What one peer guesses of it, and is not caught at, holds towards all.
    ///
    /// # Errors
    /// As [`SetupSender::new`], and for ALSZ, where Δ is a hash of more bits.
    pub fn with_delta<B: BaseProtocol>(
        context: &Context,
        kind: Kind,
        seed: &Seed,
        delta: Block,
    ) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        Self::on::<B>(context, kind, seed, Delta::given(kind, delta)?)
    }

    fn on<B: BaseProtocol>(context: &Context, kind: Kind, seed: &Seed, delta: Delta) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        kind.supports(S::LEVEL)?;
        let seed = seed.derive("rows sender", &context.sid.0);
        let (below, secret) = (context.child("rows base", 0), seed.derive("rows base", &[]));
        let mut setup = SetupSender {
            kind,
            context: *context,
            transcript: Transcript::new(&context.sid, kind.domain()),
            seed: seed.derive("rows coins", &[]),
            stage: Stage::Base(base::receiver::<S::Base, B>(&below, delta.choices(), &secret)),
            delta: Some(delta),
            latch: Latch::new(),
        };
        setup.advance();
        Ok(setup)
    }

    /// Goes on to the trees when the base OTs are done.
    fn advance(&mut self) {
        self.stage = match core::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Base(base) if base.round(0).is_none() => {
                let base = base.finish();
                if self.kind.bits() > 1 {
                    Stage::Trees(base)
                } else {
                    let mut leaves = Vec::with_capacity(2 * base.keys().len());
                    for key in base.keys() {
                        leaves.extend(
                            [Block::ZERO, *key].map(|leaf| Aes128::on(self.context.backend, &leaf.0)),
                        );
                    }
                    self.done(leaves)
                }
            }
            stage => stage,
        };
    }

    fn done<B: ?Sized, T>(&mut self, leaves: Vec<Aes128>) -> Stage<B, T, sender::Keys> {
        let delta = self.delta.take().expect("Δ goes to the keys once");
        let (process, failed) = (Process::here(), AtomicBool::new(false));
        Stage::Done(sender::Keys { kind: self.kind, process, leaves, delta, failed })
    }

    /// Rebuilds the trees and checks them.
    fn trees(&self, base: &BaseReceiver<S::Base>, message: &[u8]) -> Result<Vec<Aes128>, OtError> {
        let (kind, delta) = (self.kind, self.delta.as_ref().expect("Δ is here until the end"));
        let keys = ggm_keys(&self.context);
        let (corrections, checks) = message.split_at(16 * kind.corrections() * kind.trees());
        let (corrections, mut totals) = (from_bytes(corrections), from_bytes(checks).chunks_exact(2));
        let mut digest = Digest::new(&self.context.sid, kind);
        let mut leaves = Vec::with_capacity(kind.trees() * kind.leaves());
        let trees = base.keys().chunks_exact(kind.bits()).zip(corrections.chunks_exact(kind.corrections()));
        for (i, (base, corrections)) in trees.enumerate() {
            let path = delta.path(i);
            let nodes = regrow(self.context.backend, &keys, &path, base, corrections);
            let (real, mut checks) = finish_leaves(&self.context, S::LEVEL, nodes);
            expand(&self.context, &real, &mut leaves);
            if S::LEVEL == Level::Malicious {
                let total = totals.next().expect("a sum for every tree");
                digest.add_punctured(&path, &mut checks, [total[0], total[1]]);
            }
        }
        if S::LEVEL == Level::Malicious {
            digest.verify(&message[message.len() - 32..])?;
        }
        Ok(leaves)
    }

    /// The keys, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> RootSender<S> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        let Stage::Done(keys) = self.stage else { panic!("finish comes after the last tick") };
        RootSender::new(self.context, self.transcript.challenge("set-up"), keys, self.seed)
    }
}

impl<S: Security> SetupReceiver<S> {
    /// `context` is agreed and of no other set-up; `seed` is this party's secret randomness; what
    /// is drawn from it is another in every session, so that no choices, Δ or challenge ever come twice.
    ///
    /// # Errors
    /// [`OtError::Unsupported`] if `kind` does not exist at this level.
    pub fn new<B: BaseProtocol>(context: &Context, kind: Kind, seed: &Seed) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        kind.supports(S::LEVEL)?;
        let seed = seed.derive("rows receiver", &context.sid.0);
        let (below, secret) = (context.child("rows base", 0), seed.derive("rows base", &[]));
        let mut setup = SetupReceiver {
            kind,
            context: *context,
            transcript: Transcript::new(&context.sid, kind.domain()),
            own: Aes128::on(context.backend, seed.derive("rows own row", &[]).expose()),
            stage: Stage::Base(base::sender::<S::Base, B>(&below, kind.base_ots(), &secret)),
            latch: Latch::new(),
            level: PhantomData,
        };
        setup.advance();
        Ok(setup)
    }

    /// Goes on to the trees when the base OTs are done.
    fn advance(&mut self) {
        self.stage = match core::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Base(base) if base.round(0).is_none() => {
                let made = self.trees(&base.finish());
                if self.kind.bits() > 1 { Stage::Trees(made) } else { self.done(made.leaves) }
            }
            stage => stage,
        };
    }

    fn done<B: ?Sized, T>(&self, leaves: Vec<Aes128>) -> Stage<B, T, receiver::Keys> {
        Stage::Done(receiver::Keys {
            kind: self.kind,
            process: Process::here(),
            leaves,
            own: self.own.clone(),
        })
    }

    /// Makes all trees.
    fn trees(&self, base: &BaseSender<S::Base>) -> Made {
        let kind = self.kind;
        let keys = ggm_keys(&self.context);
        let mut leaves = Vec::with_capacity(kind.trees() * kind.leaves());
        let mut message = vec![0; kind.tree_bytes(S::LEVEL)];
        if kind.bits() == 1 {
            for key in base.keys().as_flattened() {
                leaves.push(Aes128::on(self.context.backend, &key.0));
            }
            return Made { message, leaves };
        }
        let (corrections, checks) = message.split_at_mut(16 * kind.corrections() * kind.trees());
        let corrections = from_bytes_mut(corrections).chunks_exact_mut(kind.corrections());
        let mut digest = Digest::new(&self.context.sid, kind);
        for (i, (base, corrections)) in base.keys().chunks_exact(kind.bits()).zip(corrections).enumerate() {
            let nodes = grow(self.context.backend, &keys, base, corrections);
            let (real, blocks) = finish_leaves(&self.context, S::LEVEL, nodes);
            expand(&self.context, &real, &mut leaves);
            if S::LEVEL == Level::Malicious {
                checks[32 * i..32 * i + 32].copy_from_slice(as_bytes(&digest.add(&blocks)));
            }
        }
        if S::LEVEL == Level::Malicious {
            checks[32 * kind.trees()..].copy_from_slice(&digest.finish());
        }
        Made { message, leaves }
    }

    /// The keys, when there is no tick any more.
    ///
    /// # Panics
    /// If ticks are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> RootReceiver<S> {
        assert!(self.round(0).is_none(), "finish comes after the last tick");
        let Stage::Done(keys) = self.stage else { panic!("finish comes after the last tick") };
        RootReceiver::new(self.context, self.transcript.challenge("set-up"), keys)
    }
}

guarded!([S: Security] SetupSender<S>);

impl<S: Security> Guarded for SetupSender<S> {
    fn exchange(&self) -> Option<Round> {
        match &self.stage {
            Stage::Base(base) => base.round(0),
            Stage::Trees(_) => Some(Round { name: TREES, out: 0, into: self.kind.tree_bytes(S::LEVEL) }),
            Stage::Done(_) | Stage::Gone => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        match &mut self.stage {
            Stage::Base(base) => base.write(0, out)?,
            Stage::Trees(_) | Stage::Done(_) | Stage::Gone => {}
        }
        self.transcript.absorb(Role::Sender, out);
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        self.transcript.absorb(Role::Receiver, message);
        match core::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Base(mut base) => {
                base.read(&[Exchanged::heard(message)])?;
                self.stage = Stage::Base(base);
                self.advance();
            }
            Stage::Trees(base) => {
                let leaves = self.trees(&base, message)?;
                self.stage = self.done(leaves);
            }
            stage => self.stage = stage,
        }
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

guarded!([S: Security] SetupReceiver<S>);

impl<S: Security> Guarded for SetupReceiver<S> {
    fn exchange(&self) -> Option<Round> {
        match &self.stage {
            Stage::Base(base) => base.round(0),
            Stage::Trees(made) => Some(Round { name: TREES, out: made.message.len(), into: 0 }),
            Stage::Done(_) | Stage::Gone => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        match &mut self.stage {
            Stage::Base(base) => base.write(0, out)?,
            Stage::Trees(made) => out.copy_from_slice(&made.message),
            Stage::Done(_) | Stage::Gone => {}
        }
        self.transcript.absorb(Role::Receiver, out);
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        self.transcript.absorb(Role::Sender, message);
        match core::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Base(mut base) => {
                base.read(&[Exchanged::heard(message)])?;
                self.stage = Stage::Base(base);
                self.advance();
            }
            Stage::Trees(made) => self.stage = self.done(made.leaves),
            stage => self.stage = stage,
        }
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}
