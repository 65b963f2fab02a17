//! The processes of a local run: started, heard, and ended together.

use crate::{
    control::{self, FromParty, Stats, ToParty},
    error::{Error, Failure},
};
use hushwire_job::{JobError, Outcome, aes_ctr::Learnt};
use std::{
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};
use tracing::debug;

/// The hidden subcommand that a party of `local aes-ctr` runs.
const PARTY_COMMAND: &str = "__party";
/// LOCAL: how long after the first failure the others may say what they saw.
const VERDICT: Duration = Duration::from_millis(1500);
/// LOCAL: how often an ending process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// An event in one of the processes, the owner's included.
pub(crate) enum Event {
    /// A party said something else than that it failed.
    Said(usize, FromParty),
    /// A party's process is gone.
    Ended(usize, ExitStatus),
    /// The owner's own part is over.
    Owner(Result<Box<Outcome<Learnt>>, Error>),
    /// The owner has said what is encrypted, and under which key.
    Encrypting,
}

/// The party processes. Dropping it ends those that still run.
pub(crate) struct Supervisor {
    parties: Vec<Party>,
    events: Receiver<Event>,
    sender: Sender<Event>,
    /// The step under way, for errors.
    phase: &'static str,
    /// In the order in which they came.
    reports: Vec<Failure>,
    ended: Vec<(usize, ExitStatus)>,
    /// The number of parties that have met all others.
    joined: usize,
    done: Vec<Option<Stats>>,
    owner_error: Option<Error>,
    /// The owner's own part is under way.
    owner_runs: bool,
}

struct Party {
    /// As messages name it.
    who: String,
    child: Arc<Mutex<Child>>,
    /// Closing it ends the process.
    stdin: ChildStdin,
}

impl Supervisor {
    /// Starts the three parties of `local aes-ctr`.
    pub(crate) fn start() -> Result<Self, Error> {
        Self::of((0..3).map(|i| (format!("party {i}"), vec![PARTY_COMMAND.to_owned(), i.to_string()])))
    }

