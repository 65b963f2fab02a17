//! A party's part in an attempt: it reserves, starts, reports, and follows the decision.

use crate::{
    audit,
    blobs::Blobs,
    calls::Status,
    clock,
    order::{
        AttemptOrder, FromWorker, Made, MadePlace, MemoryLimit, OrderedData, OrderedShelf, Prepared,
        ToWorker, WorkerOrder,
    },
    party::{Meeting, Party},
    peers,
    pool::{Parked, WorkerScope},
    promise::{self, Promise, Reserve, VouchedWorker},
    records::{
        admission,
        attempts::{self, AttemptRow, Decision, Measured},
        datasets::{self, DatasetRow},
        jobs::{self, JobRow},
        material, peers as records_of_peers, recipients,
        results::{self, NewOutput},
    },
    store::Stored,
    workers::Worker,
};
use hushwire_block::Wiped;
use hushwire_fault::{Fault, code};
use hushwire_kinds::Job;
use hushwire_policy::PolicyLimits;
use hushwire_seal::{Signature, vouch::WorkerPlace};
use hushwire_session::{
    InputPlace, Member, Peer, ShelfOwner,
    toml_file::{Section, Source},
};
use hushwire_wire::Pin;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::timeout,
};

/// LOCAL: how long a party waits for a free slot before it answers that it is busy.
const ROOM: Duration = Duration::from_secs(5);
/// LOCAL: how long an ended attempt keeps its slot while its worker is parked or ends.
const PARKS: Duration = Duration::from_millis(500);
/// LOCAL: how long a reserved attempt waits for its start.
const START: Duration = Duration::from_secs(120);
/// LOCAL: the pauses between a party's questions to the decider. The last one repeats.
const ASK: [Duration; 4] =
    [Duration::from_millis(100), Duration::from_millis(300), Duration::from_secs(1), Duration::from_secs(3)];

/// The remedy where a policy's limit is exceeded.
pub(crate) const LARGER: &str =
    "make the job smaller, or ask this party's operator for a policy with a higher limit";

/// A party's answer to a request to reserve an attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reserved {
    /// A worker is ready, without links.
    Yes(VouchedWorker),
    /// A worker of the team that was asked for is ready, with its links.
    Warm(VouchedWorker),
    /// No slot is free now.
    Busy,
    /// The party does not take part.
    No(Fault),
}

/// Reserves an attempt: counts the run, and makes a worker ready.
pub(crate) async fn reserve(party: &Arc<Party>, id: &str, asked: &Reserve) -> Reserved {
    match try_reserve(party, id, asked).await {
        Ok(Some((peer, false))) => Reserved::Yes(peer),
        Ok(Some((peer, true))) => Reserved::Warm(peer),
        Ok(None) => Reserved::Busy,
        Err(e) => Reserved::No(e.by(party.me())),
    }
}

async fn try_reserve(
    party: &Arc<Party>,
    id: &str,
    asked: &Reserve,
) -> Result<Option<(VouchedWorker, bool)>, Fault> {
    let Some(booked) = book(party, id, asked).await? else { return Ok(None) };
    let parked = party.pool.take(&WorkerScope::of(&booked.job), asked.team.as_deref());
    begin(party, booked, parked, asked).await.map(Some)
}

/// An attempt that is reserved in the store, and has no worker yet.
pub(crate) struct Booked {
    job: JobRow,
    k: u32,
    limits: PolicyLimits,
    slot: OwnedSemaphorePermit,
    /// The ends of audit logs that the attempt's audit entry has.
    pub(crate) heads: serde_json::Value,
}

/// Reserves an attempt in the store, where the run is counted; `None` if no slot is free.
pub(crate) async fn book(party: &Arc<Party>, id: &str, asked: &Reserve) -> Result<Option<Booked>, Fault> {
    if party.draining() {
        return Err(Fault::of(code::DRAINING, &[]).during("reserving an attempt"));
    }
    party.trusts_logs()?;
    let Ok(Ok(slot)) = timeout(ROOM, party.slots.clone().acquire_owned()).await else { return Ok(None) };
    let (name, asked) = (id.to_owned(), asked.clone());
    let (k, operators) = (asked.k, party.config.operators.clone());
    // The policy is checked again in the transaction that counts the run.
    let reserved = party.store.run("reserved", move |c| {
        let job = jobs::known(c, &name)?;
        if job.body_hash != asked.body_hash {
            let cause = "this party was given another job under that key";
            let remedy = "submit the same job to all parties, under a key of its own";
            return Err(Fault::new(code::CONFLICT, "reserving an attempt", cause, remedy).into());
        }
        let heads = asked.heads.map_or_else(|| heads(c), Ok)?;
        let admitted = admission::admit(c, &operators, &job)?;
        attempts::reserve(c, &job, k, &admitted.lines, &heads)?;
        Ok((job, admitted.limits, heads))
    });
    let (job, limits, heads) = reserved.await?;
    party.changed(id);
    Ok(Some(Booked { job, k, limits, slot, heads }))
}

