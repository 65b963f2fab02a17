//! The waits of joining: until all connections are there, and until all peers say the same of theirs.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use crate::{
    Event, NetError, PartyId, SessionId,
    connect::{GRACE, Joining, lock},
    observe::Notices,
};

/// LOCAL: how often a party that joins looks at the clock, and at what its peers say.
const LOOK: Duration = Duration::from_millis(100);

impl Joining<'_> {
    /// Tells the observer who is missing, and gives up when a peer that is here dies or ends the session.
    pub(crate) fn mind(&self) {
        let begun = Instant::now();
        let mut notices = Notices::new();
        let mut over: Option<Instant> = None;
        loop {
            let seen = self.moved.epoch();
            let mut missing: Vec<_> =
                self.slots(|slot, _| !lock(&self.links).contains_key(&slot)).iter().map(|s| s.peer).collect();
            missing.dedup();
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

    fn report(&self, missing: Vec<PartyId>, waited: Duration) {
        let Some(observer) = &self.observer else { return };
        let refused = lock(&self.refused);
        let last = if refused.0 > 0 { Some(refused.1.clone()) } else { lock(&self.undialled).clone() };
        drop(refused);
        observer(&Event::Joining { missing, waited, last });
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
                let cause = format!("others still waited for it after {:?}", self.cfg.connect_timeout);
                let address = self.cfg.peers.iter().find(|peer| peer.id == first);
                let address = address.and_then(|peer| peer.address.clone()).unwrap_or_default();
                return Err(NetError::Connect { peer: Some(first), address, cause });
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
