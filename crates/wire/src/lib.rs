//! Sessions between processes: membership, transports (TLS, Unix sockets, shared memory), and blame
//! when a session ends.
//!
//! A [`Net`] of [`hushwire_machine`] holds the links of one party in one session and hands out its
//! channels. [`connect`] makes it from TCP with TLS 1.3 and pinned certificates, or from Unix
//! sockets and shared memory between processes of one user. [`LocalParties`] are all parties of a
//! session in one process, over a real transport. [`Shape::apply`] gives a net the bandwidth and
//! delay of another network.
//!
//! Between processes, a session also monitors liveness. Heartbeats distinguish a slow party from a
//! dead one. A party that gives up names the culprit ([`Watch`]), so every [`NetError`] names the
//! first cause. An [`Observer`] is told which party the session waits for.
#![forbid(unsafe_code)]

mod accept;
mod bell;
mod connect;
#[cfg(test)]
mod digest_tests;
mod excuse;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod greeting;
#[cfg(target_os = "linux")]
mod handed;
mod hello;
mod https;
mod identity;
mod joining;
mod listener;
mod lobby;
mod local;
mod measure;
mod meet;
mod notice;
mod observe;
mod pacer;
mod port;
mod probe;
#[cfg(target_os = "linux")]
mod reception;
mod roster;
mod session;
mod shape;
mod shaped;
#[cfg(target_os = "linux")]
mod shm_link;
mod sight;
mod slot;
mod stock;
mod subject;
mod tcp;
mod tls;
mod tls_greet;
mod tls_link;
mod tls_records;
mod transport;
#[cfg(unix)]
mod unix;
mod validity;
mod waker;
mod watch;
mod watcher;

pub use hushwire_machine::{Channel, Net, NetError, PartyId, Reason, SessionId, Watch};

pub use connect::{connect, connect_kept, connect_observed, connect_or_news};
pub use excuse::{News, excuse, retell};
#[cfg(target_os = "linux")]
pub use handed::HandOver;
pub use https::Https;
pub use identity::{Identity, IdentityError, Pin};
pub use listener::Listener;
pub use local::LocalParties;
pub use measure::{Clock, Probe, presented};
pub use observe::{Event, Observer};
pub use probe::{DialledPeer, Incoming, Prober, Visit};
#[cfg(target_os = "linux")]
pub use reception::{Reception, ReceptionCounts};
pub use session::{PeerConfig, SessionConfig, TransportKind};
pub use shape::Shape;
pub use stock::LinkStock;
pub use tcp::resolve;
pub use tls::pinned_client;
pub use validity::Validity;
