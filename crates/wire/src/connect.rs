//! Joins a session: dials and accepts all connections of one party, and greets on each.
//!
//! One connection carries one lane one way. Between two parties that listen, the sender dials. A party without
//! a listener (a client) dials for both directions; the hello says which way data flows.

use std::{
    collections::BTreeMap,
    io,
    os::fd::AsFd,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use crate::{
    Identity, Listener, Net, NetError, PartyId, PeerConfig, Rx, SessionConfig, Tx,
    hello::{BadHello, Flow, HELLO_BYTES, Hello, Role, WIRE_VERSION},
    tcp::Guard,
    tls::{TlsSide, wrong_pin},
    transport::{self, Stream},
};

/// LOCAL: connections that greet at the same time; more wait in the system's queue.
const GREETERS: usize = 64;
/// LOCAL: how long an accepted connection may take to greet, so that silent strangers leave.
const GREETING: Duration = Duration::from_secs(10);
/// LOCAL: the wait after a refused connection, doubled up to the second number.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));

/// LOCAL: how long a party that gave up still answers its listener, so that peers who dial it learn why.
const GRACE: Duration = Duration::from_millis(500);

/// A connection that can do both, until the hello has said which way it goes.
pub(crate) trait Duplex: Tx + Rx + AsFd {}
impl<L: Tx + Rx + AsFd> Duplex for L {}

/// Which half of which lane a connection is for: `Sends` when this party sends on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    peer: PartyId,
    lane: u16,
    sends: bool,
}

/// Joins the session: connects every lane with every peer, both ways.
///
/// Dials with retry while it accepts. Connections of strangers (an unlisted certificate, not a hello) are closed and
/// do not end the session. `listener` may be `None` when every peer has an address, as for a client.
///
/// # Errors
/// [`NetError::HandshakeMismatch`] on both sides when a peer disagrees, [`NetError::UnknownPeer`] or
/// [`NetError::Tls`] when a dialled peer is not the one pinned, [`NetError::Connect`] when a peer does not come
/// within `connect_timeout`, [`NetError::Config`] when the configuration cannot work.
pub fn connect(
    cfg: &SessionConfig,
    identity: &Identity,
    listener: Option<&Listener>,
) -> Result<Net, NetError> {
    cfg.check(listener.is_some())?;
    if let Some(listener) = listener {
        listener.check(cfg.transport)?;
    }
    let given_up = AtomicBool::new(false);
    let joining = Joining {
        cfg,
        tls: TlsSide::new(identity),
        listens: listener.is_some(),
        guard: Guard { deadline: Instant::now() + cfg.connect_timeout, given_up: &given_up },
        heard_all: AtomicBool::new(false),
        links: Mutex::new(BTreeMap::new()),
        awaited: AtomicUsize::new(0),
        greeting: AtomicUsize::new(0),
        errors: Mutex::new(Vec::new()),
        refused: Mutex::new((0, String::new())),
    };
    joining.run(listener);
    joining.into_net()
}

struct Joining<'a> {
    cfg: &'a SessionConfig,
    tls: TlsSide,
    listens: bool,
    guard: Guard<'a>,
    /// Nobody is awaited any more: whoever still greets is a stranger.
    heard_all: AtomicBool,
    links: Mutex<BTreeMap<Slot, Box<dyn Duplex>>>,
    /// Accepted connections still to come.
    awaited: AtomicUsize,
    greeting: AtomicUsize,
    errors: Mutex<Vec<NetError>>,
    /// How many connections were refused, and why the last was.
    refused: Mutex<(usize, String)>,
}

