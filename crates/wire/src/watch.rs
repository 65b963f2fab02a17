//! The state of liveness and blame that a session's channels share with its
//! [`watcher`](crate::watcher).
//!
//! A broken link reveals little: its other end may have died, or may have ended because a third
//! member died. So a channel that fails asks here first. The first cause that this party learns is
//! the verdict. It comes from a control link that closed without a goodbye, from heartbeats that
//! stopped, or from a peer's notice. The verdict does not change, and every later error of the
//! session names it.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hushwire_machine::{Hold, NetError, Overseer, PartyId, Process, Reason, Rx, SessionId, Tx, Watch};

use crate::{
    Observer, SessionConfig,
    bell::{self, Bell},
    notice::{Notice, StepName},
    watcher::Watcher,
};

/// LOCAL: the time that a failed channel waits for the control links to give the cause. A cause is
/// usually there or comes at once; the rest of the time is for watchers that a busy host delays.
const WORD: Duration = Duration::from_secs(5);
/// LOCAL: the time that a failing party waits until its peers can read the reason. Only its own
/// watcher can delay that.
const TELL: Duration = Duration::from_secs(5);

/// The watch over a session that is being opened, with the first hold on it.
pub(crate) struct Watching {
    shared: Arc<SessionWatch>,
    running: Arc<Running>,
    hold: Hold,
}

/// Dropped with the last hold. The party then sends goodbye.
struct Running {
    shared: Arc<SessionWatch>,
    thread: Option<JoinHandle<()>>,
}

impl Watching {
    /// Starts the watcher of `me`, without peers.
    pub(crate) fn start(cfg: &SessionConfig, observer: Option<Observer>) -> io::Result<Self> {
        let SessionConfig { me, liveness, still, .. } = *cfg;
        let (waker, wake) = bell::pair()?;
        let shared = Arc::new(SessionWatch {
            me,
            process: Process::here(),
            liveness,
            observer,
            waker,
            judged: AtomicBool::new(false),
            stirred: AtomicBool::new(false),
            state: Mutex::new(WatchState { joining: true, ..WatchState::default() }),
            news: Condvar::new(),
        });
        let mut watcher = Watcher::new(shared.clone(), wake, still);
        let thread = thread::Builder::new().name("watcher".to_owned()).spawn(move || watcher.run())?;
        let running = Arc::new(Running { shared: shared.clone(), thread: Some(thread) });
        Ok(Self { hold: Hold::new(shared.clone(), running.clone()), running, shared })
    }

    pub(crate) fn shared(&self) -> &SessionWatch {
        &self.shared
    }

    pub(crate) fn watch(&self) -> Watch {
        self.hold.watch()
    }

    /// The parts of holds, for links that outlive a net.
    pub(crate) fn parts(&self) -> (Arc<dyn Overseer>, Arc<dyn Any + Send + Sync>) {
        (self.shared.clone(), self.running.clone())
    }

    /// The hold for the finished net.
    pub(crate) fn into_hold(self) -> Hold {
        self.hold
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.shared.process.is_here() {
            // There is nothing to join, since a fork does not have the threads.
            std::mem::forget(self.thread.take());
            return;
        }
        self.shared.lock().ending = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take().filter(|t| t.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
    }
}

/// The source of a verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerdictSource {
    /// This party's own watcher. The text says what is wrong with a notice, if that is the reason.
    Seen(&'static str),
    /// That party: a peer by a notice, or this party by a channel or the program.
    Told(PartyId),
}

/// The first cause that this party learned.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    pub(crate) culprit: PartyId,
    pub(crate) why: Reason,
    pub(crate) step: StepName,
    pub(crate) from: VerdictSource,
}

/// One direction of a control link, before the watcher takes it over.
pub(crate) enum Half {
    Tx(Box<dyn Tx>),
    Rx(Box<dyn Rx>),
}

/// The state of a session that the watcher and all links share.
pub(crate) struct SessionWatch {
    pub(crate) me: PartyId,
    /// The process of the watcher. A fork has no watcher. It would wait for one in vain, and must
    /// not send to the peers.
    process: Process,
    pub(crate) liveness: Duration,
    pub(crate) observer: Option<Observer>,
    waker: Bell,
    /// Whether there is a verdict. It is read without the lock.
    judged: AtomicBool,
    /// Whether a byte or a step has moved since the watcher last looked.
    stirred: AtomicBool,
    state: Mutex<WatchState>,
    /// Signalled at every change that a thread may wait for.
    news: Condvar,
}

