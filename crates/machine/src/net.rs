//! The links of one party in one session.
//!
//! A [`Net`] holds half links by peer and lane, and gives them out as channels. Between processes,
//! it also has the session's id and keeps the watch over the session alive.

use std::{collections::BTreeMap, time::Duration};

use crate::{Channel, NetError, PartyId, Process, Reason, Rx, SessionId, Tx, Watch, watch::Hold};

type Lane = (PartyId, u16);

/// All half links of one party, by peer and lane, to be taken as channels.
///
/// Dropping it closes the links that were not taken. When it and all its channels have been
/// dropped, the party has sent a goodbye to its peers. A party that ends otherwise counts as dead.
pub struct Net {
    me: PartyId,
    lanes: u16,
    stall: Duration,
    /// `None` once taken.
    tx: BTreeMap<Lane, Option<Box<dyn Tx>>>,
    rx: BTreeMap<Lane, Option<Box<dyn Rx>>>,
    session: Option<SessionId>,
    process: Process,
    /// This field is last, so that the data links close before the goodbye. There is no watch
    /// within one process.
    watched: Option<Hold>,
}

impl Net {
    /// Makes a net without links. `lanes` is the result of [`Net::lanes`], and `stall` is the limit
    /// of its channels.
    #[must_use]
    pub fn new(me: PartyId, lanes: u16, stall: Duration) -> Self {
        Self {
            me,
            lanes,
            stall,
            tx: BTreeMap::new(),
            rx: BTreeMap::new(),
            session: None,
            process: Process::here(),
            watched: None,
        }
    }

    /// Puts the net under watch, and sets its session.
    pub fn attend(&mut self, session: SessionId, watched: Hold) {
        (self.session, self.watched) = (Some(session), Some(watched));
    }

    /// The session's id, which is the same for all its members and differs from that of any other
    /// session. It is a hash of the session's name and of fresh bytes of every party's process.
    /// `None` if all parties are in one process, which names the session itself.
    #[must_use]
    pub fn session(&self) -> Option<SessionId> {
        self.session
    }

    /// The watch, which tells peers why this party ends, and knows why a peer did. `None` if all
    /// parties are in one process.
    #[must_use]
    pub fn watch(&self) -> Option<Watch> {
        self.watched.as_ref().map(Hold::watch)
    }

    /// Ends the session for all parties because of `culprit`, which may be this party; see
    /// [`Watch::abort`].
    pub fn abort(&self, culprit: PartyId, why: Reason, step: &str) {
        if let Some(watch) = self.watch() {
            watch.abort(culprit, why, step);
        }
    }

    /// The number of this party.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The number of lanes to and from each computing party.
    #[must_use]
    pub fn lanes(&self) -> u16 {
        self.lanes
    }

    /// All parties that this party has a link with, in order of id.
    #[must_use]
    pub fn peers(&self) -> Vec<PartyId> {
        let mut peers: Vec<_> = self.tx.keys().chain(self.rx.keys()).map(|lane| lane.0).collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Adds the link on which this party sends to `peer` on `lane`. It replaces an earlier one.
    pub fn add_tx(&mut self, peer: PartyId, lane: u16, tx: Box<dyn Tx>) {
        self.tx.insert((peer, lane), Some(tx));
    }

    /// Adds the link on which this party receives from `peer` on `lane`. It replaces an earlier
    /// one.
    pub fn add_rx(&mut self, peer: PartyId, lane: u16, rx: Box<dyn Rx>) {
        self.rx.insert((peer, lane), Some(rx));
    }

    /// Replaces the links on which this party sends, and that are not taken yet, by the result of
    /// `wrap`. Control links are not among them. `wrap` gets the stall limit and must return the
    /// same number of links, in order.
    pub fn send_through(&mut self, wrap: impl FnOnce(Duration, Vec<Box<dyn Tx>>) -> Vec<Box<dyn Tx>>) {
        let mut slots: Vec<_> = self.tx.values_mut().filter(|slot| slot.is_some()).collect();
        let links = slots.iter_mut().filter_map(|slot| slot.take()).collect();
        let wrapped = wrap(self.stall, links);
        for (slot, link) in slots.into_iter().zip(wrapped) {
            *slot = Some(link);
        }
    }

    /// Takes the links to `to` and from `from` on `lane` as one channel.
    ///
    /// # Errors
    /// [`NetError::LaneTaken`] if a link was already taken or is not part of this session;
    /// [`NetError::Forked`] in a fork of the process that opened the session. In either case no
    /// link is taken.
    pub fn channel(
        &mut self,
        lane: u16,
        to: Option<PartyId>,
        from: Option<PartyId>,
    ) -> Result<Channel, NetError> {
        self.process.check("channel set-up")?;
        let tx = to.map(|peer| free(&mut self.tx, peer, lane).map(|slot| (peer, slot))).transpose()?;
        let rx = from.map(|peer| free(&mut self.rx, peer, lane).map(|slot| (peer, slot))).transpose()?;
        let tx = tx.and_then(|(peer, slot)| Some((peer, slot.take()?)));
        let rx = rx.and_then(|(peer, slot)| Some((peer, slot.take()?)));
        let mut channel = Channel::new(lane, tx, rx, self.stall);
        channel.attend(self.watched.as_ref().map(Hold::another));
        Ok(channel)
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        let failed = !self.process.is_here()
            || self.watched.as_ref().is_some_and(|watched| watched.overseer().check("").is_err());
        if !failed && !std::thread::panicking() {
            self.tx.values_mut().flatten().for_each(|tx| tx.close());
        }
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