/// The ends of the audit logs that party 0 knows, its own log included.
fn heads(c: &Connection) -> Stored<serde_json::Value> {
    let mut heads = records_of_peers::heads(c)?;
    heads.insert(0, audit::head(c)?);
    let heads = heads.into_iter().map(|(party, head)| (party.to_string(), head.to_string().into()));
    Ok(serde_json::Value::Object(heads.collect()))
}

/// Starts the worker of a reserved attempt, or gives the attempt to a parked worker. Returns how
/// the other parties know the worker, and whether it is of the team that was asked for, with its
/// links.
pub(crate) async fn begin(
    party: &Arc<Party>,
    booked: Booked,
    parked: Option<Parked>,
    asked: &Reserve,
) -> Result<(VouchedWorker, bool), Fault> {
    let Booked { job, k, limits, slot, heads: _ } = booked;
    let most = limits.seconds.map(Duration::from_secs);
    let limit = memory_limit(party, &limits);
    let of = attempt_order(party, &job, k);
    let (dir, greeting) = (of.results.clone(), of.greeting.clone());
    let begun = async {
        let mut worker = match parked.filter(|parked| parked.limit == limit) {
            Some(mut parked) => {
                parked.worker.again(of).await;
                parked.worker
            }
            None => Worker::start(order(party, &job, of, limit).await?).await?,
        };
        // Connections of this attempt go to its worker until the attempt is released.
        let hand = worker.hand.clone();
        party.reception.route(&greeting, move |stream, first| hand.give(&stream, &first));
        let (peer, kept) = worker.ready().await?;
        let warm = kept && asked.team.as_ref() == Some(&worker.team);
        Ok::<_, Fault>((worker, peer, warm))
    };
    let (worker, peer, warm) = match begun.await {
        Ok(begun) => begun,
        Err(e) => {
            party.reception.unroute(&greeting);
            // The sweep removes the directory if this fails.
            let _ = std::fs::remove_dir_all(&dir);
            return Err(e);
        }
    };
    let (group, of_job) = (&party.config.group, &job.id);
    let at = WorkerPlace { group, job: of_job, attempt: k, party: party.config.party };
    let vouched = VouchedWorker { word: party.keys.vouch(&at, peer.pin), peer };
    let (orders, hears) = mpsc::channel(8);
    party.runs(&job.id, asked.clone(), vouched.clone(), orders, slot);
    let of = Attended { scope: WorkerScope::of(&job), job: job.id, k, dir, most, limit };
    tokio::spawn(attend(party.clone(), of, worker, hears));
    Ok((vouched, warm))
}

/// The memory limit of a worker: the smaller one of the policy's and the party's.
fn memory_limit(party: &Party, limits: &PolicyLimits) -> MemoryLimit {
    let config = party.config.memory;
    MemoryLimit {
        most: limits.memory.map_or(config, |most| most.min(config)),
        of_policy: limits.memory.is_some_and(|most| most <= config),
    }
}

/// The parts of a worker's order that belong to this attempt alone.
fn attempt_order(party: &Party, job: &JobRow, k: u32) -> AttemptOrder {
    let config = &party.config;
    AttemptOrder {
        label: label(&config.group, &job.id, k),
        greeting: greeting(&config.group, &job.id, k),
        results: party.blobs.attempt(&job.id, k),
        attempt: (job.id.clone(), k),
    }
}