#[derive(Default)]
pub(crate) struct WatchState {
    /// Whether the session is not agreed on yet. A lost peer may then come again.
    joining: bool,
    /// The peers that were lost while joining.
    gone: BTreeSet<PartyId>,
    pub(crate) verdict: Option<Verdict>,
    /// The peers that ended in good order.
    pub(crate) left: BTreeSet<PartyId>,
    /// The peers that reported that they end the session.
    knowing: BTreeSet<PartyId>,
    /// The parties that peers wait for, according to their heartbeats.
    pub(crate) behind: BTreeMap<PartyId, (PartyId, StepName)>,
    /// The waits of this party's channels.
    pub(crate) waits: BTreeMap<u64, ChannelWait>,
    next_wait: u64,
    /// The party that this party waits for to join.
    pub(crate) joins: Option<PartyId>,
    /// The session that this party has joined, until the peers are told.
    pub(crate) announced: Option<SessionId>,
    /// The sessions that peers have joined, according to their reports.
    pub(crate) joined: BTreeMap<PartyId, SessionId>,
    /// This party's progress, until the next heartbeat.
    pub(crate) comes: Option<(u64, u64)>,
    /// Links that the watcher has not taken over yet.
    pub(crate) fresh: Vec<(PartyId, Half)>,
    /// The notice of the end for all peers, if there is one. `told` is set once they can read it.
    pub(crate) notice: Option<Notice>,
    pub(crate) told: bool,
    /// Whether the last holder is gone.
    pub(crate) ending: bool,
}

/// A wait of a channel.
#[derive(Clone, Copy)]
pub(crate) struct ChannelWait {
    pub(crate) peer: PartyId,
    pub(crate) step: StepName,
    pub(crate) since: Instant,
}

impl SessionWatch {
    pub(crate) fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes all threads that wait in [`SessionWatch::judge`] or [`SessionWatch::tell`].
    pub(crate) fn ring(&self) {
        self.news.notify_all();
    }

    fn wake(&self) {
        // A full pipe wakes the reader as well.
        let _ = (&self.waker).write(&[0]);
    }

    /// Hands a control link to the watcher after its handshake.
    pub(crate) fn add(&self, peer: PartyId, half: Half) {
        self.lock().fresh.push((peer, half));
        self.wake();
    }

    /// Records for the heartbeats that this party waits for `peer` to join.
    pub(crate) fn joins(&self, peer: Option<PartyId>) {
        self.lock().joins = peer;
    }

    /// Makes the watcher tell the peers that this party has joined. All its control links are
    /// there.
    pub(crate) fn announce(&self, session: SessionId) {
        self.lock().announced = Some(session);
        self.wake();
    }

    /// Records that the links of `peer` are lost because of `why`. Returns true if the peer may
    /// come again, and false if the loss ends the session.
    pub(crate) fn lose(&self, peer: PartyId, why: Reason) -> bool {
        let mut state = self.lock();
        if state.joining {
            state.gone.insert(peer);
            state.left.remove(&peer);
            state.joined.remove(&peer);
            state.behind.remove(&peer);
        } else {
            let verdict =
                Verdict { culprit: peer, why, step: StepName::new(""), from: VerdictSource::Seen("") };
            state.verdict.get_or_insert(verdict);
            self.judged.store(true, Ordering::Release);
        }
        let again = state.joining;
        drop(state);
        self.ring();
        again
    }

    /// Takes the peers that were lost since the last call, before the session was agreed on.
    pub(crate) fn take_gone(&self) -> BTreeSet<PartyId> {
        core::mem::take(&mut self.lock().gone)
    }

    /// Ends joining when all agree on the session. Returns false if a peer was lost before. A peer
    /// that is lost later has died.
    pub(crate) fn agreed(&self) -> bool {
        let mut state = self.lock();
        state.joining &= !state.gone.is_empty();
        !state.joining
    }

    /// Records that `peer` itself reported that it ends the session.
    pub(crate) fn knows(&self, peer: PartyId) {
        self.lock().knowing.insert(peer);
    }

    /// The peers that reported that they end the session.
    pub(crate) fn knowing(&self) -> BTreeSet<PartyId> {
        self.lock().knowing.clone()
    }

    /// Whether something has moved since the last call.
    pub(crate) fn has_stirred(&self) -> bool {
        self.stirred.swap(false, Ordering::Relaxed)
    }

