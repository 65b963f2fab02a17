//! A member that ends before it joins tells the others, so that nobody waits for it.
//!
//! It meets each peer as for a session, over a connection of the same transport, so a process that
//! cannot prove who it is can say nothing. Its hello has the reason, one of a closed set, and no
//! text. A peer answers with its own hello and ends the session because of this member. A hello
//! concerns its sender alone, so no member can blame another this way; a second process of a member
//! that has joined is refused as always (see [`roster`](crate::roster)).

use std::{
    collections::BTreeSet,
    io::Write,
    sync::{Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use crate::{
    Identity, Listener, NetError, PartyId, PeerConfig, Reason, SessionConfig,
    bell::Bell,
    connect::{BACKOFF, Joining, lock, with_joining},
    hello::{CONTROL_LANE, Flow, Role},
    notice::Step,
    port::Registration,
    watch::{Source, Verdict},
};

/// LOCAL: how long a member that ends tries to reach the others. A peer that starts later waits for
/// this member, which may be started again.
const TELLS: Duration = Duration::from_secs(5);

/// The step of a member that ends before it joins, as the others name it.
pub(crate) fn step_of(why: Reason) -> &'static str {
    if why == Reason::Declined { "admission of the job" } else { "start-up" }
}

/// What a member that ends has told.
pub(crate) struct Excuse {
    why: Reason,
    told: Mutex<BTreeSet<PartyId>>,
}

/// Tells the peers that this member ends and does not join, because of `why`, which is
/// [`Reason::Local`] or [`Reason::Declined`]. Returns when all have heard it, at the latest after
/// five seconds or `connect_timeout`.
///
/// Digests of job and parameters may be zeros where this member does not know them. Peers that
/// share a port among runs then do not learn of it, as they cannot tell which run is meant.
///
/// # Errors
/// [`NetError::Config`], [`NetError::Expired`] and [`NetError::Io`] where it cannot meet anybody.
pub fn excuse(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    why: Reason,
) -> Result<(), NetError> {
    let mut cfg = cfg.clone();
    cfg.connect_timeout = cfg.connect_timeout.min(TELLS);
    let excuse = Excuse { why, told: Mutex::default() };
    with_joining(&cfg, identity, listener, None, Some(&excuse), |joining, registration, ear| {
        joining.tell_all(listener, registration, ear);
        Ok(())
    })
}

impl Excuse {
    pub(crate) fn why(&self) -> Reason {
        self.why
    }
}

impl Joining<'_> {
    fn tell_all(&self, listener: Option<&Listener>, registration: Option<&Registration<'_>>, ear: &Bell) {
        self.awaited.store(self.cfg.peers.len(), Ordering::SeqCst);
        thread::scope(|scope| {
            for peer in &self.cfg.peers {
                if let Some(address) = &peer.address {
                    scope.spawn(move || self.tell(peer, address));
                }
            }
            if let Some(listener) = listener {
                self.accept_all(scope, listener, registration, ear);
                self.heard_all.store(true, Ordering::SeqCst);
            }
        });
    }

    /// Dials `peer` until it has been told, this party gives up, or it is clear that `peer` cannot
    /// be told.
    fn tell(&self, peer: &PeerConfig, address: &str) {
        let mut backoff = BACKOFF.0;
        while !self.has_told(peer.id) && self.guard.check().is_ok() {
            match self.tell_once(peer, address) {
                Ok(()) => return self.told(peer.id),
                // It knows another key of this member, or none.
                Err(NetError::Unlisted { .. } | NetError::Expired { .. }) => return,
                Err(_) => {}
            }
            thread::sleep(backoff.min(self.guard.check().unwrap_or_default()));
            backoff = (backoff * 2).min(BACKOFF.1);
        }
    }

    fn tell_once(&self, peer: &PeerConfig, address: &str) -> Result<(), NetError> {
        let ours = self.hello(peer.id, CONTROL_LANE, Flow::FromDialer, Role::Dialer);
        self.greeted(peer, address, &ours).map(|_| ())
    }

    fn has_told(&self, peer: PartyId) -> bool {
        self.excuse.is_some_and(|excuse| lock(&excuse.told).contains(&peer))
    }

    /// `peer` has heard why this member ends.
    pub(crate) fn told(&self, peer: PartyId) {
        let first = self.excuse.is_some_and(|excuse| lock(&excuse.told).insert(peer));
        if first && self.awaited.fetch_sub(1, Ordering::SeqCst) == 1 {
            // A full pipe wakes as well.
            let _ = (&self.bell).write(&[0]);
        }
    }

    /// `peer` ends, as its hello says, and so does the session.
    pub(crate) fn ended_by(&self, peer: PartyId, why: Reason) -> NetError {
        let (shared, step) = (self.watched.shared(), step_of(why));
        shared.settle(Verdict { culprit: peer, why, step: Step::new(step), from: Source::Told(peer) });
        let aborted = NetError::Aborted { peer: Some(peer), by: peer, step: step.to_owned(), why };
        shared.check("connect").err().unwrap_or(aborted)
    }
}
