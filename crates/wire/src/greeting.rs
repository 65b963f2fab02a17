//! The handshake of one connection of a session, at either end: from the first byte to the
//! comparison of hellos.
//!
//! Over TLS, hellos are sent after the TLS handshake, and a peer is known by its pin. Without TLS,
//! the number that a peer claims is believed. The listener judges the dialler's hello, and admits
//! the connection in the [`roster`](crate::roster) before it answers. An error ends the session
//! only if it comes from a known peer.

use std::{io, sync::atomic::AtomicBool, time::Duration};

use hushwire_fault::{IntoText, Text};
use hushwire_machine::{NetError, PartyId, Presented, SessionId, lock};
use rustls::AlertDescription;

use crate::{
    PeerConfig, Pin, TransportKind,
    hello::{BadHello, Flow, GreetingRole, HELLO_BYTES, Hello, WIRE_VERSION},
    joining::Joining,
    lobby::Visitor,
    port::{Guest, Port},
    roster::{Nonce, NotAdmitted},
    slot::{CONTROL_LANE, Duplex, Slot},
    tcp::Guard,
    tls::{ShownCertificate, outdated, wrong_pin},
    transport,
};

/// LOCAL: the time that an accepted connection may take for the handshake, from its first bytes on.
const GREETING: Duration = Duration::from_secs(10);

/// A dialled connection, with the certificate and the hello of its other end.
type Answered = (Box<dyn Duplex>, Option<ShownCertificate>, Hello);

/// An admitted connection and its slot.
pub(crate) type Admitted = (Slot, Nonce, Box<dyn Duplex>);

