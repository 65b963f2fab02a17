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

use rustix::fd::AsFd;

use crate::{
    Event, Identity, Listener, Net, NetError, Observer, PartyId, PeerConfig, Reason, Rx, SessionConfig,
    Signal, TransportKind, Tx, Validity,
    accept::Greeter,
    bell::{self, Bell},
    error::out_of_descriptors,
    excuse::{Excuse, step_of},
    hello::CONTROL_LANE,
    port::Registration,
    roster::{Nonce, Roster},
    tcp::Guard,
    tls::TlsSide,
    watch::{Half, Hold},
};

/// LOCAL: the wait after a refused connection, doubled up to the second number.
pub(crate) const BACKOFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));

/// LOCAL: how long a party that gave up still answers its listener, so that peers who dial it learn why.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
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
/// on one at a time where it is [shared](Listener::shared). A peer that dies after it has joined, or ends the session,
/// ends the wait for the others. One process of each member takes part: the connections of a second one with the same
/// key are refused, and [`Net::session`] is new each time.
///
/// # Errors
/// [`NetError::HandshakeMismatch`] on both sides when a peer disagrees, [`NetError::Duplicate`] when another process
/// with this party's key has joined before, [`NetError::UnknownPeer`] or
/// [`NetError::Tls`] when a dialled peer is not the one pinned, [`NetError::Connect`] when a peer does not come
/// within `connect_timeout`, [`NetError::Config`] when the configuration cannot work, [`NetError::Expired`] when a
/// certificate is not valid today, [`NetError::Dead`] and [`NetError::Aborted`] when a peer ends before all are here.
pub fn connect(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
) -> Result<Net, NetError> {
    join(cfg, identity, listener, None)
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
    join(cfg, identity, listener, Some(observer))
}

fn join(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
) -> Result<Net, NetError> {
    with_joining(cfg, identity, listener, observer, None, |joining, registration, ear| {
        joining.run(listener, registration, ear);
        joining.into_net()
    })
}

/// Checks the configuration, and works with what a member needs to meet the others: to join, or to tell them `excuse`.
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
        return Err(NetError::Expired { peer: Some(cfg.me), what: format!("it holds {own}") });
    }
    let failed = |source| NetError::from_link(Some(cfg.me), "connect", source);
    let nonce = Nonce::fresh().map_err(failed)?;
    let (bell, ear) = bell::pair().map_err(failed)?;
    let watched = Hold::start(cfg.me, cfg.liveness, observer.clone()).map_err(failed)?;
    let given_up = AtomicBool::new(false);
    let joining = Joining {
        cfg,
        tls: TlsSide::new(identity),
        listens: listener.is_some(),
        excuse,
        guard: Guard { deadline: Instant::now() + cfg.connect_timeout, given_up: &given_up, out: None },
        heard_all: AtomicBool::new(false),
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
        undialled: Mutex::default(),
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
    /// The processes of this session.
    pub(crate) roster: Roster,
    /// `None` where the watcher has it.
    pub(crate) links: Mutex<BTreeMap<Slot, Option<Box<dyn Duplex>>>>,
    /// The validity of this party's certificate and of its peers'.
    pub(crate) certificates: Mutex<BTreeMap<PartyId, Validity>>,
    /// Bumped when a link is there, and when all is lost.
    pub(crate) moved: Signal,
    pub(crate) watched: Hold,
    pub(crate) observer: Option<Observer>,
    /// Accepted connections still to come.
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
    pub(crate) refused: Mutex<Option<(usize, Instant, String)>>,
    /// The address where each peer was dialled in vain, with the reason of the last failure.
    pub(crate) undialled: Mutex<BTreeMap<PartyId, (String, String)>>,
}

impl Joining<'_> {
    fn run(&self, listener: Option<&Listener>, registration: Option<&Registration<'_>>, ear: &Bell) {
        let expected = self.slots(|_, dials| !dials);
        self.awaited.store(expected.len(), Ordering::SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| self.mind());
            for peer in &self.cfg.peers {
                let slots = self.slots(|slot, dials| dials && slot.peer == peer.id);
                if let (Some(address), false) = (&peer.address, slots.is_empty()) {
                    scope.spawn(move || {
                        for slot in slots {
                            if let Err(e) = self.dial_slot(peer, address, slot) {
                                return self.give_up(e);
                            }
                        }
                    });
                }
            }
            if let Some(listener) = listener.filter(|_| !expected.is_empty()) {
                self.accept_all(scope, listener, registration, ear);
                self.heard_all.store(true, Ordering::SeqCst);
            }
        });
        if lock(&self.errors).is_empty()
            && let Some(e) = self.absent(listener)
        {
            lock(&self.errors).push(e);
        }
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

    fn dial_slot(&self, peer: &PeerConfig, address: &str, slot: Slot) -> Result<(), NetError> {
        let mut backoff = BACKOFF.0;
        loop {
            let attempt = self.dial_once(peer, address, slot);
            // Refused, or closed before a word: the peer, or what stands before it, is not up yet.
            let last = match attempt {
                Ok(link) => {
                    lock(&self.undialled).remove(&peer.id);
                    self.put(&mut lock(&self.links), slot, link);
                    return Ok(());
                }
                Err(NetError::Io { source, .. }) => {
                    let last = source.to_string();
                    if out_of_descriptors(&source) {
                        self.short_of_descriptors(source);
                    }
                    last
                }
                Err(e @ NetError::Closed { .. }) => e.to_string(),
                Err(e) => return Err(e),
            };
            let tried = (address.to_owned(), last);
            let mut undialled = lock(&self.undialled);
            if self.guard.check().is_ok() {
                undialled.insert(peer.id, tried);
            } else {
                // Cut short, as time is over: what was before says more.
                undialled.entry(peer.id).or_insert(tried);
            }
            drop(undialled);
            thread::sleep(backoff.min(self.guard.check().unwrap_or_default()));
            backoff = (backoff * 2).min(BACKOFF.1);
            if self.guard.check().is_err() {
                // Who is absent is said at the end, of all together.
                return Ok(());
            }
        }
    }

    /// An accepted connection, the only one for its slot.
    pub(crate) fn keep(&self, slot: Slot, link: Box<dyn Duplex>) {
        self.put(&mut lock(&self.links), slot, link);
        if self.awaited.fetch_sub(1, Ordering::SeqCst) == 1 {
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

    fn put(&self, links: &mut BTreeMap<Slot, Option<Box<dyn Duplex>>>, slot: Slot, link: Box<dyn Duplex>) {
        let link = if slot.lane == CONTROL_LANE {
            let half: Half = if slot.sends { Half::Tx(link) } else { Half::Rx(link) };
            self.watched.shared().add(slot.peer, half);
            None
        } else {
            Some(link)
        };
        links.insert(slot, link);
        *lock(&self.shortage) = None;
        self.moved.bump();
    }

    pub(crate) fn refuse(&self, why: String) {
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
            NetError::UnknownPeer { peer: Some(_), presented, .. } if listed(presented) => {
                (self.cfg.me, Reason::Failed)
            }
            _ => (e.culprit(self.cfg.me), Reason::of(e)),
        }
    }

    /// The links, or the most telling error.
    fn into_net(self) -> Result<Net, NetError> {
        let errors = core::mem::take(&mut *lock(&self.errors));
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
        let session = match errors.into_iter().min_by_key(telling) {
            None => self.agree(),
            Some(e) => Err(e),
        };
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
        net.attend(session, self.watched, certificates);
        if let Some(observer) = &self.observer {
            for (party, validity) in net.expiring() {
                observer(&Event::Expiring { party, validity });
            }
        }
        Ok(net)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
