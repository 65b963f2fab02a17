//! Party 0's scheduler: it asks the others whether a job is ready, tries it, and decides on each
//! attempt. It has no power over what is allowed: each party checks its own policies.

use crate::{
    attempt::{self, Booked, Reserved},
    calls::Status,
    clock,
    party::{Outlook, Party},
    pool::{Parked, WorkerScope},
    promise::{self, Reserve},
    records::{
        attempts::{self, AttemptRow, Decision},
        jobs::{self, JobRow},
    },
};
use hushwire_fault::{Fault, Kind, PartyId, code};
use rusqlite::Connection;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

/// LOCAL: how long party 0 waits for a cause if it has heard only of consequences.
const CAUSE: Duration = Duration::from_millis(500);
/// LOCAL: how often the scheduler looks for jobs if nothing wakes it.
const LOOK: Duration = Duration::from_millis(250);
/// LOCAL: how long a party that is not yet prepared may be out of reach.
const AWAY: Duration = Duration::from_secs(60);
/// LOCAL: how long a party in reach may report nothing once party 0 has its own outputs. The
/// workers have heard of each other's end by then.
const SILENT: Duration = Duration::from_secs(600);
/// LOCAL: how often party 0 asks parties that it waits for.
const PING: Duration = Duration::from_secs(5);
/// LOCAL: how long, in milliseconds, a new job may be on its way to the other parties before party
/// 0 stores that it waits for them.
const PATIENCE: i64 = 2000;
/// LOCAL: how long, in milliseconds, the others are not asked about a new job, since they call when
/// they get it.
const SOON: i64 = 200;
/// LOCAL: if looking for jobs takes longer than this, the next look has its own thread.
const QUICK: Duration = Duration::from_millis(2);

/// Schedules until the party drains.
pub(crate) async fn run(party: Arc<Party>) {
    let under_way: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    // Whether looking for jobs takes less time than waking a thread.
    let mut quick = true;
    while !party.draining() {
        let due = match party.slots.available_permits() {
            0 => Ok(vec![]),
            room => {
                let (party, taken) = (party.clone(), under_way.clone());
                let store = party.store.clone();
                let find = move |c: &Connection| {
                    let begun = Instant::now();
                    let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    let room = room.min((party.config.slots as usize).saturating_sub(taken.len()));
                    let free = |id: &str| !taken.contains(id) && !party.calls().waits(id);
                    Ok((jobs::due(c, clock::now(), room, free)?, begun.elapsed() < QUICK))
                };
                let found = if quick { store.look(find).await } else { store.read(find).await };
                found.map(|(due, took)| {
                    quick = took;
                    due
                })
            }
        };
        match due {
            Ok(due) => {
                for job in due {
                    under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(job.id.clone());
                    let (party, under_way) = (party.clone(), under_way.clone());
                    tokio::spawn(async move {
                        let id = job.id.clone();
                        let tried = take_up(&party, job).await;
                        if let Err(e) = &tried {
                            tracing::warn!(job = id, "cannot be scheduled: {e}");
                        }
                        let full = {
                            let mut all = under_way.lock().unwrap_or_else(PoisonError::into_inner);
                            let full = all.len() >= party.config.slots as usize;
                            all.remove(&id);
                            full
                        };
                        // A job on its way to the others has held a slot only here.
                        if full || !matches!(tried, Ok(false)) {
                            party.due.notify_one();
                        }
                    });
                }
            }
            Err(e) => tracing::error!("the store cannot be asked for jobs: {e}"),
        }
        // It also looks when nothing has woken it.
        let _ = timeout(LOOK, party.due.notified()).await;
    }
}

/// After a restart: party 0 aborts the attempts that it had not decided on.
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

