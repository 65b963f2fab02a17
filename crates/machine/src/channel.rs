//! Exact-length messages over half links.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::event::PollFlags;

use crate::{
    NetError, PartyId, Process, Rx, Tap, Tx, WaitCut,
    link::wait_any,
    watch::{Hold, Waiting},
};

/// LOCAL: how soon a channel that waits hears that the session has ended, and how long it waits
/// before it says so.
const SLICE: Duration = Duration::from_millis(200);
/// LOCAL: bytes a second of a lane that is slower than any in use.
const LEAST_RATE: u64 = 1024;
/// LOCAL: pauses of a message, each as long as the stall limit at most. An honest peer that keeps
/// several messages in flight begins one, computes, ends others, and only then goes on with it.
const PAUSES: u32 = 4;

/// Ordered exact-length messages out to one peer and in from another (which may be the same), on
/// one lane.
///
/// Lengths are agreed, never announced: the buffers that a caller passes say how many bytes move.
/// After any error both links are closed and every later call answers [`NetError::Dropped`].
///
/// A peer may be silent for the stall limit between two bytes, and a message may wait four times as
/// long as that and a second for each KiB of it in all: [`NetError::Stalled`] and
/// [`NetError::Slow`] end what takes longer.
///
/// In a session of several processes an error names the party that is to blame, even when the link
/// that failed leads to another that ended because of it. Then all parties have been told, and all
/// channels of the session fail.
///
/// One thread may keep several channels in flight: `start(A) start(B) … finish(A) finish(B) …` ends
/// for messages of any length over buffers of any length, as long as all parties keep the same
/// order.
pub struct Channel {
    lane: u16,
    to: Option<PartyId>,
    from: Option<PartyId>,
    tx: Option<Box<dyn Tx>>,
    rx: Option<Box<dyn Rx>>,
    stall: Duration,
    taps: Vec<Box<dyn Tap>>,
    sending: Option<Sending>,
    dropped: bool,
    cut: Option<WaitCut>,
    process: Process,
    /// Last, so that the links close before the goodbye.
    watched: Option<Hold>,
}

/// The message between `start` and `finish`.
struct Sending {
    bytes: usize,
    taken: usize,
    flushed: bool,
    /// A tap's bytes, sent in place of the caller's.
    instead: Option<Vec<u8>>,
}

/// The failed half of a channel, by its peer, with the error.
type Failed = (Option<PartyId>, io::Error);

impl Channel {
    /// A channel over two half links; either may be missing. `stall` is how long no byte may move,
    /// either way, while a step waits.
    #[must_use]
    pub fn new(
        lane: u16,
        tx: Option<(PartyId, Box<dyn Tx>)>,
        rx: Option<(PartyId, Box<dyn Rx>)>,
        stall: Duration,
    ) -> Self {
        let (to, tx) = tx.unzip();
        let (from, rx) = rx.unzip();
        let (taps, sending, dropped, cut, watched) = (Vec::new(), None, false, None, None);
        let process = Process::here();
        Self { lane, to, from, tx, rx, stall, taps, sending, dropped, cut, process, watched }
    }

    pub(crate) fn attend(&mut self, watched: Option<Hold>) {
        self.watched = watched;
    }

    /// The party that messages go to.
    #[must_use]
    pub fn to(&self) -> Option<PartyId> {
        self.to
    }

    /// The party that messages come from.
    #[must_use]
    pub fn from(&self) -> Option<PartyId> {
        self.from
    }

    /// The number of this lane.
    #[must_use]
    pub fn lane(&self) -> u16 {
        self.lane
    }

    /// Adds a tap, nearer the wire than those before it.
    pub fn tap(&mut self, tap: Box<dyn Tap>) {
        self.taps.push(tap);
    }

    /// A step that waits fails with [`NetError::Dropped`] soon after `cut` has been cut, which is
    /// for another thread of this party that failed. `None` is for a channel that no other thread
    /// ends.
    pub fn until(&mut self, cut: Option<&WaitCut>) {
        self.cut = cut.cloned();
    }

    /// Starts to send `out`: takes what the transport accepts now and never blocks. The same `out`
    /// must be given to [`Channel::finish`]. `step` names what is under way, for errors.
    ///
    /// # Errors
    /// The link to the peer is gone, the channel failed earlier, or this is a fork of the process
    /// that opened it.
    ///
    /// # Panics
    /// When the message before is not finished, or there is no link to send on: a bug of the
    /// caller.
    pub fn start(&mut self, step: &str, out: &[u8]) -> Result<(), NetError> {
        self.process.check(step)?;
        self.alive(step)?;
        assert!(self.sending.is_none(), "{step}: start before the message before was finished");
        assert!(out.is_empty() || self.tx.is_some(), "{step}: this channel has nobody to send to");
        let instead = if out.is_empty() { None } else { self.tap_outgoing(out) };
        let mut sending = Sending { bytes: out.len(), taken: 0, flushed: out.is_empty(), instead };
        let pushed = loop {
            match self.push(&mut sending, out) {
                Ok(true) if sending.taken < sending.bytes => {}
                Ok(_) => break Ok(()),
                Err(e) => break Err(e),
            }
        };
        if let (true, Some(watched)) = (sending.taken > 0, &self.watched) {
            watched.overseer().stir();
        }
        self.sending = Some(sending);
        pushed.map_err(|e| self.fail(step, e))
    }

