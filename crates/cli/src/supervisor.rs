//! The processes of a local run: starts them, receives their messages, and ends them together.

use crate::{
    PANICKED,
    control::{self, Ended, FromMember, Ready, ToMember},
    error::Error,
    log,
    member::arguments,
};
use hushwire::job::{Fault, Job, Member, Outcome, Peer, Task, aes_ctr::Learnt};
use hushwire::{LocalJob, LocalMember, LocalMembers};
use hushwire_fault::{PartyId, Who, code};
use hushwire_machine::lock;
use indicatif::ProgressBar;
use serde::de::DeserializeOwned;
use std::{
    io::{BufRead, BufReader},
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};
use tracing::debug;

/// LOCAL: the time after the first failure in which the other processes may report theirs.
const VERDICT: Duration = Duration::from_millis(1500);
/// LOCAL: the time between two looks at a process that is ending.
const LOOK: Duration = Duration::from_millis(5);

/// An event in one of the processes, including the owner's.
pub(crate) enum Event {
    /// A party sent a message, other than that of a failure.
    Said(usize, FromMember),
    /// A party's process has ended.
    Ended(usize, ExitStatus),
    /// The owner's own part has ended.
    Owner(Result<Box<Outcome<Learnt>>, Error>),
    /// The owner has named the file that is encrypted, and the key.
    Encrypting,
}

/// The processes of the parties. Dropping it ends the processes that still run.
pub(crate) struct Supervisor {
    parties: Vec<PartyProcess>,
    events: Receiver<Event>,
    sender: Sender<Event>,
    /// The step under way, for errors.
    phase: &'static str,
    /// The reported faults, in the order in which they came.
    reports: Vec<(usize, Fault)>,
    ended: Vec<(usize, ExitStatus)>,
    /// The number of parties that have met all others.
    joined: usize,
    done: Vec<Option<Ended>>,
    owner_error: Option<Error>,
    /// Whether the owner's own part is under way.
    owner_runs: bool,
}

struct PartyProcess {
    /// The party's name in messages.
    who: String,
    child: Arc<Mutex<Child>>,
    /// Closing it ends the process.
    stdin: ChildStdin,
}

impl Supervisor {
    /// Starts a process of this program for each member, and waits until all have opened their
    /// files and listen. `who` returns a member's name for messages.
    pub(crate) fn start(
        job: &Job,
        members: Vec<LocalMember>,
        phase: &'static str,
        who: impl Fn(&Member) -> String,
    ) -> Result<(Self, Vec<Ready>), Error> {
        let named = |member: &LocalMember| match member.shard() {
            None => who(member.name()),
            Some(shard) => format!("{}, shard {shard}", who(member.name())),
        };
        let started = members.iter().enumerate();
        let mut supervisor =
            Self::of(phase, started.map(|(i, member)| (named(member), arguments(i, member))))?;
        for (i, member) in members.into_iter().enumerate() {
            supervisor.tell(i, &ToMember::Job(Box::new((job.clone(), member))));
        }
        let mut found: Vec<Option<Ready>> = supervisor.parties.iter().map(|_| None).collect();
        while found.iter().any(Option::is_none) {
            if let Event::Said(i, FromMember::Ready(ready)) = supervisor.next()? {
                found[i] = Some(ready);
            }
        }
        Ok((supervisor, found.into_iter().flatten().collect()))
    }