/// Tries a job. Returns false if the job is not ready.
async fn take_up(party: &Arc<Party>, job: JobRow) -> Result<bool, Fault> {
    if !is_ready(party, &job).await? {
        return Ok(false);
    }
    let k = job.attempt + 1;
    let news = party.expect(&job.id, k);
    let parked = party.pool.take(&WorkerScope::of(&job), None);
    let team = parked.as_ref().map(|parked| parked.worker.team.clone());
    let mut asked = Reserve { k, body_hash: job.body_hash.clone(), heads: None, team };
    // Party 0 reserves first, so that no other party has an attempt that party 0 does not know.
    let own = attempt::book(party, &job.id, &asked).await.map_err(|e| e.by(party.me()));
    let ended = match own {
        Ok(None) => {
            party.settled(&job.id, k);
            party.pool.put_back(parked);
            let id = job.id.clone();
            return party.store.run("ready", move |c| jobs::ready(c, &id)).await.map(|()| true);
        }
        Err(e) => {
            party.pool.put_back(parked);
            let id = job.id.clone();
            if party.store.look(move |c| attempts::get(c, &id, k)).await?.is_none() {
                // Nothing was reserved, so there is no attempt to decide on.
                party.settled(&job.id, k);
                return declined(party, &job, e).await.map(|()| true);
            }
            Err(e)
        }
        Ok(Some(booked)) => {
            asked.heads = Some(booked.heads.clone());
            tried(party, &job, &asked, (booked, parked), &news).await
        }
    };
    let taken = decide(party, &job.id, k, ended).await?;
    // The next job needs the slots that this one had at the others.
    tell(party, &job.id, k, taken).await;
    Ok(true)
}

/// Postpones or ends a job in which party 0 itself does not take part.
async fn declined(party: &Arc<Party>, job: &JobRow, e: Fault) -> Result<(), Fault> {
    if e.kind() == Kind::Network || e.code() == code::QUOTA {
        let (id, waits, until) = (job.id.clone(), format!("waits: {}", e.cause()), clock::now() + 1000);
        return party.store.run("postponed", move |c| jobs::postpone(c, &id, until, &waits)).await;
    }
    let status = Status { state: Some("failed".to_owned()), body_hash: None, cause: Some(e) };
    end_everywhere(party, &job.id, &status).await
}

/// Whether all parties have the job and take part.
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
    // Party 0 checks its own policies when it reserves. The others gave their answers when they got
    // the job; a party that has not called by now is asked.
    let waited = clock::now() - job.created;
    let called = party.calls().recent(&job.id);
    if called.len() < party.config.peers.len() && job.attempt == 0 && (0..SOON).contains(&waited) {
        party.calls().lack(&job.id, called, party.config.peers.len());
        return Ok(false);
    }
    let mut absent = None;
    let mut said = called.clone();
    said.retain(|_, status| status.state.is_some() && status.cause.is_none());
    party.calls().ask(&job.id);
    for (peer, status) in ask_after(party, job, called).await {
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
            Ok(status) => drop(said.insert(peer, status)),
            Err(e) => absent = Some(format!("waits for party {peer}: {}", e.cause())),
        }
    }
    let id = job.id.clone();
    if let Some(cause) = refusal {
        // If party 0 refuses the job, too, its own reason is shown.
        let own = party.admits(job).await.err().filter(|own| own.code() != code::QUOTA);
        let cause = own.unwrap_or(cause);
        let status = Status { state: Some("failed".to_owned()), body_hash: None, cause: Some(cause) };
        end_everywhere(party, &job.id, &status).await?;
        return Ok(false);
    }
    if absent.is_some() && (0..PATIENCE).contains(&waited) {
        // The job is on its way to the others, who call once they have it. Nothing is stored for
        // that.
        party.calls().lack(&job.id, said, party.config.peers.len());
        return Ok(false);
    }
    party.calls().end(&job.id);
    if let Some(waits) = absent.or(waits) {
        // The longer a job waits, the less often the others are asked.
        let waited = waited.clamp(400, 60_000);
        let until = clock::now() + waited / 2;
        party.store.run("postponed", move |c| jobs::postpone(c, &id, until, &waits)).await?;
        party.changed(&job.id);
        return Ok(false);
    }
    Ok(true)
}

/// The statuses of a job at all others, from their calls or as answers.
async fn ask_after(
    party: &Arc<Party>,
    job: &JobRow,
    called: BTreeMap<u8, Status>,
) -> Vec<(u8, Result<Status, Fault>)> {
    let path = format!("/peer/v1/jobs/{}", job.id);
    let said = all(party, move |party, peer| {
        let (path, called) = (path.clone(), called.get(&peer).cloned());
        async move {
            match called {
                Some(status) => Ok(status),
                None => party.peers.get::<Status>(peer, &path).await,
            }
        }
    });
    said.await
}

