//! Joins a session: dials and accepts all connections of one party, and greets on each.
//!
//! One connection carries one lane one way. Between two parties that listen, the sender dials. A party without
//! a listener (a client) dials for both directions; the hello says which way data flows.

use hushwire_fault::Text;
use std::{
    sync::{PoisonError, atomic::Ordering},
    thread,
    time::{Duration, SystemTime},
};

use hushwire_machine::{Net, NetError, PartyId, Presented, Reason, SessionId, out_of_descriptors};

use crate::{
    Event, Identity, Listener, Observer, PeerConfig, SessionConfig,
    bell::Bell,
    excuse::{News, step_of},
    joining::{BACKOFF, Joining, with_joining},
    locks::lock,
    port::Registration,
    sight::{Dialled, Sort, is_unproven, sort_of},
    slot::Slot,
};

/// LOCAL: how often a dialler checks whether it must dial again.
const LOOK: Duration = Duration::from_millis(100);

/// Joins the session: connects every lane with every peer, both ways, and waits until all peers have done so.
///
/// Dials with retry while it accepts. Connections of strangers (an unlisted certificate, not a hello) are closed and
/// do not end the session. `listener` may be `None` when every peer has an address, as for a client; many sessions may join
/// on one at a time where it is [shared](Listener::shared). A peer that ends the session ends the
/// wait for the others. A peer that dies before all have joined may be started again, and is waited
/// for. A process that does not prove to be a peer ends nothing. One process of each member takes
/// part: the connections of a second one with the same key are refused while the
/// first one lives, and [`Net::session`] is new each time.
///
/// # Errors
/// [`NetError::HandshakeMismatch`] on both sides when a peer disagrees, [`NetError::Duplicate`] when another process
/// with this party's key has joined before, [`NetError::UnknownPeer`] or
/// [`NetError::Tls`] when what answered for a peer was not the one pinned until `connect_timeout`, [`NetError::Connect`] or
/// [`NetError::Absent`] when peers do not come within it, [`NetError::Config`] when the configuration cannot work, [`NetError::Expired`] when a
/// certificate is not valid today, [`NetError::Dead`] and [`NetError::Aborted`] when a peer ends before all are here.
pub fn connect(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
) -> Result<Net, NetError> {
    join(cfg, identity, listener, None).map_err(|(e, _)| e)
}

/// As [`connect`]; `observer` hears for whom the session waits, now and later, until the net and its channels are
/// dropped.
///
/// # Errors
/// As [`connect`].
pub fn connect_observed(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Observer,
) -> Result<Net, NetError> {
    join(cfg, identity, listener, Some(observer)).map_err(|(e, _)| e)
}

/// As [`connect_observed`]. Where a member ended before it joined and some of the others may not have heard so, the [`News`] for them
/// come with the error: see [`retell`](crate::retell).
///
/// # Errors
/// As [`connect`].
pub fn connect_or_news(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Observer,
) -> Result<Net, (NetError, Option<Box<News>>)> {
    join(cfg, identity, listener, Some(observer))
}

fn join(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
) -> Result<Net, (NetError, Option<Box<News>>)> {
    let mut news = None;
    let met = with_joining(cfg, identity, listener, observer, None, |joining, registration, ear| {
        joining.meet(listener, registration, ear, &mut news)
    });
    met.map_err(|e| (e, news.map(Box::new)))
}

