//! The thread that serves a session's control links. It sends heartbeats and notices, and receives
//! those of the peers.
//!
//! A peer that is silent for the liveness limit counts as dead, and so does one whose link closes
//! without a goodbye. The thread records the first cause as the verdict of the
//! [`watch`](crate::watch).

use std::{
    collections::BTreeMap,
    io::Read,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hushwire_machine::{Overseer, PartyId, Reason, Rx, TlsError, Tx, Wait, poll_fds};
use rustix::event::{PollFd, PollFlags};

use crate::{
    Event,
    bell::Bell,
    notice::{NOTICE_BYTES, Notice, StepName},
    observe::Notices,
    watch::{Half, SessionWatch, Verdict, VerdictSource},
};

/// AGREEMENT, loosely: the interval between a party's heartbeats. Every sensible liveness limit is
/// a multiple of it.
pub(crate) const BEAT: Duration = Duration::from_secs(1);
/// LOCAL: a peer that has been silent for this long has missed heartbeats.
const MISSED: Duration = Duration::from_millis(2500);
/// LOCAL: the time that the last notices of a party may take to be sent.
const FAREWELL: Duration = Duration::from_millis(250);
/// LOCAL: the number of a peer's notices in one turn, and the time that a peer that used them all
/// waits for its next turn.
const TURN: (usize, Duration) = (32, Duration::from_millis(10));
/// LOCAL: the interval at which links without a descriptor are checked.
const TICK: Duration = Duration::from_millis(20);
/// LOCAL: the interval at which a broken link is checked, until its peer's silence counts.
const DOUBT: Duration = Duration::from_millis(100);

pub(crate) struct Watcher {
    shared: Arc<SessionWatch>,
    wake: Bell,
    peers: BTreeMap<PartyId, Peer>,
    next_beat: Instant,
    notices: Notices,
    /// The last time at which something moved, accurate to a heartbeat.
    moved: Instant,
    /// The end of the last turn.
    turned: Instant,
    /// Whether the notice of the end was sent to the peers.
    aborting: bool,
    /// The time at which the thread ends even if notices are unsent.
    leaving: Option<Instant>,
}

/// The control links of one peer.
struct Peer {
    tx: Option<Box<dyn Tx>>,
    rx: Option<Box<dyn Rx>>,
    /// Unsent bytes, at most five notices. A heartbeat or a notice of progress is written only
    /// after the previous ones are sent.
    out: Vec<u8>,
    inbox: [u8; NOTICE_BYTES],
    got: usize,
    /// The last time at which the peer was heard; initially, the time at which its link came.
    heard: Instant,
    /// Whether the peer sent a goodbye, or announced that it ends.
    left: bool,
    /// Whether the peer was lost while it may come again.
    gone: bool,
    /// The time at which the peer's end of this party's link closed. It counts only a moment later,
    /// since the peer's goodbye may still be in flight.
    broken: Option<Instant>,
}

impl Watcher {
    /// `still` is the time without movement before that is reported.
    pub(crate) fn new(shared: Arc<SessionWatch>, wake: Bell, still: Duration) -> Self {
        let now = Instant::now();
        Self {
            shared,
            wake,
            peers: BTreeMap::new(),
            next_beat: now,
            notices: Notices::new(still),
            moved: now,
            turned: now,
            aborting: false,
            leaving: None,
        }
    }

    /// Runs until the last net and channel of the session are gone.
    pub(crate) fn run(&mut self) {
        while self.turn() {
            self.turned = Instant::now();
            self.wait();
        }
        for peer in self.peers.values_mut().filter(|peer| peer.out.is_empty()) {
            if let Some(tx) = &mut peer.tx {
                tx.close();
            }
        }
    }

    /// Handles everything once; false when the session is over.
    fn turn(&mut self) -> bool {
        let begun = Instant::now();
        // While this process was stopped or starved, it heard nothing. That says nothing about the
        // others.
        let missed = (begun - self.turned).saturating_sub(2 * BEAT);
        self.peers.values_mut().for_each(|peer| peer.heard += missed);
        let (fresh, joined, notice, ending) = {
            let mut state = self.shared.lock();
            (core::mem::take(&mut state.fresh), state.announced.take(), state.notice, state.ending)
        };
        for (id, half) in fresh {
            let peer = self.peers.entry(id).or_insert_with(|| Peer::new(begun));
            match half {
                Half::Tx(tx) => (peer.tx, peer.broken) = (Some(tx), None),
                Half::Rx(rx) => (peer.rx, peer.heard, peer.got) = (Some(rx), begun, 0),
            }
        }
        let mut rushed = false;
        for (&id, peer) in &mut self.peers {
            rushed |= peer.hear(id, &self.shared);
        }
        // A successor has links of its own.
        self.peers.retain(|_, peer| !peer.gone);
        if let Some(session) = joined {
            self.say(Notice::Joined(session));
        }
        if let (Some(notice), false) = (notice, self.aborting) {
            self.aborting = true;
            self.say(notice);
        }
        if ending && self.leaving.is_none() {
            self.leaving = Some(begun + FAREWELL);
            self.say(Notice::Goodbye);
        } else if begun >= self.next_beat {
            self.next_beat = begun + BEAT;
            if self.shared.has_stirred() {
                self.moved = begun;
            }
            let wait = self.report(begun);
            let comes = self.shared.lock().comes.take();
            for (id, peer) in self.peers.iter_mut().filter(|(_, peer)| peer.out.is_empty()) {
                peer.say(Notice::Alive(wait));
                if let Some((done, of)) = comes.filter(|_| id.is_client()) {
                    peer.say(Notice::Comes { done, of });
                }
            }
        }
        self.peers.values_mut().for_each(Peer::flush);
        let silent = self.peers.values().all(|peer| peer.out.is_empty());
        if self.aborting && silent {
            self.shared.lock().told = true;
            self.shared.ring();
        }
        if rushed {
            thread::sleep(TURN.1);
        }
        !self.leaving.is_some_and(|until| silent || begun >= until)
    }

    fn say(&mut self, notice: Notice) {
        self.peers.values_mut().for_each(|peer| peer.say(notice));
    }

    /// This party's longest wait, which is reported to the observer from time to time.
    fn report(&mut self, now: Instant) -> Option<(PartyId, StepName)> {
        let state = self.shared.lock();
        if let Some(peer) = state.joins {
            return Some((peer, StepName::new("connect")));
        }
        let longest = *state.waits.values().min_by_key(|wanted| wanted.since)?;
        let behind = state.behind.get(&longest.peer).copied();
        drop(state);
        // Other links, or steps that this party computes meanwhile, may make progress.
        let since = longest.since.max(self.moved);
        let waited = now.saturating_duration_since(since);
        let heard = self.peers.get(&longest.peer).map_or(now, |peer| peer.heard);
        let silent = Some(now.saturating_duration_since(heard)).filter(|&silent| silent >= MISSED);
        let due = self.notices.due(now, since);
        if let (Some(observer), true) = (&self.shared.observer, due) {
            observer(&Event::Waiting {
                peer: longest.peer,
                step: longest.step.as_str().to_owned(),
                waited,
                silent,
                behind: behind.map(|(other, step)| (other, step.as_str().to_owned())),
            });
        }
        Some((longest.peer, longest.step))
    }

    /// Waits until something comes, another thread wakes this one, or the next heartbeat is due.
    fn wait(&mut self) {
        let now = Instant::now();
        let until = self.leaving.map_or(self.next_beat, |until| until.min(self.next_beat));
        let mut limit = until.saturating_duration_since(now);
        if self.peers.values().any(|peer| peer.broken.is_some()) {
            limit = limit.min(DOUBT);
        }
        let heard = self.peers.values().filter(|peer| peer.rx.is_some() && !peer.left).map(|peer| peer.heard);
        if let Some(heard) = heard.min() {
            limit = limit.min((heard + self.shared.liveness).saturating_duration_since(now));
        }
        let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN)];
        // For each descriptor, the peer whose sending link it is, if it is one.
        let mut senders = vec![None];
        for (&id, peer) in &self.peers {
            // A link on which this party sends signals only that its other end closed.
            let out = if peer.out.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            let tx = peer.tx.as_ref().map(|tx| (tx.wait_on(), PollFlags::IN | out, Some(id)));
            let rx = peer.rx.as_ref().map(|rx| (rx.wait_on(), PollFlags::IN, None));
            for (wait, flags, sender) in tx.into_iter().chain(rx) {
                if let Wait::Fd(fd) = wait {
                    fds.push(PollFd::from_borrowed_fd(fd, flags));
                    senders.push(sender);
                } else {
                    limit = limit.min(TICK);
                }
            }
        }
        let polled = poll_fds(&mut fds, limit);
        let ended =
            |fd: &PollFd<'_>| fd.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
        let broken: Vec<_> =
            fds.iter().zip(senders).filter(|(fd, _)| ended(fd)).filter_map(|(_, id)| id).collect();
        if polled.is_err() {
            thread::sleep(TICK);
        }
        for id in broken {
            self.peers.entry(id).and_modify(Peer::lose);
        }
        let _ = (&self.wake).read(&mut [0; 64]);
    }
}

