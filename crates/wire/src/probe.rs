//! Probes of peers without a session: presence, identity, clocks, round trips and rates.
//!
//! ```text
//! dialler  hello(PROBE) ─►          P ─►             > chunk > chunk … P ─►
//! listener               ◄─ hello       ◄─ its time                       ◄─ time
//!
//! dialler  < < < ─►                B ─►
//! listener         ◄─ chunk chunk
//! ```
//! Each command is one byte. All chunks have the same length, so the wire announces no lengths. A
//! party that waits for a session answers the hello and continues to wait, so a probe never ends a
//! run.

use std::{
    io,
    sync::atomic::AtomicBool,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use hushwire_fault::Text;
use hushwire_machine::{NetError, PartyId, Presented, SessionId};
use zeroize::Zeroizing;

use crate::{
    Identity, Listener, PeerConfig, Probe, SessionConfig, TransportKind, Validity,
    greeting::{bad_hello, handshake_error, unproven_error},
    hello::{Flow, GreetingRole, HELLO_BYTES, Hello, WIRE_VERSION},
    roster::Nonce,
    slot::Duplex,
    tcp::Guard,
    tls::TlsSide,
    transport::{self, HostStream},
};

/// AGREEMENT: the bytes that one data command moves.
pub(crate) const CHUNK_BYTES: usize = 1 << 16;
/// LOCAL: the time that one step may take.
pub(crate) const STEP: Duration = Duration::from_secs(10);
/// LOCAL: the time during which a prober is answered.
const VISIT: Duration = Duration::from_secs(60);
/// AGREEMENT: the commands.
pub(crate) const PING: u8 = b'P';
pub(crate) const TAKE: u8 = b'>';
pub(crate) const GIVE: u8 = b'<';
pub(crate) const BYE: u8 = b'B';

/// A probe cannot be ended from outside.
static NEVER: AtomicBool = AtomicBool::new(false);

/// A party that probes others and answers their probes.
pub struct Prober {
    cfg: SessionConfig,
    tls: TlsSide,
}

/// The state of a dialled peer.
pub enum DialledPeer {
    /// The peer probes as well, and can be measured.
    Probe(Box<Probe>),
    /// The peer waits for a session; only its certificate is known.
    InSession(Option<Validity>),
}

/// An accepted connection before its handshake, and the bytes that were already read from it.
pub struct Incoming(HostStream, Vec<u8>);

/// The result of an accepted connection.
#[derive(Debug)]
pub enum Visit {
    /// A peer probed this party, up to its goodbye.
    Measured(PartyId),
    /// A peer dialled for a session, and waits for this party.
    InSession(PartyId),
    /// The connection was a stranger's, or failed.
    Failed(NetError),
}

pub(crate) fn guard(limit: Duration) -> Guard<'static> {
    Guard { deadline: Instant::now() + limit, given_up: &NEVER, out: None, stop: None }
}

impl Prober {
    /// Makes a prober for a party and its peers.
    #[must_use]
    pub fn new(me: PartyId, peers: Vec<PeerConfig>, transport: TransportKind, identity: &Identity) -> Self {
        let cfg = SessionConfig::new(me, SessionId::PROBE, peers, transport);
        let cfg = SessionConfig { connect_timeout: STEP, stall: STEP, ..cfg };
        Self { cfg, tls: TlsSide::new(identity) }
    }

    /// Finds configurations that cannot work, before any peer is dialled.
    ///
    /// # Errors
    /// [`NetError::Config`].
    pub fn check(&self, listens: bool) -> Result<(), NetError> {
        self.cfg.check(listens)
    }

    /// Dials `peer` once.
    ///
    /// # Errors
    /// [`NetError::Io`] if no process answers there, [`NetError::UnknownPeer`] if it shows another
    /// certificate, [`NetError::Expired`], [`NetError::HandshakeMismatch`] for another release or
    /// other party numbers, and the other errors of [`crate::connect`].
    pub fn dial(&self, peer: &PeerConfig) -> Result<DialledPeer, NetError> {
        let guard = guard(STEP);
        let on = |e| handshake_error(self.cfg.me, self.tls.pin(), Some(peer.id), e);
        let Some(address) = &peer.address else {
            return Err(NetError::Config { peer: Some(peer.id), what: "it has no address".to_owned() });
        };
        let stream = transport::dial(address, &guard, None).map_err(|source| NetError::Io {
            peer: Some(peer.id),
            step: "connect".to_owned(),
            source,
        })?;
        let (mut link, shown) = transport::dialled(stream, &self.cfg, &self.tls, peer.pin, &guard)
            .map_err(|e| unproven_error(Some(peer.id), e))?;
        let ours = self.hello(peer.id, GreetingRole::Dialer);
        guard.send(&mut *link, &ours.encode()).map_err(on)?;
        let mut theirs = [0; HELLO_BYTES];
        guard.recv(&mut *link, &mut theirs).map_err(on)?;
        let theirs = Hello::decode(&theirs).map_err(|bad| bad_hello(Some(peer.id), &bad))?;
        self.judge(&theirs, peer.id)?;
        let validity = shown.map(|shown| shown.validity);
        if theirs.session != SessionId::PROBE {
            return Ok(DialledPeer::InSession(validity));
        }
        let probe = Probe { link, peer: peer.id, validity };
        Ok(DialledPeer::Probe(Box::new(probe)))
    }