impl Joining<'_> {
    /// Meets everybody; where a peer is lost before all agree on the session, its successor too.
    fn meet(
        self,
        listener: Option<&Listener>,
        registration: Option<&Registration<'_>>,
        ear: &Bell,
        news: &mut Option<News>,
    ) -> Result<Net, NetError> {
        let session = loop {
            self.run(listener, registration, ear);
            if let Some(e) = self.cause(listener) {
                break Err(e);
            }
            // Else somebody was lost, and all is done again that has to be.
            if let Some(agreed) = self.agree().transpose() {
                break agreed;
            }
        };
        *news = session.as_ref().err().and_then(|e| self.news(e));
        self.into_net(session)
    }

    /// Dials and accepts until all connections are there or time has run out.
    fn run(&self, listener: Option<&Listener>, registration: Option<&Registration<'_>>, ear: &Bell) {
        let accepts = !self.slots(|_, dials| !dials).is_empty();
        self.heard_all.store(false, Ordering::SeqCst);
        self.complete.store(false, Ordering::SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| self.mind());
            for peer in &self.cfg.peers {
                let dials = !self.slots(|slot, dials| dials && slot.peer == peer.id).is_empty();
                if let (Some(address), true) = (&peer.address, dials) {
                    scope.spawn(move || self.dial_all(peer, address));
                }
            }
            if let Some(listener) = listener.filter(|_| accepts) {
                self.accept_all(scope, listener, registration, ear);
                self.heard_all.store(true, Ordering::SeqCst);
            }
        });
    }

    /// The most telling error, if there is one; it also says who has not come once time is over.
    fn cause(&self, listener: Option<&Listener>) -> Option<NetError> {
        let mut errors = core::mem::take(&mut *lock(&self.errors));
        if errors.is_empty() && self.guard.check().is_err() {
            errors.extend(self.absent(listener));
        }
        let telling = |e: &NetError| match e {
            NetError::HandshakeMismatch { .. } => 0,
            NetError::UnknownPeer { .. }
            | NetError::Unlisted { .. }
            | NetError::Expired { .. }
            | NetError::Duplicate { .. } => 1,
            NetError::Tls { .. } | NetError::Malformed { .. } => 2,
            NetError::Dead { .. } | NetError::Aborted { .. } | NetError::Blamed { .. } => 3,
            _ => 4,
        };
        errors.into_iter().min_by_key(telling).map(|e| self.seen_here(e))
    }

    /// What this party saw of a missing member, where another party reported only that it is
    /// missing.
    fn seen_here(&self, e: NetError) -> NetError {
        let mut sights = lock(&self.sights);
        if let NetError::Blamed { why: Reason::Absent, .. } = e {
            // It did not come to them, as somebody else answered for them: this party's own list is wrong, perhaps.
            return sights.telling.pop_first().map_or(e, |(_, telling)| telling);
        }
        let NetError::Aborted { peer: Some(peer), by, why: Reason::Absent | Reason::Refused, .. } = e else {
            return e;
        };
        match (sights.telling.remove(&peer), sights.dialled.get(&peer)) {
            (Some(telling), _) => telling,
            (None, Some(Dialled { address, last, .. })) if sights.explains(peer) => NetError::Connect {
                peer: Some(peer),
                address: address.clone(),
                cause: Text::from(by).words(format_args!(" gave up, and at last here {last}")),
                seen: true,
            },
            _ => e,
        }
    }

    /// Dials all connections to `peer` that this party dials, and dials lost ones again.
    fn dial_all(&self, peer: &PeerConfig, address: &str) {
        while !self.over() && self.guard.check().is_ok() {
            let seen = self.moved.epoch();
            let links = lock(&self.links);
            let slots = self.slots(|slot, dials| dials && slot.peer == peer.id && !links.contains_key(&slot));
            drop(links);
            let Some(slot) = slots.first() else {
                self.moved.wait_past(seen, LOOK);
                continue;
            };
            if let Err(e) = self.dial_slot(peer, address, *slot) {
                return self.give_up(e);
            }
        }
    }

    fn dial_slot(&self, peer: &PeerConfig, address: &str, slot: Slot) -> Result<(), NetError> {
        let mut backoff = BACKOFF.0;
        loop {
            let attempt = self.dial_once(peer, address, slot);
            // Refused, or closed before a word: the peer, or what stands before it, is not up yet.
            let (sort, last) = match attempt {
                Ok((nonce, link)) => {
                    lock(&self.sights).met(peer.id);
                    self.put(slot, nonce, link);
                    return Ok(());
                }
                Err(NetError::Io { source, step, .. }) => {
                    let last = source.to_string();
                    let sort = if step == "connect" { sort_of(&source) } else { Sort::Mute };
                    if out_of_descriptors(&source) {
                        self.short_of_descriptors(source);
                    }
                    (sort, last)
                }
                Err(e @ NetError::Closed { .. }) => (Sort::Mute, e.to_string()),
                Err(e) if is_unproven(&e, peer.id, self.cfg.transport) => {
                    let last = e.cause();
                    lock(&self.sights).telling.insert(peer.id, e);
                    (Sort::Stranger, last)
                }
                Err(e) => return Err(e),
            };
            self.dialled_in_vain(peer.id, address, sort, last);
            thread::sleep(backoff.min(self.guard.check().unwrap_or_default()));
            backoff = (backoff * 2).min(BACKOFF.1);
            if self.guard.check().is_err() {
                // Who is absent is said at the end, of all together.
                return Ok(());
            }
        }
    }

    /// Whom the others hear to be to blame, and why. Where one member answers at the address of another, it is this party's own
    /// list that is wrong, and neither of them.
    fn blames(&self, e: &NetError) -> (PartyId, Reason) {
        let listed = |shown: &str| self.cfg.peers.iter().any(|peer| peer.pin.to_string() == shown);
        match e {
            NetError::UnknownPeer { peer: Some(_), presented: Presented::Pin(pin), .. } if listed(pin) => {
                (self.cfg.me, Reason::Failed)
            }
            _ => (e.culprit(self.cfg.me), Reason::of(e)),
        }
    }

    /// The links of the session that was agreed on; of an error the others hear.
    fn into_net(self, session: Result<SessionId, NetError>) -> Result<Net, NetError> {
        let session = session.inspect_err(|e| {
            let (culprit, why) = self.blames(e);
            let step = if why.is_excuse() { step_of(why) } else { "connect" };
            self.watched.watch().abort(culprit, why, step);
        })?;
        let lanes = if self.cfg.me.is_client() { self.cfg.client_lanes } else { self.cfg.lanes };
        let mut net = Net::new(self.cfg.me, lanes, self.cfg.stall);
        for (slot, link) in self.links.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match link {
                Some(link) if slot.sends => net.add_tx(slot.peer, slot.lane, link),
                Some(link) => net.add_rx(slot.peer, slot.lane, link),
                None => {}
            }
        }
        let certificates = self.certificates.into_inner().unwrap_or_else(PoisonError::into_inner);
        net.attend(session, self.watched.into_hold());
        if let Some(observer) = &self.observer {
            let now = SystemTime::now();
            for (party, validity) in certificates.into_iter().filter(|(_, v)| v.expires_soon(now)) {
                observer(&Event::Expiring { party, validity });
            }
        }
        Ok(net)
    }
}
