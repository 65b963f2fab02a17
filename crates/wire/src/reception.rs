//! A port that serves many sessions in many processes. The name in a connection's TLS greeting
//! selects the session.
//!
//! ```text
//! stranger ──► lobby: 3 s for a first record, few from one address ──► the name in it
//!                                                       known: its route takes the socket
//!                                                       unknown, or no TLS: closed and counted
//! ```
//! The reception answers nothing and holds no key. The receiver of a connection continues TLS from
//! the bytes that were read.

use crate::{Listener, TransportKind, bell, lobby::Lobby, transport::HostStream};
use hushwire_machine::{NetError, lock, out_of_descriptors};
use rustls::server::Acceptor;
use std::{
    collections::BTreeMap,
    io::{self, Write},
    net::TcpStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

/// LOCAL: the interval at which the port is checked when nothing comes.
const LOOK: Duration = Duration::from_millis(200);
/// LOCAL: the pause after the system refuses a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A function that takes a connection, and the bytes that were read from it.
type Route = Arc<dyn Fn(TcpStream, Vec<u8>) -> io::Result<()> + Send + Sync>;

/// A port and the sessions behind it.
pub struct Reception {
    listener: Listener,
    routes: Mutex<BTreeMap<String, Route>>,
    handed: AtomicU64,
    unknown: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
    ends: AtomicBool,
    bell: bell::Bell,
    ear: bell::Bell,
}

/// The number of connections so far, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceptionCounts {
    /// A route took them.
    pub handed: u64,
    /// Their greetings have no name, or a name without a route.
    pub unknown: u64,
    /// They sent no TLS greeting, or their route did not take them.
    pub refused: u64,
    /// They were too slow, left, or were evicted.
    pub lost: u64,
}

impl Reception {
    /// Makes a reception at a TCP listener.
    ///
    /// # Errors
    /// The listener is not a TCP port, or the system has no more descriptors.
    pub fn new(listener: Listener) -> Result<Self, NetError> {
        listener.check(TransportKind::TcpTls)?;
        let (bell, ear) =
            bell::pair().map_err(|source| NetError::Listen { address: listener.address(), source })?;
        Ok(Self {
            listener,
            routes: Mutex::default(),
            handed: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            bell,
            ear,
        })
    }

    /// The port.
    #[must_use]
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Sends connections whose greeting has `name` to `take` from now on. It is called on the
    /// thread of [`run`](Self::run) and must not wait. It replaces an earlier route with that name.
    pub fn route(
        &self,
        name: &str,
        take: impl Fn(TcpStream, Vec<u8>) -> io::Result<()> + Send + Sync + 'static,
    ) {
        lock(&self.routes).insert(name.to_ascii_lowercase(), Arc::new(take));
    }

    /// Ends a route. Returns whether there was one.
    pub fn unroute(&self, name: &str) -> bool {
        lock(&self.routes).remove(&name.to_ascii_lowercase()).is_some()
    }

    /// The number of connections so far, by how they ended.
    #[must_use]
    pub fn counts(&self) -> ReceptionCounts {
        let [handed, unknown, refused, lost] =
            [&self.handed, &self.unknown, &self.refused, &self.lost].map(|count| count.load(Relaxed));
        ReceptionCounts { handed, unknown, refused, lost }
    }

    /// Receives connections until [`end`](Self::end) is called. `report` is told of refusals by the
    /// system, such as a lack of descriptors; the port stays open.
    pub fn run(&self, report: impl Fn(&io::Error)) {
        let mut lobby = Lobby::new(true);
        while !self.ends.load(Relaxed) {
            if let Err(e) = lobby.turn(&self.listener, None, &self.ear, LOOK) {
                report(&e);
                // Other connections may close in the meantime.
                thread::sleep(if out_of_descriptors(&e) { LOOK } else { PAUSE });
            }
            while let Some(visitor) = lobby.next() {
                self.direct(visitor.stream, visitor.first);
            }
            self.lost.store(lobby.lost(), Relaxed);
        }
    }

    /// Ends [`run`](Self::run).
    pub fn end(&self) {
        self.ends.store(true, Relaxed);
        // If the pipe is full, the bell is ringing already.
        let _ = (&self.bell).write(&[1]);
    }

    fn direct(&self, stream: HostStream, first: Vec<u8>) {
        let HostStream::Tcp(stream) = stream else { return };
        let count = match name_in(&first) {
            Err(()) => &self.refused,
            Ok(name) => {
                let route = name.and_then(|name| lock(&self.routes).get(&name).cloned());
                match route.map(|route| route(stream, first)) {
                    None => &self.unknown,
                    Some(Err(_)) => &self.refused,
                    Some(Ok(())) => &self.handed,
                }
            }
        };
        count.fetch_add(1, Relaxed);
    }
}

/// The name in a first record that is a TLS greeting, in lower case, if it has one. An error if the
/// record is not a whole greeting.
fn name_in(first: &[u8]) -> Result<Option<String>, ()> {
    let mut acceptor = Acceptor::default();
    let mut unread = first;
    while !unread.is_empty() {
        acceptor.read_tls(&mut unread).map_err(drop)?;
    }
    let accepted = acceptor.accept().map_err(drop)?.ok_or(())?;
    Ok(accepted.client_hello().server_name().map(str::to_ascii_lowercase))
}

#[cfg(test)]
#[path = "reception_tests.rs"]
mod tests;
