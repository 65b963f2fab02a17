//! Channels between parties: exact-length messages over in-process queues, TLS, Unix sockets and shared memory, and
//! what wraps them.
//!
//! A [`Channel`] carries ordered messages whose lengths both ends agreed on beforehand, out to one peer and in
//! from another. Its primitive is [`Channel::exchange`], which makes progress both ways; [`Channel::start`] and
//! [`Channel::finish`] split it so that one thread keeps several lanes in flight. Nothing on the wire announces a
//! length, so a peer cannot ask for memory.
//!
//! A [`Net`] holds the links of one party in one session and hands out its channels. It comes from
//! [`inproc::mesh`] (all parties in one process; [`LocalParties`] are, too, over a real transport), from [`connect`] (TCP with TLS 1.3 and pinned certificates, or
//! Unix sockets and shared memory between processes of one user), or from a [`Recording`] (one party runs again
//! alone). [`Net::shape`] puts it behind a network of another bandwidth and delay.
//!
//! Between processes a session also watches over itself. Heartbeats tell a party that is slow from one that is dead,
//! a party that gives up says because of whom ([`Watch`]), and so every [`NetError`] names the first cause. An
//! [`Observer`] hears for whom it waits.
//!
//! A [`Toss`] makes fresh bytes of all parties into a name that none of them can choose.
//!
//! A [`Tap`] sees every message of a channel: [`Meter`], [`Transcript`], [`Record`] and [`Tamper`].
#![forbid(unsafe_code)]

mod abreast;
mod accept;
mod bell;
mod channel;
mod connect;
mod cut;
pub mod drive;
mod error;
mod excuse;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod greeting;
mod hello;
mod id;
mod identity;
pub mod inproc;
mod link;
mod listener;
mod lobby;
mod local;
mod lockstep;
mod machine;
mod measure;
mod meet;
mod meter;
mod net;
mod notice;
mod observe;
mod pacer;
mod port;
mod printable;
mod probe;
mod process;
mod record;
mod roster;
mod session;
mod shape;
mod shaped;
#[cfg(target_os = "linux")]
mod shm_link;
mod sight;
mod subject;
mod tamper;
mod tcp;
mod tls;
mod tls_greet;
mod tls_link;
mod tls_records;
mod toss;
mod transcript;
mod transport;
mod turns;
#[cfg(unix)]
mod unix;
mod validity;
mod waker;
mod watch;
mod watcher;

pub use channel::Channel;
pub use connect::{connect, connect_observed, connect_or_news};
pub use cut::Cut;
pub use error::{NetError, OtherUser};
pub use excuse::{News, excuse, retell};
pub use id::{PartyId, SessionId};
pub use identity::{Identity, IdentityError, Pin};
pub use link::{Doze, Rx, Signal, Tap, Tx, Wait};
pub use listener::Listener;
pub use local::LocalParties;
pub use measure::{Clock, Probe, presented};
pub use meter::{Cost, Meter, MeterReading, Traffic};
pub use net::Net;
pub use notice::{Cause, Reason};
pub use observe::{Event, Observer};
pub use printable::printable;
pub use probe::{Found, Incoming, Prober, Visit};
pub use process::Process;
pub use record::{Record, Recording, Replay};
pub use session::{PeerConfig, SessionConfig, TransportKind};
pub use shape::Shape;
pub use tamper::{Edit, Tamper, TamperHits};
pub use tcp::resolve;
pub use toss::{Toss, Unfit, Word};
pub use transcript::{Transcript, TranscriptDigest};
pub use turns::Turns;
pub use validity::Validity;
pub use watch::Watch;