    /// Starts a process of this program for each name and its arguments.
    fn of(phase: &'static str, members: impl Iterator<Item = (String, [String; 3])>) -> Result<Self, Error> {
        let wrong = |e: std::io::Error| Error::internal("starting a party", e);
        let (sender, events) = mpsc::channel();
        let mut supervisor = Self {
            parties: vec![],
            events,
            sender,
            phase,
            reports: vec![],
            ended: vec![],
            joined: 0,
            done: vec![],
            owner_error: None,
            owner_runs: false,
        };
        for (party, (who, args)) in members.enumerate() {
            let mut command = crate::again().map_err(wrong)?;
            command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(wrong)?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(wrong(std::io::ErrorKind::BrokenPipe.into()));
            };
            let child = Arc::new(Mutex::new(child));
            let (ears, watched) = (supervisor.sender.clone(), child.clone());
            thread::spawn(move || listen(party, stdout, &watched, &ears));
            supervisor.parties.push(PartyProcess { who, child, stdin });
            supervisor.done.push(None);
        }
        Ok(supervisor)
    }

    /// Returns the sender for events of the owner's own part, which begins now.
    pub(crate) fn owner(&mut self) -> Sender<Event> {
        self.owner_runs = true;
        self.sender.clone()
    }

    /// Returns the sender for events of any part of this process.
    pub(crate) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Sets the step under way.
    pub(crate) fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
    }

    /// Sends a message to one party. If the process has ended, an event shows it.
    fn tell(&mut self, party: usize, message: &ToMember) {
        let _ = control::say(&mut self.parties[party].stdin, message);
    }

    /// Sends its peers to each party. `peers` are groups of `each` members, and each member
    /// receives its own group.
    fn meet(&mut self, peers: &[Peer], each: usize) {
        for party in 0..self.parties.len() {
            let group = &peers[party / each * each..][..each];
            self.tell(party, &ToMember::Meet(group.to_vec()));
        }
    }

    /// Sends a message to all parties.
    pub(crate) fn tell_all(&mut self, message: &ToMember) {
        for party in 0..self.parties.len() {
            self.tell(party, message);
        }
    }

    /// Returns the next event that is not a failure. A failure becomes an error that blames its
    /// cause.
    pub(crate) fn next(&mut self) -> Result<Event, Error> {
        // `self.sender` is alive, so the queue never closes.
        let lost = |_| Error::internal("waiting for the parties", "the queue closed");
        let event = self.events.recv().map_err(lost)?;
        self.note(event).ok_or_else(|| self.verdict())
    }

    /// Returns the results of all parties, once all are done.
    pub(crate) fn ended(&self) -> Option<Vec<Ended>> {
        self.done.iter().cloned().collect()
    }

    /// Records an event; `None` if it is a failure.
    fn note(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Said(party, FromMember::Failed(e)) => {
                self.reports.push((party, e));
                None
            }
            Event::Said(_, FromMember::Joined) => {
                self.joined += 1;
                if self.joined == self.parties.len() {
                    debug!("all parties are connected");
                }
                Some(event)
            }
            Event::Said(party, FromMember::Done(ref ended)) => {
                self.done[party] = Some(Ended::clone(ended));
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

    /// Waits a moment for the reports of the other processes, then returns the failure that caused
    /// the rest.
    fn verdict(&mut self) -> Error {
        let deadline = Instant::now() + VERDICT;
        while self.ended.len() < self.parties.len() || self.owner_runs {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => drop(self.note(event)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let net = |e: &Error| matches!(e, Error::Net(_));
        let late = |e: &Error| matches!(e, Error::Net(e) if e.is_consequence());
        let silent =
            |party: usize| !self.reports.iter().any(|(i, _)| *i == party) && self.done[party].is_none();
        if let Some(error) = self.owner_error.take_if(|e| !net(e)) {
            return error;
        }
        if let Some((party, status)) = self.ended.iter().find(|(party, _)| silent(*party)) {
            return gone(self.phase, *status).by(Who::named(&self.parties[*party].who)).into();
        }
        if let Some((_, e)) = self.reports.iter().find(|(_, e)| !e.is_consequence()) {
            return e.clone().into();
        }
        if let Some(error) = self.owner_error.take_if(|e| !late(e)) {
            return error;
        }
        // A shard often ends because its session lost a member. Its error names that member, and
        // the party's other shards only name this shard.
        let names_member = |(_, e): &&(usize, Fault)| e.code() != code::SHARD;
        let report = self.reports.iter().find(names_member).or(self.reports.first());
        match (report, self.owner_error.take()) {
            (Some((_, e)), _) => e.clone().into(),
            (None, Some(error)) => error,
            // A process that had reported its end was killed before it exited.
            (None, None) => match self.ended.iter().find(|(_, status)| !status.success()) {
                Some((party, status)) => {
                    gone(self.phase, *status).by(Who::named(&self.parties[*party].who)).into()
                }
                None => Error::internal("running the parties", "all of them ended"),
            },
        }
    }
}

/// The error of a process that ended without a report.
fn gone(phase: &str, status: ExitStatus) -> Fault {
    let cause = match (status.signal(), status.code()) {
        (_, Some(PANICKED)) => {
            let remedy = "please report this with the command line and what stands above";
            return Fault::new(code::BUG, phase, "a bug ended its process", remedy);
        }
        (Some(signal), _) => format!("its process was killed by signal {signal}"),
        _ => format!("its process ended without a report, with {status}"),
    };
    let remedy =
        "nothing was written; see the system's log for who killed it (out of memory?) and start again";
    Fault::new(code::PROCESS, phase, cause, remedy)
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        for party in &self.parties {
            let mut child = lock(&party.child);
            // It has ended already, or is about to.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A member's result, its measurements, and the most memory that it had.
pub(crate) struct OfProcess<L> {
    pub(crate) outcome: Outcome<L>,
    pub(crate) peak_memory_bytes: Option<u64>,
}

impl<L: DeserializeOwned> OfProcess<L> {
    /// Reads the end of a member's run from its process's message.
    pub(crate) fn read(ended: Ended) -> Result<Self, Error> {
        let Ended { outcome: Outcome { learnt, stats }, peak_memory_bytes } = ended;
        let wrong = |e: serde_json::Error| Error::internal("hearing a party", e);
        let learnt = serde_json::from_value(learnt).map_err(wrong)?;
        Ok(Self { outcome: Outcome { learnt, stats }, peak_memory_bytes })
    }
}

/// Runs all members as processes to their ends, in the agreement's order. `phases` name the step
/// before members meet, and the step after. `progress` receives the progress of the first member
/// and its extent.
pub(crate) fn run_all<T: Task<Learnt: DeserializeOwned>>(
    local: LocalJob<'_, T>,
    job: &Job,
    who: impl Fn(&Member) -> String,
    phases: [&'static str; 2],
    bar: &ProgressBar,
    progress: impl Fn(u64, u64),
) -> Result<Vec<OfProcess<T::Learnt>>, Error> {
    let each = local.each();
    let LocalMembers { members, places: _places } = local.members()?;
    let (mut supervisor, ready) = Supervisor::start(job, members, phases[0], who)?;
    supervisor.enter(phases[1]);
    let peers: Vec<Peer> = ready.into_iter().map(|ready| ready.peer).collect();
    supervisor.meet(&peers, each);
    attend(supervisor, bar, progress).map(|ended| of_members(ended, each))
}

/// Runs the shards of one member as processes to their ends, in order. Each shard meets its own
/// peers.
pub(crate) fn run_shards<L: DeserializeOwned>(
    shards: Vec<(LocalMember, Vec<Peer>)>,
    job: &Job,
    phases: [&'static str; 2],
    bar: &ProgressBar,
    progress: impl Fn(u64, u64),
) -> Result<Vec<OfProcess<L>>, Error> {
    let (members, peers): (Vec<_>, Vec<_>) = shards.into_iter().unzip();
    let (mut supervisor, _) = Supervisor::start(job, members, phases[0], Member::to_string)?;
    supervisor.enter(phases[1]);
    for (shard, peers) in peers.into_iter().enumerate() {
        supervisor.tell(shard, &ToMember::Meet(peers));
    }
    attend(supervisor, bar, progress).map(|ended| of_members(ended, 1))
}

/// Merges the shards of each member: the result is that of its first shard, bytes are added up, and
/// everything else is the largest value.
fn of_members<L>(ended: Vec<OfProcess<L>>, each: usize) -> Vec<OfProcess<L>> {
    let mut ended = ended.into_iter();
    let mut first: Vec<OfProcess<L>> = ended.by_ref().take(each).collect();
    for (i, shard) in ended.enumerate() {
        let all = &mut first[i % each];
        let (stats, more) = (&mut all.outcome.stats, shard.outcome.stats);
        stats.seconds = stats.seconds.max(more.seconds);
        stats.bytes_sent += more.bytes_sent;
        stats.bytes_received += more.bytes_received;
        stats.rounds = stats.rounds.max(more.rounds);
        all.peak_memory_bytes = all.peak_memory_bytes.max(shard.peak_memory_bytes);
    }
    first
}

/// Receives messages of processes until all have ended.
fn attend<L: DeserializeOwned>(
    mut supervisor: Supervisor,
    bar: &ProgressBar,
    progress: impl Fn(u64, u64),
) -> Result<Vec<OfProcess<L>>, Error> {
    loop {
        match supervisor.next()? {
            Event::Said(0, FromMember::Progress(done, of)) => progress(done, of),
            Event::Said(i, FromMember::Note(note)) => {
                bar.suspend(|| log::note!("{}: {note}", supervisor.parties[i].who));
            }
            _ => {}
        }
        if let Some(ended) = supervisor.ended() {
            supervisor.tell_all(&ToMember::Bye);
            return ended.into_iter().map(OfProcess::read).collect();
        }
    }
}

/// Passes on a party's messages, and then its end.
fn listen(party: usize, stdout: ChildStdout, child: &Mutex<Child>, events: &Sender<Event>) {
    for line in BufReader::new(stdout).lines() {
        let Ok(line) = line else { break };
        let said = control::hear(&line).unwrap_or_else(|e| {
            let error = Fault::internal("start", format!("hearing a party: {e}"));
            FromMember::Failed(error.by(PartyId(u8::try_from(party).unwrap_or(u8::MAX))))
        });
        if events.send(Event::Said(party, said)).is_err() {
            return;
        }
    }
    loop {
        // The process is not locked during the wait, because it may have to be killed meanwhile.
        if let Ok(Some(status)) = lock(child).try_wait() {
            let _ = events.send(Event::Ended(party, status));
            return;
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a bug in this program does not send the user to the system's log.
    #[test]
    fn a_bug_is_told_apart_from_a_kill() {
        let bug = gone("the run", ExitStatus::from_raw(PANICKED << 8));
        assert_eq!(bug.code(), code::BUG);
        assert!(bug.to_string().contains("please report this"), "{bug}");
        for status in [9, 3 << 8] {
            let killed = gone("the run", ExitStatus::from_raw(status));
            assert_eq!(killed.code(), code::PROCESS);
            assert!(killed.to_string().contains("who killed it"), "{killed}");
        }
    }
}
