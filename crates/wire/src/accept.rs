//! The listening endpoint of joining a session: accepts connections until every peer has joined.
//!
//! The accepting thread reads first bytes in the [`lobby`](crate::lobby), and starts a thread for
//! the handshake of each connection that has sent enough. Connections that other sessions of the
//! port pass on are handled in the same way. If too many handshakes run, it evicts the oldest one
//! whose peer has not proved its identity.

use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};

use hushwire_machine::{NetError, lock, out_of_descriptors};

use crate::{
    Listener, TransportKind,
    bell::Bell,
    greeting::Admitted,
    joining::{BACKOFF, GRACE, Greeter, Joining},
    lobby::{Crowd, Lobby, Visitor},
    port::{Port, Registration},
};

/// LOCAL: the number of connections that run the handshake at the same time, in total and from one
/// address.
const GREETING: Crowd = Crowd { all: 64, of_one: 32 };
/// LOCAL: the number of threads that run handshakes, including evicted ones that have not noticed
/// yet.
const GREETERS: usize = 128;
/// LOCAL: the interval at which the listening endpoint checks whether the session was given up.
const LOOK: Duration = Duration::from_millis(20);

/// A connection of this session, or `None` for one that was passed to another session. The error's
/// flag says whether it ends the session.
type Greeted = Result<Option<Admitted>, (bool, NetError)>;

impl Joining<'_> {
    /// Whether to go on accepting. `grace` holds the time at which a party that gave up stops.
    fn may_accept(&self, grace: &mut Option<Instant>) -> bool {
        if self.guard.given_up.load(Ordering::SeqCst) {
            // The only peer dials and has learned the reason. Any later connection is for the next
            // session on this port.
            if let [peer] = &self.cfg.peers[..]
                && peer.address.is_none()
            {
                return false;
            }
            return Instant::now() < *grace.get_or_insert_with(|| Instant::now() + GRACE);
        }
        self.guard.check().is_ok()
    }

    /// Accepts connections until all are there; `ear` rings when the last one is. Other sessions of
    /// the port pass connections to `registration`.
    pub(crate) fn accept_all<'s, 'e>(
        &'s self,
        scope: &'s Scope<'s, 'e>,
        listener: &'s Listener,
        registration: Option<&Registration<'_>>,
        mut ear: &'s Bell,
    ) {
        let mut lobby = Lobby::new(self.cfg.transport == TransportKind::TcpTls);
        let (mut grace, mut number) = (None, 0);
        while !self.over() && self.may_accept(&mut grace) {
            if let Err(e) = lobby.turn(listener, self.cfg.socket_buffer, ear, LOOK) {
                self.refuse(format!("no connection could be accepted: {e}").into());
                if out_of_descriptors(&e) {
                    self.short_of_descriptors(e);
                }
                thread::sleep(BACKOFF.1);
            }
            // The loop checks all sources, even if the bell did not ring.
            let _ = ear.read(&mut [0; 8]);
            while self.greeting.load(Ordering::SeqCst) < GREETERS {
                if let Some(guest) = registration.and_then(Registration::next) {
                    self.start(scope, 0, move || self.welcome(guest, &self.greeting_guard(None)).map(Some));
                    continue;
                }
                let Some(visitor) = lobby.next() else { break };
                number += 1;
                self.receive(scope, number, visitor, listener.port());
            }
        }
    }

    /// Runs a handshake on a thread of its own. If there are too many, it evicts the oldest one
    /// whose peer has not proved its identity.
    fn receive<'s, 'e>(
        &'s self,
        scope: &'s Scope<'s, 'e>,
        number: u64,
        visitor: Visitor,
        port: Option<&'s Port>,
    ) {
        let out = Arc::new(AtomicBool::new(false));
        let origin = visitor.origin;
        {
            let mut unproven = lock(&self.unproven);
            if let Some(at) = GREETING.evicts(origin, unproven.iter().map(|greeter| greeter.origin)) {
                unproven.remove(at).out.store(true, Ordering::SeqCst);
            }
            unproven.push(Greeter { number, origin, out: out.clone() });
        }
        self.start(scope, number, move || self.greet(visitor, port, &out, || self.proved(number)));
    }

    /// Starts a thread for a handshake.
    fn start<'s, 'e>(
        &'s self,
        scope: &'s Scope<'s, 'e>,
        number: u64,
        greet: impl FnOnce() -> Greeted + Send + 's,
    ) {
        self.greeting.fetch_add(1, Ordering::SeqCst);
        let greeter = thread::Builder::new().name("greeter".to_owned()).spawn_scoped(scope, move || {
            match greet() {
                Ok(Some((slot, nonce, link))) => self.keep(slot, nonce, link),
                Ok(None) => {}
                // A member that ends anyway continues, to tell the others.
                Err((true, e)) if self.excuse.is_none() => self.give_up(e),
                Err((_, e)) => self.refuse(e.fault().clauses_text()),
            }
            self.proved(number);
            self.greeting.fetch_sub(1, Ordering::SeqCst);
        });
        if let Err(e) = greeter {
            self.proved(number);
            self.greeting.fetch_sub(1, Ordering::SeqCst);
            self.refuse(format!("no thread could be started: {e}").into());
        }
    }

    /// Protects a handshake from eviction.
    fn proved(&self, number: u64) {
        lock(&self.unproven).retain(|greeter| greeter.number != number);
    }
}