/// The order for the worker of an attempt.
async fn order(
    party: &Arc<Party>,
    job: &JobRow,
    first: AttemptOrder,
    limit: MemoryLimit,
) -> Result<WorkerOrder, Fault> {
    let read = party.job_of(job).await?;
    let config = &party.config;
    let wanted = job.body.data.clone();
    let found = party.store.look(move |c| {
        let mut found = BTreeMap::new();
        for (name, id) in wanted {
            let row = datasets::get(c, &id)?.ok_or_else(|| crate::access::absent("data set", &id))?;
            let blobs = datasets::parts(c, &row.id)?.into_iter().map(|part| part.1).collect();
            found.insert(name, (row, blobs));
        }
        Ok::<BTreeMap<String, (DatasetRow, Vec<String>)>, _>(found)
    });
    let found = found.await?.into_iter();
    let data = found.map(|(name, (row, blobs))| Ok((name, ordered(party, &row, &blobs)?)));
    let data = data.collect::<Result<_, Fault>>()?;
    let recipients = job.body.recipients.iter();
    let recipients = recipients.map(|(name, text)| Ok((name.clone(), recipients::seal_to(name, text)?)));
    let recipients = recipients.collect::<Result<_, Fault>>()?;
    let inputs = own_inputs(&read, config.party, &config.inputs);
    Ok(WorkerOrder {
        job: read,
        party: config.party,
        first,
        // Clients meet the workers of each attempt anew, and preprocessing serves one run.
        stays: party.pool.keeps() && job.body.clients.is_empty() && config.shelf.is_none(),
        limit,
        inputs,
        keys: config.keys.clone(),
        shelf: config.shelf.as_deref().map(|dir| shelf(party, dir)).transpose()?,
        data,
        recipients,
    })
}

/// The inputs in a party's config that a job takes. The config has the inputs of all jobs, and a
/// worker gets no more than it needs.
fn own_inputs(job: &Job, party: u8, all: &BTreeMap<String, InputPlace>) -> BTreeMap<String, InputPlace> {
    if all.is_empty() {
        return BTreeMap::new();
    }
    // The lines with which a member rehearses a job name its inputs.
    let lines = job.lines_for(&Member::Party(party)).join("\n");
    let source = Source::new(Path::new("inputs"), &lines);
    let names = source.sections().ok().and_then(|mut top| top.take("inputs")?.section().ok());
    let names = names.map(Section::rest).unwrap_or_default();
    names.into_iter().filter_map(|(name, _)| Some((name.clone(), all.get(&name)?.clone()))).collect()
}

/// The place of the party's preprocessing, and the keys under which it was made.
fn shelf(party: &Party, dir: &Path) -> Result<OrderedShelf, Fault> {
    let mut pins: BTreeMap<u8, Pin> =
        party.config.peers.iter().filter_map(|peer| Some((peer.party, *peer.pins.first()?))).collect();
    pins.insert(party.config.party, party.identity.pin());
    let owner = ShelfOwner::of(&party.identity, pins.into_values().collect())?;
    Ok(OrderedShelf {
        dir: dir.to_path_buf(),
        key: Wiped::new(hex::encode(owner.key())),
        pins: owner.pins().iter().map(ToString::to_string).collect(),
    })
}

/// The content key, the seeds and the parts of a data set, for a worker.
fn ordered(party: &Party, row: &DatasetRow, blobs: &[String]) -> Result<OrderedData, Fault> {
    let signed = row.signed()?;
    let envelope = row.envelope.as_deref().unwrap_or_default();
    let opened = party.keys.open_data(signed.manifest(), usize::from(party.config.party), envelope)?;
    Ok(OrderedData {
        manifest: row.manifest.clone(),
        signature: row.signature.clone(),
        opened: Wiped::new(hex::encode(&opened.to_bytes()[..])),
        parts: blobs.iter().map(|name| party.blobs.path(name)).collect(),
    })
}

/// The label of an attempt's session.
pub(crate) fn label(group: &str, job: &str, k: u32) -> String {
    format!("service {group} {job} {k}")
}

/// The name in the greetings of an attempt's session.
pub(crate) fn greeting(group: &str, job: &str, k: u32) -> String {
    format!("a-{job}-{k}.{}", peers::label(group))
}

/// An attempt whose worker [`attend`] attends to.
struct Attended {
    scope: WorkerScope,
    job: String,
    k: u32,
    /// The directory in which its worker leaves outputs.
    dir: PathBuf,
    /// The longest time that it may compute, by the policy.
    most: Option<Duration>,
    /// The memory limit of its worker.
    limit: MemoryLimit,
}