/// Ends a job without a running attempt, at all parties.
pub(crate) async fn end_everywhere(party: &Arc<Party>, job: &str, status: &Status) -> Result<(), Fault> {
    party.calls().end(job);
    attempt::end(party, job, status).await?;
    let (path, status) = (format!("/peer/v1/jobs/{job}/end"), status.clone());
    let told = all(party, move |party, peer| {
        let (path, status) = (path.clone(), status.clone());
        async move { party.peers.post::<Option<()>>(peer, &path, &status).await }
    });
    for (peer, told) in told.await {
        if let Err(e) = told {
            // The party asks about the job once it is back.
            tracing::debug!(job, peer, "was not told of the job's end: {e}");
        }
    }
    Ok(())
}

/// Runs one attempt, from the others' reservations to the reports of all.
async fn tried(
    party: &Arc<Party>,
    job: &JobRow,
    asked: &Reserve,
    (booked, parked): (Booked, Option<Parked>),
    news: &tokio::sync::Notify,
) -> Result<(), Fault> {
    let (path, body) = (format!("/peer/v1/jobs/{}/reserve", job.id), asked.clone());
    let answers = all(party, move |party, peer| {
        let (path, body) = (path.clone(), body.clone());
        async move { party.peers.post::<Reserved>(peer, &path, &body).await }
    });
    // All parties' workers start at the same time.
    let (own, answers) = tokio::join!(attempt::begin(party, booked, parked, asked), answers);
    let (own, mut on_kept) = own.map_err(|e| e.by(party.me()))?;
    let mut workers = vec![own];
    for (peer, answer) in answers {
        match answer? {
            Reserved::Warm(worker) => workers.push(worker),
            Reserved::Yes(worker) => {
                on_kept = false;
                workers.push(worker);
            }
            Reserved::Busy => {
                let cause = "it has no room for the job now";
                return Err(Fault::new(code::DRAINING, "reserving an attempt", cause, "it is tried again")
                    .by(PartyId(peer)));
            }
            Reserved::No(e) => return Err(e.by(PartyId(peer))),
        }
    }
    // From here on something may be learnt, so the run stays counted.
    let k = asked.k;
    let word = party.promises(&job.id, k, promise::of_start(asked, &workers, on_kept)).word;
    attempt::start(party, &job.id, k, workers.clone(), on_kept, word).await?;
    let path = format!("/peer/v1/jobs/{}/start", job.id);
    let started = all(party, move |party, peer| {
        let (path, body) = (path.clone(), (k, workers.clone(), on_kept, word));
        async move { party.peers.post::<Option<()>>(peer, &path, &body).await }
    });
    for (_, started) in started.await {
        started?;
    }
    outcome(party, &job.id, k, news).await
}

/// How long party 0 waits for the cause of a failure while it has heard only of consequences. A
/// party that failed by itself tells more than the parties that only heard of it.
struct Grace {
    /// When nobody had failed yet, as far as party 0 knew.
    heard_of: Instant,
    /// When party 0 had its own outputs.
    own: Option<Instant>,
}

/// What party 0 does next, after the reports so far.
#[derive(Debug)]
enum Judged {
    /// It takes this decision.
    Decide(Result<(), Fault>),
    /// It waits for the cause for this long, unless a report comes before.
    Cause(Duration),
    /// It waits for the parties that are not among these.
    Wait(BTreeSet<u8>),
}

impl Grace {
    fn new(now: Instant) -> Self {
        Self { heard_of: now, own: None }
    }

    fn judge(&mut self, outlook: Outlook, now: Instant) -> Judged {
        match outlook {
            Outlook::All => Judged::Decide(Ok(())),
            Outlook::Cancelled => Judged::Decide(Err(cancelled())),
            Outlook::Failed(e) => match CAUSE.checked_sub(now.duration_since(self.heard_of)) {
                Some(left) if e.is_consequence() && !left.is_zero() => Judged::Cause(left),
                _ => Judged::Decide(Err(e)),
            },
            Outlook::Waiting(prepared) => {
                self.heard_of = now;
                if prepared.contains(&0) {
                    self.own.get_or_insert(now);
                }
                Judged::Wait(prepared)
            }
        }
    }

    /// Whether party 0 has waited too long for parties that are in reach and report nothing.
    fn is_over(&self, now: Instant) -> bool {
        self.own.is_some_and(|own| now.duration_since(own) > SILENT)
    }
}