    /// Accepts the next connection; `None` if none comes within `wait`.
    ///
    /// # Errors
    /// The listener does not fit the transport, or the system refuses.
    pub fn accept(&self, listener: &Listener, wait: Duration) -> Result<Option<Incoming>, NetError> {
        listener.check(self.cfg.transport)?;
        match listener.accept(&guard(wait), None) {
            Ok((stream, first)) => Ok(Some(Incoming(stream, first))),
            Err(e) if e.kind() == io::ErrorKind::TimedOut => Ok(None),
            Err(source) => Err(NetError::Io {
                peer: Some(self.cfg.me),
                step: "accepting connections".to_owned(),
                source,
            }),
        }
    }

    /// Runs the handshake on a connection and executes the peer's commands until it has finished.
    #[must_use]
    pub fn answer(&self, incoming: Incoming) -> Visit {
        self.visit(incoming).unwrap_or_else(Visit::Failed)
    }

    fn visit(&self, Incoming(stream, first): Incoming) -> Result<Visit, NetError> {
        let greeting = guard(STEP);
        let on = |peer: Option<PartyId>| move |e| handshake_error(self.cfg.me, self.tls.pin(), peer, e);
        let pins = Some(self.cfg.peers.iter().map(|peer| peer.pin).collect());
        let accepted = transport::accepted(stream, &self.cfg, &self.tls, pins, &greeting, &first);
        let (mut link, shown) = accepted.map_err(on(None))?;
        let pinned = shown.and_then(|s| self.cfg.peers.iter().find(|p| p.pin == s.pin)).map(|p| p.id);
        let mut bytes = [0; HELLO_BYTES];
        greeting.recv(&mut *link, &mut bytes).map_err(on(pinned))?;
        let theirs = Hello::decode(&bytes).map_err(|bad| bad_hello(pinned, &bad));
        let claimed = theirs.as_ref().ok().map(|hello| hello.from);
        let Some(peer) = pinned.or(claimed.filter(|id| self.cfg.peers.iter().any(|p| p.id == *id))) else {
            let presented = Presented::Other(Text::peer(claimed, "a stranger"));
            return Err(NetError::UnknownPeer { peer: claimed, step: "handshake".to_owned(), presented });
        };
        greeting
            .send(&mut *link, &self.hello(peer, GreetingRole::Listener).encode())
            .map_err(on(Some(peer)))?;
        let theirs = theirs?;
        if theirs.session != SessionId::PROBE {
            return Ok(Visit::InSession(peer));
        }
        self.judge(&theirs, peer)?;
        serve(&mut *link, &guard(VISIT)).map_err(|e| NetError::from_link(Some(peer), "answering", e))?;
        Ok(Visit::Measured(peer))
    }

    fn hello(&self, to: PartyId, role: GreetingRole) -> Hello {
        Hello {
            version: WIRE_VERSION,
            from: self.cfg.me,
            to,
            session: SessionId::PROBE,
            job_digest: [0; 32],
            params: [0; 32],
            lane: 0,
            lanes: 1,
            flow: Flow::FromDialer,
            role,
            shm: self.cfg.transport == TransportKind::Shm,
            full: false,
            ends: None,
            of: None,
            nonce: Nonce([0; 16]),
        }
    }

    /// Compares hellos. Clients have numbers only in jobs.
    fn judge(&self, theirs: &Hello, peer: PartyId) -> Result<(), NetError> {
        let place = |shm| Text::from(if shm { "shared memory" } else { "the connection" });
        let mut fields =
            vec![("transport", place(self.cfg.transport == TransportKind::Shm), place(theirs.shm))];
        if ![self.cfg.me, peer, theirs.from, theirs.to].into_iter().any(PartyId::is_client) {
            let pair = |one: PartyId, other: PartyId| Text::all(&[one, other]);
            fields.push(("party ids", pair(self.cfg.me, peer), pair(theirs.to, theirs.from)));
        }
        for (field, ours, theirs) in fields {
            if ours != theirs {
                return Err(NetError::HandshakeMismatch { peer: Some(peer), field, ours, theirs });
            }
        }
        Ok(())
    }
}

/// Executes the dialler's commands until it sends goodbye.
fn serve(link: &mut dyn Duplex, guard: &Guard<'_>) -> io::Result<()> {
    let mut chunk = Zeroizing::new(vec![0; CHUNK_BYTES]);
    let mut command = [0];
    loop {
        guard.recv(link, &mut command)?;
        match command[0] {
            PING => guard.send(link, &now_nanos().to_le_bytes())?,
            TAKE => guard.recv(link, &mut chunk)?,
            GIVE => guard.send(link, &chunk)?,
            BYE => return guard.send(link, &[BYE]),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Nanoseconds since 1970, enough for five centuries.
pub(crate) fn now_nanos() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}
