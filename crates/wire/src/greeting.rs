//! One connection of a session from the first byte to the judged hellos, on either side.

use std::{io, sync::atomic::AtomicBool, time::Duration};

use hushwire_fault::{IntoText, Text};
use hushwire_machine::{NetError, PartyId, Presented, SessionId};
use rustls::AlertDescription;

use crate::{
    PeerConfig, Pin, TransportKind,
    hello::{BadHello, Flow, HELLO_BYTES, Hello, Role, WIRE_VERSION},
    joining::Joining,
    lobby::Visitor,
    locks::lock,
    port::{Guest, Port},
    roster::{Nonce, Refusal},
    slot::{CONTROL_LANE, Duplex, Slot},
    tcp::Guard,
    tls::{Shown, outdated, wrong_pin},
    transport,
};

/// LOCAL: how long an accepted connection may take to greet once it has said its first words.
const GREETING: Duration = Duration::from_secs(10);

/// A connection that was dialled, the certificate of its other end, and what that answered.
type Answered = (Box<dyn Duplex>, Option<Shown>, Hello);

/// A connection that is in, and its place.
pub(crate) type Kept = (Slot, Nonce, Box<dyn Duplex>);

impl Joining<'_> {
    /// One attempt to dial `peer` for `slot`.
    pub(crate) fn dial_once(
        &self,
        peer: &PeerConfig,
        address: &str,
        slot: Slot,
    ) -> Result<(Nonce, Box<dyn Duplex>), NetError> {
        let on = |e| handshake_error(self.cfg.me, self.tls.pin(), Some(peer.id), e);
        let flow = if slot.sends { Flow::FromDialer } else { Flow::FromListener };
        let ours = self.hello(peer.id, slot.lane, flow, Role::Dialer);
        let (link, shown, theirs) = self.greeted(peer, address, &ours)?;
        // It looks at its peers before it joins: it may come yet.
        if theirs.session == SessionId::PROBE {
            return Err(only_looks(peer.id));
        }
        if let Some(why) = theirs.ends.filter(|_| theirs.session == ours.session) {
            if theirs.of == Some(self.cfg.me) {
                return Err(of_an_earlier_process(peer.id));
            }
            // The number of another member means the same only in the same job.
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
        let link = self.settled(link, slot, Role::Dialer, &self.guard).map_err(on)?;
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
        let (mut link, shown) =
            transport::dialled(stream, self.cfg.transport, &self.tls, peer.pin, &self.guard)
                .map_err(|e| unproven_error(Some(peer.id), e))?;
        self.guard.send(&mut *link, &ours.encode()).map_err(on)?;
        let mut theirs = [0; HELLO_BYTES];
        self.guard.recv(&mut *link, &mut theirs).map_err(on)?;
        let theirs = Hello::decode(&theirs).map_err(|bad| bad_hello(Some(peer.id), &bad))?;
        Ok((link, shown, theirs))
    }

    /// Greets on an accepted connection, until `out` says otherwise; calls `proved` when the peer has shown who it is.
    /// `None` where it was for another session of this port, which has it now. The error says whether it ends the session:
    /// only a known peer's does.
    pub(crate) fn greet(
        &self,
        visitor: Visitor,
        port: Option<&Port>,
        out: &AtomicBool,
        proved: impl FnOnce(),
    ) -> Result<Option<Kept>, (bool, NetError)> {
        let Visitor { stream, first, .. } = visitor;
        let guard = self.greeting_guard(Some(out));
        let stranger =
            |peer: Option<PartyId>| move |e| (false, handshake_error(self.cfg.me, self.tls.pin(), peer, e));
        let holder = |pin: Pin| self.cfg.peers.iter().find(|peer| peer.pin == pin).map(|peer| peer.id);
        // Of a peer of another session only that one knows the pin.
        let pins = port.is_none().then(|| self.cfg.peers.iter().map(|peer| peer.pin).collect());
        let accepted = transport::accepted(stream, self.cfg, &self.tls, pins, &guard, &first);
        let (mut link, shown) = accepted.map_err(|e| match outdated(&e).and_then(|o| holder(o.pin)) {
            // It holds the key, and its certificate proves nothing any more.
            Some(peer) => (false, self.outdated_peer(peer, e)),
            None => stranger(None)(e),
        })?;
        let pinned = shown.and_then(|shown| holder(shown.pin));
        if port.is_none() || pinned.is_some() {
            proved();
        }
        let mut bytes = [0; HELLO_BYTES];
        match <[u8; HELLO_BYTES]>::try_from(first) {
            // Without TLS the hello itself came first.
            Ok(hello) if shown.is_none() => bytes = hello,
            _ => guard.recv(&mut *link, &mut bytes).map_err(stranger(pinned))?,
        }
        // Nobody speaks again before our answer. Who left meanwhile, as at the end of an earlier session on this port,
        // is not judged.
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

    /// The certificate of `peer` does not hold: that is remembered as what is seen of it.
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

    /// Ends the greeting of one connection in time.
    pub(crate) fn greeting_guard<'g>(&'g self, out: Option<&'g AtomicBool>) -> Guard<'g> {
        Guard { given_up: &self.heard_all, out, ..self.guard }.within(GREETING)
    }

    /// Judges and answers a connection that has said its hello. The error says whether it ends the session.
    pub(crate) fn welcome(&self, guest: Guest, guard: &Guard<'_>) -> Result<Kept, (bool, NetError)> {
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
        // Without TLS a peer is whom it says it is.
        let peer = if shown.is_some() { pinned } else { claimed };
        let Some(peer) = self.cfg.peers.iter().find(|p| Some(p.id) == peer) else {
            let presented = Presented::Other(Text::peer(claimed, "a connection without a hello"));
            return Err((
                false,
                NetError::UnknownPeer { peer: claimed, step: "handshake".to_owned(), presented },
            ));
        };
        let (lane, wanted) = theirs.as_ref().map_or((0, Flow::FromDialer), |hello| (hello.lane, hello.flow));
        let flow = if peer.address.is_some() { Flow::FromDialer } else { wanted };
        let mut ours = self.hello(peer.id, lane, flow, Role::Listener);
        let mut answer =
            |ours: &Hello| guard.send(&mut *link, &ours.encode()).map_err(stranger(Some(peer.id)));
        // Who only looks whether this party is there has its answer, and the session waits on.
        if Hello::is_probe(&bytes) {
            answer(&ours)?;
            return Err((false, only_looks(peer.id)));
        }
        if self.excuse.is_some() {
            // The peer compares nothing else with it, and a member that has no job to read knows no numbers of clients.
            ours.to = claimed.unwrap_or(peer.id);
            answer(&ours)?;
            self.told(peer.id);
            let what = format!("{} has heard that this member ends", peer.id);
            return Err((false, NetError::Config { peer: Some(peer.id), what }));
        }
        if let Ok(hello @ Hello { ends: Some(why), session, nonce, of, .. }) = &theirs
            && *session == ours.session
            // The number of another member means the same only in the same job.
            && (of.is_none() || ours.judge(hello, peer.id).is_ok())
        {
            // Whoever has joined is not ended by another process with its key.
            if self.roster.has_another(peer.id, *nonce) {
                ours.full = true;
                answer(&ours)?;
                let what = "another process with its key joined before".to_owned();
                return Err((false, NetError::Duplicate { peer: Some(peer.id), what }));
            }
            // It has proved who it is, whether our answer reaches it or not.
            let _ = answer(&ours);
            if *of == Some(self.cfg.me) {
                return Err((false, of_an_earlier_process(peer.id)));
            }
            return Err((true, self.ended_by(peer.id, of.unwrap_or(peer.id), *why)));
        }
        let judged = theirs.map_err(|bad| bad_hello(Some(peer.id), &bad));
        let theirs = match judged.and_then(|theirs| ours.judge(&theirs, peer.id).map(|()| theirs)) {
            Ok(theirs) => theirs,
            // Both sides name it.
            Err(e) => {
                answer(&ours)?;
                return Err((true, e));
            }
        };
        let slot = Slot { peer: peer.id, lane, sends: flow == Flow::FromListener };
        // Before the answer, from which the other side concludes that it is in.
        let admission = match self.roster.admit_patiently(slot, theirs.nonce, || guard.check().is_ok()) {
            Ok(admission) => admission,
            Err(Refusal::Duplicate) => {
                ours.full = true;
                answer(&ours)?;
                let what = "another process with its key joined before".to_owned();
                return Err((false, NetError::Duplicate { peer: Some(peer.id), what }));
            }
            Err(Refusal::Taken) => {
                let source = io::Error::other(format!("it dialled {slot} twice"));
                return Err((
                    false,
                    NetError::Io { peer: Some(peer.id), step: "handshake".to_owned(), source },
                ));
            }
        };
        answer(&ours)?;
        self.remember(peer.id, shown);
        let link = self.settled(link, slot, Role::Listener, guard).map_err(stranger(Some(peer.id)))?;
        admission.keep();
        lock(&self.sights).met(peer.id);
        Ok((slot, theirs.nonce, link))
    }

    /// The link of `slot`. A link that watches over the session stays on its connection.
    fn settled(
        &self,
        link: Box<dyn Duplex>,
        slot: Slot,
        role: Role,
        guard: &Guard<'_>,
    ) -> io::Result<Box<dyn Duplex>> {
        if slot.lane == CONTROL_LANE {
            return Ok(link);
        }
        transport::settled(link, self.cfg.transport, slot.sends, role, guard)
    }

    pub(crate) fn hello(&self, peer: PartyId, lane: u16, flow: Flow, role: Role) -> Hello {
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

    fn remember(&self, peer: PartyId, shown: Option<Shown>) {
        if let Some(shown) = shown {
            lock(&self.certificates).insert(peer, shown.validity);
        }
    }
}

/// The alerts with which a side says that it does not take a certificate, whichever TLS it runs.
const REFUSALS: [AlertDescription; 6] = [
    AlertDescription::CertificateUnknown,
    AlertDescription::BadCertificate,
    AlertDescription::UnsupportedCertificate,
    AlertDescription::CertificateRevoked,
    AlertDescription::UnknownCA,
    AlertDescription::AccessDenied,
];

/// An error before the other end has proved who it is. An alert is no peer's word yet: whoever answers can send one in clear.
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

/// An error of a handshake. An alert about our certificate is the word of a peer that has proved who it is, or of a dialler, whose
/// errors end nothing.
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

/// A peer that ends because of a process of this member that was here before this one: it may come again.
fn of_an_earlier_process(peer: PartyId) -> NetError {
    let source = io::Error::other("it ends a run that an earlier process of this member could not join");
    NetError::Io { peer: Some(peer), step: "handshake".to_owned(), source }
}

/// A peer that is up, and not yet in a session.
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