impl Peer {
    fn new(now: Instant) -> Self {
        Self {
            tx: None,
            rx: None,
            out: Vec::new(),
            inbox: [0; NOTICE_BYTES],
            got: 0,
            heard: now,
            left: false,
            gone: false,
            broken: None,
        }
    }

    fn say(&mut self, notice: Notice) {
        if self.tx.is_some() {
            self.out.extend_from_slice(&notice.encode());
        }
    }

    /// Sends the bytes that the link takes. A broken link takes no more bytes.
    fn flush(&mut self) {
        let Some(tx) = &mut self.tx else { return };
        let mut attempt = || {
            if !self.out.is_empty() {
                let taken = tx.try_send(&self.out)?;
                self.out.drain(..taken);
            }
            tx.try_flush()
        };
        if attempt().is_err() {
            self.lose();
        }
    }

    /// Records that the peer's end of this party's link is gone.
    fn lose(&mut self) {
        self.tx = None;
        self.out.clear();
        self.broken = Some(Instant::now());
    }

    /// Receives and judges the notices of `id`. Returns true if it sent more than a turn takes.
    fn hear(&mut self, id: PartyId, shared: &SessionWatch) -> bool {
        let mut heard = 0;
        while let Some(rx) = self.rx.as_mut().filter(|_| heard < TURN.0) {
            match rx.try_recv(&mut self.inbox[self.got..]) {
                Ok(0) => break,
                Ok(n) => self.got += n,
                Err(e) => {
                    let honest = e.get_ref().is_none_or(|e| !e.is::<TlsError>());
                    self.end(id, shared, (!honest).then_some("TLS refused a record of it"));
                    break;
                }
            }
            if self.got == NOTICE_BYTES {
                (self.got, heard, self.heard) = (0, heard + 1, Instant::now());
                match Notice::decode(&self.inbox) {
                    Ok(notice) => self.take(id, notice, shared),
                    Err(what) => self.end(id, shared, Some(what)),
                }
            }
        }
        let now = Instant::now();
        if self.broken.is_some_and(|since| now - since >= BEAT) {
            self.end(id, shared, None);
        }
        if self.rx.is_some() && !self.left && now - self.heard >= shared.liveness {
            self.rx = None;
            self.gone = shared.lose(id, Reason::Silent);
        }
        heard == TURN.0
    }