    /// Sends the rest of `out` and fills `into`, making progress both ways. Sends the whole of
    /// `out` if [`Channel::start`] was not called.
    ///
    /// # Errors
    /// The peer closed, stalled, or broke TLS; the channel is closed then.
    ///
    /// # Panics
    /// When `out` is not as long as in `start`, or there is no link to receive on: a bug of the
    /// caller.
    pub fn finish(&mut self, step: &str, out: &[u8], into: &mut [u8]) -> Result<(), NetError> {
        if self.sending.is_none() {
            self.start(step, out)?;
        }
        self.alive(step)?;
        assert!(into.is_empty() || self.rx.is_some(), "{step}: this channel has nobody to receive from");
        let Some(mut sending) = self.sending.take() else {
            return Err(self.dropped_error(step));
        };
        assert_eq!(out.len(), sending.bytes, "{step}: finish was given another message than start");
        self.pump(step, &mut sending, out, into)?;
        if let (false, Some(from)) = (into.is_empty(), self.from) {
            for tap in self.taps.iter_mut().rev() {
                tap.incoming(from, self.lane, into);
            }
        }
        if !(out.is_empty() && into.is_empty()) {
            for tap in &mut self.taps {
                tap.finished(self.lane);
            }
        }
        Ok(())
    }

    /// Sends `out` whole and fills `into`: [`Channel::start`], then [`Channel::finish`].
    ///
    /// # Errors
    /// As [`Channel::finish`].
    pub fn exchange(&mut self, step: &str, out: &[u8], into: &mut [u8]) -> Result<(), NetError> {
        self.start(step, out)?;
        self.finish(step, out, into)
    }

    /// Sends `out` whole.
    ///
    /// # Errors
    /// As [`Channel::finish`].
    pub fn send(&mut self, step: &str, out: &[u8]) -> Result<(), NetError> {
        self.exchange(step, out, &mut [])
    }

    /// Fills `into`.
    ///
    /// # Errors
    /// As [`Channel::finish`].
    pub fn recv(&mut self, step: &str, into: &mut [u8]) -> Result<(), NetError> {
        self.exchange(step, &[], into)
    }

    /// Moves bytes both ways until all have moved. The stall limit restarts with every byte, that
    /// of the whole message does not.
    fn pump(
        &mut self,
        step: &str,
        sending: &mut Sending,
        out: &[u8],
        into: &mut [u8],
    ) -> Result<(), NetError> {
        let mut got = 0;
        let mut still_since: Option<Instant> = None;
        // Only who waits looks at the clock.
        let mut waits_since: Option<Instant> = None;
        let watched = self.watched.as_ref().map(|watched| watched.overseer().clone());
        let watched = watched.as_deref();
        let mut waiting = None;
        loop {
            // Read before the attempts: what changes after them ends the wait at once.
            let out_epoch = self.tx.as_deref().map_or(0, |tx| tx.wait_on().epoch());
            let in_epoch = self.rx.as_deref().map_or(0, |rx| rx.wait_on().epoch());
            let mut moved = match self.push(sending, out) {
                Ok(moved) => moved,
                Err(e) => return Err(self.fail(step, e)),
            };
            if got < into.len() {
                match self.rx.as_mut().map_or(Ok(0), |rx| rx.try_recv(&mut into[got..])) {
                    Ok(n) => {
                        got += n;
                        moved |= n > 0;
                    }
                    Err(e) => return Err(self.fail(step, (self.from, e))),
                }
            }
            if let (true, Some(watched)) = (moved, watched) {
                watched.stir();
            }
            let (sent, received) = (sending.flushed, got == into.len());
            if sent && received {
                return Ok(());
            }
            if moved {
                (still_since, waiting) = (None, None);
                continue;
            }
            let now = Instant::now();
            let since = *still_since.get_or_insert(now);
            let still = now - since;
            let peer = if received { self.to } else { self.from };
            let waited = now - *waits_since.get_or_insert(now);
            let most = self.most(out.len() + into.len());
            let mut limit = self.stall.saturating_sub(still).min(most.saturating_sub(waited));
            if let Some(cut) = &self.cut {
                if cut.is_cut() {
                    // Its cause is told by the thread that failed.
                    self.drop_links();
                    return Err(self.dropped_error(step));
                }
                limit = limit.min(SLICE);
            }
            if let Some(watched) = watched {
                if let Err(e) = watched.check(step) {
                    return Err(self.end(step, e));
                }
                if still >= SLICE && waiting.is_none() {
                    waiting = peer.map(|peer| Waiting::new(watched, peer, step, since));
                }
                limit = limit.min(SLICE);
            }
            if still >= self.stall || waited >= most {
                // It may wait itself, for a party that does not get on.
                let peer = watched.map_or(peer, |watched| peer.map(|peer| watched.behind(peer)));
                let [moved, bytes] = [sending.taken + got, out.len() + into.len()].map(|n| n as u64);
                let name = step.to_owned();
                let e = if still >= self.stall {
                    NetError::Stalled { peer, step: name, after: self.stall }
                } else {
                    NetError::Slow { peer, step: name, moved, bytes, after: most }
                };
                return Err(self.end(step, e));
            }
            let out_wait =
                self.tx.as_deref().filter(|_| !sent).map(|tx| tx.wait_on().after(out_epoch, PollFlags::OUT));
            let in_wait = self
                .rx
                .as_deref()
                .filter(|_| !received)
                .map(|rx| rx.wait_on().after(in_epoch, PollFlags::IN));
            if let Err(e) = wait_any(out_wait, in_wait, limit) {
                return Err(self.fail(step, (self.from.or(self.to), e)));
            }
        }
    }

