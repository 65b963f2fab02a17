//! One party of a session, and its batches, which hand out the randomness.
//!
//! ```text
//! Rep3Party ── next_batch ──► Batch ─┬─ context        zero-shares of one computation
//!                                    ├─ share, receive inputs of parties, and of owners outside
//!                                    └─ reveal, blind  outputs to parties, and to recipients
//! ```
//!
//! **No caller names a mask.** A zero-share is addressed by batch and stream. A party numbers its
//! batches, and a batch numbers its streams. Neither they nor the values that they hand out can be
//! copied or made in another way, so no two computations of a session have a mask in common. All
//! parties must ask for the same in the same order. Threads that compute side by side each have a
//! part of the party ([`Rep3Party::split`]). Only that part hands out its batches, so no thread
//! waits for another or for a peer.

use crate::{
    Addition, CircuitBatch, CircuitWorkspace, Context, Input, Output, Reveal, Role, ShareError, Shares,
    Sharing, Tagging, session::Session,
};
use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, planes::plane_bytes};
use hushwire_machine::{Channel, NetError, SessionId, drive::Driver};
use hushwire_prg::{PrssKeys, Seed};
use std::sync::Arc;
use thiserror::Error;
use zeroize::Zeroizing;

/// The reason why a run ended without a result.
#[derive(Debug, Error)]
pub enum Rep3Error {
    /// All batches of the session have been handed out.
    #[error("{0}, a new batch: all 2^32 batches of this session were handed out; open a new session")]
    Spent(Role),
    /// This party's inputs have the wrong size.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// A channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
}

/// The party that brings each input of a program, and the parties that learn each output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreeParty {
    /// The owner of each input.
    pub owners: Vec<Role>,
    /// Whether party 0, 1 and 2 learn each output.
    pub learns: Vec<[bool; 3]>,
}

/// One of three parties of a session.
///
/// There are two rings. `ring` leads to the left neighbour and from the right one and carries
/// products; `back` leads the other way and carries everything else.
///
/// ```compile_fail
/// fn twice(party: &hushwire_rep3::Rep3Party) -> [hushwire_rep3::Rep3Party; 2] {
///     [party.clone(), party.clone()]
/// }
/// ```
pub struct Rep3Party {
    session: Session,
    /// The number of the next batch, and the distance from each batch of this part to the next.
    next: u64,
    step: u64,
    driver: Driver,
    ws: CircuitWorkspace,
}

impl Rep3Party {
    /// Draws this party's key, sends it to the right neighbour and receives the left neighbour's
    /// key, with one message each way on `back`. `own` is fresh randomness, used for this session
    /// alone.
    ///
    /// # Errors
    /// As [`Channel::exchange`].
    pub fn open(
        role: Role,
        backend: Backend,
        id: SessionId,
        own: Seed,
        back: &mut Channel,
    ) -> Result<Rep3Party, NetError> {
        Ok(Self::of(Session::establish(role, backend, id, own, back)?))
    }

    /// The three parties of a session in one process, whose keys are drawn together: for benchmarks
    /// and examples. A process that has all three parties hides nothing.
    #[must_use]
    pub fn three(backend: Backend) -> [Rep3Party; 3] {
        let seeds = [0; 3].map(|_: u8| Seed::random());
        Role::ALL.map(|role| {
            let (own, prev) = (seeds[role.index()].clone(), seeds[role.left().index()].clone());
            Self::of(Session::from_keys(role, backend, SessionId([0; 16]), &PrssKeys { own, prev }))
        })
    }

    pub(crate) fn of(session: Session) -> Rep3Party {
        Rep3Party { session, next: 0, step: 1, driver: Driver::new(), ws: CircuitWorkspace::default() }
    }

    /// Splits the party into `threads` parts that hand out batches independently: part `t` has
    /// every `threads`th batch from the `t`th on. All parties must split at the same point.
    #[must_use]
    pub fn split(self, threads: u32) -> Vec<Rep3Party> {
        let of_thread = |t: u32| Rep3Party {
            next: self.next.saturating_add(self.step.saturating_mul(t.into())),
            step: self.step.saturating_mul(threads.into()),
            ..Self::of(self.session.clone())
        };
        (0..threads).map(of_thread).collect()
    }

    /// The role of this party.
    #[must_use]
    pub fn role(&self) -> Role {
        self.session.role()
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The tier for which kernels are built.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.session.backend()
    }

    /// The session's two keys, for a device of this party that makes the same zero-shares.
    #[must_use]
    pub fn device_keys(&self) -> Zeroizing<[[u8; 16]; 2]> {
        self.session.device_keys()
    }

    /// The next batch of the session.
    ///
    /// # Errors
    /// [`Rep3Error::Spent`] after 2^32; [`NetError::Forked`] in a fork of the process that opened
    /// the session.
    pub fn next_batch(&mut self) -> Result<Batch, Rep3Error> {
        self.session.check("a new batch")?;
        let number = u32::try_from(self.next).map_err(|_| Rep3Error::Spent(self.role()))?;
        self.next = self.next.saturating_add(self.step);
        Ok(Batch { session: self.session.clone(), number, streams: 0, tags: 0 })
    }

