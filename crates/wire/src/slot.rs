//! The slot of a connection in a session: a lane to or from one peer.

use std::fmt;

use hushwire_machine::{PartyId, Rx, Tx};
use rustix::fd::AsFd;

/// AGREEMENT: the lane of heartbeats and notices. A session has fewer lanes of data, so that none
/// of them has this number.
pub(crate) const CONTROL_LANE: u16 = u16::MAX;

/// A connection that can send and receive, until the hello has said which of the two it does.
pub(crate) trait Duplex: Tx + Rx + AsFd {}
impl<L: Tx + Rx + AsFd> Duplex for L {}

/// The half of a lane that a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) peer: PartyId,
    pub(crate) lane: u16,
    /// Whether this party sends on it.
    pub(crate) sends: bool,
}

/// Reads after a party's name and "dialled".
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            CONTROL_LANE => f.write_str("the control connection"),
            lane => write!(f, "lane {lane}"),
        }
    }
}