    /// The time that a message of `bytes` bytes, both ways, may take from its first wait on.
    fn most(&self, bytes: usize) -> Duration {
        self.stall.saturating_mul(PAUSES).saturating_add(Duration::from_secs(bytes as u64 / LEAST_RATE))
    }

    /// One attempt to send; true when a byte moved.
    fn push(&mut self, sending: &mut Sending, out: &[u8]) -> Result<bool, Failed> {
        let Some(tx) = self.tx.as_mut().filter(|_| !sending.flushed) else {
            return Ok(false);
        };
        let bytes = sending.instead.as_deref().unwrap_or(out);
        let mut attempt = || {
            let mut moved = 0;
            if sending.taken < sending.bytes {
                moved = tx.try_send(&bytes[sending.taken..])?;
                sending.taken += moved;
            }
            if sending.taken == sending.bytes {
                sending.flushed = tx.try_flush()?;
            }
            Ok(moved > 0)
        };
        attempt().map_err(|e| (self.to, e))
    }

    fn tap_outgoing(&mut self, out: &[u8]) -> Option<Vec<u8>> {
        let to = self.to?;
        let mut instead: Option<Vec<u8>> = None;
        for tap in &mut self.taps {
            let msg = instead.as_deref().unwrap_or(out);
            if let Some(other) = tap.outgoing(to, self.lane, msg) {
                assert_eq!(other.len(), out.len(), "a tap changed the length of a message");
                instead = Some(other);
            }
        }
        instead
    }

    fn alive(&self, step: &str) -> Result<(), NetError> {
        if self.dropped { Err(self.dropped_error(step)) } else { Ok(()) }
    }

    fn dropped_error(&self, step: &str) -> NetError {
        NetError::Dropped { peer: self.from.or(self.to), step: step.to_owned() }
    }

    /// Names what a link answered.
    fn fail(&mut self, step: &str, (peer, source): Failed) -> NetError {
        self.end(step, NetError::from_link(peer, step, source))
    }

    /// Ends the session because the fresh bytes of the peer do not fit its commitment (see
    /// [`Toss`](crate::Toss)): all other parties hear who it was.
    pub fn unfit(&mut self, step: &str) -> NetError {
        self.deviated(self.from, step, "its fresh bytes are not those that it committed to")
    }

    /// Ends the session because a party left the protocol; `peer` where it is known which.
    pub(crate) fn deviated(&mut self, peer: Option<PartyId>, step: &str, what: &'static str) -> NetError {
        self.end(step, NetError::Deviated { peer, step: step.to_owned(), what })
    }

    /// Tells the peers, then closes both links: in this order nobody takes this party for the first
    /// to fail.
    fn end(&mut self, step: &str, own: NetError) -> NetError {
        let e = match &self.watched {
            Some(watched) => watched.overseer().judge(step, own),
            None => own,
        };
        self.drop_links();
        e
    }

    /// Whether all that was begun was ended, and nothing failed.
    fn in_order(&self) -> bool {
        let failed = !self.process.is_here()
            || self.dropped
            || std::thread::panicking()
            || self.watched.as_ref().is_some_and(|watched| watched.overseer().check("").is_err());
        !failed && self.sending.is_none()
    }

    fn drop_links(&mut self) {
        self.dropped = true;
        self.tx = None;
        self.rx = None;
        self.sending = None;
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.in_order()
            && let Some(tx) = &mut self.tx
        {
            tx.close();
        }
    }
}
