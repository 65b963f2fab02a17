//! What can go wrong between two parties; every message names the party, the step, the cause and a remedy.

use core::fmt;
use std::{io, time::Duration};

use thiserror::Error;

use crate::PartyId;

/// A failed step between this party and a peer. After it the channel is closed and the session ends.
///
/// Reads as `party 1: <what> during <step>: <cause>; <remedy>`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// The peer's end of the link is gone.
    #[error("{}: closed the link during {step}: its process ended or dropped the session; read its own error", Who(*.peer))]
    Closed {
        /// Whose end is gone.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
    },
    /// Not one byte moved for the whole stall limit.
    #[error(
        "{}: stalled during {step}: no byte moved for {after:?}; see whether it still runs, or raise the stall limit",
        Who(*.peer)
    )]
    Stalled {
        /// Whom this party waited for.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
        /// The stall limit.
        after: Duration,
    },
    /// The operating system refused to send or receive.
    #[error("{}: link failed during {step}: {source}; see the network between the hosts and start again", Who(*.peer))]
    Io {
        /// The other end of the link.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// TLS refused the peer, or a record did not decrypt.
    #[error("{}: TLS failed during {step}: {source}; compare the pins and transports in both party files", Who(*.peer))]
    Tls {
        /// The other end, where it is known.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
        /// What TLS said.
        source: rustls::Error,
    },
    /// Both sides are alive and disagree about what to run.
    #[error(
        "{}: {field} differs during handshake: ours is {ours}, theirs is {theirs}; give both parties the same job and release",
        Who(*.peer)
    )]
    HandshakeMismatch {
        /// Who disagrees.
        peer: Option<PartyId>,
        /// Which field of the hello.
        field: &'static str,
        /// This party's value.
        ours: String,
        /// The peer's value.
        theirs: String,
    },
    /// Somebody presented a certificate, or an id, that this session does not list.
    #[error("{}: unknown during {step}: {presented} is not listed; add its pin to the party file if it belongs here", Who(*.peer))]
    UnknownPeer {
        /// Who it claims to be, if it said so.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
        /// The pin or id that came.
        presented: String,
    },
    /// A process of another user is at the other end of a Unix socket.
    #[error("{}: refused during {step}: {source}; run the parties of one host as one user, or use tcp-tls", Who(*.peer))]
    OtherUser {
        /// The other end, where it is known.
        peer: Option<PartyId>,
        /// What was under way.
        step: String,
        /// Which users.
        source: OtherUser,
    },
    /// A message of the right length holds something that no honest peer sends.
    #[error("{}: sent a malformed message during {msg}: {what}; run the same release everywhere", Who(*.peer))]
    Malformed {
        /// Who sent it.
        peer: Option<PartyId>,
        /// The name of the message.
        msg: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// No connection came about within the connect time-out.
    #[error(
        "{}: unreachable at {address} during connect: {cause}; see that it runs, that the address is right and that no firewall is between",
        Who(*.peer)
    )]
    Connect {
        /// Whom this party waited for.
        peer: Option<PartyId>,
        /// Where: the peer's address, or ours if the peer was to dial.
        address: String,
        /// The last thing that went wrong.
        cause: String,
    },
    /// The lane to or from this peer was already handed out, or does not exist.
    #[error("{}: no free lane {lane} during channel set-up: {cause}; take each lane once, below the agreed number", Who(*.peer))]
    LaneTaken {
        /// The peer of the lane.
        peer: Option<PartyId>,
        /// Which lane.
        lane: u16,
        /// Taken, or not in this session.
        cause: &'static str,
    },
    /// The channel failed earlier and stays closed.
    #[error("{}: channel is closed during {step}: an earlier step on it failed; read the first error", Who(*.peer))]
    Dropped {
        /// The peer of the channel.
        peer: Option<PartyId>,
        /// What was asked of it now.
        step: String,
    },
    /// The session's own configuration cannot work.
    #[error("{}: bad configuration during connect: {what}; correct the party file", Who(*.peer))]
    Config {
        /// The peer that it is about.
        peer: Option<PartyId>,
        /// What is wrong.
        what: String,
    },
}

impl NetError {
    /// The peer that this error is about, where it is known.
    #[must_use]
    pub fn peer(&self) -> Option<PartyId> {
        match self {
            Self::Closed { peer, .. }
            | Self::Stalled { peer, .. }
            | Self::Io { peer, .. }
            | Self::Tls { peer, .. }
            | Self::HandshakeMismatch { peer, .. }
            | Self::UnknownPeer { peer, .. }
            | Self::OtherUser { peer, .. }
            | Self::Malformed { peer, .. }
            | Self::Connect { peer, .. }
            | Self::LaneTaken { peer, .. }
            | Self::Dropped { peer, .. }
            | Self::Config { peer, .. } => *peer,
        }
    }

    /// Sorts what a link answered into `Closed`, `Tls` and `Io`.
    pub(crate) fn from_link(peer: Option<PartyId>, step: &str, source: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
        let step = step.to_owned();
        match source.kind() {
            UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionAborted | NotConnected => {
                Self::Closed { peer, step }
            }
            _ => match source.get_ref() {
                Some(e) if let Some(tls) = e.downcast_ref::<rustls::Error>() => {
                    Self::Tls { peer, step, source: tls.clone() }
                }
                Some(e) if let Some(&users) = e.downcast_ref::<OtherUser>() => {
                    Self::OtherUser { peer, step, source: users }
                }
                _ => Self::Io { peer, step, source },
            },
        }
    }
}

/// Which user runs this party, and which the process at the other end of a Unix socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("user {theirs} runs it and user {ours} this party")]
pub struct OtherUser {
    /// This process's user id.
    pub ours: u32,
    /// The other's.
    pub theirs: u32,
}

struct Who(Option<PartyId>);

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => id.fmt(f),
            None => f.write_str("unknown peer"),
        }
    }
}
