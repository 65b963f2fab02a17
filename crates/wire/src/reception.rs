//! A port of many sessions in many processes: the name in a connection's greeting says whose it is.
//!
//! ```text
//! stranger ──► lobby: 3 s for a first record, few from one address ──► the name in it
//!                                                       known: its route takes the socket
//!                                                       unknown, or no TLS: closed and counted
//! ```
//! Nothing is answered here, and no key is here: whoever takes the connection continues TLS from
//! the bytes that were read.

use crate::{Listener, TransportKind, bell, lobby::Lobby, locks::lock, transport::HostStream};
use hushwire_machine::{NetError, out_of_descriptors};
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

/// LOCAL: how often the port is looked at when nothing comes.
const LOOK: Duration = Duration::from_millis(200);
/// LOCAL: the pause when the system gives no connection.
const PAUSE: Duration = Duration::from_millis(50);

/// The taker of a connection and of the bytes that were read of it.
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

/// Counts of connections so far, by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceptionCounts {
    /// A route took them.
    pub handed: u64,
    /// Their greetings have a name that nothing here has, or none.
    pub unknown: u64,
    /// They sent no greeting of TLS, or their route did not take them.
    pub refused: u64,
    /// They were too slow, left, or made room for others.
    pub lost: u64,
}

impl Reception {
    /// At a listener of TCP.
    ///
    /// # Errors
    /// The listener is no TCP port, or the system has no more descriptors.
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

    /// From now on, connections whose greeting has `name` go to `take`, on the thread of
    /// [`run`](Self::run): it must not wait. An earlier route of that name ends.
    pub fn route(
        &self,
        name: &str,
        take: impl Fn(TcpStream, Vec<u8>) -> io::Result<()> + Send + Sync + 'static,
    ) {
        lock(&self.routes).insert(name.to_ascii_lowercase(), Arc::new(take));
    }

    /// Ends a route; true if there was one.
    pub fn unroute(&self, name: &str) -> bool {
        lock(&self.routes).remove(&name.to_ascii_lowercase()).is_some()
    }

    /// Counts of connections so far, by how they ended.
    #[must_use]
    pub fn counts(&self) -> ReceptionCounts {
        let [handed, unknown, refused, lost] =
            [&self.handed, &self.unknown, &self.refused, &self.lost].map(|count| count.load(Relaxed));
        ReceptionCounts { handed, unknown, refused, lost }
    }

    /// Receives connections until [`end`](Self::end) is called. `report` hears what the system
    /// refuses, such as descriptors; the port is open all the same.
    pub fn run(&self, report: impl Fn(&io::Error)) {
        let mut lobby = Lobby::new(true);
        while !self.ends.load(Relaxed) {
            if let Err(e) = lobby.turn(&self.listener, None, &self.ear, LOOK) {
                report(&e);
                // Others close theirs meanwhile.
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
        // If it is full, it rings already.
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

/// The name in the greeting that a first record is, in lower case, if it has one; an error if it is
/// no whole greeting.
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
