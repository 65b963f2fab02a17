//! A served model: its owner's inputs stay, and clients get one answer after another.
//!
//! ```text
//! serve   parties and owner   the owner's weights are shared once; then each client has a session
//!                             of its own with the parties, which begins anew when it ends
//! ask     a client            joins its session, asks, learns; again with the next input
//! ```
//!
//! All sessions of a party share its port. Each session has handshakes, keys, seeds and OTs of its
//! own. Parties count answers before they compute them.

use super::{
    InferJob, InferTask,
    answers::{Answers, Queue, spent},
    part::weights,
};
use crate::compute::served::{ASK, Call, OwnerInputs, ServeVerdict, ServedComputation, ServedSeat, keep};
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_nn::INPUT;
use hushwire_session::{
    AgreedField, Agreement, Cancel, Fault, Kind, Member, MemberConfig, Observer, Outcome, Part, Peer,
    Protocol, Task,
    run::{Links, MemberSession},
    run_part,
};
use hushwire_wire::Listener;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// AGREEMENT: the version of the bytes that sessions of a served model send.
const VERSION: u32 = 1;
/// LOCAL: the time that members that serve wait for a client.
const FOREVER: Duration = Duration::from_secs(3650 * 24 * 3600);
/// LOCAL: the wait before a client's session begins anew after a failure.
const PAUSE: Duration = Duration::from_millis(200);
/// LOCAL: the interval at which a member that serves checks whether to end.
const LOOK: Duration = Duration::from_millis(20);
/// The name in errors of the planning step.
const PLANNING: &str = "planning the job";

/// The conditions on which a member serves a model.
#[derive(Clone, Debug)]
pub struct ServeTerms {
    /// The clients; if empty, the job's client. Between two parties the client is the other party.
    pub clients: Vec<Member>,
    /// The most answers of a client; `None` is any number. Each input along the first axis counts
    /// as one answer.
    pub answers: Option<u64>,
    /// The file that keeps the counts of answers across restarts, if there is one.
    pub ledger: Option<PathBuf>,
    /// The number of runs at a time.
    pub at_once: usize,
    /// The number of requests of all clients after which this member ends. `None`: it ends when it
    /// is cancelled.
    pub requests: Option<u64>,
    /// The bytes of OTs that each of two parties makes between requests, the same at all members.
    pub ahead: u64,
}

/// AGREEMENT: the default bytes of OTs between requests.
pub const AHEAD: u64 = 256 << 20;

impl Default for ServeTerms {
    fn default() -> Self {
        Self { clients: vec![], answers: None, ledger: None, at_once: 1, requests: None, ahead: AHEAD }
    }
}

/// An event at a member that serves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ServeEvent {
    /// The owner's inputs are shared or read, and clients may connect.
    Ready,
    /// A client has joined its session.
    Joined(Member),
    /// A request was answered, this long after it was made.
    Answered(Member, Duration),
    /// A request was refused.
    Refused(Member, Fault),
    /// A client has left.
    Left(Member),
    /// A client's session failed. The next one begins.
    Failed(Member, Fault),
}

/// Receives events from several threads.
pub type ServeObserver = Arc<dyn Fn(ServeEvent) + Send + Sync>;

/// The totals of a member that has served.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServeReport {
    /// The number of requests that were answered.
    pub requests: u64,
    /// The seconds spent on answers.
    pub seconds: f64,
    /// Payload bytes to all peers, in sessions that ended well.
    pub bytes_sent: u64,
    /// Payload bytes from all peers, in sessions that ended well.
    pub bytes_received: u64,
}

/// The job with this client in place of its own.
pub(super) fn job_of(job: &InferJob, client: &Member) -> InferJob {
    match job.protocol {
        Protocol::Two => job.clone(),
        _ => InferJob { client: client.clone(), ..job.clone() },
    }
}

/// The name of a client in counts and messages.
pub(super) fn name_of(client: &Member) -> String {
    client.name().map_or_else(|| client.key(), str::to_owned)
}

/// Refuses a job that cannot be served.
pub(super) fn check(job: &InferJob) -> Result<(), Fault> {
    let refuse = |cause: &str, remedy: &str| Err(Fault::new(code::MODEL, PLANNING, cause, remedy));
    if !matches!(job.protocol, Protocol::Rep3 | Protocol::Two) {
        return refuse("a served model takes protocol rep3 or two", "write protocol = \"rep3\"");
    }
    if job.to.is_some() {
        return refuse("the client of a served model learns the output", "leave out `to`");
    }
    if matches!(job.client, Member::Data(_) | Member::Recipient(_)) {
        return refuse("the client of a served model is connected", "write client = \"client:patient\"");
    }
    Ok(())
}

