//! Channels between parties: exact-length messages over in-process queues, TCP and TLS, and what wraps them.
//!
//! A [`Channel`] carries ordered messages whose lengths both ends agreed on beforehand, out to one peer and in
//! from another. Its primitive is [`Channel::exchange`], which makes progress both ways; [`Channel::start`] and
//! [`Channel::finish`] split it so that one thread keeps several lanes in flight. Nothing on the wire announces a
//! length, so a peer cannot ask for memory.
//!
//! A [`Net`] holds the links of one party in one session and hands out its channels. It comes from
//! [`inproc::mesh`] (all parties in one process), from [`connect`] (TCP with TLS 1.3 and pinned certificates), or
//! from a [`Recording`] (one party runs again alone).
//!
//! A [`Tap`] sees every message of a channel: [`Meter`], [`Transcript`], [`Record`] and [`Tamper`].
#![forbid(unsafe_code)]

mod channel;
mod error;
mod id;
pub mod inproc;
mod link;
mod net;

pub use channel::Channel;
pub use error::NetError;
pub use id::{PartyId, SessionId};
pub use link::{Rx, Signal, Tap, Tx, Wait};
pub use net::Net;