    /// Runs a program on as many instances as the planes have. `inputs` are the inputs that this
    /// party brings, in the program's order. Returns the outputs that it learns, in the same order.
    ///
    /// # Errors
    /// If the inputs have another width, a channel failed, or the session is spent.
    ///
    /// # Panics
    /// If there are no instances, or the roles belong to another program (the caller's bug).
    pub fn run(
        &mut self,
        [ring, back]: [&mut Channel; 2],
        program: &Arc<Program>,
        who: &ThreeParty,
        inputs: &Planes,
    ) -> Result<Planes, Rep3Error> {
        assert!(
            who.owners.len() == program.inputs().len() && who.learns.len() == program.outputs().len(),
            "roles for every input and output"
        );
        let (instances, plane) = (inputs.instances(), plane_bytes(inputs.instances()));
        let mut batch = self.next_batch()?;
        let owned = who.owners.iter().zip(program.inputs());
        let owned: Vec<_> = owned
            .map(|(owner, width)| Input {
                owner: Some(*owner),
                bytes: width * plane,
                addition: Addition::Xor,
            })
            .collect();
        let mut sharing = batch.share(&owned, inputs)?;
        self.driver.run(back, &mut sharing)?;
        let ws = std::mem::take(&mut self.ws);
        let shares = sharing.finish();
        let mut run = CircuitBatch::new(program.clone(), batch.context(), &shares, instances, ws)?;
        self.driver.run(ring, &mut run)?;
        let outputs = who.learns.iter().zip(program.outputs());
        let output = |(learns, width): (&[bool; 3], &usize)| Output {
            learns: *learns,
            bytes: width * plane,
            addition: Addition::Xor,
        };
        let outputs: Vec<_> = outputs.map(output).collect();
        let mut reveal = batch.reveal(&outputs, &run.output());
        self.ws = run.into_workspace();
        self.driver.run(back, &mut reveal)?;
        let width =
            who.learns.iter().zip(program.outputs()).map(|(l, w)| w * usize::from(l[self.role().index()]));
        let mut learnt = Planes::zeros(width.sum(), instances);
        learnt.copy_from_slice(&reveal.finish());
        Ok(learnt.trimmed())
    }
}

/// One batch of a session: the randomness of one computation, of its inputs and of its outputs. It
/// is handed out once, and gives each stream of zero-shares once.
///
/// ```compile_fail
/// fn twice(batch: &hushwire_rep3::Batch) -> [hushwire_rep3::Batch; 2] {
///     [batch.clone(), batch.clone()]
/// }
/// ```
///
/// ```compile_fail
/// fn twice(context: &hushwire_rep3::Context) -> [hushwire_rep3::Context; 2] {
///     [context.clone(), context.clone()]
/// }
/// ```
pub struct Batch {
    session: Session,
    number: u32,
    /// The number of streams handed out.
    streams: u32,
    /// The number of tag places handed out.
    tags: u32,
}

impl Batch {
    /// Its number in the session, the same at all parties.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The party whose batch it is.
    #[must_use]
    pub fn role(&self) -> Role {
        self.session.role()
    }

    /// The tier for which kernels are built.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.session.backend()
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    fn stream(&mut self) -> u32 {
        let stream = self.streams;
        assert!(stream < u32::MAX, "a batch has 2^32 - 1 streams");
        self.streams += 1;
        stream
    }

    /// The zero-shares of one computation: of a [`CircuitBatch`], of
    /// [`AesBlocks`](crate::AesBlocks) or of another one.
    pub fn context(&mut self) -> Context {
        let stream = self.stream();
        self.session.context(self.number, stream)
    }

    /// Shares of `len` random bytes that no party knows; this takes no message.
    pub fn random(&mut self, len: usize) -> Shares {
        let stream = self.stream();
        self.session.random(self.number, stream, len)
    }

    /// Shares the parties' own inputs, in an order that all parties know. `values` are the inputs
    /// that this party brings, one after the other. A machine on `back`.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless `values` is as long as this party's inputs.
    pub fn share(&mut self, inputs: &[Input], values: &[u8]) -> Result<Sharing, ShareError> {
        Sharing::new(self, inputs, values)
    }

    /// Opens outputs to the parties that learn them, and to no other party; they lie one after the
    /// other in `shares`. A machine on `back`.
    ///
    /// If owners outside the parties gave shares, nothing may be opened before
    /// [`Comparison::end`](crate::Comparison::end) has found them consistent.
    ///
    /// # Panics
    /// If `shares` are shorter than the outputs (the caller's bug).
    pub fn reveal(&self, outputs: &[Output], shares: &Shares) -> Reveal {
        Reveal::new(self.session.role(), outputs, shares)
    }

    /// Starts the tags of shares from an owner outside the parties, in an order that all parties
    /// share.
    pub fn tagging(&mut self) -> Tagging {
        self.tags += 1;
        self.session.tagging(self.tags - 1, self.number)
    }

    /// Adds a zero-share to this party's own share of an output, so that the three parties' shares
    /// reveal the value and nothing else to a recipient outside.
    pub fn blind(&mut self, own: &mut [u8], addition: Addition) {
        let zero = self.random(own.len());
        addition.add(own, &zero.own);
        addition.take(own, &zero.next);
    }
}