impl Joining<'_> {
    /// Dials `peer` once for `slot`.
    pub(crate) fn dial_once(
        &self,
        peer: &PeerConfig,
        address: &str,
        slot: Slot,
    ) -> Result<(Nonce, Box<dyn Duplex>), NetError> {
        let on = |e| handshake_error(self.cfg.me, self.tls.pin(), Some(peer.id), e);
        let flow = if slot.sends { Flow::FromDialer } else { Flow::FromListener };
        let ours = self.hello(peer.id, slot.lane, flow, GreetingRole::Dialer);
        let (link, shown, theirs) = self.greeted(peer, address, &ours)?;
        // The peer only probes its own peers, and may still join.
        if theirs.session == SessionId::PROBE {
            return Err(only_looks(peer.id));
        }
        if let Some(why) = theirs.ends.filter(|_| theirs.session == ours.session) {
            if theirs.of == Some(self.cfg.me) {
                return Err(of_an_earlier_process(peer.id));
            }
            // Members' numbers have the same meaning only within one job.
            if theirs.of.is_some() {
                ours.judge(&theirs, peer.id)?;
            }
            return Err(self.ended_by(peer.id, theirs.of.unwrap_or(peer.id), why));
        }
        if theirs.full {
            let what = format!("{} says that another process with its key joined before", peer.id);
            return Err(NetError::Duplicate { peer: Some(self.cfg.me), what });
        }
        ours.judge(&theirs, peer.id)?;
        let goes_on = || self.guard.check().is_ok();
        let admission = self.roster.admit_patiently(slot, theirs.nonce, goes_on).map_err(|_| {
            let what = format!("the process that answers at {address} is not the one that joined before");
            NetError::Duplicate { peer: Some(peer.id), what }
        })?;
        self.remember(peer.id, shown);
        let link = self.settled(link, slot, GreetingRole::Dialer, &self.guard).map_err(on)?;
        admission.keep();
        Ok((theirs.nonce, link))
    }

    /// Dials `peer` and exchanges hellos with it.
    pub(crate) fn greeted(
        &self,
        peer: &PeerConfig,
        address: &str,
        ours: &Hello,
    ) -> Result<Answered, NetError> {
        let on = |e| handshake_error(self.cfg.me, self.tls.pin(), Some(peer.id), e);
        let stream = transport::dial(address, &self.guard, self.cfg.socket_buffer)
            .map_err(|source| NetError::Io { peer: Some(peer.id), step: "connect".to_owned(), source })?;
        self.connected(peer.id, address);
        let (mut link, shown) = transport::dialled(stream, self.cfg, &self.tls, peer.pin, &self.guard)
            .map_err(|e| unproven_error(Some(peer.id), e))?;
        self.guard.send(&mut *link, &ours.encode()).map_err(on)?;
        let mut theirs = [0; HELLO_BYTES];
        self.guard.recv(&mut *link, &mut theirs).map_err(on)?;
        let theirs = Hello::decode(&theirs).map_err(|bad| bad_hello(Some(peer.id), &bad))?;
        Ok((link, shown, theirs))
    }

    /// Runs the handshake on an accepted connection, until `out` is set. Calls `proved` when the
    /// peer has proved its identity. `None` if the connection was for another session of this port,
    /// to which it was passed. The error's flag says whether the error ends the session: only that
    /// of a known peer does.
    pub(crate) fn greet(
        &self,
        visitor: Visitor,
        port: Option<&Port>,
        out: &AtomicBool,
        proved: impl FnOnce(),
    ) -> Result<Option<Admitted>, (bool, NetError)> {
        let Visitor { stream, first, .. } = visitor;
        let guard = self.greeting_guard(Some(out));
        let stranger =
            |peer: Option<PartyId>| move |e| (false, handshake_error(self.cfg.me, self.tls.pin(), peer, e));
        let holder = |pin: Pin| self.cfg.peers.iter().find(|peer| peer.pin == pin).map(|peer| peer.id);
        // On a shared port, only a peer's own session knows its pin.
        let pins = port.is_none().then(|| self.cfg.peers.iter().map(|peer| peer.pin).collect());
        let accepted = transport::accepted(stream, self.cfg, &self.tls, pins, &guard, &first);
        let (mut link, shown) = accepted.map_err(|e| match outdated(&e).and_then(|o| holder(o.pin)) {
            // The peer holds the key, but its certificate has expired and proves nothing.
            Some(peer) => (false, self.outdated_peer(peer, e)),
            None => stranger(None)(e),
        })?;
        let pinned = shown.and_then(|shown| holder(shown.pin));
        if port.is_none() || pinned.is_some() {
            proved();
        }
        let mut bytes = [0; HELLO_BYTES];
        match <[u8; HELLO_BYTES]>::try_from(first) {
            // Without TLS, the first bytes are the hello.
            Ok(hello) if shown.is_none() => bytes = hello,
            _ => guard.recv(&mut *link, &mut bytes).map_err(stranger(pinned))?,
        }
        // A peer sends nothing more before this endpoint's answer. A peer that has left in the
        // meantime, as at the end of an earlier session on this port, is not judged.
        match link.try_recv(&mut [0]) {
            Ok(0) => {}
            Ok(_) => return Err(stranger(pinned)(io::ErrorKind::InvalidData.into())),
            Err(e) => return Err(stranger(pinned)(e)),
        }
        let guest = Guest { link, shown, hello: bytes };
        if let Some(port) = port.filter(|_| !Hello::is_probe(&bytes)) {
            let hello = Hello::decode(&bytes).map_err(|bad| (false, bad_hello(pinned, &bad)))?;
            if !Port::is_for(self.cfg, &hello) {
                let presented = Text::from("a hello of ").who(hello.from).words(" for another session");
                let presented = Presented::Other(presented);
                let none = NetError::UnknownPeer { peer: None, step: "handshake".to_owned(), presented };
                return if port.pass(&hello, guest) { Ok(None) } else { Err((false, none)) };
            }
        }
        self.welcome(guest, &guard).map(Some)
    }

    /// The error of a peer whose certificate is not valid today. It is recorded among the sights of
    /// that peer.
    fn outdated_peer(&self, peer: PartyId, e: io::Error) -> NetError {
        let NetError::Expired { peer: of, what } =
            handshake_error(self.cfg.me, self.tls.pin(), Some(peer), e)
        else {
            return NetError::UnknownPeer {
                peer: Some(peer),
                step: "handshake".to_owned(),
                presented: Presented::Other(peer.into()),
            };
        };
        let seen = NetError::Expired { peer: of, what: what.clone() };
        lock(&self.sights).telling.insert(peer, seen);
        NetError::Expired { peer: of, what }
    }

    /// Limits the time of one connection's handshake.
    pub(crate) fn greeting_guard<'g>(&'g self, out: Option<&'g AtomicBool>) -> Guard<'g> {
        Guard { given_up: &self.heard_all, out, ..self.guard }.within(GREETING)
    }

    /// Judges and answers a connection that has sent its hello. The error's flag says whether the
    /// error ends the session.
    pub(crate) fn welcome(&self, guest: Guest, guard: &Guard<'_>) -> Result<Admitted, (bool, NetError)> {
        let Guest { mut link, shown, hello: bytes } = guest;
        let stranger =
            |peer: Option<PartyId>| move |e| (false, handshake_error(self.cfg.me, self.tls.pin(), peer, e));
        let pinned = shown.and_then(|shown| self.cfg.peers.iter().find(|peer| peer.pin == shown.pin));
        let pinned = pinned.map(|peer| peer.id);
        let theirs = Hello::decode(&bytes);
        let claimed = match &theirs {
            Ok(Hello { from, .. }) | Err(BadHello::Version { from, .. }) => Some(*from),
            Err(_) => None,
        };
        let peer = match (shown.is_some(), self.cfg.kin) {
            (true, false) => pinned,
            // The peer has the key that all processes of its member have, and claims to be this one
            // of them.
            (true, true) => pinned.and(claimed),
            // Without TLS, the number that a peer claims is believed.
            (false, _) => claimed,
        };
        let Some(peer) = self.cfg.peers.iter().find(|p| Some(p.id) == peer) else {
            let presented = Presented::Other(Text::peer(claimed, "a connection without a hello"));
            return Err((
                false,
                NetError::UnknownPeer { peer: claimed, step: "handshake".to_owned(), presented },
            ));
        };
        let (lane, wanted) = theirs.as_ref().map_or((0, Flow::FromDialer), |hello| (hello.lane, hello.flow));
        let flow = if peer.address.is_some() { Flow::FromDialer } else { wanted };
        let mut ours = self.hello(peer.id, lane, flow, GreetingRole::Listener);
        let mut answer =
            |ours: &Hello| guard.send(&mut *link, &ours.encode()).map_err(stranger(Some(peer.id)));
        // A probe gets its answer, and the session continues to wait.
        if Hello::is_probe(&bytes) {
            answer(&ours)?;
            return Err((false, only_looks(peer.id)));
        }
        if self.excuse.is_some() {
            // The peer compares no other field of the answer. A member without a job does not know
            // the numbers of clients.
            ours.to = claimed.unwrap_or(peer.id);
            answer(&ours)?;
            self.told(peer.id);
            let what = format!("{} has heard that this member ends", peer.id);
            return Err((false, NetError::Config { peer: Some(peer.id), what }));
        }
        if let Ok(hello @ Hello { ends: Some(why), session, nonce, of, .. }) = &theirs
            && *session == ours.session
            // Members' numbers have the same meaning only within one job.
            && (of.is_none() || ours.judge(hello, peer.id).is_ok())
        {
            // Another process with the key of a member that has joined does not end the session.
            if self.roster.has_another(peer.id, *nonce) {
                ours.full = true;
                answer(&ours)?;
                let what = "another process with its key joined before".to_owned();
                return Err((false, NetError::Duplicate { peer: Some(peer.id), what }));
            }
            // The peer has proved its identity, whether this answer arrives or not.
            let _ = answer(&ours);
            if *of == Some(self.cfg.me) {
                return Err((false, of_an_earlier_process(peer.id)));
            }
            return Err((true, self.ended_by(peer.id, of.unwrap_or(peer.id), *why)));
        }
        let judged = theirs.map_err(|bad| bad_hello(Some(peer.id), &bad));
        let theirs = match judged.and_then(|theirs| ours.judge(&theirs, peer.id).map(|()| theirs)) {
            Ok(theirs) => theirs,
            // Both ends report the difference.
            Err(e) => {
                answer(&ours)?;
                return Err((true, e));
            }
        };
        let slot = Slot { peer: peer.id, lane, sends: flow == Flow::FromListener };
        // The connection is admitted before the answer, since the answer tells the peer that it is
        // admitted.
        let admission = match self.roster.admit_patiently(slot, theirs.nonce, || guard.check().is_ok()) {
            Ok(admission) => admission,
            Err(NotAdmitted::Duplicate) => {
                ours.full = true;
                answer(&ours)?;
                let what = "another process with its key joined before".to_owned();
                return Err((false, NetError::Duplicate { peer: Some(peer.id), what }));
            }
            Err(NotAdmitted::Taken) => {
                let source = io::Error::other(format!("it dialled {slot} twice"));
                return Err((
                    false,
                    NetError::Io { peer: Some(peer.id), step: "handshake".to_owned(), source },
                ));
            }
        };
        answer(&ours)?;
        self.remember(peer.id, shown);
        let link =
            self.settled(link, slot, GreetingRole::Listener, guard).map_err(stranger(Some(peer.id)))?;
        admission.keep();
        lock(&self.sights).met(peer.id);
        Ok((slot, theirs.nonce, link))
    }

    /// The link of `slot`. A link of the control lane stays on its connection.
    fn settled(
        &self,
        link: Box<dyn Duplex>,
        slot: Slot,
        role: GreetingRole,
        guard: &Guard<'_>,
    ) -> io::Result<Box<dyn Duplex>> {
        if slot.lane == CONTROL_LANE {
            return Ok(link);
        }
        transport::settled(link, self.cfg.transport, slot.sends, role, guard)
    }

    pub(crate) fn hello(&self, peer: PartyId, lane: u16, flow: Flow, role: GreetingRole) -> Hello {
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
            shm: self.cfg.transport == TransportKind::Shm,
            full: false,
            ends: self.excuse.map(|excuse| excuse.why),
            of: self.excuse.and_then(|excuse| excuse.of),
            nonce: self.roster.own(),
        }
    }

    fn remember(&self, peer: PartyId, shown: Option<ShownCertificate>) {
        if let Some(shown) = shown {
            lock(&self.certificates).insert(peer, shown.validity);
        }
    }
}

