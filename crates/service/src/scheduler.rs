//! Party 0's scheduler: it asks the others whether a job is ready, tries it, and takes the decision
//! on each attempt. It has no power over what is allowed: each party checks its own policies.

use crate::{
    attempt::{self, Booked, Reserve, Reserved, Status},
    audit, clock,
    party::{Outlook, Party},
    records::{
        attempts::{self, AttemptRow, Decision},
        jobs::{self, JobRow},
        peers,
    },
};
use hushwire_fault::{Fault, Kind, PartyId, code};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

/// LOCAL: how often the scheduler looks without being called.
const LOOK: Duration = Duration::from_millis(250);
/// LOCAL: how long a party may be out of reach while party 0 waits for it to be prepared.
const AWAY: Duration = Duration::from_secs(60);
/// LOCAL: how often party 0 asks after parties that it waits for.
const PING: Duration = Duration::from_secs(5);
/// LOCAL: how long, in milliseconds, a new job may be on its way to the other parties before party
/// 0 writes down that it waits for them.
const PATIENCE: i64 = 2000;
/// LOCAL: jobs that a look takes up.
const MOST: i64 = 64;

/// Schedules until the party drains.
pub(crate) async fn run(party: Arc<Party>) {
    let under_way: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    while !party.draining() {
        let due = party.store.run("read", |c| jobs::due(c, clock::now(), MOST)).await;
        match due {
            Ok(due) => {
                for job in due.into_iter().filter(|job| !party.waits_for_others(&job.id)) {
                    if party.slots.available_permits() == 0 {
                        break;
                    }
                    let taken = &mut *under_way.lock().unwrap_or_else(PoisonError::into_inner);
                    if taken.len() >= party.config.slots as usize || !taken.insert(job.id.clone()) {
                        continue;
                    }
                    let (party, under_way) = (party.clone(), under_way.clone());
                    tokio::spawn(async move {
                        let id = job.id.clone();
                        if let Err(e) = take_up(&party, job).await {
                            tracing::warn!(job = id, "cannot be scheduled: {e}");
                        }
                        under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                        party.due.notify_one();
                    });
                }
            }
            Err(e) => tracing::error!("the store cannot be asked for jobs: {e}"),
        }
        // Nobody may call.
        let _ = timeout(LOOK, party.due.notified()).await;
    }
}

/// After a restart: party 0 aborts what it has not decided.
pub(crate) async fn resume(party: &Arc<Party>) -> Result<(), Fault> {
    for AttemptRow { job, k, .. } in party.open_attempts().await? {
        let cause = "party 0's service ended during the attempt";
        let fault = Fault::new(code::WORKER, "computing", cause, "the job is tried again").by(PartyId(0));
        let taken = decide(party, &job, k, Err(fault)).await?;
        let party = party.clone();
        tokio::spawn(async move { tell(&party, &job, k, taken).await });
    }
    Ok(())
}

async fn take_up(party: &Arc<Party>, job: JobRow) -> Result<(), Fault> {
    if !is_ready(party, &job).await? {
        return Ok(());
    }
    let k = job.attempt + 1;
    let news = party.expect(&job.id, k);
    let heads = party.store.run("read", |c| {
        let mut heads = peers::heads(c)?;
        heads.insert("0".to_owned(), audit::head(c)?.to_string());
        Ok(heads)
    });
    let asked = Reserve { k, body_hash: job.body_hash.clone(), heads: serde_json::json!(heads.await?) };
    // Party 0 reserves first: no other party has an attempt that party 0 does not know.
    let own = attempt::book(party, &job.id, &asked).await.map_err(|e| e.by(party.me()));
    let ended = match own {
        Ok(None) => {
            party.settled(&job.id, k);
            let id = job.id.clone();
            return party.store.run("ready", move |c| jobs::ready(c, &id)).await;
        }
        Err(e) => {
            let id = job.id.clone();
            if party.store.run("read", move |c| attempts::get(c, &id, k)).await?.is_none() {
                // Nothing was reserved: there is no attempt to decide on.
                party.settled(&job.id, k);
                return declined(party, &job, e).await;
            }
            Err(e)
        }
        Ok(Some(booked)) => tried(party, &job, &asked, booked, &news).await,
    };
    let taken = decide(party, &job.id, k, ended).await?;
    // The next job needs the room that this one had at the others.
    tell(party, &job.id, k, taken).await;
    Ok(())
}

