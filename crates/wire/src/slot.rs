//! The slot of a connection in a session: a lane to or from one peer.

use std::fmt;

use hushwire_machine::{PartyId, Rx, Tx};
use rustix::fd::AsFd;

/// AGREEMENT: the lane of heartbeats and notices. A session has fewer data lanes, so no data lane
/// has this number.
pub(crate) const CONTROL_LANE: u16 = u16::MAX;

/// A connection that can send and receive, until the hello says which of the two it does.
pub(crate) trait Duplex: Tx + Rx + AsFd {}
impl<L: Tx + Rx + AsFd> Duplex for L {}

/// The slot of a connection: one direction of a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) peer: PartyId,
    pub(crate) lane: u16,
    /// Whether this party sends on the connection.
    pub(crate) sends: bool,
}

/// The text follows a party's name and the word "dialled".
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lane {
            CONTROL_LANE => f.write_str("the control connection"),
            lane => write!(f, "lane {lane}"),
        }
    }
}