/// Attends to a worker until the decision.
async fn attend(party: Arc<Party>, of: Attended, mut worker: Worker, mut orders: mpsc::Receiver<ToWorker>) {
    let Attended { scope, job, k, dir, most, limit } = of;
    let (mut met, begun) = (false, tokio::time::Instant::now());
    let (mut stays, mut committed) = (false, false);
    let mut until = None;
    loop {
        tokio::select! {
            order = orders.recv() => match order {
                Some(ToWorker::Bye | ToWorker::Cancel) | None => break,
                Some(order) => {
                    met = true;
                    if matches!(order, ToWorker::Meet(.., false)) {
                        worker.team = label(&party.config.group, &job, k);
                    }
                    until = most.map(|most| tokio::time::Instant::now() + most);
                    worker.tell(&order).await;
                }
            },
            // Party 0 may have ended, or its abort may be lost.
            () = tokio::time::sleep_until(begun + START), if !met => {
                let cause = format!("the attempt was not started within {} s", START.as_secs());
                let late = Fault::new(code::WORKER, "waiting for the start", cause, "it is tried again by itself");
                report(&party, &job, k, Err(late.by(party.me())));
                drop(orders.recv().await);
                break;
            }
            () = tokio::time::sleep_until(until.unwrap_or(begun)), if until.is_some() => {
                // The computation stops, whatever the decider decides.
                worker.stop();
                let seconds = most.unwrap_or_default().as_secs();
                let cause = format!("the attempt took longer than the {seconds} s of `max.seconds` in this party's policy");
                let late = Fault::new(code::POLICY_DENIES, "computing", cause, LARGER);
                report(&party, &job, k, Err(late.by(party.me())));
                drop(orders.recv().await);
                break;
            }
            event = worker.event() => {
                let ended = match event {
                    Ok(FromWorker::Phase(phase)) => {
                        party.advance(&job, |progress| progress.phase = phase);
                        continue;
                    }
                    Ok(FromWorker::Progress(done, of)) => {
                        party.advance(&job, |progress| (progress.done, progress.of) = (done, of));
                        continue;
                    }
                    Ok(FromWorker::Traffic(sent, received)) => {
                        party.advance(&job, |progress| (progress.sent, progress.received) = (sent, received));
                        continue;
                    }
                    Ok(FromWorker::Note(note)) => {
                        tracing::info!(job, attempt = k, "{note}");
                        continue;
                    }
                    Ok(FromWorker::Ready(..)) => continue,
                    Ok(FromWorker::Uses(file)) => {
                        let id = job.clone();
                        let marked = party.store.run("material", move |c| material::mark(c, &file, &id, k)).await;
                        worker.tell(&ToWorker::Used(marked.err())).await;
                        continue;
                    }
                    Ok(FromWorker::Prepared(prepared)) => {
                        stays = prepared.stays;
                        worker.peak_memory = prepared.peak_memory;
                        keep(&party, &job, k, &dir, *prepared).await
                    }
                    Ok(FromWorker::Failed(e)) => Err(party.explained(&job, k, e).await),
                    Err(e) => Err(e),
                };
                report(&party, &job, k, ended.map_err(|e| e.by(party.me())));
                // The decision comes through `follow`.
                committed = matches!(orders.recv().await, Some(ToWorker::Bye));
                break;
            }
        }
    }
    party.reception.unroute(&greeting(&party.config.group, &job, k));
    // Outputs that have not been kept by now are not needed.
    let _ = std::fs::remove_dir_all(&dir);
    if committed && stays && !party.draining() {
        party.pool.park(worker, scope, limit);
        return;
    }
    // `release` frees the slot once this channel is closed.
    drop(orders);
    if committed {
        // The worker may have clients, which learn of the commit now.
        worker.leave().await;
    } else {
        worker.end().await;
    }
}

/// Keeps the outputs of a worker, as blobs or in their rows, and names them in the store.
async fn keep(party: &Arc<Party>, job: &str, k: u32, dir: &Path, made: Prepared) -> Result<(), Fault> {
    let (blobs, dir, outputs) = (party.blobs.clone(), dir.to_path_buf(), made.outputs);
    let is_small = |made: &Made| matches!(made.place, MadePlace::Here(_));
    let outputs = if outputs.iter().all(is_small) && party.store.read(results::keeps_small).await? {
        outputs.iter().map(small).collect::<Result<Vec<NewOutput>, Fault>>()?
    } else {
        let adopt = move || outputs.iter().map(|made| adopt(&blobs, &dir, made)).collect::<io::Result<_>>();
        let adopted =
            tokio::task::spawn_blocking(adopt).await.map_err(|e| Fault::internal("keeping outputs", e))?;
        adopted.map_err(|e| Fault::io("keep outputs in", &party.config.blobs, &e))?
    };
    let stats = Measured {
        seconds: made.stats.seconds,
        bytes_sent: made.stats.bytes_sent,
        bytes_received: made.stats.bytes_received,
        rounds: made.stats.rounds,
        peak_memory: made.peak_memory,
    };
    let id = job.to_owned();
    let prepared = move |c: &Connection| attempts::prepared(c, &id, k, &outputs, &stats);
    let kept = if party.decides() {
        // Party 0 promises this to nobody: its decision is synced, and this with it.
        party.store.run_unsynced("prepared", prepared).await?
    } else {
        party.store.run("prepared", prepared).await?
    };
    party.changed(job);
    if kept {
        Ok(())
    } else {
        Err(Fault::internal("keeping outputs", "the attempt was aborted meanwhile").following())
    }
}