/// Party 0 itself does not take part in a job.
async fn declined(party: &Arc<Party>, job: &JobRow, e: Fault) -> Result<(), Fault> {
    if e.kind() == Kind::Network || e.code() == code::QUOTA {
        let (id, waits, until) = (job.id.clone(), format!("waits: {}", e.cause()), clock::now() + 1000);
        return party.store.run("postponed", move |c| jobs::postpone(c, &id, until, &waits)).await;
    }
    let status = Status { state: Some("failed".to_owned()), body_hash: None, cause: Some(e) };
    end_everywhere(party, &job.id, &status).await
}

/// Whether all parties have the job, and take part.
async fn is_ready(party: &Arc<Party>, job: &JobRow) -> Result<bool, Fault> {
    if let Some(client) = party.lacks(&job.id, job.body.clients.keys()) {
        let (id, until) = (job.id.clone(), clock::now() + 1000);
        let waits = format!("waits for client {client}, who is not there");
        let told = job.waits.as_ref() == Some(&waits);
        party.store.run("postponed", move |c| jobs::postpone(c, &id, until, &waits)).await?;
        if !told {
            party.changed(&job.id);
        }
        return Ok(false);
    }
    let (mut refusal, mut waits) = (None, None);
    let mut declines = |cause: Fault| {
        if cause.code() == code::QUOTA {
            waits = Some(format!("waits: {}", cause.cause()));
        } else {
            refusal.get_or_insert(cause);
        }
    };
    if let Err(cause) = party.admits(job).await {
        declines(cause);
    }
    let mut absent = None;
    let path = format!("/peer/v1/jobs/{}", job.id);
    party.asks_others(&job.id);
    for (peer, status) in all(party, move |party, peer| {
        let path = path.clone();
        async move { party.peers.get::<Status>(peer, &path).await }
    })
    .await
    {
        match status {
            Ok(Status { state: None, .. }) => {
                absent = Some(format!("waits for party {peer}, which was not given the job yet"));
            }
            Ok(Status { body_hash, .. }) if body_hash.as_ref() != Some(&job.body_hash) => {
                let cause = "it was given another job under that key";
                let remedy = "submit the same job to all parties, under a key of its own";
                declines(Fault::new(code::CONFLICT, "comparing the job", cause, remedy).by(PartyId(peer)));
            }
            Ok(Status { cause: Some(cause), .. }) => declines(cause.by(PartyId(peer))),
            Ok(_) => {}
            Err(e) => absent = Some(format!("waits for party {peer}: {}", e.cause())),
        }
    }
    let id = job.id.clone();
    if let Some(cause) = refusal {
        let status = Status { state: Some("failed".to_owned()), body_hash: None, cause: Some(cause) };
        end_everywhere(party, &job.id, &status).await?;
        return Ok(false);
    }
    let waited = clock::now() - job.created;
    if absent.is_some() && (0..PATIENCE).contains(&waited) {
        // It is on its way to the others, who call once they have it: nothing is written for that.
        party.others_lack(&job.id);
        return Ok(false);
    }
    party.others_have(&job.id);
    if let Some(waits) = absent.or(waits) {
        // The longer it waits, the more seldom it is asked for.
        let waited = waited.clamp(400, 60_000);
        let until = clock::now() + waited / 2;
        party.store.run("postponed", move |c| jobs::postpone(c, &id, until, &waits)).await?;
        party.changed(&job.id);
        return Ok(false);
    }
    Ok(true)
}

