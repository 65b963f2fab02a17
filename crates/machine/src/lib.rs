//! Protocols as [`Machine`](drive::Machine)s, and what runs them.
//!
//! A machine goes a round at a time, without input or output. Drivers move its messages over
//! channels, and channels move messages of exact lengths over any links.
//!
//! ```text
//! drive      Machine, its gate, Driver, Lane, Lockstep, Abreast; Line makes an async fn a machine
//! Channel    messages over half links (Tx, Rx); Net holds the links of one party
//! inproc     half links between the parties of one process
//! Tap        sees every message of a channel: Meter, Transcript, Record, Tamper, Turns
//! ```
//!
//! A [`Channel`] carries ordered messages, out to one peer and in from another. Both ends agreed on
//! the lengths beforehand. Its primitive is [`Channel::exchange`], which makes progress both ways;
//! [`Channel::start`] and [`Channel::finish`] split it so that one thread keeps several lanes in
//! flight. Nothing on the wire announces a length, so a peer cannot ask for memory.
//!
//! A [`Net`] holds the links of one party in one session and hands out its channels. It comes from
//! [`inproc::mesh`] (all parties in one process), from `hushwire-wire` (a session between
//! processes), or from a [`Recording`] (one party runs again alone).
//!
//! This crate opens no socket, no file and no connection, and knows no TLS: others open the links,
//! and it waits for them. It knows a session between processes by its [`Overseer`], which keeps
//! watch over it, and by the [`NetError`] with which it ends.
//!
//! A [`Toss`] turns fresh bytes of all parties into a name that none of them can choose.
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
