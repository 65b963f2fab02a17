//! Sessions that join on one port at the same time. Hellos tell them apart.
//!
//! Each session accepts connections and reads hellos. A hello names its addressee: a member of a
//! session with a name, a job and parameters. A session that reads a hello for another session
//! passes the connection on. A connection for no session is closed without an answer. Its sender
//! dials again, since its session may begin here later. The addressed session judges the sender.

use std::sync::{
    Mutex,
    mpsc::{self, Receiver, Sender},
};

use hushwire_machine::{NetError, PartyId, SessionId, lock};

use crate::{
    Pin, SessionConfig, TransportKind,
    hello::{HELLO_BYTES, Hello},
    slot::Duplex,
    tls::ShownCertificate,
};

/// A connection that has sent its hello.
pub(crate) struct Guest {
    pub(crate) link: Box<dyn Duplex>,
    /// The certificate whose key the sender proved to hold, if the transport has certificates.
    pub(crate) shown: Option<ShownCertificate>,
    pub(crate) hello: [u8; HELLO_BYTES],
}

/// A member of one session, as hellos name it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name {
    member: PartyId,
    session: SessionId,
    job_digest: [u8; 32],
    params: [u8; 32],
}

impl Name {
    fn of(cfg: &SessionConfig) -> Self {
        Self { member: cfg.me, session: cfg.session, job_digest: cfg.job_digest, params: cfg.params }
    }

    fn in_hello(hello: &Hello) -> Self {
        let Hello { to: member, session, job_digest, params, .. } = *hello;
        Self { member, session, job_digest, params }
    }
}

/// The sessions that are joining on a port.
#[derive(Default)]
pub(crate) struct Port(Mutex<Vec<Joins>>);

struct Joins {
    name: Name,
    own: Pin,
    transport: TransportKind,
    inbox: Sender<Guest>,
}

/// A session's registration at the port, which ends when it is dropped.
pub(crate) struct Registration<'a> {
    port: &'a Port,
    name: Name,
    inbox: Receiver<Guest>,
}

impl Port {
    /// Registers a session.
    ///
    /// # Errors
    /// [`NetError::Config`] if the same session is joining already, or others join with another
    /// certificate or transport.
    pub(crate) fn register(&self, cfg: &SessionConfig, own: Pin) -> Result<Registration<'_>, NetError> {
        let bad = |what: &str| Err(NetError::Config { peer: Some(cfg.me), what: what.to_owned() });
        let mut all = lock(&self.0);
        let name = Name::of(cfg);
        if all.iter().any(|other| other.name == name) {
            return bad("another run of this job and label joins on the same port");
        }
        if all.iter().any(|other| other.transport != cfg.transport) {
            return bad("another run joins on the same port over another transport");
        }
        if cfg.transport == TransportKind::TcpTls && all.iter().any(|other| other.own != own) {
            return bad("another run joins on the same port with another key");
        }
        let (sender, inbox) = mpsc::channel();
        all.push(Joins { name, own, transport: cfg.transport, inbox: sender });
        Ok(Registration { port: self, name, inbox })
    }

    /// Whether a hello is for the session of `cfg`.
    pub(crate) fn is_for(cfg: &SessionConfig, hello: &Hello) -> bool {
        Name::of(cfg) == Name::in_hello(hello)
    }

    /// Passes a connection on. Returns false if no session here has that name.
    pub(crate) fn pass(&self, hello: &Hello, guest: Guest) -> bool {
        let (all, name) = (lock(&self.0), Name::in_hello(hello));
        all.iter().find(|joins| joins.name == name).is_some_and(|joins| joins.inbox.send(guest).is_ok())
    }
}

impl Registration<'_> {
    /// The next connection that another session passed to this one.
    pub(crate) fn next(&self) -> Option<Guest> {
        self.inbox.try_recv().ok()
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        lock(&self.port.0).retain(|joins| joins.name != self.name);
    }
}
