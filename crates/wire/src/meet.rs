//! The waits of joining: until all connections are there, and until all peers report theirs.
//!
//! Members agree on a session only once every peer reports the same id. The id covers the processes
//! of all parties. A peer that is lost before that may come again.

use std::{
    collections::BTreeSet,
    iter, thread,
    time::{Duration, Instant},
};

use hushwire_fault::Text;
use hushwire_machine::{NetError, Overseer, PartyId, SessionId, lock};

use crate::{
    Event, Listener,
    joining::{GRACE, Joining},
    observe::Notices,
    sight::{Dialled, Sort},
};

/// LOCAL: the interval at which a joining party checks the clock and its peers' reports.
const LOOK: Duration = Duration::from_millis(100);
/// LOCAL: the time that a party waits before it reports missing members and what it has observed of
/// them.
const FIRST: Duration = Duration::from_millis(1500);
/// LOCAL: the time that a peer that met earlier processes may take to meet their successors.
const SETTLES: Duration = Duration::from_secs(10);
/// LOCAL: the time during which a refused connection counts as the last failure.
const RECENT: Duration = Duration::from_secs(5);

impl Joining<'_> {
    /// Tells the observer which members are missing, and gives up if a connected peer dies or ends
    /// the session.
    pub(crate) fn mind(&self) {
        let begun = Instant::now();
        let mut notices = Notices::new(FIRST);
        let mut over: Option<Instant> = None;
        loop {
            let seen = self.moved.epoch();
            if self.over() || self.guard.check().is_err() {
                return;
            }
            self.clear_gone();
            let missing = self.missing(|_| true);
            if missing.is_empty() {
                continue;
            }
            self.watched.shared().joins(missing.first().copied());
            let now = Instant::now();
            if let Err(e) = self.watched.shared().check("connect") {
                // This party's own handshakes may be more informative than another party's report.
                if now >= *over.get_or_insert(now + GRACE) {
                    return self.give_up(e);
                }
            }
            if notices.due_for(now, begun, &missing, self.sorts(&missing).into_iter()) {
                self.report(missing, now - begun);
            }
            self.moved.wait_past(seen, LOOK);
        }
    }

    /// The kinds of failure that were observed of missing members.
    fn sorts(&self, missing: &[PartyId]) -> Vec<(PartyId, Sort)> {
        let sights = lock(&self.sights);
        let refused = lock(&self.refused).as_ref().map(|_| (self.cfg.me, Sort::Refused));
        missing.iter().flat_map(|peer| sights.sorts(*peer)).chain(refused).collect()
    }

    /// The peers with missing connections. `counts` selects connections by whether this party dials
    /// them.
    pub(crate) fn missing(&self, counts: impl Fn(bool) -> bool) -> Vec<PartyId> {
        let links = lock(&self.links);
        let slots = self.slots(|slot, dials| counts(dials) && !links.contains_key(&slot));
        let mut missing: Vec<_> = slots.iter().map(|slot| slot.peer).collect();
        missing.dedup();
        missing
    }

    /// Reports missing members, with what was observed of them and a recently refused connection.
    fn report(&self, missing: Vec<PartyId>, waited: Duration) {
        let Some(observer) = &self.observer else { return };
        let refused = lock(&self.refused).clone().filter(|(_, at, _)| at.elapsed() < RECENT);
        let refused = refused.map(|(_, _, why)| Text::from("a connection was refused: ").text(why));
        let sights = lock(&self.sights);
        let seen = missing.iter().filter_map(|peer| sights.of(*peer)).chain(refused);
        let last = seen.reduce(|all, more| all.words(", ").text(more));
        drop(sights);
        observer(&Event::Joining { missing, waited, last });
    }

    /// The error that names all members that did not come, and what is known of each; `None` if all
    /// have come.
    pub(crate) fn absent(&self, listener: Option<&Listener>) -> Option<NetError> {
        let (missing, deaf) = (self.missing(|_| true), self.missing(|dials| dials));
        let (after, mut sights) = (self.cfg.connect_timeout, lock(&self.sights));
        if missing.is_empty() {
            return None;
        }
        let seen = missing.iter().all(|peer| sights.explains(*peer));
        // If a stranger answered for each missing member, that is the error.
        if missing.iter().all(|peer| sights.telling.contains_key(peer)) {
            return missing.first().and_then(|peer| sights.telling.remove(peer));
        }
        // A refused connection may have been the missing member's.
        if let [peer] = missing[..]
            && lock(&self.refused).is_none()
            && let (Some(Dialled { address, last, .. }), None) =
                (sights.dialled.get(&peer), sights.gone.get(&peer))
        {
            let cause = format!("gave up after {after:?}, at last because {last}").into();
            return Some(NetError::Connect { peer: Some(peer), address: address.clone(), cause, seen });
        }
        let ours = listener.map_or_else(String::new, Listener::address);
        let why = |peer: &PartyId| match sights.of(*peer) {
            Some(known) => known,
            None if deaf.contains(peer) => Text::from(*peer).words(" did not answer in time"),
            None if self.cfg.peers.iter().any(|p| p.id == *peer && p.address.is_some()) => Text::from(*peer)
                .words(format_args!(" answers, and no greeting of it came to our own {ours}")),
            None => Text::from("no greeting of ").who(*peer).words(format_args!(" came to our own {ours}")),
        };
        let mut cause =
            missing.iter().map(why).reduce(|all, more| all.words(", ").text(more)).unwrap_or_default();
        if let Some((count, at, why)) = &*lock(&self.refused) {
            let (times, ago) =
                (if *count == 1 { "connection was" } else { "connections were" }, at.elapsed().as_secs());
            let refused = format!(" ({count} {times} refused, the last {ago} s ago because ");
            cause = cause.words(refused).text(why.clone()).words(")");
        }
        Some(NetError::Absent { peers: missing, after, cause, seen })
    }

    /// The session's id, once every peer has all its connections and reports the same id. Only then
    /// may a party conclude that all members have joined, and that each is one process. `None` if a
    /// peer was lost in the meantime.
    pub(crate) fn agree(&self) -> Result<Option<SessionId>, NetError> {
        let session = self.roster.session(self.cfg.session);
        let shared = self.watched.shared();
        shared.announce(session);
        let begun = Instant::now();
        let mut notices = Notices::new(FIRST);
        loop {
            if self.clear_gone() || !self.missing(|_| true).is_empty() {
                return Ok(None);
            }
            let mut missing = BTreeSet::new();
            for peer in &self.cfg.peers {
                match shared.joined(peer.id, LOOK) {
                    Some(theirs) if theirs == session => {}
                    // The peer may not have met a successor yet.
                    Some(_) if begun.elapsed() < SETTLES => {
                        thread::sleep(LOOK);
                        missing.insert(peer.id);
                    }
                    Some(theirs) => {
                        let what = format!(
                            "it met other processes of the parties than this one did (session {theirs}, not {session})"
                        );
                        return Err(NetError::Duplicate { peer: Some(peer.id), what });
                    }
                    // Its heartbeats name the party that it waits for in turn.
                    None => _ = missing.insert(shared.behind(peer.id)),
                }
            }
            let Some(&first) = missing.first() else {
                if shared.agreed() {
                    break;
                }
                continue;
            };
            shared.check("connect")?;
            shared.joins(Some(first));
            if let Some(e) = self.stopped() {
                return Err(e);
            }
            if self.guard.check().is_err() {
                let (peers, after) = (missing.into_iter().collect(), self.cfg.connect_timeout);
                let cause = "others, who are connected, still wait".into();
                return Err(NetError::Absent { peers, after, cause, seen: false });
            }
            let now = Instant::now();
            let missing: Vec<_> = missing.into_iter().collect();
            let due = notices.due_for(now, begun, &missing, iter::empty());
            if let (Some(observer), true) = (&self.observer, due) {
                observer(&Event::Joining { missing, waited: now - begun, last: None });
            }
        }
        shared.joins(None);
        Ok(Some(session))
    }
}
