//! Joins a session: dials and accepts all connections of a party, and runs the handshake on each.
//!
//! A connection carries one lane in one direction. Between two parties that listen, the sender
//! dials. A party without a listener (a client) dials for both directions, and the hello gives the
//! direction of the data.

use hushwire_fault::Text;
use std::{
    collections::BTreeMap,
    sync::{
        PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use hushwire_machine::{
    Net, NetError, PartyId, Presented, Reason, Rx, SessionId, Tx, lock, out_of_descriptors,
};

use crate::{
    Event, Identity, LinkStock, Listener, Observer, PeerConfig, SessionConfig,
    bell::Bell,
    excuse::{News, step_of},
    joining::{BACKOFF, Joining, with_joining},
    port::Registration,
    sight::{Dialled, Sort, is_unproven, sort_of},
    slot::Slot,
};

/// LOCAL: the interval at which a dialler checks whether it must dial again.
const LOOK: Duration = Duration::from_millis(100);

/// Joins the session: connects every lane with every peer in both directions, and waits until all
/// peers have done the same.
///
/// It dials repeatedly while it accepts. Connections of strangers (an unlisted certificate, or no
/// hello) are closed and do not end the session. `listener` may be `None` if every peer has an
/// address, as for a client. Many sessions may join at once on a [shared](Listener::shared)
/// listener. A peer that ends the session ends the wait for the others. A peer that dies before all
/// have joined may be restarted, and is waited for. A process that does not prove to be a peer ends
/// nothing. One process of each member takes part: while it lives, connections of a second process
/// with the same key are refused. [`Net::session`] is unique to each session.
///
/// # Errors
/// [`NetError::HandshakeMismatch`] at both ends if a peer disagrees; [`NetError::Duplicate`] if
/// another process with this party's key has joined before; [`NetError::UnknownPeer`] or
/// [`NetError::Tls`] if a process other than the pinned peer answers until `connect_timeout`;
/// [`NetError::Connect`] or [`NetError::Absent`] if peers do not come before that;
/// [`NetError::Config`] if the configuration cannot work; [`NetError::Expired`] if a certificate is
/// not valid today; [`NetError::Dead`] and [`NetError::Aborted`] if a peer ends before all have
/// joined.
pub fn connect(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
) -> Result<Net, NetError> {
    join(cfg, identity, listener, None, None).map_err(|(e, _)| e)
}

/// As [`connect`], with an observer that is told which members the session waits for. It is called
/// until the net and its channels are dropped.
///
/// # Errors
/// The errors of [`connect`].
pub fn connect_observed(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Observer,
) -> Result<Net, NetError> {
    join(cfg, identity, listener, Some(observer), None).map_err(|(e, _)| e)
}

/// As [`connect_observed`], but the error may come with [`News`] that a member ended before it
/// joined, for members that may not know it yet. Pass the news to [`retell`](crate::retell). Once
/// `stop` is set, the member gives up within a moment, and tells the others that it was
/// interrupted.
///
/// # Errors
/// The errors of [`connect`]; [`NetError::Aborted`] by this member itself once `stop` is set.
pub fn connect_or_news(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Observer,
    stop: Option<&AtomicBool>,
) -> Result<Net, (NetError, Option<Box<News>>)> {
    join(cfg, identity, listener, Some(observer), stop)
}

/// As [`connect_or_news`], with links that outlive the session. They return to the [`LinkStock`]
/// and serve another session of the same members.
///
/// # Errors
/// The errors of [`connect_or_news`].
#[expect(clippy::type_complexity, reason = "as `connect_or_news` has it, with a stock")]
pub fn connect_kept(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Observer,
    stop: Option<&AtomicBool>,
) -> Result<(Net, LinkStock), (NetError, Option<Box<News>>)> {
    let met = meeting(cfg, identity, listener, Some(observer), stop, true)?;
    // The stock is new, so all links are there.
    met.1.map(|stock| (met.0, stock)).ok_or_else(|| {
        let what = "the links of the session cannot be kept".to_owned();
        (NetError::Config { peer: None, what }, None)
    })
}

fn join(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
    stop: Option<&AtomicBool>,
) -> Result<Net, (NetError, Option<Box<News>>)> {
    meeting(cfg, identity, listener, observer, stop, false).map(|(net, _)| net)
}

#[expect(clippy::type_complexity, reason = "of one module")]
fn meeting(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
    stop: Option<&AtomicBool>,
    keeps: bool,
) -> Result<(Net, Option<LinkStock>), (NetError, Option<Box<News>>)> {
    let mut news = None;
    let met = with_joining(cfg, identity, listener, observer, None, stop, |joining, registration, ear| {
        joining.meet(listener, registration, ear, keeps, &mut news)
    });
    met.map_err(|e| (e, news.map(Box::new)))
}

impl Joining<'_> {
    /// Connects to all peers. If a peer is lost before all agree on the session, connects to its
    /// successor too.
    fn meet(
        self,
        listener: Option<&Listener>,
        registration: Option<&Registration<'_>>,
        ear: &Bell,
        keeps: bool,
        news: &mut Option<News>,
    ) -> Result<(Net, Option<LinkStock>), NetError> {
        let session = loop {
            self.run(listener, registration, ear);
            if let Some(e) = self.cause(listener) {
                break Err(e);
            }
            // Otherwise a peer was lost, and another round replaces its connections.
            if let Some(agreed) = self.agree().transpose() {
                break agreed;
            }
        };
        *news = session.as_ref().err().and_then(|e| self.news(e));
        self.into_net(session, keeps)
    }

    /// Dials and accepts until all connections are there or the time has passed.
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

    /// The most informative error, if there is one. Once the time has passed, this includes an
    /// error for members that have not come.
    fn cause(&self, listener: Option<&Listener>) -> Option<NetError> {
        if let Some(e) = self.stopped() {
            return Some(e);
        }
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

    /// Replaces a report that a member is missing by this party's own observation of that member,
    /// if there is one.
    fn seen_here(&self, e: NetError) -> NetError {
        let mut sights = lock(&self.sights);
        if let NetError::Blamed { why: Reason::Absent, .. } = e {
            // This party did not reach the others because a stranger answered for them. Perhaps its
            // own list is wrong.
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

    /// Dials all of this party's connections to `peer`, and dials lost ones again.
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
            // If the connection is refused, or closed before any byte, the peer or a proxy before
            // it is not up yet.
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
                // Absent members are reported together at the end.
                return Ok(());
            }
        }
    }

    /// The party to blame, as the others are told, and the reason. If one member answers at the
    /// address of another, this party's own list is wrong and neither member is to blame.
    fn blames(&self, e: &NetError) -> (PartyId, Reason) {
        let listed = |shown: &str| self.cfg.peers.iter().any(|peer| peer.pin.to_string() == shown);
        match e {
            NetError::UnknownPeer { peer: Some(_), presented: Presented::Pin(pin), .. } if listed(pin) => {
                (self.cfg.me, Reason::Failed)
            }
            _ => (e.culprit(self.cfg.me), Reason::of(e)),
        }
    }

    /// Returns the links of the agreed session, or tells the others of an error.
    fn into_net(
        self,
        session: Result<SessionId, NetError>,
        keeps: bool,
    ) -> Result<(Net, Option<LinkStock>), NetError> {
        let session = session.inspect_err(|e| {
            let (culprit, why) = self.blames(e);
            let step = if why.is_excuse() { step_of(why) } else { "connect" };
            self.watched.watch().abort(culprit, why, step);
        })?;
        let lanes = if self.cfg.me.is_client() { self.cfg.client_lanes } else { self.cfg.lanes };
        let (mut tx, mut rx) = (BTreeMap::new(), BTreeMap::new());
        for (slot, link) in self.links.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let at = (slot.peer, slot.lane);
            match link {
                Some(link) if slot.sends => _ = tx.insert(at, link as Box<dyn Tx>),
                Some(link) => _ = rx.insert(at, link as Box<dyn Rx>),
                None => {}
            }
        }
        let certificates = self.certificates.into_inner().unwrap_or_else(PoisonError::into_inner);
        let of = (self.cfg.me, lanes, self.cfg.stall);
        let (net, stock) = if keeps {
            let stock = LinkStock::new(of, session, self.watched.parts(), tx, rx);
            match stock.lend() {
                Some(net) => (net, Some(stock)),
                // A peer has ended in the meantime.
                None => {
                    stock.watch().check("connect")?;
                    (Net::new(of.0, of.1, of.2), None)
                }
            }
        } else {
            let mut net = Net::new(of.0, of.1, of.2);
            tx.into_iter().for_each(|((peer, lane), link)| net.add_tx(peer, lane, link));
            rx.into_iter().for_each(|((peer, lane), link)| net.add_rx(peer, lane, link));
            net.attend(session, self.watched.into_hold());
            (net, None)
        };
        if let Some(observer) = &self.observer {
            let now = SystemTime::now();
            for (party, validity) in certificates.into_iter().filter(|(_, v)| v.expires_soon(now)) {
                observer(&Event::Expiring { party, validity });
            }
        }
        Ok((net, stock))
    }
}
