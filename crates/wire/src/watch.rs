//! The state of liveness and blame that a session's channels share with its [`watcher`](crate::watcher).
//!
//! A link that breaks says little: its other end may have died, or may have ended because somebody else died. So a
//! channel that fails asks here first. The first cause that this party learned, from a control link that closed
//! without a goodbye, from heartbeats that stopped or from a peer's notice, is the verdict: it stays, and every
//! later error of the session names it.

use std::{
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
    notice::{Notice, Step},
    watcher::Watcher,
};

/// LOCAL: how long a channel that failed waits for the control links to tell the cause. The word is there already, or nearly, where
/// there is one: the rest is for watchers that a busy host holds up.
const WORD: Duration = Duration::from_secs(5);
/// LOCAL: how long a party that fails waits until its peers can read why. Its watcher alone can hold that up.
const TELL: Duration = Duration::from_secs(5);

/// The watch over a session that opens, with the first hold on it.
pub(crate) struct Watching {
    shared: Arc<Shared>,
    hold: Hold,
}

/// Dropped with the last hold: the party says goodbye then.
struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watching {
    /// Starts the watcher of `me`, without peers yet.
    pub(crate) fn start(cfg: &SessionConfig, observer: Option<Observer>) -> io::Result<Self> {
        let SessionConfig { me, liveness, still, .. } = *cfg;
        let (waker, wake) = bell::pair()?;
        let shared = Arc::new(Shared {
            me,
            process: Process::here(),
            liveness,
            observer,
            waker,
            judged: AtomicBool::new(false),
            stirred: AtomicBool::new(false),
            state: Mutex::new(State { joining: true, ..State::default() }),
            news: Condvar::new(),
        });
        let mut watcher = Watcher::new(shared.clone(), wake, still);
        let thread = thread::Builder::new().name("watcher".to_owned()).spawn(move || watcher.run())?;
        let running = Running { shared: shared.clone(), thread: Some(thread) };
        Ok(Self { hold: Hold::new(shared.clone(), Arc::new(running)), shared })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn watch(&self) -> Watch {
        self.hold.watch()
    }

    /// The hold of the net that all this was for.
    pub(crate) fn into_hold(self) -> Hold {
        self.hold
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.shared.process.is_here() {
            // There is nothing to join: threads stay behind.
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
pub(crate) enum Source {
    /// This party's own watcher; what was wrong with a notice, where that is the reason.
    Seen(&'static str),
    /// That party, by a notice or, for this one, from a channel or the program.
    Told(PartyId),
}

/// The first cause that this party learned.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    pub(crate) culprit: PartyId,
    pub(crate) why: Reason,
    pub(crate) step: Step,
    pub(crate) from: Source,
}

/// A control link's half, on its way to the watcher.
pub(crate) enum Half {
    Tx(Box<dyn Tx>),
    Rx(Box<dyn Rx>),
}

/// The state of a session that the watcher and all links share.
pub(crate) struct Shared {
    pub(crate) me: PartyId,
    /// A fork has no watcher and would wait for it. It must not speak to the peers, either.
    process: Process,
    pub(crate) liveness: Duration,
    pub(crate) observer: Option<Observer>,
    waker: Bell,
    /// There is a verdict; read without the lock.
    judged: AtomicBool,
    /// A byte or a step has moved since the watcher last looked.
    stirred: AtomicBool,
    state: Mutex<State>,
    /// Rung with every change that somebody may wait for.
    news: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    /// The session is not yet agreed on: a peer that is lost may come again.
    joining: bool,
    /// Peers that were lost meanwhile.
    gone: BTreeSet<PartyId>,
    pub(crate) verdict: Option<Verdict>,
    /// Peers that ended in order.
    pub(crate) left: BTreeSet<PartyId>,
    /// Peers that said that they end the session.
    knowing: BTreeSet<PartyId>,
    /// The parties for whom peers wait, as their heartbeats say.
    pub(crate) behind: BTreeMap<PartyId, (PartyId, Step)>,
    /// The parties for whom this party's channels wait.
    pub(crate) waits: BTreeMap<u64, Wanted>,
    next_wait: u64,
    /// The party that this one waits for to join.
    pub(crate) joins: Option<PartyId>,
    /// The session that this party has joined, until the peers have been told.
    pub(crate) announced: Option<SessionId>,
    /// The sessions that peers have joined, as they say.
    pub(crate) joined: BTreeMap<PartyId, SessionId>,
    /// How far this party is, until the next heartbeat.
    pub(crate) comes: Option<(u64, u64)>,
    /// Links that the watcher has not yet taken over.
    pub(crate) fresh: Vec<(PartyId, Half)>,
    /// The notice for all peers, once there is one; `told` when they can read it.
    pub(crate) notice: Option<Notice>,
    pub(crate) told: bool,
    /// The last holder is gone.
    pub(crate) ending: bool,
}

/// A wait of a channel.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) peer: PartyId,
    pub(crate) step: Step,
    pub(crate) since: Instant,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rings for everybody who waits in [`Shared::judge`] or [`Shared::tell`].
    pub(crate) fn ring(&self) {
        self.news.notify_all();
    }

    fn wake(&self) {
        // A full pipe wakes as well.
        let _ = (&self.waker).write(&[0]);
    }

    /// A control link has greeted.
    pub(crate) fn add(&self, peer: PartyId, half: Half) {
        self.lock().fresh.push((peer, half));
        self.wake();
    }

    /// This party waits for `peer` to join, for the heartbeats.
    pub(crate) fn joins(&self, peer: Option<PartyId>) {
        self.lock().joins = peer;
    }

    /// All control links are there: the peers are told that this party has joined.
    pub(crate) fn announce(&self, session: SessionId) {
        self.lock().announced = Some(session);
        self.wake();
    }

    /// The links of `peer` are lost because of `why`. True if it may come again, false if that ends
    /// the session.
    pub(crate) fn lose(&self, peer: PartyId, why: Reason) -> bool {
        let mut state = self.lock();
        if state.joining {
            state.gone.insert(peer);
            state.left.remove(&peer);
            state.joined.remove(&peer);
            state.behind.remove(&peer);
        } else {
            let verdict = Verdict { culprit: peer, why, step: Step::new(""), from: Source::Seen("") };
            state.verdict.get_or_insert(verdict);
            self.judged.store(true, Ordering::Release);
        }
        let again = state.joining;
        drop(state);
        self.ring();
        again
    }

    /// The peers that were lost since this was last asked, before the session was agreed on.
    pub(crate) fn take_gone(&self) -> BTreeSet<PartyId> {
        core::mem::take(&mut self.lock().gone)
    }

    /// Whether nobody was lost until now, when all agree on the session. A peer that is lost later
    /// has died.
    pub(crate) fn agreed(&self) -> bool {
        let mut state = self.lock();
        state.joining &= !state.gone.is_empty();
        !state.joining
    }

    /// `peer` says itself that it ends the session.
    pub(crate) fn knows(&self, peer: PartyId) {
        self.lock().knowing.insert(peer);
    }

    /// The peers that said so.
    pub(crate) fn knowing(&self) -> BTreeSet<PartyId> {
        self.lock().knowing.clone()
    }

    /// Whether something has moved since this was last asked.
    pub(crate) fn has_stirred(&self) -> bool {
        self.stirred.swap(false, Ordering::Relaxed)
    }

    /// The session that `peer` has joined; waits for its word, for `limit` or until the session is over.
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

    /// Keeps a verdict, unless there is one.
    pub(crate) fn settle(&self, verdict: Verdict) {
        self.lock().verdict.get_or_insert(verdict);
        self.judged.store(true, Ordering::Release);
        self.ring();
    }

    fn error(&self, Verdict { culprit, why, step: their_step, from }: Verdict, step: &str) -> NetError {
        let (peer, step) = (Some(culprit), step.to_owned());
        match (from, why) {
            (Source::Told(by), why) if culprit == self.me && by != self.me => {
                NetError::Blamed { by, step: their_step.as_str().to_owned(), why }
            }
            (Source::Told(by), why) => {
                NetError::Aborted { peer, by, step: their_step.as_str().to_owned(), why }
            }
            (Source::Seen(_), Reason::Died) => NetError::Dead { peer, step, silent_for: None },
            (Source::Seen(_), Reason::Silent) => {
                NetError::Dead { peer, step, silent_for: Some(self.liveness) }
            }
            (Source::Seen(what), _) => NetError::Malformed { peer, msg: "notice", what: what.to_owned() },
        }
    }

    /// Tells all peers the verdict, once, and waits until they can read it. So a program that exits on an error
    /// leaves nobody guessing. A cause that this party saw itself it saw in its own `step`.
    fn tell(&self, step: Step) {
        let mut state = self.lock();
        if let (None, Some(Verdict { culprit, why, step: theirs, from })) = (state.notice, state.verdict) {
            let step = if matches!(from, Source::Seen(_)) { step } else { theirs };
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

impl Overseer for Shared {
    fn stir(&self) {
        // Mostly it is known already, and then nothing is written that other threads read.
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
                let verdict = Verdict { culprit, why, step: Step::new(step), from: Source::Told(self.me) };
                state.verdict = Some(verdict);
                self.judged.store(true, Ordering::Release);
                own
            }
        };
        drop(state);
        self.ring();
        self.tell(Step::new(step));
        e
    }

    fn waits(&self, peer: PartyId, step: &str, since: Instant) -> u64 {
        let mut state = self.lock();
        let number = state.next_wait;
        state.next_wait += 1;
        state.waits.insert(number, Wanted { peer, step: Step::new(step), since });
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
        let step = Step::new(step);
        self.settle(Verdict { culprit, why, step, from: Source::Told(self.me) });
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