/// An output that is small enough to be kept in its row.
fn small(made: &Made) -> Result<NewOutput, Fault> {
    let MadePlace::Here(digits) = &made.place else {
        return Err(Fault::internal("keeping outputs", "it is a file"));
    };
    let bytes = hex::decode(digits).map_err(|e| Fault::internal("keeping outputs", e))?;
    Ok(NewOutput {
        output: made.output.clone(),
        blob: blake3::hash(&bytes).to_hex().to_string(),
        bytes: bytes.len() as u64,
        recipient: made.recipient.clone(),
        small: Some(bytes),
    })
}

/// Keeps an output as a blob.
fn adopt(blobs: &Blobs, dir: &Path, made: &Made) -> io::Result<NewOutput> {
    let (blob, bytes) = match &made.place {
        MadePlace::File(file) => blobs.adopt(&dir.join(file))?,
        MadePlace::Here(digits) => blobs.put(&hex::decode(digits).map_err(io::Error::other)?)?,
    };
    Ok(NewOutput { output: made.output.clone(), blob, bytes, recipient: made.recipient.clone(), small: None })
}

/// Starts the attempt: its workers meet.
pub(crate) async fn start(
    party: &Arc<Party>,
    id: &str,
    k: u32,
    named: Vec<VouchedWorker>,
    on_kept: bool,
    word: Signature,
) -> Result<(), Fault> {
    const STEP: &str = "starting an attempt";
    let late = || {
        let cause = "it is not reserved here any more";
        Fault::new(code::WORKER, STEP, cause, "it is tried again by itself")
    };
    party.knows_workers(id, k, &named)?;
    let asked = party.asked(id, k).ok_or_else(late)?;
    let digest = promise::of_start(&asked, &named, on_kept);
    party.takes(id, k, Promise { digest, word })?;
    // Workers whose parties were told different things are in different sessions, and never meet.
    let session = format!("{} {digest}", label(&party.config.group, id, k));
    let mut all: Vec<Peer> = named.into_iter().map(|worker| worker.peer).collect();
    for peer in &mut all {
        let of = party.config.peers.iter().find(|of| peer.member == Member::Party(of.party));
        peer.address = of.map(|of| of.address.clone());
    }
    let name = id.to_owned();
    let started = party.store.run("started", move |c| {
        let job = jobs::known(c, &name)?;
        Ok((attempts::start(c, &name, k)?, job.body.clients))
    });
    let (started, clients) = started.await?;
    for (name, pin) in clients {
        let pin = pin.parse().map_err(|e| Fault::internal(STEP, e))?;
        all.push(Peer { member: Member::Client(name), address: None, pin });
    }
    let meeting = Meeting { k, label: session, all };
    party.meets(id, &meeting);
    let worker = party.worker(id, k).filter(|_| started);
    let worker = worker.ok_or_else(late)?;
    worker.send(ToWorker::Meet(meeting.all, meeting.label, on_kept)).await.map_err(|_| late())?;
    party.compares_start(id, k);
    Ok(())
}

/// A party's report to the decider.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The number of the attempt.
    pub(crate) k: u32,
    /// Why it failed; `None` if it is prepared.
    pub(crate) failed: Option<Fault>,
}

/// Tells the decider how the attempt went here, and follows its decision once there is one.
fn report(party: &Arc<Party>, job: &str, k: u32, went: Result<(), Fault>) {
    if party.decides() {
        party.hears(job, k, 0, went);
        return;
    }
    let (party, job) = (party.clone(), job.to_owned());
    tokio::spawn(async move {
        let report = Report { k, failed: went.err() };
        settle(&party, &job, k, Some(&report)).await;
    });
}