/// Waits until all are prepared or one has failed.
async fn outcome(party: &Arc<Party>, job: &str, k: u32, news: &tokio::sync::Notify) -> Result<(), Fault> {
    let mut away: BTreeMap<u8, Instant> = BTreeMap::new();
    let mut grace = Grace::new(Instant::now());
    loop {
        let prepared = match grace.judge(party.outlook(job, k), Instant::now()) {
            Judged::Decide(decision) => return decision,
            Judged::Cause(left) => {
                let _ = timeout(left, news.notified()).await;
                continue;
            }
            Judged::Wait(prepared) => prepared,
        };
        if timeout(PING, news.notified()).await.is_ok() {
            continue;
        }
        // Workers notice when another worker is gone. A party that is gone after its worker has
        // computed is noticed here.
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
                Ok(_) if !prepared.contains(&peer) && grace.is_over(Instant::now()) => {
                    return Err(silent(peer));
                }
                _ => drop(away.remove(&peer)),
            }
        }
    }
}

/// The fault of a party that answers but does not report how an attempt went.
fn silent(peer: u8) -> Fault {
    let cause = format!(
        "it has reported neither outputs nor a failure within {} s after party 0 had its outputs",
        SILENT.as_secs()
    );
    Fault::new(
        code::WORKER,
        "waiting for a party's outputs",
        cause,
        "see that party's log; the job is tried again",
    )
    .by(PartyId(peer))
}

/// The fault of a job that somebody has cancelled.
pub(crate) fn cancelled() -> Fault {
    Fault::new(code::CANCELLED, "computing", "the job was cancelled", "submit it again under another key")
}

/// Cancels a job. A running job is aborted; a waiting one ends at once.
pub(crate) async fn cancel(party: &Arc<Party>, job: &str) -> Result<(), Fault> {
    let name = job.to_owned();
    let current = party.store.look(move |c| attempts::current(c, &name)).await?;
    if let Some(attempt) = current {
        party.cancel(job, attempt.k);
        return Ok(());
    }
    let status = Status { state: Some("cancelled".to_owned()), body_hash: None, cause: Some(cancelled()) };
    end_everywhere(party, job, &status).await
}

/// Decides on an attempt.
async fn decide(party: &Arc<Party>, job: &str, k: u32, ended: Result<(), Fault>) -> Result<Decision, Fault> {
    let decision = match ended {
        Ok(()) => Decision { commit: true, go: true, end: None, cause: None, next_try: 0, word: None },
        Err(e) => abort(party, job, k, e).await?,
    };
    let taken = loop {
        let (name, decision) = (job.to_owned(), decision.clone());
        match party.store.run("decision", move |c| attempts::decide(c, &name, k, &decision)).await {
            Ok(taken) => break taken,
            // The others wait for the decision, so it is written as soon as the disk takes it.
            Err(e) => tracing::error!(job, attempt = k, "the decision cannot be written yet: {e}"),
        }
        tokio::time::sleep(LOOK).await;
    };
    party.settled(job, k);
    attempt::release(party, job, k, taken.commit).await;
    Ok(taken)
}

/// Tells all other parties of a decision.
async fn tell(party: &Arc<Party>, job: &str, k: u32, taken: Decision) {
    let (path, body) = (format!("/peer/v1/jobs/{job}/decision"), (k, party.signed(job, k, taken)));
    let told = all(party, move |party, peer| {
        let (path, body) = (path.clone(), body.clone());
        async move { party.peers.post::<Option<()>>(peer, &path, &body).await }
    });
    for (peer, told) in told.await {
        if let Err(e) = told {
            // The party asks for the decision by itself.
            tracing::debug!(job, peer, "was not told of the decision: {e}");
        }
    }
}