    /// The session that `peer` has joined. Waits for its report, for `limit` or until the session
    /// is over.
    pub(crate) fn joined(&self, peer: PartyId, limit: Duration) -> Option<SessionId> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        while state.verdict.is_none() && state.gone.is_empty() && !state.joined.contains_key(&peer) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.joined.get(&peer).copied()
    }

    /// Keeps a verdict, unless there is one already.
    pub(crate) fn settle(&self, verdict: Verdict) {
        self.lock().verdict.get_or_insert(verdict);
        self.judged.store(true, Ordering::Release);
        self.ring();
    }

    fn error(&self, Verdict { culprit, why, step: their_step, from }: Verdict, step: &str) -> NetError {
        let (peer, step) = (Some(culprit), step.to_owned());
        match (from, why) {
            (VerdictSource::Told(by), why) if culprit == self.me && by != self.me => {
                NetError::Blamed { by, step: their_step.as_str().to_owned(), why }
            }
            (VerdictSource::Told(by), why) => {
                NetError::Aborted { peer, by, step: their_step.as_str().to_owned(), why }
            }
            (VerdictSource::Seen(_), Reason::Died) => NetError::Dead { peer, step, silent_for: None },
            (VerdictSource::Seen(_), Reason::Silent) => {
                NetError::Dead { peer, step, silent_for: Some(self.liveness) }
            }
            (VerdictSource::Seen(what), _) => {
                NetError::Malformed { peer, msg: "notice", what: what.to_owned() }
            }
        }
    }

    /// Tells all peers the verdict, once, and waits until they can read it, so that a program that
    /// exits on an error leaves no peer waiting. For a cause that this party observed itself, the
    /// step is `step`.
    fn tell(&self, step: StepName) {
        let mut state = self.lock();
        if let (None, Some(Verdict { culprit, why, step: theirs, from })) = (state.notice, state.verdict) {
            let step = if matches!(from, VerdictSource::Seen(_)) { step } else { theirs };
            state.notice = Some(Notice::Abort { culprit, why, step });
            self.wake();
        }
        let deadline = Instant::now() + TELL;
        while !state.told {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Overseer for SessionWatch {
    fn stir(&self) {
        // The flag is mostly set already. In that case, nothing that other threads read is written.
        if !self.stirred.load(Ordering::Relaxed) {
            self.stirred.store(true, Ordering::Relaxed);
        }
    }

    fn check(&self, step: &str) -> Result<(), NetError> {
        if !self.judged.load(Ordering::Acquire) {
            return Ok(());
        }
        self.lock().verdict.map_or(Ok(()), |verdict| Err(self.error(verdict, step)))
    }

    fn judge(&self, step: &str, own: NetError) -> NetError {
        let mut state = self.lock();
        if matches!(own, NetError::Closed { .. } | NetError::Io { .. }) {
            let deadline = Instant::now() + WORD;
            while state.verdict.is_none() && !own.peer().is_some_and(|peer| state.left.contains(&peer)) {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        let e = match state.verdict {
            Some(verdict) => self.error(verdict, step),
            None => {
                let culprit = own.culprit(self.me);
                let why = match own {
                    NetError::Closed { .. } if state.left.contains(&culprit) => Reason::Left,
                    _ => Reason::of(&own),
                };
                let verdict =
                    Verdict { culprit, why, step: StepName::new(step), from: VerdictSource::Told(self.me) };
                state.verdict = Some(verdict);
                self.judged.store(true, Ordering::Release);
                own
            }
        };
        drop(state);
        self.ring();
        self.tell(StepName::new(step));
        e
    }

    fn waits(&self, peer: PartyId, step: &str, since: Instant) -> u64 {
        let mut state = self.lock();
        let number = state.next_wait;
        state.next_wait += 1;
        state.waits.insert(number, ChannelWait { peer, step: StepName::new(step), since });
        number
    }

    fn waited(&self, number: u64) {
        self.lock().waits.remove(&number);
    }

    fn behind(&self, peer: PartyId) -> PartyId {
        let state = self.lock();
        let mut seen = BTreeSet::from([self.me, peer]);
        let mut last = peer;
        while let Some(&(next, _)) = state.behind.get(&last) {
            if !seen.insert(next) {
                return peer;
            }
            last = next;
        }
        last
    }

    fn abort(&self, culprit: PartyId, why: Reason, step: &str) {
        if !self.process.is_here() {
            return;
        }
        let step = StepName::new(step);
        self.settle(Verdict { culprit, why, step, from: VerdictSource::Told(self.me) });
        self.tell(step);
    }

    fn comes(&self, done: u64, of: u64) {
        self.stir();
        self.lock().comes = Some((done.min(of), of));
    }

    fn panicked(&self) {
        self.abort(self.me, Reason::Failed, "a panic");
    }
}