/// Asks the decider until it answers, and follows its decision.
pub(crate) async fn settle(party: &Arc<Party>, job: &str, k: u32, report: Option<&Report>) {
    for n in 0.. {
        let (name, path) = (job.to_owned(), format!("/peer/v1/jobs/{job}/report"));
        // The decision may have come during the pause.
        if n > 0
            && let Ok(Some(AttemptRow { state, .. })) =
                party.store.look(move |c| attempts::get(c, &name, k)).await
            && matches!(state.as_str(), "committed" | "aborted")
        {
            // An error came after the decision was written, so the worker may still have its slot.
            release(party, job, k, state == "committed").await;
            return;
        }
        let body = report.cloned().unwrap_or(Report { k, failed: None });
        let asked: Result<Option<Decision>, Fault> = party.peers.post(0, &path, &body).await;
        match asked {
            Ok(Some(decision)) => match follow(party, job, k, &decision).await {
                Ok(()) => return,
                Err(e) => tracing::warn!(job, attempt = k, "cannot follow the decision yet: {e}"),
            },
            Ok(None) => {}
            Err(e) => tracing::debug!(job, attempt = k, "the decider cannot be asked: {e}"),
        }
        tokio::time::sleep(ASK[n.min(ASK.len() - 1)]).await;
    }
}

/// Follows a decision: outputs become visible, or are removed.
pub(crate) async fn follow(party: &Arc<Party>, job: &str, k: u32, decision: &Decision) -> Result<(), Fault> {
    party.believes(job, k, decision)?;
    let (name, followed) = (job.to_owned(), decision.clone());
    let point = if decision.commit { "committed" } else { "aborted" };
    // After a power cut the party asks party 0 again, so nothing waits for the disk here.
    party.store.run_unsynced(point, move |c| attempts::finish(c, &name, k, &followed)).await?;
    release(party, job, k, decision.commit).await;
    Ok(())
}

/// Ends the attempt here: its worker is let go, or waits for another attempt.
pub(crate) async fn release(party: &Arc<Party>, job: &str, k: u32, committed: bool) {
    if let Some((worker, slot)) = party.done(job, k) {
        // The worker may have ended by itself.
        let _ = worker.send(if committed { ToWorker::Bye } else { ToWorker::Cancel }).await;
        // Whoever takes the slot next then finds the parked worker.
        let _ = timeout(PARKS, worker.closed()).await;
        drop(slot);
    }
    if committed {
        party.ended(job);
    } else {
        party.changed(job);
    }
}

/// Settles the attempts from before a restart, whose workers are gone. An attempt that is not
/// prepared has failed. The decider is asked about a prepared one.
pub(crate) async fn resume(party: &Arc<Party>) -> Result<(), Fault> {
    for AttemptRow { job, k, state, .. } in party.open_attempts().await? {
        let cause = "this party's service ended during the attempt";
        let fault = || Fault::new(code::WORKER, "computing", cause, "the job is tried again").by(party.me());
        let report = Report { k, failed: (state != "prepared").then(fault) };
        let party = party.clone();
        tokio::spawn(async move { settle(&party, &job, k, Some(&report)).await });
    }
    Ok(())
}

/// Asks the decider about jobs that make no progress here: they may have ended while this party was
/// away.
pub(crate) async fn reconcile(party: &Arc<Party>) -> Result<(), Fault> {
    let before = clock::now() - 5_000;
    let open = party.store.read(move |c| jobs::open(c, before, 100)).await?;
    for job in open.into_iter().filter(|job| job.state != "running") {
        let status: Status = party.peers.get(0, &format!("/peer/v1/jobs/{}", job.id)).await?;
        if matches!(status.state.as_deref(), Some("failed" | "cancelled")) {
            end(party, &job.id, &status).await?;
        }
    }
    Ok(())
}

/// Ends a job without a running attempt, as party 0 reports.
pub(crate) async fn end(party: &Arc<Party>, job: &str, status: &Status) -> Result<(), Fault> {
    let (name, cause) = (job.to_owned(), status.cause.clone());
    let state =
        status.state.clone().filter(|state| state == "cancelled").unwrap_or_else(|| "failed".to_owned());
    party.store.run("ended", move |c| jobs::end(c, &name, &state, cause.as_ref(), "party 0")).await?;
    party.ended(job);
    Ok(())
}
