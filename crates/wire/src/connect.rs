//! Joins a session: dials and accepts all connections of one party, and greets on each.
//!
//! One connection carries one lane one way. Between two parties that listen, the sender dials. A party without
//! a listener (a client) dials for both directions; the hello says which way data flows.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Write},
    iter,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use hushwire_fault::Text;
use hushwire_machine::{
    Net, NetError, PartyId, Presented, Reason, Rx, SessionId, Signal, Tx, out_of_descriptors,
};
use rustix::fd::AsFd;

use crate::{
    Event, Identity, Listener, Observer, PeerConfig, SessionConfig, TransportKind, Validity,
    accept::Greeter,
    bell::{self, Bell},
    excuse::{Excuse, News, step_of},
    hello::CONTROL_LANE,
    port::Registration,
    roster::{Nonce, Roster},
    sight::{Dialled, Sights, Sort, is_unproven, sort_of},
    tcp::Guard,
    tls::TlsSide,
    watch::{Half, Watching},
};

/// LOCAL: the wait after a refused connection, doubled up to the second number.
pub(crate) const BACKOFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));

/// LOCAL: how long a party that gave up still answers its listener, so that peers who dial it learn why.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// LOCAL: how often a dialler checks whether it must dial again.
const LOOK: Duration = Duration::from_millis(100);
/// Of a connection that was taken and not yet answered.
const MUTE: &str = "it takes the connection and does not greet";
/// LOCAL: how long this process may lack descriptors before it says so and gives up.
const SHORTAGE: Duration = Duration::from_secs(3);

/// A connection that can do both, until the hello has said which way it goes.
pub(crate) trait Duplex: Tx + Rx + AsFd {}
impl<L: Tx + Rx + AsFd> Duplex for L {}

/// The half of a lane that a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) peer: PartyId,
    pub(crate) lane: u16,
    /// Whether this party sends on it.
    pub(crate) sends: bool,
}

/// Reads after a party's name and "dialled".
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            CONTROL_LANE => f.write_str("the control connection"),
            lane => write!(f, "lane {lane}"),
        }
    }
}

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

/// Checks the configuration, and prepares a member to meet the others: to join, or to tell them
/// `excuse`.
pub(crate) fn with_joining<T>(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
    excuse: Option<&Excuse>,
    work: impl FnOnce(Joining<'_>, Option<&Registration<'_>>, &Bell) -> Result<T, NetError>,
) -> Result<T, NetError> {
    cfg.check(listener.is_some())?;
    if let Some(listener) = listener {
        listener.check(cfg.transport)?;
    }
    let port = listener.and_then(Listener::port);
    let registration = port.map(|port| port.register(cfg, identity.pin())).transpose()?;
    let own = identity.validity();
    if cfg.transport == TransportKind::TcpTls && !own.holds_at(SystemTime::now()) {
        return Err(NetError::Expired { peer: Some(cfg.me), what: format!("it holds {own}").into() });
    }
    let failed = |source| NetError::from_link(Some(cfg.me), "connect", source);
    let nonce = Nonce::fresh().map_err(failed)?;
    let (bell, ear) = bell::pair().map_err(failed)?;
    let watched = Watching::start(cfg, observer.clone()).map_err(failed)?;
    let given_up = AtomicBool::new(false);
    let joining = Joining {
        cfg,
        tls: TlsSide::new(identity),
        listens: listener.is_some(),
        excuse,
        guard: Guard { deadline: Instant::now() + cfg.connect_timeout, given_up: &given_up, out: None },
        heard_all: AtomicBool::new(false),
        complete: AtomicBool::new(false),
        roster: Roster::new(cfg.me, nonce),
        links: Mutex::new(BTreeMap::new()),
        certificates: Mutex::new(BTreeMap::from([(cfg.me, own)])),
        moved: Signal::default(),
        watched,
        observer,
        awaited: AtomicUsize::new(0),
        bell,
        greeting: AtomicUsize::new(0),
        unproven: Mutex::default(),
        shortage: Mutex::default(),
        errors: Mutex::new(Vec::new()),
        refused: Mutex::default(),
        sights: Mutex::default(),
    };
    work(joining, registration.as_ref(), &ear)
}