/// The decision to abort after a failure. The job is tried again if that may help.
async fn abort(party: &Arc<Party>, job: &str, k: u32, e: Fault) -> Result<Decision, Fault> {
    let (name, count) = (job.to_owned(), "SELECT count(*) FROM attempts WHERE job = ?1 AND go = 1");
    let counted: u32 = party.store.read(move |c| Ok(c.query_row(count, [name], |row| row.get(0))?)).await?;
    let helps = e.kind() == Kind::Network || e.code() == code::QUOTA;
    let end = match e.code() {
        code::CANCELLED => Some("cancelled"),
        _ if helps && counted < party.config.attempts => None,
        _ => Some("failed"),
    };
    // 2 s, 4 s, 8 s, …, at most a minute; shorter if nothing has started, since that cost nothing.
    let wait = if counted == 0 { 500 } else { 1000 << counted.min(6) };
    tracing::info!(job, attempt = k, "aborted: {e}");
    Ok(Decision {
        commit: false,
        go: true,
        end: end.map(str::to_owned),
        cause: Some(e),
        next_try: clock::now() + i64::from(wait.min(60_000)),
        word: None,
    })
}

/// Asks all other parties at the same time.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::party::Heard;

    fn fault(cause: &str, party: u8) -> Fault {
        Fault::new(code::WORKER, "computing", cause, "try again").by(PartyId(party))
    }

    /// The cause of a decision, or what party 0 waits for.
    fn said(judged: &Judged) -> String {
        match judged {
            Judged::Decide(Ok(())) => "commit".to_owned(),
            Judged::Decide(Err(e)) => e.cause(),
            Judged::Cause(left) => format!("{} ms for the cause", left.as_millis()),
            Judged::Wait(prepared) => format!("waits beside {prepared:?}"),
        }
    }

    /// Otherwise a party that deviates could keep everybody's slots for good.
    #[test]
    fn nobody_waits_for_ever_for_a_party_that_says_nothing() {
        let (begin, day) = (Instant::now(), Duration::from_secs(86_400));
        let (mut grace, mut heard) = (Grace::new(begin), Heard::default());
        heard.hears(2, Ok(()));
        // Party 0 itself computes for a day.
        assert_eq!(said(&grace.judge(heard.outlook(3), begin + day)), "waits beside {2}");
        assert!(!grace.is_over(begin + day));
        heard.hears(0, Ok(()));
        assert_eq!(said(&grace.judge(heard.outlook(3), begin + day)), "waits beside {0, 2}");
        assert_eq!(said(&grace.judge(heard.outlook(3), begin + day + SILENT)), "waits beside {0, 2}");
        assert!(!grace.is_over(begin + day + SILENT));
        assert!(grace.is_over(begin + day + SILENT + Duration::from_secs(1)));
        let fault = silent(1);
        assert!(fault.kind() == Kind::Network && fault.who().is_some(), "it is tried again: {fault}");
    }

    /// Reports come in every order and with every delay.
    #[test]
    fn the_cause_is_named_where_it_comes_in_time() {
        let (begin, ms) = (Instant::now(), Duration::from_millis);
        let cause = || fault("the disk is full", 1);
        let heard_of = || fault("party 1 is gone", 2).following();
        let hour = begin + ms(3_600_000);
        // The cause comes first.
        let (mut grace, mut heard) = (Grace::new(begin), Heard::default());
        heard.hears(1, Err(cause()));
        assert_eq!(said(&grace.judge(heard.outlook(3), begin)), "the disk is full");
        heard.hears(2, Err(heard_of()));
        assert_eq!(said(&grace.judge(heard.outlook(3), begin)), "the disk is full");
        // The cause comes this much later, after an hour of computing.
        for (late, says) in [(0, "the disk is full"), (499, "the disk is full"), (500, "party 1 is gone")] {
            let (mut grace, mut heard) = (Grace::new(begin), Heard::default());
            heard.hears(0, Ok(()));
            assert_eq!(said(&grace.judge(heard.outlook(3), hour)), "waits beside {0}");
            heard.hears(2, Err(heard_of()));
            assert_eq!(said(&grace.judge(heard.outlook(3), hour)), "500 ms for the cause");
            assert_eq!(said(&grace.judge(heard.outlook(3), hour + ms(200))), "300 ms for the cause");
            if late < 500 {
                heard.hears(1, Err(cause()));
            }
            // Nobody waits for ever.
            assert_eq!(said(&grace.judge(heard.outlook(3), hour + ms(late))), says, "{late} ms");
        }
        // All three parties are prepared.
        let mut heard = Heard::default();
        (0..3).for_each(|party| heard.hears(party, Ok(())));
        assert_eq!(said(&grace.judge(heard.outlook(3), hour)), "commit");
    }
}
