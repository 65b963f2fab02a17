//! The waits of joining: until all connections are there, and until all peers say the same of theirs.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use crate::{
    Event, Listener, NetError, PartyId, SessionId,
    connect::{GRACE, Joining, lock},
    observe::Notices,
};

/// LOCAL: how often a party that joins looks at the clock, and at what its peers say.
const LOOK: Duration = Duration::from_millis(100);
/// LOCAL: how long a connection that was refused is worth telling as what last went wrong.
const RECENT: Duration = Duration::from_secs(5);

impl Joining<'_> {
    /// Tells the observer who is missing, and gives up when a peer that is here dies or ends the session.
    pub(crate) fn mind(&self) {
        let begun = Instant::now();
        let mut notices = Notices::new();
        let mut over: Option<Instant> = None;
        loop {
            let seen = self.moved.epoch();
            let missing = self.missing(|_| true);
            if missing.is_empty() || self.guard.check().is_err() {
                return;
            }
            self.watched.shared().joins(missing.first().copied());
            let now = Instant::now();
            if let Err(e) = self.watched.shared().check("connect") {
                // Our own handshakes may tell more than another's word.
                if now >= *over.get_or_insert(now + GRACE) {
                    return self.give_up(e);
                }
            }
            if notices.due_for(now, begun, &missing) {
                self.report(missing, now - begun);
            }
            self.moved.wait_past(seen, LOOK);
        }
    }

    /// With whom connections are missing, in some of those that `counts` is given: whether this party dials them.
    fn missing(&self, counts: impl Fn(bool) -> bool) -> Vec<PartyId> {
        let links = lock(&self.links);
        let slots = self.slots(|slot, dials| counts(dials) && !links.contains_key(&slot));
        let mut missing: Vec<_> = slots.iter().map(|slot| slot.peer).collect();
        missing.dedup();
        missing
    }

    /// The last failure counts while it goes on: an attempt to dial one who is still missing, else a connection
    /// that was refused just now.
    fn report(&self, missing: Vec<PartyId>, waited: Duration) {
        let Some(observer) = &self.observer else { return };
        let undialled = lock(&self.undialled).clone();
        let dialled = missing.iter().filter_map(|peer| {
            undialled.get(peer).map(|(address, last)| format!("{peer} at {address}: {last}"))
        });
        let dialled = dialled.collect::<Vec<_>>().join(", ");
        let refused = lock(&self.refused).clone().filter(|(_, at, _)| at.elapsed() < RECENT);
        let last = if dialled.is_empty() { refused.map(|(_, _, why)| why) } else { Some(dialled) };
        observer(&Event::Joining { missing, waited, last });
    }

    /// The members that did not come, all of them, and what is known of each; `None` when all have.
    pub(crate) fn absent(&self, listener: Option<&Listener>) -> Option<NetError> {
        let (missing, undialled) = (self.missing(|_| true), lock(&self.undialled).clone());
        let (after, deaf) = (self.cfg.connect_timeout, self.missing(|dials| dials));
        if let [peer] = missing[..]
            && let Some((address, last)) = undialled.get(&peer)
        {
            let cause = format!("gave up after {after:?}, at last because {last}");
            return Some(NetError::Connect { peer: Some(peer), address: address.clone(), cause });
        }
        let ours = listener.map_or_else(String::new, Listener::address);
        let of = |peer: &PartyId| match undialled.get(peer) {
            Some((address, last)) => format!("{peer} at {address}: {last}"),
            None if deaf.contains(peer) => format!("{peer} did not answer in time"),
            None if self.cfg.peers.iter().any(|p| p.id == *peer && p.address.is_some()) => {
                format!("{peer} answers, and no greeting of it came to our own {ours}")
            }
            None => format!("no greeting of {peer} came to our own {ours}"),
        };
        let mut cause = missing.iter().map(of).collect::<Vec<_>>().join(", ");
        if let Some((count, at, why)) = &*lock(&self.refused) {
            let (times, ago) =
                (if *count == 1 { "connection was" } else { "connections were" }, at.elapsed().as_secs());
            cause += &format!(" ({count} {times} refused, the last {ago} s ago because {why})");
        }
        (!missing.is_empty()).then_some(NetError::Absent { peers: missing, after, cause })
    }

    /// The session's id, once every peer has all its connections and says the same one: before that nobody may
    /// conclude that all members are there, nor that each of them is one process.
    pub(crate) fn agree(&self) -> Result<SessionId, NetError> {
        let session = self.roster.session(self.cfg.session);
        let shared = self.watched.shared();
        shared.announce(session);
        let begun = Instant::now();
        let mut notices = Notices::new();
        loop {
            let mut missing = BTreeSet::new();
            for peer in &self.cfg.peers {
                match shared.joined(peer.id, LOOK) {
                    Some(theirs) if theirs == session => {}
                    Some(theirs) => {
                        let what = format!(
                            "it met other processes of the parties than this one did (session {theirs}, not {session})"
                        );
                        return Err(NetError::Duplicate { peer: Some(peer.id), what });
                    }
                    // Whom it waits for itself, as its heartbeats say.
                    None => _ = missing.insert(shared.behind(peer.id)),
                }
            }
            let Some(&first) = missing.first() else { break };
            shared.check("connect")?;
            shared.joins(Some(first));
            if self.guard.check().is_err() {
                let (peers, after) = (missing.into_iter().collect(), self.cfg.connect_timeout);
                let cause = "others, who are connected, still wait".to_owned();
                return Err(NetError::Absent { peers, after, cause });
            }
            let now = Instant::now();
            let missing: Vec<_> = missing.into_iter().collect();
            let due = notices.due_for(now, begun, &missing);
            if let (Some(observer), true) = (&self.observer, due) {
                observer(&Event::Joining { missing, waited: now - begun, last: None });
            }
        }
        shared.joins(None);
        Ok(session)
    }
}