/// The agreement of a session: that of the inference, and the fact that it is served.
fn agreement(task: &InferTask, kind: &'static str, clients: Vec<String>, more: AgreedField) -> Agreement {
    let mut agreement = task.agreement();
    let protocol = agreement.fields.iter_mut().filter(|field| field.name == "protocol");
    protocol.for_each(|field| field.text += &format!(", served version {VERSION}"));
    agreement.fields.push(more);
    Agreement { kind, title: "a served model".to_owned(), clients, ..agreement }
}

/// The agreement of the session in which the owner shares its inputs.
fn weights_agreement(task: &InferTask) -> Agreement {
    let owner = &task.job().owner;
    let clients = owner.name().filter(|_| matches!(owner, Member::Client(_)));
    let clients = clients.map(str::to_owned).into_iter().collect();
    agreement(task, "served-weights", clients, AgreedField::new("served by", owner.key()))
}

/// The agreement of a client's session.
pub(super) fn answers_agreement(task: &InferTask, client: &Member, ahead: u64) -> Agreement {
    let three = task.job().protocol == Protocol::Rep3;
    let clients = client.name().filter(|_| three).map(str::to_owned).into_iter().collect();
    let served = format!("{}, up to {ahead} bytes of OTs between requests", client.key());
    agreement(task, "served-model", clients, AgreedField::new("served to", served))
}

/// The number of inputs along the first axis of a request, which is the number of its answers.
pub(super) fn answers_of(task: &InferTask) -> u64 {
    let input = task.computation().inputs().find(|(name, _)| *name == INPUT);
    let lengths = input.and_then(|(_, ty)| ty.shape.lengths()).unwrap_or_default();
    if lengths.len() > 1 { lengths[0].max(1) as u64 } else { 1 }
}

/// The state of a client at a member that serves.
struct ServedClient {
    member: Member,
    task: InferTask,
    served: ServedComputation,
    agreement: Agreement,
    /// Its current session, or its next one.
    session: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    cancel: Option<Cancel>,
    /// Whether all members have met.
    met: bool,
}

impl ServedClient {
    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A member that serves.
struct Server<'s> {
    config: MemberConfig,
    terms: &'s ServeTerms,
    inputs: OwnerInputs,
    answers: Answers,
    queue: Queue,
    /// Whether this member decides which client is next.
    first: bool,
    clients: Vec<ServedClient>,
    observer: &'s ServeObserver,
    report: Mutex<ServeReport>,
    /// The number of requests that were granted.
    granted: AtomicU64,
    closed: AtomicBool,
}

/// Serves a model until `stop` is cancelled, or the requests of `terms` are answered. A client that
/// owns the model shares its weights, and then returns.
///
/// # Errors
/// The job cannot be served, a file cannot be used, this member does not allow the job, or the
/// owner's inputs could not be shared. A client's session that fails is reported as an event.
pub fn serve_model(
    job: &InferJob,
    mut config: MemberConfig,
    terms: &ServeTerms,
    stop: &Cancel,
    observer: &ServeObserver,
) -> Result<ServeReport, Fault> {
    let me = config.me.clone();
    served(job, &mut config, terms, stop, observer).map_err(|e| e.by(&me))
}