/// The alerts by which an endpoint refuses a certificate, in any implementation of TLS.
const REFUSALS: [AlertDescription; 6] = [
    AlertDescription::CertificateUnknown,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::UnknownCA,
    AlertDescription::AccessDenied,
];

/// The error of a handshake before the peer has proved its identity. An alert does not prove to
/// come from the peer: anyone who answers can send one in the clear.
pub(crate) fn unproven_error(peer: Option<PartyId>, e: io::Error) -> NetError {
    if let Some(outdated) = outdated(&e) {
        return NetError::Expired { peer, what: outdated.into_text() };
    }
    match NetError::from_link(peer, "handshake", e) {
        NetError::Tls { peer, step, source } => match wrong_pin(&source) {
            Some(pin) => NetError::UnknownPeer { peer, step, presented: Presented::Pin(pin.to_string()) },
            None => NetError::Tls { peer, step, source },
        },
        other => other,
    }
}

/// The error of a handshake. An alert about this party's certificate comes from a peer that has
/// proved its identity, or reaches a dialler, whose errors end nothing.
pub(crate) fn handshake_error(me: PartyId, own: Pin, peer: Option<PartyId>, e: io::Error) -> NetError {
    let e = unproven_error(peer, e);
    let NetError::Tls { source, .. } = &e else { return e };
    match source.get() {
        Some(rustls::Error::AlertReceived(AlertDescription::CertificateExpired)) => {
            let what = Text::peer(peer, "a peer").words(" says that it does not hold today");
            NetError::Expired { peer: Some(me), what }
        }
        Some(rustls::Error::AlertReceived(alert)) if REFUSALS.contains(alert) => {
            NetError::Unlisted { peer, own: own.to_string() }
        }
        _ => e,
    }
}

/// The error of a peer that ends because of an earlier process of this member. The peer may join
/// again.
fn of_an_earlier_process(peer: PartyId) -> NetError {
    let source = io::Error::other("it ends a run that an earlier process of this member could not join");
    NetError::Io { peer: Some(peer), step: "handshake".to_owned(), source }
}

/// The error of a peer that runs and has not joined a session yet.
fn only_looks(peer: PartyId) -> NetError {
    let source = io::Error::other("it runs `hushwire doctor` now, and may come yet");
    NetError::Io { peer: Some(peer), step: "handshake".to_owned(), source }
}

pub(crate) fn bad_hello(peer: Option<PartyId>, bad: &BadHello) -> NetError {
    let what = match bad {
        BadHello::Version { version, .. } => {
            let (ours, theirs) = (WIRE_VERSION.into_text(), version.into_text());
            return NetError::HandshakeMismatch { peer, field: "wire version", ours, theirs };
        }
        BadHello::Magic => {
            "it does not begin as ours does; is another program, or another transport, there?".into()
        }
        BadHello::Field(field) => format!("its {field} is not a value that exists"),
    };
    NetError::Malformed { peer, msg: "hello", what }
}
