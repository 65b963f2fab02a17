//! The state of a member that joins a session, or that tells the others why it does not.
//!
//! The threads of a member that dial, accept and wait share one [`Joining`]. It has the links by
//! slot, the handshakes in progress, the observations of missing members, and the errors so far.

use hushwire_fault::Text;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    iter,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use hushwire_machine::{NetError, PartyId, Reason, Signal, lock};

use crate::{
    Identity, Listener, Observer, SessionConfig, TransportKind, Validity,
    bell::{self, Bell},
    lobby::Origin,
    port::Registration,
    roster::{Nonce, Roster},
    sight::{Dialled, Sights, Sort},
    slot::{CONTROL_LANE, Duplex, Slot},
    tcp::Guard,
    tls::TlsSide,
    watch::{Half, Watching},
};

/// LOCAL: the wait after a refused connection. It doubles up to the second value.
pub(crate) const BACKOFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));

/// LOCAL: the time during which the listener of a party that gave up still answers, so that peers
/// that dial it learn the reason.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// The description of a peer that accepted the connection and has not answered.
const MUTE: &str = "it takes the connection and does not greet";
/// LOCAL: the time during which this process may lack descriptors before it gives up.
const SHORTAGE: Duration = Duration::from_secs(3);

/// Checks the configuration and prepares a member to connect to the others, either to join or to
/// tell them `excuse`.
pub(crate) fn with_joining<T>(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
    observer: Option<Observer>,
    excuse: Option<&Excuse>,
    stop: Option<&AtomicBool>,
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
        guard: Guard { deadline: Instant::now() + cfg.connect_timeout, given_up: &given_up, out: None, stop },
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

/// The reason of a member that ends before it joins, and the peers that have heard it.
pub(crate) struct Excuse {
    pub(crate) why: Reason,
    /// The member that gave the reason, if it is not this one.
    pub(crate) of: Option<PartyId>,
    pub(crate) told: Mutex<BTreeSet<PartyId>>,
}

/// A connection whose handshake runs on a thread of its own.
pub(crate) struct Greeter {
    pub(crate) number: u64,
    pub(crate) origin: Origin,
    /// The flag that ends the handshake.
    pub(crate) out: Arc<AtomicBool>,
}

/// A member that connects to the others. Its threads share it.
pub(crate) struct Joining<'a> {
    pub(crate) cfg: &'a SessionConfig,
    pub(crate) tls: TlsSide,
    listens: bool,
    /// The excuse of a member that ends and tells the others why.
    pub(crate) excuse: Option<&'a Excuse>,
    pub(crate) guard: Guard<'a>,
    /// Whether all peers have been told the excuse. Connections that still run a handshake are then
    /// from strangers.
    pub(crate) heard_all: AtomicBool,
    /// Whether all connections were there at some time in this round.
    pub(crate) complete: AtomicBool,
    /// The processes of this session.
    pub(crate) roster: Roster,
    /// The links by slot; `None` if the watcher has the link.
    pub(crate) links: Mutex<BTreeMap<Slot, Option<Box<dyn Duplex>>>>,
    /// The validity of the certificates of this party and its peers.
    pub(crate) certificates: Mutex<BTreeMap<PartyId, Validity>>,
    /// Bumped when a link is added, and when the session is lost.
    pub(crate) moved: Signal,
    pub(crate) watched: Watching,
    pub(crate) observer: Option<Observer>,
    /// The number of peers that have not been told the excuse.
    pub(crate) awaited: AtomicUsize,
    /// Rings when that number reaches 0.
    pub(crate) bell: Bell,
    /// The number of threads that run handshakes.
    pub(crate) greeting: AtomicUsize,
    /// The handshakes of peers that have not proved their identity, oldest first.
    pub(crate) unproven: Mutex<Vec<Greeter>>,
    /// The time since which this process has lacked descriptors.
    shortage: Mutex<Option<Instant>>,
    pub(crate) errors: Mutex<Vec<NetError>>,
    /// The number of refused connections, with the time and reason of the last one.
    pub(crate) refused: Mutex<Option<(usize, Instant, Text)>>,
    /// The observations of missing members.
    pub(crate) sights: Mutex<Sights>,
}

impl Joining<'_> {
    /// The error of a member that its program stops.
    pub(crate) fn stopped(&self) -> Option<NetError> {
        let (by, step, why) = (self.cfg.me, "connect".to_owned(), Reason::Interrupted);
        let stop = self.guard.stop.is_some_and(|stop| stop.load(Ordering::SeqCst));
        stop.then_some(NetError::Aborted { peer: Some(by), by, step, why })
    }

    /// Whether no connection remains to be dialled or accepted. All threads of this round then end,
    /// and a peer that is lost later belongs to the next round.
    pub(crate) fn over(&self) -> bool {
        if self.excuse.is_some() {
            return self.awaited.load(Ordering::SeqCst) == 0;
        }
        if !self.complete.load(Ordering::SeqCst) && self.missing(|_| true).is_empty() {
            self.complete.store(true, Ordering::SeqCst);
        }
        self.complete.load(Ordering::SeqCst)
    }

    /// Drops the connections of lost peers. Returns whether there were any.
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

    /// This party's slots that `wanted` accepts; its second argument says whether this party dials
    /// the slot.
    pub(crate) fn slots(&self, wanted: impl Fn(Slot, bool) -> bool) -> Vec<Slot> {
        let mut slots = Vec::new();
        for peer in &self.cfg.peers {
            // The control link comes first, since it reveals the peer's death from then on.
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

    /// Records that a process accepted the connection. Nothing more is known until its handshake.
    pub(crate) fn connected(&self, peer: PartyId, address: &str) {
        let is_known =
            lock(&self.sights).dialled.get(&peer).is_some_and(|before| before.sort != Sort::NoListener);
        if !is_known {
            self.dialled_in_vain(peer, address, Sort::Mute, MUTE.to_owned());
        }
    }

    pub(crate) fn dialled_in_vain(&self, peer: PartyId, address: &str, sort: Sort, last: String) {
        let tried = Dialled { address: address.to_owned(), sort, last };
        let mut sights = lock(&self.sights);
        if self.guard.check().is_ok() {
            sights.dialled.insert(peer, tried);
        } else {
            // The timeout cut this attempt short, so the previous attempt is more informative.
            sights.dialled.entry(peer).or_insert(tried);
        }
    }

    /// Keeps an accepted connection, the only one for its slot.
    pub(crate) fn keep(&self, slot: Slot, nonce: Nonce, link: Box<dyn Duplex>) {
        self.put(slot, nonce, link);
        if self.over() {
            // A full pipe wakes the reader as well.
            let _ = (&self.bell).write(&[0]);
        }
    }

    /// Records that this process could not get another descriptor. The member gives up if that
    /// lasts.
    pub(crate) fn short_of_descriptors(&self, source: io::Error) {
        let now = Instant::now();
        if now - *lock(&self.shortage).get_or_insert(now) >= SHORTAGE {
            self.give_up(NetError::Descriptors { step: "connect".to_owned(), source });
        }
    }

    /// Keeps a connection with the process that has this nonce, unless that process is already
    /// gone.
    pub(crate) fn put(&self, slot: Slot, nonce: Nonce, link: Box<dyn Duplex>) {
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
}