    fn take(&mut self, id: PartyId, notice: Notice, shared: &SessionWatch) {
        match notice {
            Notice::Alive(wait) => {
                let mut state = shared.lock();
                match wait {
                    Some(wait) => state.behind.insert(id, wait),
                    None => state.behind.remove(&id),
                };
            }
            Notice::Abort { culprit, why, step } => {
                self.left = true;
                shared.knows(id);
                shared.settle(Verdict { culprit, why, step, from: VerdictSource::Told(id) });
            }
            Notice::Joined(session) => {
                shared.lock().joined.insert(id, session);
                shared.ring();
            }
            Notice::Comes { done, of } => {
                shared.stir();
                if let Some(observer) = &shared.observer {
                    observer(&Event::Comes { peer: id, done, of });
                }
            }
            Notice::Goodbye => {
                self.left = true;
                shared.lock().left.insert(id);
                shared.ring();
            }
        }
    }

    /// Ends receiving from `id`: nothing more comes, or nothing that can be believed.
    fn end(&mut self, id: PartyId, shared: &SessionWatch, wrong: Option<&'static str>) {
        self.rx = None;
        self.broken = None;
        if self.left {
            return;
        }
        self.left = true;
        match wrong {
            Some(what) => {
                let (why, step) = (Reason::Cheated, StepName::new(""));
                shared.settle(Verdict { culprit: id, why, step, from: VerdictSource::Seen(what) });
            }
            None => self.gone = shared.lose(id, Reason::Died),
        }
    }
}