/// Ends a job that has no attempt under way, at all parties.
pub(crate) async fn end_everywhere(party: &Arc<Party>, job: &str, status: &Status) -> Result<(), Fault> {
    party.others_have(job);
    attempt::end(party, job, status).await?;
    let (path, status) = (format!("/peer/v1/jobs/{job}/end"), status.clone());
    let told = all(party, move |party, peer| {
        let (path, status) = (path.clone(), status.clone());
        async move { party.peers.post::<Option<()>>(peer, &path, &status).await }
    });
    for (peer, told) in told.await {
        if let Err(e) = told {
            // It asks by itself once it is back.
            tracing::debug!(job, peer, "was not told of the job's end: {e}");
        }
    }
    Ok(())
}

/// One attempt, from the others' reservations to what all report.
async fn tried(
    party: &Arc<Party>,
    job: &JobRow,
    asked: &Reserve,
    booked: Booked,
    news: &tokio::sync::Notify,
) -> Result<(), Fault> {
    let (path, body) = (format!("/peer/v1/jobs/{}/reserve", job.id), asked.clone());
    let answers = all(party, move |party, peer| {
        let (path, body) = (path.clone(), body.clone());
        async move { party.peers.post::<Reserved>(peer, &path, &body).await }
    });
    // All parties' workers start at the same time.
    let (own, answers) = tokio::join!(attempt::begin(party, booked), answers);
    let mut workers = vec![own.map_err(|e| e.by(party.me()))?];
    for (peer, answer) in answers {
        match answer? {
            Reserved::Yes(worker) => workers.push(worker),
            Reserved::Busy => {
                let cause = "it has no room for the job now";
                return Err(Fault::new(code::DRAINING, "reserving an attempt", cause, "it is tried again")
                    .by(PartyId(peer)));
            }
            Reserved::No(e) => return Err(e.by(PartyId(peer))),
        }
    }
    // From here on something may be learnt: the run stays counted.
    attempt::start(party, &job.id, asked.k, workers.clone()).await?;
    let path = format!("/peer/v1/jobs/{}/start", job.id);
    let k = asked.k;
    let started = all(party, move |party, peer| {
        let (path, body) = (path.clone(), (k, workers.clone()));
        async move { party.peers.post::<Option<()>>(peer, &path, &body).await }
    });
    for (_, started) in started.await {
        started?;
    }
    outcome(party, &job.id, k, news).await
}

/// Waits until all are prepared, or one has failed.
async fn outcome(party: &Arc<Party>, job: &str, k: u32, news: &tokio::sync::Notify) -> Result<(), Fault> {
    let mut away: BTreeMap<u8, Instant> = BTreeMap::new();
    loop {
        let prepared = match party.outlook(job, k) {
            Outlook::All => return Ok(()),
            Outlook::Failed(e) => return Err(e),
            Outlook::Cancelled => return Err(cancelled()),
            Outlook::Waiting(prepared) => prepared,
        };
        if timeout(PING, news.notified()).await.is_ok() {
            continue;
        }
        // Workers notice by themselves where another one is gone. A party that is gone after its
        // worker has computed is noticed here.
        let path = format!("/peer/v1/jobs/{job}");
        for (peer, status) in all(party, move |party, peer| {
            let path = path.clone();
            async move { party.peers.get::<Status>(peer, &path).await }
        })
        .await
        {
            match status {
                Err(e) if !prepared.contains(&peer) => {
                    if away.entry(peer).or_insert_with(Instant::now).elapsed() > AWAY {
                        return Err(e);
                    }
                }
                _ => drop(away.remove(&peer)),
            }
        }
    }
}

/// The fault of a job that somebody has cancelled.
pub(crate) fn cancelled() -> Fault {
    Fault::new(code::CANCELLED, "computing", "the job was cancelled", "submit it again under another key")
}

