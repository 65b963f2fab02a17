//! The watch over a session, as its channels see it. The crate of the network keeps it, and tells
//! the peers.

use std::{any::Any, sync::Arc, thread, time::Instant};

use crate::{NetError, PartyId, Reason};

/// Knows the first cause that ended a session of several processes, and tells the peers.
pub trait Overseer: Send + Sync {
    /// Records that a byte or a step of this party has moved.
    fn stir(&self);

    /// Checks that the session still runs. The call costs nothing while it does.
    ///
    /// # Errors
    /// The error that ended the session.
    fn check(&self, step: &str) -> Result<(), NetError>;

    /// Called when a channel failed with `own` during `step`. Returns the first cause, and tells
    /// the peers.
    fn judge(&self, step: &str, own: NetError) -> NetError;

    /// Records that a channel waits for `peer` since `since`. Returns the number with which
    /// [`Overseer::waited`] ends that wait.
    fn waits(&self, peer: PartyId, step: &str, since: Instant) -> u64;

    /// Ends the wait with this number.
    fn waited(&self, number: u64);

    /// The party that keeps `peer` from continuing: the last one in the chain of waiting parties,
    /// or `peer` itself.
    fn behind(&self, peer: PartyId) -> PartyId;

    /// Ends the session because of `culprit`; see [`Watch::abort`].
    fn abort(&self, culprit: PartyId, why: Reason, step: &str);

    /// Reports this party's progress; see [`Watch::comes`].
    fn comes(&self, done: u64, of: u64);

    /// Called when a thread of this party that holds links of the session panics.
    fn panicked(&self);
}

/// Ends a session for all parties, and knows whether another party has.
///
/// It comes from [`Net::watch`](crate::Net::watch). It may outlive the session, and then does
/// nothing.
#[derive(Clone)]
pub struct Watch(Arc<dyn Overseer>);

impl Watch {
    /// Ends the session: this party's channels fail from now on, and the peers are told that it
    /// ends because of `culprit`, which may be this party. Returns when the peers can read it, or
    /// soon after. Only the first cause counts; if one is known already, the peers are told that
    /// one.
    pub fn abort(&self, culprit: PartyId, why: Reason, step: &str) {
        self.0.abort(culprit, why, step);
    }

    /// Reports this party's progress, `done` steps of `of`. Clients are told with the next
    /// heartbeat, about once a second.
    pub fn comes(&self, done: u64, of: u64) {
        self.0.comes(done, of);
    }

    /// Checks that the session still runs, for a party that computes for a long time between
    /// messages.
    ///
    /// # Errors
    /// The error that ended the session: [`NetError::Dead`], [`NetError::Aborted`] or
    /// [`NetError::Malformed`].
    pub fn check(&self, step: &str) -> Result<(), NetError> {
        self.0.check(step)
    }
}

/// Keeps the watch alive; each net and channel has one. `keeps` is dropped with the last of them.
pub struct Hold {
    overseer: Arc<dyn Overseer>,
    keeps: Arc<dyn Any + Send + Sync>,
}

impl Hold {
    /// Makes the first hold. `keeps` sends goodbye to the peers when it is dropped.
    #[must_use]
    pub fn new(overseer: Arc<dyn Overseer>, keeps: Arc<dyn Any + Send + Sync>) -> Self {
        Self { overseer, keeps }
    }

    /// The watch, which tells peers why this party ends, and knows why a peer did.
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
        // Otherwise a party that panics would end in good order.
        if thread::panicking() {
            self.overseer.panicked();
        }
    }
}

/// A wait of a channel, which ends when this is dropped.
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
