//! The set-up: base OTs in the other direction, then a message that makes trees from their keys.
//!
//! ```text
//! receiver → sender   corrections of every tree's levels 2 to k
//!                     malicious: the sum of every tree's check blocks, one digest of all of them
//! ```

use core::sync::atomic::AtomicBool;

use hushwire_aes::Aes128;
use hushwire_block::{Block, Buffer, as_bytes, from_bytes, from_bytes_mut};
use hushwire_machine::{Process, drive::Line, passed_on};
use hushwire_prg::Seed;

use crate::{
    Context, Exchanged, Level, Machine, OtError, Role, Round, Security, Transcript,
    base::{BaseProtocol, BaseReceiver, BaseSender},
};

use super::{
    RootReceiver, RootSender, RowKind, base,
    delta::Delta,
    receiver, sender,
    tree::{Digest, Secret, ggm_keys, grow, regrow, split},
};

/// The name of the message that makes the trees.
const TREES: &str = "GGM trees";

/// The sender's set-up at level `S`. The sender is the receiver of the base OTs, and its choices
/// are Δ.
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
pub struct SetupSender<S: Security>(Line<'static, RootSender<S>, OtError>);

/// The receiver's set-up at level `S`. The receiver is the sender of the base OTs.
pub struct SetupReceiver<S: Security>(Line<'static, RootReceiver<S>, OtError>);

passed_on!([S: Security] SetupSender<S>, OtError, self => self.0);
passed_on!([S: Security] SetupReceiver<S>, OtError, self => self.0);

/// A machine whose messages are added to a transcript.
struct Noted<'a, M: ?Sized>(&'a mut M, Role, &'a mut Transcript);

impl<M: Machine<Error = OtError> + ?Sized> Machine for Noted<'_, M> {
    type Error = OtError;
    fn round(&self, slot: usize) -> Option<Round> {
        self.0.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), OtError> {
        self.0.write(slot, out)?;
        self.2.absorb(self.1, out);
        Ok(())
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), OtError> {
        messages.iter().for_each(|message| self.2.absorb(self.1.other(), message.heard));
        self.0.read(messages)
    }
}

/// The receiver's trees, and the message that describes them.
struct SetupTrees {
    message: Vec<u8>,
    leaves: Vec<Aes128>,
}

/// The seeds of a tree's leaves at `level`, and the blocks for the check.
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
    /// `context` is agreed, and no other set-up uses it. `seed` is this party's secret randomness.
    /// The values drawn from it differ in every session, so that choices, Δ and challenges never
    /// repeat.
    ///
    /// # Errors
    /// [`OtError::Unsupported`] if `kind` does not exist at this level.
    pub fn new<B: BaseProtocol>(context: &Context, kind: RowKind, seed: &Seed) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        let own = seed.derive("rows sender", &context.sid.0).derive("rows delta", &[]);
        Self::on::<B>(context, kind, seed, Delta::random(context.backend, kind, &own))
    }

    /// The same set-up with the caller's Δ, whose bit 0 is taken as 1, for a party that uses one Δ
    /// towards several peers. A bit that one peer guesses without being caught is a bit of the Δ
    /// towards all peers.
    ///
    /// # Errors
    /// The same as for [`SetupSender::new`]; also for ALSZ, where Δ is a hash of more bits.
    pub fn with_delta<B: BaseProtocol>(
        context: &Context,
        kind: RowKind,
        seed: &Seed,
        delta: Block,
    ) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        Self::on::<B>(context, kind, seed, Delta::given(kind, delta)?)
    }

    fn on<B: BaseProtocol>(
        context: &Context,
        kind: RowKind,
        seed: &Seed,
        delta: Delta,
    ) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        kind.supports(S::LEVEL)?;
        let (seed, context) = (seed.derive("rows sender", &context.sid.0), *context);
        let (below, secret) = (context.child("rows base", 0), seed.derive("rows base", &[]));
        let mut base = base::receiver::<S::Base, B>(&below, delta.choices(), &secret);
        let coins = seed.derive("rows coins", &[]);
        Ok(SetupSender(Line::new(move |talk| async move {
            let mut transcript = Transcript::new(&context.sid, kind.domain());
            talk.run(&mut Noted(&mut *base, Role::Sender, &mut transcript)).await?;
            let base = base.finish();
            let leaves = if kind.bits() > 1 {
                let message = talk.exchange_in(TREES, Buffer::new(), kind.tree_bytes(S::LEVEL)).await;
                transcript.absorb(Role::Sender, &[]);
                transcript.absorb(Role::Receiver, &message);
                rebuilt::<S>(&context, kind, &delta, &base, &message)?
            } else {
                let mut leaves = Vec::with_capacity(2 * base.keys().len());
                let both = base.keys().iter().flat_map(|key| [Block::ZERO, *key]);
                leaves.extend(both.map(|leaf| Aes128::on(context.backend, &leaf.0)));
                leaves
            };
            let (process, failed) = (Process::here(), AtomicBool::new(false));
            let keys = sender::Keys { kind, process, leaves, delta, failed };
            Ok(RootSender::new(context, transcript.challenge("set-up"), keys, coins))
        })))
    }

    /// The keys, after the last round.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> RootSender<S> {
        self.0.finish()
    }
}

