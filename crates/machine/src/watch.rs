//! The watch over a session, as its channels see it. Who keeps it, and how peers hear of it, is the
//! network's part.

use std::{any::Any, sync::Arc, thread, time::Instant};

use crate::{NetError, PartyId, Reason};

/// Knows the first cause for which a session of several processes ends, and tells the peers.
pub trait Overseer: Send + Sync {
    /// A byte or a step of this party has moved.
    fn stir(&self);

    /// Whether the session still runs; the call costs nothing while it does.
    ///
    /// # Errors
    /// The error that ended the session.
    fn check(&self, step: &str) -> Result<(), NetError>;

    /// A channel failed with `own` during `step`: answers the first cause, and tells the peers.
    fn judge(&self, step: &str, own: NetError) -> NetError;

    /// A channel waits for `peer` since `since`. Answers the number by which [`Overseer::waited`]
    /// ends that wait.
    fn waits(&self, peer: PartyId, step: &str, since: Instant) -> u64;

    /// The wait of this number is over.
    fn waited(&self, number: u64);

    /// The party that keeps `peer` from going on: the last of the chain of those who wait, or
    /// `peer` itself.
    fn behind(&self, peer: PartyId) -> PartyId;

    /// Ends the session because of `culprit`; see [`Watch::abort`].
    fn abort(&self, culprit: PartyId, why: Reason, step: &str);

    /// Says how far this party is; see [`Watch::comes`].
    fn comes(&self, done: u64, of: u64);

    /// A thread of this party that holds links of the session panics.
    fn panicked(&self);
}

/// Ends a session for all parties, and tells whether another has.
///
/// It comes from [`Net::watch`](crate::Net::watch) and may outlive the session; then it does
/// nothing.
#[derive(Clone)]
pub struct Watch(Arc<dyn Overseer>);

impl Watch {
    /// Ends the session: this party's channels fail from now on, and the peers are told that it
    /// ends because of `culprit`, which may be this party. Returns when the peers can read it, or
    /// soon after. Only the first cause counts: after one is known, others hear that one.
    pub fn abort(&self, culprit: PartyId, why: Reason, step: &str) {
        self.0.abort(culprit, why, step);
    }

    /// Says how far this party is, `done` steps of `of`: clients hear it with the next heartbeat,
    /// about once a second.
    pub fn comes(&self, done: u64, of: u64) {
        self.0.comes(done, of);
    }

    /// Whether the session still stands, for a party that computes long between messages.
    ///
    /// # Errors
    /// The error that ended the session: [`NetError::Dead`], [`NetError::Aborted`] or
    /// [`NetError::Malformed`].
    pub fn check(&self, step: &str) -> Result<(), NetError> {
        self.0.check(step)
    }
}

/// Keeps the watch going: each net and channel has one. What it keeps is dropped with the last of
/// them.
pub struct Hold {
    overseer: Arc<dyn Overseer>,
    keeps: Arc<dyn Any + Send + Sync>,
}

impl Hold {
    /// The first hold; `keeps` says goodbye to the peers when it is dropped.
    #[must_use]
    pub fn new(overseer: Arc<dyn Overseer>, keeps: Arc<dyn Any + Send + Sync>) -> Self {
        Self { overseer, keeps }
    }

    /// Tells peers why this party ends, and hears why a peer did.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(self.overseer.clone())
    }

    pub(crate) fn another(&self) -> Self {
        Self { overseer: self.overseer.clone(), keeps: self.keeps.clone() }
    }

    pub(crate) fn overseer(&self) -> &Arc<dyn Overseer> {
        &self.overseer
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Else a party that panics would end in good order.
        if thread::panicking() {
            self.overseer.panicked();
        }
    }
}

/// A wait of a channel; it ends when this is dropped.
pub(crate) struct Waiting<'a> {
    overseer: &'a dyn Overseer,
    number: u64,
}

impl<'a> Waiting<'a> {
    pub(crate) fn new(overseer: &'a dyn Overseer, peer: PartyId, step: &str, since: Instant) -> Self {
        Self { overseer, number: overseer.waits(peer, step, since) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.overseer.waited(self.number);
    }
}