impl Joining<'_> {
    fn run(&self, listener: Option<&Listener>) {
        let expected = self.slots(|_, dials| !dials);
        self.awaited.store(expected.len(), Ordering::SeqCst);
        thread::scope(|scope| {
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
                self.accept_all(scope, listener);
                self.heard_all.store(true, Ordering::SeqCst);
            }
        });
        let links = lock(&self.links);
        if let Some(missing) = expected.iter().find(|slot| !links.contains_key(slot)) {
            let refused = lock(&self.refused);
            let mut cause =
                format!("it dialled no lane {} within {:?}", missing.lane, self.cfg.connect_timeout);
            if refused.0 > 0 {
                cause +=
                    &format!(" ({} connections were refused, the last because {})", refused.0, refused.1);
            }
            let ours = listener.map_or_else(String::new, Listener::address);
            let address = format!("our own {ours}");
            lock(&self.errors).push(NetError::Connect { peer: Some(missing.peer), address, cause });
        }
    }

    /// All slots of this party that `wanted` keeps, given also whether this party dials them.
    fn slots(&self, wanted: impl Fn(Slot, bool) -> bool) -> Vec<Slot> {
        let mut slots = Vec::new();
        for peer in &self.cfg.peers {
            for lane in 0..self.cfg.lanes_with(peer.id) {
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
                    lock(&self.links).insert(slot, link);
                    return Ok(());
                }
                Err(NetError::Io { source, .. }) => source.to_string(),
                Err(e @ NetError::Closed { .. }) => e.to_string(),
                Err(e) => return Err(e),
            };
            thread::sleep(backoff.min(self.guard.check().unwrap_or_default()));
            backoff = (backoff * 2).min(BACKOFF.1);
            if self.guard.check().is_err() {
                let cause = format!("gave up after {:?}, at last because {last}", self.cfg.connect_timeout);
                return Err(NetError::Connect { peer: Some(peer.id), address: address.to_owned(), cause });
            }
        }
    }

    fn dial_once(&self, peer: &PeerConfig, address: &str, slot: Slot) -> Result<Box<dyn Duplex>, NetError> {
        let on = |e| handshake_error(Some(peer.id), e);
        let stream = transport::dial(address, &self.guard, self.cfg.socket_buffer).map_err(|source| NetError::Io {
            peer: Some(peer.id),
            step: "connect".to_owned(),
            source,
        })?;
        let mut link =
            transport::dialled(stream, self.cfg.transport, &self.tls, peer.pin, &self.guard).map_err(on)?;
        let flow = if slot.sends { Flow::FromDialer } else { Flow::FromListener };
        let ours = self.hello(peer.id, slot.lane, flow, Role::Dialer);
        self.guard.send(&mut *link, &ours.encode()).map_err(on)?;
        let mut theirs = [0; HELLO_BYTES];
        self.guard.recv(&mut *link, &mut theirs).map_err(on)?;
        match Hello::decode(&theirs) {
            Ok(theirs) => ours.judge(&theirs, peer.id)?,
            Err(bad) => return Err(bad_hello(Some(peer.id), &bad)),
        }
        Ok(link)
    }

    /// Whether to go on accepting; `grace` holds when that ends for a party that gave up.
    fn may_accept(&self, grace: &mut Option<Instant>) -> bool {
        if self.guard.given_up.load(Ordering::SeqCst) {
            return Instant::now() < *grace.get_or_insert_with(|| Instant::now() + GRACE);
        }
        self.guard.check().is_ok()
    }

    fn accept_all<'s, 'e>(&'s self, scope: &'s Scope<'s, 'e>, listener: &'s Listener) {
        let mut grace = None;
        while self.awaited.load(Ordering::SeqCst) > 0 && self.may_accept(&mut grace) {
            if self.greeting.load(Ordering::SeqCst) >= GREETERS {
                thread::sleep(BACKOFF.0);
                continue;
            }
            // Short waits: the last greeting may fill the last slot meanwhile.
            let turn = Guard { given_up: &self.heard_all, ..self.guard }.within(Duration::from_millis(50));
            let stream = match listener.accept(&turn, self.cfg.socket_buffer) {
                Ok(stream) => stream,
                Err(e) => {
                    if e.kind() != io::ErrorKind::TimedOut {
                        self.refuse(format!("no connection could be accepted: {e}"));
                        thread::sleep(BACKOFF.1);
                    }
                    continue;
                }
            };
            self.greeting.fetch_add(1, Ordering::SeqCst);
            let greeter = thread::Builder::new().name("greeter".to_owned()).spawn_scoped(scope, move || {
                match self.greet(stream) {
                    Ok((slot, link)) => self.keep(slot, link),
                    Err((true, e)) => self.give_up(e),
                    Err((false, e)) => self.refuse(e.to_string()),
                }
                self.greeting.fetch_sub(1, Ordering::SeqCst);
            });
            if let Err(e) = greeter {
                self.greeting.fetch_sub(1, Ordering::SeqCst);
                self.refuse(format!("no thread could be started: {e}"));
            }
        }
    }

    /// Greets on an accepted connection. The error says whether it ends the session: only a known peer's does.
    fn greet(&self, stream: Stream) -> Result<(Slot, Box<dyn Duplex>), (bool, NetError)> {
        let guard = Guard { given_up: &self.heard_all, ..self.guard }.within(GREETING);
        let stranger = |peer: Option<PartyId>| move |e| (false, handshake_error(peer, e));
        let (mut link, pin) =
            transport::accepted(stream, self.cfg, &self.tls, &guard).map_err(stranger(None))?;
        let pinned = self.cfg.peers.iter().find(|peer| Some(peer.pin) == pin).map(|peer| peer.id);
        let mut bytes = [0; HELLO_BYTES];
        guard.recv(&mut *link, &mut bytes).map_err(stranger(pinned))?;
        let theirs = Hello::decode(&bytes);
        let claimed = match &theirs {
            Ok(Hello { from, .. }) | Err(BadHello::Version { from, .. }) => Some(*from),
            Err(_) => None,
        };
        // Without TLS a peer is whom it says it is.
        let peer = if pin.is_some() { pinned } else { claimed };
        let Some(peer) = self.cfg.peers.iter().find(|p| Some(p.id) == peer) else {
            let presented =
                claimed.map_or_else(|| "a connection without a hello".to_owned(), |id| id.to_string());
            return Err((
                false,
                NetError::UnknownPeer { peer: claimed, step: "handshake".to_owned(), presented },
            ));
        };
        let (lane, wanted) = theirs.as_ref().map_or((0, Flow::FromDialer), |hello| (hello.lane, hello.flow));
        let flow = if peer.address.is_some() { Flow::FromDialer } else { wanted };
        let ours = self.hello(peer.id, lane, flow, Role::Listener);
        guard.send(&mut *link, &ours.encode()).map_err(stranger(Some(peer.id)))?;
        let theirs = theirs.map_err(|bad| (true, bad_hello(Some(peer.id), &bad)))?;
        ours.judge(&theirs, peer.id).map_err(|e| (true, e))?;
        Ok((Slot { peer: peer.id, lane, sends: flow == Flow::FromListener }, link))
    }

    fn hello(&self, peer: PartyId, lane: u16, flow: Flow, role: Role) -> Hello {
        Hello {
            version: WIRE_VERSION,
            from: self.cfg.me,
            to: peer,
            session: self.cfg.session,
            job_digest: self.cfg.job_digest,
            params: self.cfg.params,
            lane,
            lanes: self.cfg.lanes_with(peer),
            flow,
            role,
        }
    }

    /// The first connection for a slot stays; a second is refused.
    fn keep(&self, slot: Slot, link: Box<dyn Duplex>) {
        let mut links = lock(&self.links);
        if links.contains_key(&slot) {
            drop(links);
            return self.refuse(format!("{} dialled lane {} twice", slot.peer, slot.lane));
        }
        links.insert(slot, link);
        self.awaited.fetch_sub(1, Ordering::SeqCst);
    }

    fn refuse(&self, why: String) {
        let mut refused = lock(&self.refused);
        *refused = (refused.0 + 1, why);
    }

    fn give_up(&self, e: NetError) {
        lock(&self.errors).push(e);
        self.guard.given_up.store(true, Ordering::SeqCst);
    }

    /// The links, or the most telling error.
    fn into_net(self) -> Result<Net, NetError> {
        let errors = self.errors.into_inner().unwrap_or_else(PoisonError::into_inner);
        let telling = |e: &NetError| match e {
            NetError::HandshakeMismatch { .. } => 0,
            NetError::UnknownPeer { .. } => 1,
            NetError::Tls { .. } | NetError::Malformed { .. } => 2,
            _ => 3,
        };
        if let Some(e) = errors.into_iter().min_by_key(telling) {
            return Err(e);
        }
        let lanes = if self.cfg.me.is_client() { self.cfg.client_lanes } else { self.cfg.lanes };
        let mut net = Net::new(self.cfg.me, lanes, self.cfg.stall);
        for (slot, link) in self.links.into_inner().unwrap_or_else(PoisonError::into_inner) {
            if slot.sends {
                net.add_tx(slot.peer, slot.lane, link);
            } else {
                net.add_rx(slot.peer, slot.lane, link);
            }
        }
        Ok(net)
    }
}

/// A certificate that is not listed makes a stranger; everything else is as the link says.
fn handshake_error(peer: Option<PartyId>, e: io::Error) -> NetError {
    match NetError::from_link(peer, "handshake", e) {
        NetError::Tls { peer, step, source } => match wrong_pin(&source) {
            Some(pin) => NetError::UnknownPeer { peer, step, presented: pin.to_string() },
            None => NetError::Tls { peer, step, source },
        },
        other => other,
    }
}

fn bad_hello(peer: Option<PartyId>, bad: &BadHello) -> NetError {
    let what = match bad {
        BadHello::Version { version, .. } => {
            let (ours, theirs) = (WIRE_VERSION.to_string(), version.to_string());
            return NetError::HandshakeMismatch { peer, field: "wire version", ours, theirs };
        }
        BadHello::Magic => {
            "it does not begin as ours does; is another program, or another transport, there?".into()
        }
        BadHello::Field(field) => format!("its {field} is not a value that exists"),
    };
    NetError::Malformed { peer, msg: "hello", what }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