/// Cancels a job: one that runs is aborted, one that waits ends at once.
pub(crate) async fn cancel(party: &Arc<Party>, job: &str) -> Result<(), Fault> {
    let name = job.to_owned();
    let current = party.store.run("read", move |c| attempts::current(c, &name)).await?;
    if let Some(attempt) = current {
        party.cancel(job, attempt.k);
        return Ok(());
    }
    let status = Status { state: Some("cancelled".to_owned()), body_hash: None, cause: Some(cancelled()) };
    end_everywhere(party, job, &status).await
}

/// Takes the decision on an attempt.
async fn decide(party: &Arc<Party>, job: &str, k: u32, ended: Result<(), Fault>) -> Result<Decision, Fault> {
    let decision = match ended {
        Ok(()) => Decision { commit: true, go: true, end: None, cause: None, next_try: 0 },
        Err(e) => abort(party, job, k, e).await?,
    };
    let taken = loop {
        let (name, decision) = (job.to_owned(), decision.clone());
        match party.store.run("decision", move |c| attempts::decide(c, &name, k, &decision)).await {
            Ok(taken) => break taken,
            // The others wait for it: it is written as soon as the disk takes it.
            Err(e) => tracing::error!(job, attempt = k, "the decision cannot be written yet: {e}"),
        }
        tokio::time::sleep(LOOK).await;
    };
    party.settled(job, k);
    attempt::release(party, job, k).await;
    Ok(taken)
}

/// Tells all other parties of a decision.
async fn tell(party: &Arc<Party>, job: &str, k: u32, taken: Decision) {
    let (path, body) = (format!("/peer/v1/jobs/{job}/decision"), (k, taken));
    let told = all(party, move |party, peer| {
        let (path, body) = (path.clone(), body.clone());
        async move { party.peers.post::<Option<()>>(peer, &path, &body).await }
    });
    for (peer, told) in told.await {
        if let Err(e) = told {
            // It asks by itself.
            tracing::debug!(job, peer, "was not told of the decision: {e}");
        }
    }
}

/// The abort that a failure makes: the job is tried again where that may help.
async fn abort(party: &Arc<Party>, job: &str, k: u32, e: Fault) -> Result<Decision, Fault> {
    let (name, count) = (job.to_owned(), "SELECT count(*) FROM attempts WHERE job = ?1 AND go = 1");
    let counted: u32 =
        party.store.run("read", move |c| Ok(c.query_row(count, [name], |row| row.get(0))?)).await?;
    let helps = e.kind() == Kind::Network || e.code() == code::QUOTA;
    let end = match e.code() {
        code::CANCELLED => Some("cancelled"),
        _ if helps && counted < party.config.attempts => None,
        _ => Some("failed"),
    };
    // 1 s, 2 s, 4 s, …, a minute at most; what did not start has cost nothing.
    let wait = if counted == 0 { 500 } else { 1000 << counted.min(6) };
    tracing::info!(job, attempt = k, "aborted: {e}");
    Ok(Decision {
        commit: false,
        go: true,
        end: end.map(str::to_owned),
        cause: Some(e),
        next_try: clock::now() + i64::from(wait.min(60_000)),
    })
}

/// Asks all other parties at once.
async fn all<T, F>(party: &Arc<Party>, ask: impl Fn(Arc<Party>, u8) -> F) -> Vec<(u8, Result<T, Fault>)>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>> + Send + 'static,
{
    let mut asked = JoinSet::new();
    for peer in party.peers.numbers() {
        let answer = ask(party.clone(), peer);
        asked.spawn(async move { (peer, answer.await) });
    }
    let mut answers = vec![];
    while let Some(answer) = asked.join_next().await {
        if let Ok(answer) = answer {
            answers.push(answer);
        }
    }
    answers.sort_by_key(|(peer, _)| *peer);
    answers
}