/// Rebuilds the trees from the results of the base OTs and the message, and checks them.
fn rebuilt<S: Security>(
    context: &Context,
    kind: RowKind,
    delta: &Delta,
    base: &BaseReceiver<S::Base>,
    message: &[u8],
) -> Result<Vec<Aes128>, OtError> {
    let keys = ggm_keys(context);
    let (corrections, checks) = message.split_at(16 * kind.corrections() * kind.trees());
    let (corrections, mut totals) = (from_bytes(corrections), from_bytes(checks).chunks_exact(2));
    let mut digest = Digest::new(&context.sid, kind);
    let mut leaves = Vec::with_capacity(kind.trees() * kind.leaves());
    let trees = base.keys().chunks_exact(kind.bits()).zip(corrections.chunks_exact(kind.corrections()));
    for (i, (base, corrections)) in trees.enumerate() {
        let path = delta.path(i);
        let nodes = regrow(context.backend, &keys, &path, base, corrections);
        let (real, mut checks) = finish_leaves(context, S::LEVEL, nodes);
        expand(context, &real, &mut leaves);
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

impl<S: Security> SetupReceiver<S> {
    /// `context` is agreed, and no other set-up uses it. `seed` is this party's secret randomness.
    /// The values drawn from it differ in every session, so that choices, Δ and challenges never
    /// repeat.
    ///
    /// # Errors
    /// [`OtError::Unsupported`] if `kind` does not exist at this level.
    pub fn new<B: BaseProtocol>(context: &Context, kind: RowKind, seed: &Seed) -> Result<Self, OtError>
    where
        B::Level: crate::AtLeast<S::Base>,
    {
        kind.supports(S::LEVEL)?;
        let (seed, context) = (seed.derive("rows receiver", &context.sid.0), *context);
        let (below, secret) = (context.child("rows base", 0), seed.derive("rows base", &[]));
        let own = Aes128::on(context.backend, seed.derive("rows own row", &[]).expose());
        let mut base = base::sender::<S::Base, B>(&below, kind.base_ots(), &secret);
        Ok(SetupReceiver(Line::new(move |talk| async move {
            let mut transcript = Transcript::new(&context.sid, kind.domain());
            talk.run(&mut Noted(&mut *base, Role::Receiver, &mut transcript)).await?;
            let SetupTrees { message, leaves } = made::<S>(&context, kind, &base.finish());
            if kind.bits() > 1 {
                transcript.absorb(Role::Receiver, &message);
                talk.exchange(TREES, message, 0).await;
                transcript.absorb(Role::Sender, &[]);
            }
            let keys = receiver::Keys { kind, process: Process::here(), leaves, own };
            Ok(RootReceiver::new(context, transcript.challenge("set-up"), keys))
        })))
    }

    /// The keys, after the last round.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> RootReceiver<S> {
        self.0.finish()
    }
}

/// Makes all trees.
fn made<S: Security>(context: &Context, kind: RowKind, base: &BaseSender<S::Base>) -> SetupTrees {
    let keys = ggm_keys(context);
    let mut leaves = Vec::with_capacity(kind.trees() * kind.leaves());
    let mut message = vec![0; kind.tree_bytes(S::LEVEL)];
    if kind.bits() == 1 {
        for key in base.keys().as_flattened() {
            leaves.push(Aes128::on(context.backend, &key.0));
        }
        return SetupTrees { message, leaves };
    }
    let (corrections, checks) = message.split_at_mut(16 * kind.corrections() * kind.trees());
    let corrections = from_bytes_mut(corrections).chunks_exact_mut(kind.corrections());
    let mut digest = Digest::new(&context.sid, kind);
    for (i, (base, corrections)) in base.keys().chunks_exact(kind.bits()).zip(corrections).enumerate() {
        let nodes = grow(context.backend, &keys, base, corrections);
        let (real, blocks) = finish_leaves(context, S::LEVEL, nodes);
        expand(context, &real, &mut leaves);
        if S::LEVEL == Level::Malicious {
            checks[32 * i..32 * i + 32].copy_from_slice(as_bytes(&digest.add(&blocks)));
        }
    }
    if S::LEVEL == Level::Malicious {
        checks[32 * kind.trees()..].copy_from_slice(&digest.finish());
    }
    SetupTrees { message, leaves }
}
