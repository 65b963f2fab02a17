//! The links of one party in one session.

use std::{collections::BTreeMap, time::Duration};

use crate::{Channel, NetError, PartyId, Rx, Tx};

type Lane = (PartyId, u16);

/// All half links of one party, by peer and lane, to be taken as channels.
///
/// Dropping it closes the links that were not taken.
pub struct Net {
    me: PartyId,
    lanes: u16,
    stall: Duration,
    /// `None` once taken.
    tx: BTreeMap<Lane, Option<Box<dyn Tx>>>,
    rx: BTreeMap<Lane, Option<Box<dyn Rx>>>,
}

impl Net {
    /// A net without links; `lanes` is what [`Net::lanes`] answers, `stall` the limit of its channels.
    #[must_use]
    pub fn new(me: PartyId, lanes: u16, stall: Duration) -> Self {
        Self { me, lanes, stall, tx: BTreeMap::new(), rx: BTreeMap::new() }
    }

    /// Who this party is.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// How many lanes there are to and from each computing party.
    #[must_use]
    pub fn lanes(&self) -> u16 {
        self.lanes
    }

    /// Everybody this party has a link with, in order of id.
    #[must_use]
    pub fn peers(&self) -> Vec<PartyId> {
        let mut peers: Vec<_> = self.tx.keys().chain(self.rx.keys()).map(|lane| lane.0).collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Adds the link on which this party sends to `peer` on `lane`, in place of one there.
    pub fn add_tx(&mut self, peer: PartyId, lane: u16, tx: Box<dyn Tx>) {
        self.tx.insert((peer, lane), Some(tx));
    }

    /// Adds the link on which this party receives from `peer` on `lane`, in place of one there.
    pub fn add_rx(&mut self, peer: PartyId, lane: u16, rx: Box<dyn Rx>) {
        self.rx.insert((peer, lane), Some(rx));
    }

    /// Takes the links to `to` and from `from` on `lane` as one channel.
    ///
    /// # Errors
    /// [`NetError::LaneTaken`] when a link was taken before or is not part of this session; none is taken then.
    pub fn channel(
        &mut self,
        lane: u16,
        to: Option<PartyId>,
        from: Option<PartyId>,
    ) -> Result<Channel, NetError> {
        let tx = to.map(|peer| free(&mut self.tx, peer, lane).map(|slot| (peer, slot))).transpose()?;
        let rx = from.map(|peer| free(&mut self.rx, peer, lane).map(|slot| (peer, slot))).transpose()?;
        let tx = tx.and_then(|(peer, slot)| Some((peer, slot.take()?)));
        let rx = rx.and_then(|(peer, slot)| Some((peer, slot.take()?)));
        Ok(Channel::new(lane, tx, rx, self.stall))
    }
}

fn free<T>(
    links: &mut BTreeMap<Lane, Option<T>>,
    peer: PartyId,
    lane: u16,
) -> Result<&mut Option<T>, NetError> {
    let cause = match links.get_mut(&(peer, lane)) {
        Some(slot) if slot.is_some() => return Ok(slot),
        Some(_) => "it was taken before",
        None => "this session has no such link",
    };
    Err(NetError::LaneTaken { peer: Some(peer), lane, cause })
}
