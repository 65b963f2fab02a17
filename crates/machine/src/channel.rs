//! Exact-length messages over half links.
//!
//! A [`Channel`] sends messages to one peer and receives messages from another one, or from the
//! same, on one lane. Lengths are agreed and never announced. One limit bounds the time without a
//! moving byte, and another bounds the time of a whole message. A channel that fails closes both of
//! its links.

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

/// LOCAL: the time within which a waiting channel notices that the session has ended, and after
/// which it reports that it waits.
const SLICE: Duration = Duration::from_millis(200);
/// LOCAL: the bytes per second of a lane that is slower than any in use.
const LEAST_RATE: u64 = 1024;
/// LOCAL: the number of pauses that a message may have, each at most as long as the stall limit. An
/// honest peer that keeps several messages in flight begins one, computes, ends others, and only
/// then continues with it.
const PAUSES: u32 = 4;

/// Ordered messages of exact lengths, sent to one peer and received from another one (or from the
/// same), on one lane.
///
/// Lengths are agreed and never announced: the lengths of the caller's buffers are the numbers of
/// bytes that move. After any error both links are closed, and every later call returns
/// [`NetError::Dropped`].
///
/// A peer may be silent for the stall limit between two bytes. In total, a message may wait for
/// four stall limits and one second for each KiB of it. [`NetError::Stalled`] and
/// [`NetError::Slow`] end what takes longer.
///
/// In a session of several processes, an error names the party to blame. The failed link may lead
/// to another party, which ended because of it. All parties have then been told, and all channels
/// of the session fail.
///
/// One thread may keep several channels in flight. `start(A) start(B) … finish(A) finish(B) …`
/// terminates for messages and buffers of any length, as long as all parties keep the same order.
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
    /// This field is last, so that the links close before the goodbye.
    watched: Option<Hold>,
}

/// The message in progress between `start` and `finish`.
struct Sending {
    bytes: usize,
    taken: usize,
    flushed: bool,
    /// A tap's bytes, which are sent in place of the caller's.
    instead: Option<Vec<u8>>,
}

/// The error of a half link, with the peer of that link.
type Failed = (Option<PartyId>, io::Error);

impl Channel {
    /// A channel over two half links, either of which may be missing. `stall` is the longest time
    /// without a moving byte in either direction while a step waits.
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

    /// The party to which messages go.
    #[must_use]
    pub fn to(&self) -> Option<PartyId> {
        self.to
    }

    /// The party from which messages come.
    #[must_use]
    pub fn from(&self) -> Option<PartyId> {
        self.from
    }

    /// The number of this lane.
    #[must_use]
    pub fn lane(&self) -> u16 {
        self.lane
    }

    /// Adds a tap, closer to the wire than earlier ones.
    pub fn tap(&mut self, tap: Box<dyn Tap>) {
        self.taps.push(tap);
    }

    /// Makes a step that waits fail with [`NetError::Dropped`] soon after `cut` has been cut by
    /// another thread of this party that failed. `None` is for a channel whose waits no other
    /// thread ends.
    pub fn until(&mut self, cut: Option<&WaitCut>) {
        self.cut = cut.cloned();
    }

    /// Starts to send `out`: sends what the transport accepts now and never blocks. The same `out`
    /// must be passed to [`Channel::finish`]. `step` names the step for errors.
    ///
    /// # Errors
    /// The link to the peer is gone, the channel failed earlier, or this process is a fork of the
    /// one that opened the channel.
    ///
    /// # Panics
    /// If the previous message is not finished, or there is no link to send on (the caller's bug).
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

    /// Sends the rest of `out` and fills `into`, with progress in both directions. Sends all of
    /// `out` if [`Channel::start`] was not called.
    ///
    /// # Errors
    /// The peer closed, stalled, or broke TLS. The channel is then closed.
    ///
    /// # Panics
    /// If `out` has another length than in `start`, or there is no link to receive on (the caller's
    /// bug).
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

    /// Sends all of `out` and fills `into`: [`Channel::start`], then [`Channel::finish`].
    ///
    /// # Errors
    /// The errors of [`Channel::finish`].
    pub fn exchange(&mut self, step: &str, out: &[u8], into: &mut [u8]) -> Result<(), NetError> {
        self.start(step, out)?;
        self.finish(step, out, into)
    }

    /// Sends all of `out`.
    ///
    /// # Errors
    /// The errors of [`Channel::finish`].
    pub fn send(&mut self, step: &str, out: &[u8]) -> Result<(), NetError> {
        self.exchange(step, out, &mut [])
    }

    /// Fills `into`.
    ///
    /// # Errors
    /// The errors of [`Channel::finish`].
    pub fn recv(&mut self, step: &str, into: &mut [u8]) -> Result<(), NetError> {
        self.exchange(step, &[], into)
    }

    /// Moves bytes in both directions until all have moved. The stall limit restarts with every
    /// byte; the limit of the whole message does not.
    fn pump(
        &mut self,
        step: &str,
        sending: &mut Sending,
        out: &[u8],
        into: &mut [u8],
    ) -> Result<(), NetError> {
        let mut got = 0;
        let mut still_since: Option<Instant> = None;
        // The clock is read only while the channel waits.
        let mut waits_since: Option<Instant> = None;
        let watched = self.watched.as_ref().map(|watched| watched.overseer().clone());
        let watched = watched.as_deref();
        let mut waiting = None;
        loop {
            // The epochs are read before the attempts, so that any later change ends the wait at
            // once.
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
                    // The thread that failed reports the cause.
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
                // The peer may itself wait for a party that makes no progress.
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

    /// The time that a message of `bytes` bytes in both directions may take from its first wait on.
    fn most(&self, bytes: usize) -> Duration {
        self.stall.saturating_mul(PAUSES).saturating_add(Duration::from_secs(bytes as u64 / LEAST_RATE))
    }

    /// Tries once to send. Returns true if a byte moved.
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

    /// Turns the error of a link into an error of the step.
    fn fail(&mut self, step: &str, (peer, source): Failed) -> NetError {
        self.end(step, NetError::from_link(peer, step, source))
    }

    /// Ends the session because the peer's fresh bytes do not match its commitment (see
    /// [`Toss`](crate::Toss)). All other parties are told which peer it is.
    pub fn unfit(&mut self, step: &str) -> NetError {
        self.deviated(self.from, step, "its fresh bytes are not those that it committed to")
    }

    /// Ends the session because a party deviated from the protocol; `peer` if it is known which
    /// one.
    pub(crate) fn deviated(&mut self, peer: Option<PartyId>, step: &str, what: &'static str) -> NetError {
        self.end(step, NetError::Deviated { peer, step: step.to_owned(), what })
    }

    /// Tells the peers, then closes both links. In this order, no peer takes this party for the
    /// first to fail.
    fn end(&mut self, step: &str, own: NetError) -> NetError {
        let e = match &self.watched {
            Some(watched) => watched.overseer().judge(step, own),
            None => own,
        };
        self.drop_links();
        e
    }

    /// Whether every message that was begun is complete, and nothing failed.
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
