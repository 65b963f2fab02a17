//! A member that ends before it joins tells the others, so that no member waits for it.
//!
//! It connects to each peer as for a session, over the same transport, so a process that cannot
//! prove its identity cannot report anything. Its hello has the reason, one of a closed set, and no
//! text. A peer answers with its own hello and ends the session because of this member. A second
//! process of a member that has joined is refused as always (see [`roster`](crate::roster)).
//!
//! Two clients have no link, and one of them may come after the parties were told by the other.
//! Therefore a party that was told by a client itself also tells the clients that are not
//! connected, for the same time. The hello names the client, and the error names the member that
//! reported it. A member that was told by another member does not pass it on, so that news of one
//! run cannot reach later runs forever.

use std::{
    collections::BTreeSet,
    io::Write,
    sync::{Mutex, atomic::Ordering},
    thread,
    time::Duration,
};

use hushwire_machine::{NetError, Overseer, PartyId, Reason, lock};

use crate::{
    Identity, Listener, PeerConfig, SessionConfig,
    bell::Bell,
    hello::{Flow, GreetingRole},
    joining::{BACKOFF, Excuse, Joining, with_joining},
    notice::StepName,
    port::Registration,
    slot::{CONTROL_LANE, Slot},
    watch::{Verdict, VerdictSource},
};

/// LOCAL: the time during which a member that ends tries to reach the others. A peer that starts
/// later waits for this member, which may be restarted.
const TELLS: Duration = Duration::from_secs(5);

/// The step of a member that ends before it joins, as the others' errors name it.
pub(crate) fn step_of(why: Reason) -> &'static str {
    if why == Reason::Declined { "admission of the job" } else { "start-up" }
}

/// News that a member ended before it joined, for peers that may not know it yet. See
/// [`connect_or_news`](crate::connect_or_news).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct News {
    of: PartyId,
    why: Reason,
    unheard: BTreeSet<PartyId>,
}

/// Tells the peers that this member ends before it joins, because of `why`, which is
/// [`Reason::Local`] or [`Reason::Declined`]. Returns when all peers have been told, at the latest
/// after five seconds or `connect_timeout`.
///
/// The digests of job and parameters may be zeros if this member does not know them. Peers that
/// share a port among runs are then not told, since they cannot determine which run is meant.
///
/// # Errors
/// [`NetError::Config`], [`NetError::Expired`] and [`NetError::Io`] if no peer can be reached.
pub fn excuse(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    why: Reason,
) -> Result<(), NetError> {
    say(cfg, identity, listener, &Excuse { why, of: None, told: Mutex::default() })
}

/// Tells `news`, because of which this member ends, to the peers that may not know it. Returns when
/// all of them have been told, at the latest after five seconds or `connect_timeout`. Call it with
/// the arguments of [`connect_or_news`](crate::connect_or_news).
///
/// # Errors
/// The errors of [`excuse`].
pub fn retell(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    news: &News,
) -> Result<(), NetError> {
    let told = cfg.peers.iter().map(|peer| peer.id).filter(|peer| !news.unheard.contains(peer));
    let told = Mutex::new(told.collect());
    say(cfg, identity, listener, &Excuse { why: news.why, of: Some(news.of), told })
}

fn say(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    excuse: &Excuse,
) -> Result<(), NetError> {
    let mut cfg = cfg.clone();
    cfg.connect_timeout = cfg.connect_timeout.min(TELLS);
    with_joining(&cfg, identity, listener, None, Some(excuse), None, |joining, registration, ear| {
        joining.tell_all(listener, registration, ear);
        Ok(())
    })
}

impl Joining<'_> {
    fn tell_all(&self, listener: Option<&Listener>, registration: Option<&Registration<'_>>, ear: &Bell) {
        let unheard: Vec<_> = self.cfg.peers.iter().filter(|peer| !self.has_told(peer.id)).collect();
        self.awaited.store(unheard.len(), Ordering::SeqCst);
        thread::scope(|scope| {
            for peer in unheard {
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
                // The peer lists another key for this member, or none.
                Err(NetError::Unlisted { .. } | NetError::Expired { .. }) => return,
                Err(_) => {}
            }
            thread::sleep(backoff.min(self.guard.check().unwrap_or_default()));
            backoff = (backoff * 2).min(BACKOFF.1);
        }
    }

    fn tell_once(&self, peer: &PeerConfig, address: &str) -> Result<(), NetError> {
        let ours = self.hello(peer.id, CONTROL_LANE, Flow::FromDialer, GreetingRole::Dialer);
        let (_, _, theirs) = self.greeted(peer, address, &ours)?;
        if theirs.full && self.excuse.is_some_and(|excuse| excuse.of.is_some()) {
            // The peer still has a link from this member's attempt to join, and has not yet noticed
            // that it closed.
            return Err(NetError::Closed { peer: Some(peer.id), step: "handshake".to_owned() });
        }
        Ok(())
    }

    fn has_told(&self, peer: PartyId) -> bool {
        self.excuse.is_some_and(|excuse| lock(&excuse.told).contains(&peer))
    }

    /// Records that `peer` has been told why this member ends.
    pub(crate) fn told(&self, peer: PartyId) {
        let first = self.excuse.is_some_and(|excuse| lock(&excuse.told).insert(peer));
        if first && self.awaited.fetch_sub(1, Ordering::SeqCst) == 1 {
            // A full pipe wakes the reader as well.
            let _ = (&self.bell).write(&[0]);
        }
    }

    /// The error of a session that `by` ends because of `peer`, according to its hello. The two may
    /// be the same.
    pub(crate) fn ended_by(&self, by: PartyId, peer: PartyId, why: Reason) -> NetError {
        let (shared, step) = (self.watched.shared(), step_of(why));
        shared.knows(by);
        shared.settle(Verdict {
            culprit: peer,
            why,
            step: StepName::new(step),
            from: VerdictSource::Told(by),
        });
        let aborted = NetError::Aborted { peer: Some(peer), by, step: step.to_owned(), why };
        shared.check("connect").err().unwrap_or(aborted)
    }

    /// The news of an error in joining, for peers that are not connected and have not reported it
    /// themselves.
    pub(crate) fn news(&self, e: &NetError) -> Option<News> {
        let NetError::Aborted { peer: Some(of), by, why, .. } = *e else { return None };
        // A party has links with all members and tells them itself; a client tells the parties.
        if of != by || !of.is_client() || !why.is_excuse() {
            return None;
        }
        let (knowing, links) = (self.watched.shared().knowing(), lock(&self.links));
        let unheard = self.cfg.peers.iter().map(|peer| peer.id).filter(|&peer| {
            // The others are told over the control link.
            let hears = links.contains_key(&Slot { peer, lane: CONTROL_LANE, sends: true });
            peer.is_client() && peer != of && !hears && !knowing.contains(&peer)
        });
        let unheard: BTreeSet<_> = unheard.collect();
        (!unheard.is_empty()).then_some(News { of, why, unheard })
    }
}