fn served(
    job: &InferJob,
    config: &mut MemberConfig,
    terms: &ServeTerms,
    stop: &Cancel,
    observer: &ServeObserver,
) -> Result<ServeReport, Fault> {
    check(job)?;
    let task = InferTask::new(job)?;
    let me = config.me.clone();
    task.agreement().admits(&me)?;
    config.allows(&task.terms())?;
    let serves = match job.protocol {
        Protocol::Two => me == job.owner,
        _ => matches!(me, Member::Party(_)) || me == job.owner,
    };
    if !serves {
        let cause = format!("{me} neither owns the model nor computes");
        let remedy = "ask for answers with `hushwire ask-model`";
        return Err(Fault::new(code::MEMBER, "serving the model", cause, remedy));
    }
    let answers = Answers::new(terms.answers, terms.ledger.as_deref())?;
    let tensors = match me == job.owner {
        true => weights(&task, &me, &config.inputs)?,
        false => BTreeMap::new(),
    };
    // Sessions of all clients join on one port at the same time.
    let listener = config.listener.take().and_then(Arc::into_inner).map(Listener::shared);
    config.listener = listener.map(Arc::new);
    let base = ServedComputation::new(task.compute(), &job.owner, &me, None)?;
    let inputs = match job.protocol {
        Protocol::Two => base.pair(&tensors)?,
        _ => shared(&task, config, &base, &tensors, stop)?,
    };
    drop(tensors);
    if !matches!(me, Member::Party(_)) {
        observer(ServeEvent::Ready);
        return Ok(ServeReport::default());
    }
    let own = [job.client.clone()];
    let names = if terms.clients.is_empty() { &own[..] } else { &terms.clients };
    let mut clients = vec![];
    for member in names {
        let task = InferTask::new(&job_of(job, member))?;
        let served = ServedComputation::new(task.compute(), &job.owner, &me, Some(base.form()))?;
        let agreement = answers_agreement(&task, member, terms.ahead);
        let (member, session) = (member.clone(), Mutex::default());
        clients.push(ServedClient { member, task, served, agreement, session });
    }
    let server = Server {
        config: config.again()?,
        terms,
        inputs,
        answers,
        queue: Queue::new(terms.at_once),
        first: job.protocol == Protocol::Two || me == Member::Party(0),
        clients,
        observer,
        report: Mutex::default(),
        granted: AtomicU64::new(0),
        closed: AtomicBool::new(false),
    };
    observer(ServeEvent::Ready);
    server.run(stop)
}

/// Shares the owner's inputs, or takes shares of them.
fn shared(
    task: &InferTask,
    config: &mut MemberConfig,
    served: &ServedComputation,
    tensors: &BTreeMap<String, Tensor>,
    stop: &Cancel,
) -> Result<OwnerInputs, Fault> {
    let own = if tensors.is_empty() { vec![] } else { served.records(tensors)? };
    let mut once = config.again()?;
    once.stored = std::mem::take(&mut config.stored);
    let part = KeepPart { served, own, kept: OwnerInputs::None };
    // This session needs its own handle: one of a session that ended well has no effect any more.
    let (cancel, over) = (once.cancel.clone(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                if stop.asked() {
                    cancel.cancel();
                }
                thread::sleep(LOOK);
            }
        });
        let kept = run_part(weights_agreement(task), part, once, &silent());
        over.store(true, Ordering::SeqCst);
        Ok(kept?.learnt)
    })
}

pub(super) fn silent() -> Observer {
    Arc::new(|_| {})
}

/// A member's part of sharing the owner's inputs.
struct KeepPart<'s> {
    served: &'s ServedComputation,
    own: Vec<hushwire_block::Wiped<Vec<u8>>>,
    kept: OwnerInputs,
}

impl Part for KeepPart<'_> {
    type Learnt = OwnerInputs;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let (links, kept) = keep(member, self.served, std::mem::take(&mut self.own))?;
        self.kept = kept;
        Ok(links)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn commit(self) -> Result<OwnerInputs, Fault> {
        Ok(self.kept)
    }
}