    /// Starts a process of this program for each name and arguments.
    pub(crate) fn of(members: impl Iterator<Item = (String, Vec<String>)>) -> Result<Self, Error> {
        let wrong = |e: std::io::Error| Error::Internal { doing: "starting a party", cause: e.to_string() };
        let program = std::env::current_exe().map_err(wrong)?;
        let (sender, events) = mpsc::channel();
        let mut supervisor = Self {
            parties: vec![],
            events,
            sender,
            phase: "start",
            reports: vec![],
            ended: vec![],
            joined: 0,
            done: vec![],
            owner_error: None,
            owner_runs: false,
        };
        for (party, (who, args)) in members.enumerate() {
            let mut command = Command::new(&program);
            command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(wrong)?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(wrong(std::io::ErrorKind::BrokenPipe.into()));
            };
            let child = Arc::new(Mutex::new(child));
            let (ears, watched) = (supervisor.sender.clone(), child.clone());
            thread::spawn(move || listen(party, stdout, &watched, &ears));
            supervisor.parties.push(Party { who, child, stdin });
            supervisor.done.push(None);
        }
        Ok(supervisor)
    }

    /// The sender for events of the owner's own part, which begins now.
    pub(crate) fn owner(&mut self) -> Sender<Event> {
        self.owner_runs = true;
        self.sender.clone()
    }

    /// The sender for events of any part of this process.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Names what is under way.
    pub(crate) fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
    }

    /// Tells one party. That it is gone shows as an event.
    pub(crate) fn tell(&mut self, party: usize, message: &ToParty) {
        let _ = control::say(&mut self.parties[party].stdin, message);
    }

    /// Tells all parties.
    pub(crate) fn tell_all(&mut self, message: &ToParty) {
        for party in 0..self.parties.len() {
            self.tell(party, message);
        }
    }

    /// The next event that is not a failure; a failure ends in the verdict on who is to blame.
    pub(crate) fn next(&mut self) -> Result<Event, Error> {
        // `self.sender` lives, so the queue never closes.
        let lost = |_| Error::Internal { doing: "waiting for the parties", cause: "the queue closed".into() };
        let event = self.events.recv().map_err(lost)?;
        self.note(event).ok_or_else(|| self.verdict())
    }

    /// The measurements of every party, once all are done.
    pub(crate) fn stats(&self) -> Option<Vec<Stats>> {
        self.done.iter().cloned().collect()
    }

    /// Remembers what an event says; `None` when it is a failure.
    fn note(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Said(_, FromParty::Failed(failure)) => {
                self.reports.push(failure);
                None
            }
            Event::Said(_, FromParty::Joined) => {
                self.joined += 1;
                if self.joined == self.parties.len() {
                    debug!("all parties are connected");
                }
                Some(event)
            }
            Event::Said(party, FromParty::Done(ref stats)) => {
                self.done[party] = Some(stats.clone());
                Some(event)
            }
            Event::Owner(Ok(_)) => {
                self.owner_runs = false;
                Some(event)
            }
            Event::Said(..) | Event::Encrypting => Some(event),
            Event::Ended(party, status) => {
                self.ended.push((party, status));
                (status.success() && self.done[party].is_some()).then_some(event)
            }
            Event::Owner(Err(error)) => {
                self.owner_runs = false;
                self.owner_error = Some(error);
                None
            }
        }
    }

    /// Hears the others for a moment, then names the failure that caused the rest.
    fn verdict(&mut self) -> Error {
        let deadline = Instant::now() + VERDICT;
        while self.ended.len() < self.parties.len() || self.owner_runs {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => drop(self.note(event)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let net = |e: &Error| matches!(e, Error::Peer(_));
        let late = |e: &Error| matches!(e, Error::Peer(e) if e.consequence);
        let silent =
            |party: usize| !self.reports.iter().any(|r| r.party == party) && self.done[party].is_none();
        if let Some(error) = self.owner_error.take_if(|e| !net(e)) {
            return error;
        }
        if let Some((party, status)) = self.ended.iter().find(|(party, _)| silent(*party)) {
            let cause = match status.signal() {
                Some(signal) => format!("its process was killed by signal {signal}"),
                None => format!("its process ended without a report, with {status}"),
            };
            return Error::Party(Failure {
                party: *party,
                who: self.parties[*party].who.clone(),
                step: self.phase.to_owned(),
                cause,
                remedy: "nothing was written; see the system's log for who killed it (out of memory?) and start again"
                    .to_owned(),
                code: 3,
                consequence: false,
            });
        }
        if let Some(failure) = self.reports.iter().find(|r| !r.consequence) {
            return Error::Party(failure.clone());
        }
        if let Some(error) = self.owner_error.take_if(|e| !late(e)) {
            return error;
        }
        match (self.reports.first(), self.owner_error.take()) {
            (Some(failure), _) => Error::Party(failure.clone()),
            (None, Some(error)) => error,
            (None, None) => {
                Error::Internal { doing: "running the parties", cause: "all of them ended".into() }
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        for party in &self.parties {
            let mut child = lock(&party.child);
            // Gone already, or about to be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Passes on what a party says, then that it ended.
fn listen(party: usize, stdout: ChildStdout, child: &Mutex<Child>, events: &Sender<Event>) {
    for line in BufReader::new(stdout).lines() {
        let Ok(line) = line else { break };
        let said = control::hear(&line).unwrap_or_else(|e| {
            let error = JobError::internal("start", format!("hearing a party: {e}"));
            FromParty::Failed(Failure::of_job(party, &error.of(format!("party {party}"))))
        });
        if events.send(Event::Said(party, said)).is_err() {
            return;
        }
    }
    loop {
        // Not locked while it waits: the process may have to be killed meanwhile.
        if let Ok(Some(status)) = lock(child).try_wait() {
            let _ = events.send(Event::Ended(party, status));
            return;
        }
        thread::sleep(LOOK);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
