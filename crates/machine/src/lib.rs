//! Protocols as [`Machine`](drive::Machine)s, and the code that runs them.
//!
//! A machine computes a round at a time, without input or output. Drivers move its messages over
//! channels, and channels move messages of exact lengths over any links.
//!
//! ```text
//! drive      Machine and its gate; the drivers Driver, Lane and Lockstep; Abreast, machines that
//!            share their rounds; Line, an async fn as a machine
//! Channel    messages over half links (Tx, Rx); Net holds the links of one party
//! inproc     half links between the parties of one process
//! Tap        sees every message of a channel: Meter, Transcript, Record, Tamper, Turns
//! ```
//!
//! A [`Channel`] carries messages in order, out to one peer and in from another peer or the same.
//! Both ends have agreed on the lengths beforehand. [`Channel::exchange`] sends and receives at the
//! same time. [`Channel::start`] and [`Channel::finish`] are the two halves of an exchange, so that
//! one thread can keep several lanes in flight. No length is announced on the wire, so a peer
//! cannot make this process allocate memory.
//!
//! A [`Net`] holds the links of one party in one session and hands out its channels. It comes from
//! [`inproc::mesh`] (all parties in one process), from `hushwire-wire` (a session between
//! processes), or from a [`Recording`] (one party runs again, alone).
//!
//! This crate opens no socket, no file and no connection, and does not use TLS. Other crates open
//! the links, and this crate waits for their bytes. It sees a session between processes only as an
//! [`Overseer`], which watches the session, and as the [`NetError`] with which a session fails.
//!
//! A [`Toss`] turns fresh bytes of all parties into a name that no party can choose.
#![forbid(unsafe_code)]

mod abreast;
mod channel;
mod cut;
pub mod drive;
mod driver;
mod error;
mod gate;
mod id;
pub mod inproc;
mod line;
mod link;
mod locks;
mod lockstep;
mod machine;
mod macros;
mod meter;
mod misstep;
mod net;
mod process;
mod reason;
mod record;
mod tamper;
mod toss;
mod transcript;
mod turns;
mod watch;

pub use channel::Channel;
pub use cut::WaitCut;
pub use error::{NetError, OtherUser, Presented, TlsError};
pub use hushwire_fault::{Excuse, PartyId, out_of_descriptors, printable};
pub use id::SessionId;
pub use link::{Doze, Rx, Signal, Tap, Tx, Wait, poll_fds};
pub use locks::lock;
pub use meter::{Cost, Meter, MeterReading, Traffic};
pub use net::Net;
pub use process::Process;
pub use reason::Reason;
pub use record::{Record, Recording, Replay};
pub use tamper::{Edit, Tamper, TamperHits};
pub use toss::{Toss, Unfit, Word};
pub use transcript::{Transcript, TranscriptDigest};
pub use turns::Turns;
pub use watch::{Hold, Overseer, Watch};