impl Server<'_> {
    /// Serves each client on a thread of its own.
    fn run(&self, stop: &Cancel) -> Result<ServeReport, Fault> {
        let failed = thread::scope(|scope| {
            let serving: Vec<_> =
                self.clients.iter().map(|client| scope.spawn(|| self.client(client))).collect();
            while !serving.iter().all(thread::ScopedJoinHandle::is_finished) {
                if stop.asked() {
                    self.close(true);
                }
                thread::sleep(LOOK);
            }
            let ended = serving.into_iter().map(thread::ScopedJoinHandle::join);
            ended
                .map(|ended| ended.unwrap_or_else(|_| Err(Fault::internal(ASK, "a thread panicked"))))
                .find_map(Result::err)
        });
        match failed {
            Some(e) => Err(e),
            None => Ok(*self.report.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Admits no more requests, and ends the sessions that have not begun, or all.
    fn close(&self, all: bool) {
        self.closed.store(true, Ordering::SeqCst);
        self.queue.close();
        for client in &self.clients {
            let state = client.lock();
            if let Some(cancel) = state.cancel.as_ref().filter(|_| all || !state.met) {
                cancel.cancel();
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Runs the sessions of a client, one after another.
    fn client(&self, client: &ServedClient) -> Result<(), Fault> {
        loop {
            let mut config = self.config.again()?;
            config.connect_timeout = FOREVER;
            config.peers = seated(&config.peers, client.task.job(), &client.member)?;
            {
                let mut state = client.lock();
                *state = SessionState { cancel: Some(config.cancel.clone()), met: false };
                if self.is_closed() {
                    return Ok(());
                }
            }
            let part = ServePart { server: self, client };
            match run_part(client.agreement.clone(), part, config, &silent()) {
                Ok(Outcome { stats, .. }) => {
                    let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.bytes_sent += stats.bytes_sent;
                    report.bytes_received += stats.bytes_received;
                    drop(report);
                    (self.observer)(ServeEvent::Left(client.member.clone()));
                }
                Err(_) if self.is_closed() => return Ok(()),
                // A fault of this member's own file would come back in the next session.
                Err(e) if matches!(e.kind(), Kind::Usage | Kind::File) => {
                    self.close(false);
                    return Err(e);
                }
                Err(e) => {
                    if client.lock().met {
                        (self.observer)(ServeEvent::Failed(client.member.clone(), e));
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }
}

/// The peers of a client's session. Between two parties the client takes the seat of the other
/// party, and dials.
fn seated(peers: &[Peer], job: &InferJob, client: &Member) -> Result<Vec<Peer>, Fault> {
    if job.protocol != Protocol::Two {
        return Ok(peers.to_vec());
    }
    let peer = peers.iter().find(|peer| peer.member == *client).ok_or_else(|| {
        let cause = format!("no [[peers]] table of this file is for {client}");
        Fault::new(code::MEMBER, "serving the model", cause, "add a table with its member and pin")
    })?;
    Ok(vec![Peer { member: job.client.clone(), address: None, pin: peer.pin }])
}

/// A member's part of a client's session.
struct ServePart<'s> {
    server: &'s Server<'s>,
    client: &'s ServedClient,
}

impl ServePart<'_> {
    /// Handles a request, from its first byte to its answer.
    fn request(&self, member: &MemberSession, seat: &mut ServedSeat) -> Result<(), Fault> {
        let (server, client, begun) = (self.server, self.client, Instant::now());
        let (name, count) = (name_of(&client.member), answers_of(&client.task));
        let permit = if server.first { server.queue.enter() } else { None };
        let own = if server.is_closed() || (server.first && permit.is_none()) {
            ServeVerdict::Ends
        } else if seat.runs() >= client.served.runs_in_a_session() {
            ServeVerdict::Anew
        } else if server.answers.take(&name, count)? {
            ServeVerdict::Granted
        } else {
            ServeVerdict::Spent
        };
        let verdict = seat.settle(member, own)?;
        if verdict != ServeVerdict::Granted {
            if own == ServeVerdict::Granted {
                server.answers.give_back(&name, count)?;
            }
            if verdict == ServeVerdict::Spent {
                (server.observer)(ServeEvent::Refused(client.member.clone(), spent(&name, count)));
            }
            return Ok(());
        }
        let all = server.granted.fetch_add(1, Ordering::SeqCst) + 1;
        let cancel = member.config.cancel.clone();
        let go_on = &mut |_, _| !cancel.asked();
        seat.run(member, &client.served, &server.inputs, vec![], go_on)?;
        drop(permit);
        let time = begun.elapsed();
        {
            let mut report = server.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.requests += 1;
            report.seconds += time.as_secs_f64();
        }
        (server.observer)(ServeEvent::Answered(client.member.clone(), time));
        if server.terms.requests.is_some_and(|most| all >= most) {
            server.close(false);
        }
        Ok(())
    }
}

impl Part for ServePart<'_> {
    type Learnt = ();

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let (server, client) = (self.server, self.client);
        client.lock().met = true;
        let mut seat = ServedSeat::open(member, &client.served, &server.inputs)?;
        (server.observer)(ServeEvent::Joined(client.member.clone()));
        loop {
            match seat.hear(member)? {
                Call::End => return Ok(seat.into_links()),
                Call::Ahead => seat.ahead(&client.served, server.terms.ahead)?,
                Call::Run => self.request(member, &mut seat)?,
            }
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn commit(self) -> Result<(), Fault> {
        Ok(())
    }
}