pub(crate) struct Joining<'a> {
    pub(crate) cfg: &'a SessionConfig,
    pub(crate) tls: TlsSide,
    listens: bool,
    /// Of a member that does not join, and tells the others why.
    pub(crate) excuse: Option<&'a Excuse>,
    pub(crate) guard: Guard<'a>,
    /// Nobody is awaited any more: whoever still greets is a stranger.
    pub(crate) heard_all: AtomicBool,
    /// All connections were there at some time of this round.
    complete: AtomicBool,
    /// The processes of this session.
    pub(crate) roster: Roster,
    /// `None` where the watcher has it.
    pub(crate) links: Mutex<BTreeMap<Slot, Option<Box<dyn Duplex>>>>,
    /// The validity of this party's certificate and of its peers'.
    pub(crate) certificates: Mutex<BTreeMap<PartyId, Validity>>,
    /// Bumped when a link is there, and when all is lost.
    pub(crate) moved: Signal,
    pub(crate) watched: Watching,
    pub(crate) observer: Option<Observer>,
    /// Peers that have not been told an excuse.
    pub(crate) awaited: AtomicUsize,
    /// Rings when none is.
    pub(crate) bell: Bell,
    /// Threads that greet.
    pub(crate) greeting: AtomicUsize,
    /// Those among them, oldest first, whose peers have not proved who they are.
    pub(crate) unproven: Mutex<Vec<Greeter>>,
    /// The time since which this process has no descriptors left.
    shortage: Mutex<Option<Instant>>,
    errors: Mutex<Vec<NetError>>,
    /// The number of refused connections, with the time and the reason of the last.
    pub(crate) refused: Mutex<Option<(usize, Instant, Text)>>,
    /// What was seen of missing members.
    pub(crate) sights: Mutex<Sights>,
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

    /// Whether nothing is left to dial or to accept. Then all threads of this round end, and a peer
    /// that is lost later is for the next round.
    pub(crate) fn over(&self) -> bool {
        if self.excuse.is_some() {
            return self.awaited.load(Ordering::SeqCst) == 0;
        }
        if !self.complete.load(Ordering::SeqCst) && self.missing(|_| true).is_empty() {
            self.complete.store(true, Ordering::SeqCst);
        }
        self.complete.load(Ordering::SeqCst)
    }

    /// Drops what is left of peers that were lost; whether there are any.
    pub(crate) fn clear_gone(&self) -> bool {
        let gone = self.watched.shared().take_gone();
        if gone.is_empty() {
            return false;
        }
        let mut links = lock(&self.links);
        for peer in gone {
            self.roster.forget(peer);
            links.retain(|slot, _| slot.peer != peer);
            lock(&self.certificates).remove(&peer);
            lock(&self.sights).gone.insert(peer, Instant::now());
        }
        drop(links);
        self.moved.bump();
        true
    }

    /// All slots of this party that `wanted` keeps, given also whether this party dials them.
    pub(crate) fn slots(&self, wanted: impl Fn(Slot, bool) -> bool) -> Vec<Slot> {
        let mut slots = Vec::new();
        for peer in &self.cfg.peers {
            // The control link comes first: from then on the peer's death shows.
            for lane in iter::once(CONTROL_LANE).chain(0..self.cfg.lanes_with(peer.id)) {
                for sends in [true, false] {
                    let slot = Slot { peer: peer.id, lane, sends };
                    let dials = peer.address.is_some() && (sends || !self.listens);
                    if wanted(slot, dials) {
                        slots.push(slot);
                    }
                }
            }
        }
        slots
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

    /// Somebody takes the connection: until it greets, that is what is known.
    pub(crate) fn connected(&self, peer: PartyId, address: &str) {
        let is_known =
            lock(&self.sights).dialled.get(&peer).is_some_and(|before| before.sort != Sort::NoListener);
        if !is_known {
            self.dialled_in_vain(peer, address, Sort::Mute, MUTE.to_owned());
        }
    }

    fn dialled_in_vain(&self, peer: PartyId, address: &str, sort: Sort, last: String) {
        let tried = Dialled { address: address.to_owned(), sort, last };
        let mut sights = lock(&self.sights);
        if self.guard.check().is_ok() {
            sights.dialled.insert(peer, tried);
        } else {
            // Cut short, as time is over: what was before says more.
            sights.dialled.entry(peer).or_insert(tried);
        }
    }

    /// An accepted connection, the only one for its slot.
    pub(crate) fn keep(&self, slot: Slot, nonce: Nonce, link: Box<dyn Duplex>) {
        self.put(slot, nonce, link);
        if self.over() {
            // A full pipe wakes as well.
            let _ = (&self.bell).write(&[0]);
        }
    }

    /// This process could not have another descriptor. That may pass, and gives up where it does not.
    pub(crate) fn short_of_descriptors(&self, source: io::Error) {
        let now = Instant::now();
        if now - *lock(&self.shortage).get_or_insert(now) >= SHORTAGE {
            self.give_up(NetError::Descriptors { step: "connect".to_owned(), source });
        }
    }

    /// Takes a connection with the process of this nonce, unless that is gone by now.
    fn put(&self, slot: Slot, nonce: Nonce, link: Box<dyn Duplex>) {
        let mut links = lock(&self.links);
        if !self.roster.is_in(slot.peer, nonce) {
            return;
        }
        let link = if slot.lane == CONTROL_LANE {
            let half: Half = if slot.sends { Half::Tx(link) } else { Half::Rx(link) };
            self.watched.shared().add(slot.peer, half);
            None
        } else {
            Some(link)
        };
        links.insert(slot, link);
        drop(links);
        *lock(&self.shortage) = None;
        self.moved.bump();
    }

    pub(crate) fn refuse(&self, why: Text) {
        let mut refused = lock(&self.refused);
        let before = refused.as_ref().map_or(0, |refused| refused.0);
        *refused = Some((before + 1, Instant::now(), why));
    }

    pub(crate) fn give_up(&self, e: NetError) {
        lock(&self.errors).push(e);
        self.guard.given_up.store(true, Ordering::SeqCst);
        self.moved.bump();
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

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
