//! A running party: everything that its tasks share.

use crate::{
    access::Callers,
    blobs::Blobs,
    calls::{Calls, Status},
    claim::claim,
    clock,
    config::Config,
    keys::PartyKeys,
    listeners::Listeners,
    order::ToWorker,
    peers::Peers,
    pool::WorkerPool,
    promise::{Promises, Reserve, VouchedWorker},
    records::{
        self, admission, attempts,
        jobs::{self, JobRow, Progress},
        peers, proposals, results,
    },
    store::Store,
};
use hushwire_block::Wiped;
use hushwire_fault::{Fault, PartyId, code};
use hushwire_machine::lock;
use hushwire_seal::{
    BlakeName, KeyId, MasterKey, SealTo, Signature, SignedStatement, Statement, VerifyKey,
    audit::AuditHead,
    challenge,
    result::ResultPlace,
    vouch::{WorkerPlace, check},
};
use hushwire_session::{Member, Peer, read_private_key};
use hushwire_wire::{Identity, Listener, Reception};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::File,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc};

/// LOCAL: how often listeners hear about the progress of a job.
const TELLS: Duration = Duration::from_millis(100);

/// A running party.
pub(crate) struct Party {
    pub(crate) config: Config,
    pub(crate) identity: Identity,
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    pub(crate) peers: Peers,
    /// The party port. The name in a greeting says which task or worker a connection is for.
    pub(crate) reception: Arc<Reception>,
    /// The keys that data sets are sealed to, and the key that signs.
    pub(crate) keys: PartyKeys,
    /// The statements of the other parties about themselves.
    said: Mutex<BTreeMap<u8, SignedStatement>>,
    /// This party's pending key, as each of the others has heard of it.
    announced: Mutex<BTreeMap<u8, KeyId>>,
    /// Parties whose audit log has lost an entry that it had, with that entry.
    suspects: Mutex<BTreeMap<u8, AuditHead>>,
    /// The secret from which answers to challenges about results follow.
    challenges: Wiped<[u8; 32]>,
    /// Attempts that run here, by job.
    live: Mutex<HashMap<String, Live>>,
    /// Party 0's promises about the attempts that started here.
    promises: Mutex<Promises>,
    /// At party 0: the reports on the attempts that it decides on.
    heard: Mutex<HashMap<(String, u32), Heard>>,
    /// At party 0: when each client of a job last asked where to connect.
    present: Mutex<HashMap<(String, String), Instant>>,
    /// Slots for attempts.
    pub(crate) slots: Arc<Semaphore>,
    /// Workers that wait for another attempt.
    pub(crate) pool: WorkerPool,
    /// The followers of jobs.
    pub(crate) listeners: Listeners,
    /// Holders of tokens that were used a moment ago.
    pub(crate) callers: Callers,
    calls: Mutex<Calls>,
    /// Wakes the scheduler.
    pub(crate) due: Notify,
    draining: AtomicBool,
    pub(crate) meter: Meter,
    /// Its store and its blobs are its own while these are open. They are closed after the store:
    /// to close any descriptor of a file ends SQLite's locks on it.
    _claims: Vec<File>,
}

/// Counters for metrics.
#[derive(Default)]
pub(crate) struct Meter {
    /// The number of refused requests, by status.
    pub(crate) refused: Mutex<BTreeMap<u16, u64>>,
    /// The number of requests.
    pub(crate) requests: AtomicU64,
    /// The number of connections that were closed for lack of room.
    pub(crate) crowded: AtomicU64,
}

/// An attempt whose workers meet.
#[derive(Clone)]
pub(crate) struct Meeting {
    pub(crate) k: u32,
    /// The label of their session.
    pub(crate) label: String,
    /// The workers of all parties, and the clients.
    pub(crate) all: Vec<Peer>,
}

/// An attempt that runs here.
struct Live {
    /// Party 0's request.
    asked: Reserve,
    /// This party's answer: its worker, with its signature.
    own: VouchedWorker,
    /// The meeting, once the workers may meet.
    meets: Option<Meeting>,
    progress: Progress,
    /// When listeners last heard of its progress.
    told: Instant,
    orders: mpsc::Sender<ToWorker>,
    /// Its slot.
    slot: OwnedSemaphorePermit,
}

/// The reports on an attempt that party 0 has heard.
#[derive(Default)]
pub(crate) struct Heard {
    prepared: BTreeSet<u8>,
    failed: Option<Fault>,
    /// Whether somebody has cancelled the job.
    cancelled: bool,
    news: Arc<Notify>,
}

impl Heard {
    /// Notes that a party is prepared, or has failed.
    pub(crate) fn hears(&mut self, party: u8, news: Result<(), Fault>) {
        match news {
            Ok(()) => drop(self.prepared.insert(party)),
            // A failure that follows from another party's failure tells less than the first one.
            Err(e) => match &self.failed {
                Some(first) if e.is_consequence() || !first.is_consequence() => {}
                _ => self.failed = Some(e),
            },
        }
    }

    /// The decision that these reports allow in a group of this many parties.
    pub(crate) fn outlook(&self, parties: u8) -> Outlook {
        if self.cancelled {
            return Outlook::Cancelled;
        }
        match &self.failed {
            Some(e) => Outlook::Failed(e.clone()),
            None if self.prepared.len() == usize::from(parties) => Outlook::All,
            None => Outlook::Waiting(self.prepared.clone()),
        }
    }
}

/// The decisions that party 0 may take on an attempt.
pub(crate) enum Outlook {
    /// All parties are prepared: commit.
    All,
    /// A party has failed.
    Failed(Fault),
    /// Somebody cancelled the job.
    Cancelled,
    /// Only these parties are prepared so far.
    Waiting(BTreeSet<u8>),
}

/// LOCAL: a client that has not asked for this long is not there.
const HERE: Duration = Duration::from_secs(10);
/// LOCAL: the milliseconds of a window. The answer to a challenge is the same within a window, and
/// holds until the end of the next one.
const WINDOW: u64 = 120_000;

/// The number of the current window.
fn window() -> u64 {
    clock::now().unsigned_abs() / WINDOW
}

impl Party {
    /// Opens everything that a party needs, with its party port at `port`. Nothing runs yet, and no
    /// request is answered.
    pub(crate) async fn open(config: Config, port: &str) -> Result<Self, Fault> {
        let identity = Identity::from_pem(&read_private_key(&config.key)?)
            .map_err(|e| Fault::file("use the key", &config.key, e.cause(), e.remedy()))?;
        let blobs = Blobs::open(&config.blobs)?;
        // Before an upgrade changes the store.
        let mut claims = vec![claim("blobs", &config.blobs)?];
        if config.store.exists() {
            claims.push(claim("store", &config.store)?);
        }
        let store = Store::open(&config.store, config.upgrade)?;
        let reception = Listener::bind(port).and_then(Reception::new);
        let reception = Arc::new(reception.map_err(|e| Fault::from(e).during("listening"))?);
        let peers = Peers::new(&config, &identity)?;
        let keys = PartyKeys::open(&store, &MasterKey::read(&config.master_key)?).await?;
        let slots = Arc::new(Semaphore::new(config.slots as usize));
        let said = store.read(peers::statements).await?;
        let mut challenges = Wiped::new([0; 32]);
        getrandom::fill(&mut challenges[..]).map_err(|e| Fault::internal("drawing random bytes", e))?;
        Ok(Self {
            identity,
            store,
            blobs,
            peers,
            reception,
            keys,
            said: Mutex::new(said),
            announced: Mutex::default(),
            suspects: Mutex::default(),
            challenges,
            live: Mutex::default(),
            promises: Mutex::default(),
            heard: Mutex::default(),
            present: Mutex::default(),
            slots,
            pool: WorkerPool::new(config.warm as usize),
            listeners: Listeners::default(),
            callers: Callers::default(),
            calls: Mutex::default(),
            due: Notify::new(),
            draining: AtomicBool::new(false),
            meter: Meter::default(),
            config,
            _claims: claims,
        })
    }

    /// This party, as errors name it.
    pub(crate) fn me(&self) -> PartyId {
        PartyId(self.config.party)
    }

    /// Whether this party decides on attempts.
    pub(crate) fn decides(&self) -> bool {
        self.config.party == 0
    }

    /// Whether this party takes no new attempts.
    pub(crate) fn draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Takes no new attempts from now on, and ends the workers that wait.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.pool.clear();
        self.due.notify_one();
    }

    /// Tells listeners that a job has changed.
    pub(crate) fn changed(&self, job: &str) {
        self.listeners.tell(job, false);
    }

    /// Tells listeners that a job has ended here.
    pub(crate) fn ended(&self, job: &str) {
        self.listeners.tell(job, true);
    }

    /// Notes that an attempt runs here.
    pub(crate) fn runs(
        &self,
        job: &str,
        asked: Reserve,
        own: VouchedWorker,
        orders: mpsc::Sender<ToWorker>,
        slot: OwnedSemaphorePermit,
    ) {
        let (progress, told) = (Progress::default(), Instant::now());
        let live = Live { asked, own, meets: None, progress, told, orders, slot };
        lock(&self.live).insert(job.to_owned(), live);
    }

    /// The sender of orders to the worker of an attempt that runs here.
    pub(crate) fn worker(&self, job: &str, k: u32) -> Option<mpsc::Sender<ToWorker>> {
        lock(&self.live).get(job).filter(|live| live.asked.k == k).map(|live| live.orders.clone())
    }

    /// Party 0's request about an attempt that runs here.
    pub(crate) fn asked(&self, job: &str, k: u32) -> Option<Reserve> {
        lock(&self.live).get(job).filter(|live| live.asked.k == k).map(|live| live.asked.clone())
    }

    /// Notes that the workers of an attempt may meet.
    pub(crate) fn meets(&self, job: &str, meeting: &Meeting) {
        if let Some(live) = lock(&self.live).get_mut(job).filter(|live| live.asked.k == meeting.k) {
            live.meets = Some(meeting.clone());
        }
    }

    /// The attempt of a job whose workers meet.
    pub(crate) fn meeting(&self, job: &str) -> Option<Meeting> {
        lock(&self.live).get(job)?.meets.clone()
    }

    /// Notes that a client of a job is present.
    pub(crate) fn is_here(&self, job: &str, client: &str) {
        let mut present = lock(&self.present);
        present.retain(|_, at| at.elapsed() < HERE);
        if present.insert((job.to_owned(), client.to_owned()), Instant::now()).is_none() {
            self.due.notify_one();
        }
    }

    /// The first of some clients of a job that has not asked for it lately.
    pub(crate) fn lacks<'c>(
        &self,
        job: &str,
        mut clients: impl Iterator<Item = &'c String>,
    ) -> Option<&'c str> {
        let present = lock(&self.present);
        let here = |client: &&String| {
            present.get(&(job.to_owned(), (*client).clone())).is_some_and(|at| at.elapsed() < HERE)
        };
        clients.find(|client| !here(client)).map(String::as_str)
    }

    /// The attempt does not run here any more. Returns the sender of orders to its worker, and its
    /// room.
    pub(crate) fn done(&self, job: &str, k: u32) -> Option<(mpsc::Sender<ToWorker>, OwnedSemaphorePermit)> {
        let mut live = lock(&self.live);
        let here = live.get(job).is_some_and(|live| live.asked.k == k);
        here.then(|| live.remove(job)).flatten().map(|live| (live.orders, live.slot))
    }

    /// The number of attempts that run here.
    pub(crate) fn running(&self) -> usize {
        lock(&self.live).len()
    }

    /// The progress of a job's attempt that runs here.
    pub(crate) fn progress(&self, job: &str) -> Option<Progress> {
        lock(&self.live).get(job).map(|live| live.progress.clone())
    }

    /// Takes progress from the worker of an attempt. Listeners hear of it only every [`TELLS`],
    /// because each of them then reads the job anew.
    pub(crate) fn advance(&self, job: &str, change: impl FnOnce(&mut Progress)) {
        let mut live = lock(&self.live);
        let Some(live) = live.get_mut(job) else { return };
        change(&mut live.progress);
        if live.told.elapsed() >= TELLS {
            live.told = Instant::now();
            self.changed(job);
        }
    }

    /// Jobs that some parties may not have yet.
    pub(crate) fn calls(&self) -> MutexGuard<'_, Calls> {
        lock(&self.calls)
    }

    /// Takes the call of another party that has a new job.
    pub(crate) async fn came(&self, job: &str, from: u8, status: Status) -> Result<(), Fault> {
        let name = job.to_owned();
        let (known, open) = self.store.look(move |c| jobs::is_open(c, &name)).await?;
        if known && !open {
            return Ok(());
        }
        let waited = self.calls().take(job, from, status, known, self.config.peers.len());
        if waited {
            return Ok(());
        }
        let (id, name) = (job.to_owned(), job.to_owned());
        // If the job has waited longer, the store has it as postponed.
        if self.store.read(move |c| jobs::is_postponed(c, &id)).await? {
            self.store.run("hastened", move |c| jobs::hasten(c, &name)).await?;
        }
        self.due.notify_one();
        Ok(())
    }

    /// Starts to listen, at party 0, for reports on an attempt.
    pub(crate) fn expect(&self, job: &str, k: u32) -> Arc<Notify> {
        lock(&self.heard).entry((job.to_owned(), k)).or_default().news.clone()
    }

    /// Stops listening once party 0 has decided on an attempt.
    pub(crate) fn settled(&self, job: &str, k: u32) {
        lock(&self.heard).remove(&(job.to_owned(), k));
    }

    /// Party 0 hears that a party is prepared, or has failed. Returns false if no decision on the
    /// attempt is due.
    pub(crate) fn hears(&self, job: &str, k: u32, party: u8, news: Result<(), Fault>) -> bool {
        self.note(job, k, |heard| heard.hears(party, news))
    }

    /// Notes, at party 0, that somebody cancels a running job.
    pub(crate) fn cancel(&self, job: &str, k: u32) {
        self.note(job, k, |heard| heard.cancelled = true);
    }

    fn note(&self, job: &str, k: u32, change: impl FnOnce(&mut Heard)) -> bool {
        let mut all = lock(&self.heard);
        let Some(heard) = all.get_mut(&(job.to_owned(), k)) else { return false };
        change(heard);
        heard.news.notify_one();
        true
    }

    /// The decision that party 0 may take on an attempt now.
    pub(crate) fn outlook(&self, job: &str, k: u32) -> Outlook {
        let heard = lock(&self.heard);
        let heard = heard.get(&(job.to_owned(), k));
        heard.map_or_else(|| Outlook::Waiting(BTreeSet::new()), |heard| heard.outlook(self.config.parties()))
    }

    /// Signs this party's statement about itself.
    pub(crate) fn statement(&self) -> Result<SignedStatement, Fault> {
        // Signing fills in the keys and the time.
        self.keys.sign(Statement {
            format: Statement::format(),
            group: self.config.group.clone(),
            parties: self.config.parties(),
            party: self.config.party,
            pin: self.identity.pin().to_string(),
            protocol: self.config.protocol().to_owned(),
            seal_to: self.keys.seal_to(),
            next: None,
            sign: VerifyKey([0; 32]),
            since: 0,
        })
    }

    /// Keeps another party's statement about itself, unless a later one came before.
    pub(crate) async fn hear(&self, from: u8, release: &str, said: SignedStatement) -> Result<(), Fault> {
        let newer = |known: &SignedStatement| known.statement().since > said.statement().since;
        if lock(&self.said).get(&from).is_some_and(newer) {
            return Ok(());
        }
        let (release, kept) = (release.to_owned(), said.clone());
        self.store.run("peer", move |c| peers::hear(c, from, &release, &kept)).await?;
        lock(&self.said).insert(from, said);
        Ok(())
    }

    /// The statements of the other parties about themselves, as far as this party has heard them.
    pub(crate) fn said(&self) -> BTreeMap<u8, SignedStatement> {
        lock(&self.said).clone()
    }

    /// The key that verifies a party's signatures.
    pub(crate) fn signer(&self, party: u8) -> Option<VerifyKey> {
        if party == self.config.party {
            return Some(self.keys.signs());
        }
        lock(&self.said).get(&party).map(|said| said.statement().sign)
    }

    /// Party 0's promises about attempts.
    pub(crate) fn promised(&self) -> MutexGuard<'_, Promises> {
        lock(&self.promises)
    }

    /// Whether this is the party's own signature for the worker that it runs, which need not be
    /// verified.
    fn has_vouched(&self, job: &str, attempt: u32, peer: &Peer, word: &Signature) -> bool {
        let live = lock(&self.live);
        let live = live.get(job).filter(|live| live.asked.k == attempt);
        live.is_some_and(|live| live.own.peer.pin == peer.pin && live.own.word == *word)
    }

    /// Checks that the workers of an attempt that party 0 names are the workers that the parties
    /// run: one of each party, with that party's signature. Otherwise party 0 could name a worker
    /// of its own in another party's place.
    pub(crate) fn knows_workers(&self, job: &str, attempt: u32, all: &[VouchedWorker]) -> Result<(), Fault> {
        const STEP: &str = "starting an attempt";
        const REMEDY: &str = "ask the operators of both parties; party 0 alone names workers to the others";
        let wrong = |cause: String| Err(Fault::new(code::UNSAFE, STEP, cause, REMEDY).by(PartyId(0)));
        for (n, party) in (0..self.config.parties()).enumerate() {
            let worker = all.get(n).filter(|worker| worker.peer.member == Member::Party(party));
            let Some(VouchedWorker { peer, word }) = worker else {
                return wrong(format!("the workers that it names have none of party {party} in its place"));
            };
            if party == self.config.party && self.has_vouched(job, attempt, peer, word) {
                continue;
            }
            let Some(key) = self.signer(party) else {
                let cause = format!("this party has not met party {party} yet");
                return Err(Fault::new(code::WORKER, STEP, cause, "it is tried again by itself"));
            };
            let at = WorkerPlace { group: &self.config.group, job, attempt, party };
            if check(&key, &at, &peer.pin.0, word).is_err() {
                return wrong(format!("party {party} has not signed for the worker that it names as theirs"));
            }
        }
        if all.len() > usize::from(self.config.parties()) {
            return wrong("it names more workers than there are parties".to_owned());
        }
        Ok(())
    }

    /// Notes that a peer has this party's statement. Once all peers know of the pending key, data
    /// sets are sealed to it.
    pub(crate) async fn announced(&self, peer: u8, told: &SignedStatement) -> Result<(), Fault> {
        let Some(next) = told.statement().next.as_ref().map(SealTo::id) else { return Ok(()) };
        let all_know = {
            let mut announced = lock(&self.announced);
            announced.insert(peer, next);
            self.peers.numbers().iter().all(|peer| announced.get(peer) == Some(&next))
        };
        if all_know && self.keys.pending().is_some_and(|key| key.id() == next) {
            self.keys.activate(&self.store, next).await?;
            self.take_up_keys().await?;
            tracing::info!(key = %next, "data sets are sealed to the new key: all parties know of it");
        }
        Ok(())
    }

    /// Reads the keys of the store again if they have changed.
    pub(crate) async fn take_up_keys(&self) -> Result<(), Fault> {
        if self.keys.changed(&self.store).await? {
            self.keys.reload(&self.store, &MasterKey::read(&self.config.master_key)?).await?;
        }
        Ok(())
    }

    /// Checks that a party's audit log, which now ends at `head`, still has the end that the party
    /// reported before, and keeps the new end. A log that has lost it was changed, or restored from
    /// a backup.
    ///
    /// # Errors
    /// The log has lost the entry, or the party did not answer.
    pub(crate) async fn compare_log(&self, peer: u8, head: AuditHead) -> Result<(), Fault> {
        let Some(had) = self.store.look(move |c| peers::head(c, peer)).await? else { return Ok(()) };
        let found: Option<BlakeName> = match had.seq {
            0 => Some(had.hash),
            seq => self.peers.get(peer, &format!("/peer/v1/audit/{seq}")).await?,
        };
        if peers::has_lost(&had, found, &head) {
            lock(&self.suspects).insert(peer, had);
            self.store.run("peer", move |c| peers::contradicts(c, peer, &had)).await?;
            return self.trusts_logs();
        }
        lock(&self.suspects).remove(&peer);
        if had == head {
            return Ok(());
        }
        self.store.run("peer", move |c| peers::keep_head(c, peer, &head)).await
    }

    /// Refuses to take part while another party's audit log lacks an entry that it once had.
    pub(crate) fn trusts_logs(&self) -> Result<(), Fault> {
        let Some((peer, had)) = lock(&self.suspects).iter().next().map(|(peer, had)| (*peer, *had)) else {
            return Ok(());
        };
        let cause = format!(
            "the audit log of party {peer} has lost the entry {had}, which party {} recorded",
            self.config.party
        );
        let remedy = format!(
            "keep both logs as they are, and ask the operator of party {peer}; if that party was restored from a \
             backup, run `hushwire service accept-log --party {peer}` here"
        );
        Err(Fault::new(code::UNSAFE, "comparing audit logs", cause, remedy))
    }

    /// The answer to a challenge about a result, for this caller and this window of time.
    fn answer(&self, at: &ResultPlace<'_>, token: &str, window: u64) -> blake3::Hash {
        let mut hash = blake3::Hasher::new_keyed(&self.challenges);
        for part in [at.job, at.output, token] {
            hash.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hash.update(&at.attempt.to_le_bytes()).update(&window.to_le_bytes());
        hash.finalize()
    }

    /// A challenge about a result, which only the holder of the key that it is sealed to can
    /// answer.
    pub(crate) fn challenge(&self, at: &ResultPlace<'_>, to: &SealTo, token: &str) -> Result<Vec<u8>, Fault> {
        let answer = self.answer(at, token, window());
        challenge::challenge(to, at, answer.as_bytes()).map_err(Fault::from)
    }

    /// Whether a proof answers a challenge of this window or the one before.
    pub(crate) fn proves(&self, at: &ResultPlace<'_>, token: &str, proof: &str) -> bool {
        let now = window();
        // The comparison of hashes takes constant time.
        blake3::Hash::from_hex(proof)
            .is_ok_and(|proof| [now, now - 1].iter().any(|window| self.answer(at, token, *window) == proof))
    }

    /// How long results are kept, in milliseconds.
    pub(crate) fn keep(&self) -> i64 {
        i64::try_from(self.config.keep.as_millis()).unwrap_or(i64::MAX)
    }

    /// Removes expired results, and blobs that no row names. No attempt may be running.
    pub(crate) async fn sweep(&self) -> Result<usize, Fault> {
        let keep = self.keep();
        let known = self.store.run("sweep", move |c| {
            results::expire(c, keep)?;
            results::blobs(c)
        });
        let (known, blobs) = (known.await?, self.blobs.clone());
        let swept = tokio::task::spawn_blocking(move || blobs.sweep(&known)).await;
        let swept = swept.map_err(|e| Fault::internal("sweeping", e))?;
        swept.map_err(|e| Fault::io("sweep", &self.config.blobs, &e))
    }

    /// Checks that this party takes part in a job now.
    pub(crate) async fn admits(&self, job: &JobRow) -> Result<(), Fault> {
        self.trusts_logs()?;
        let (job, operators) = (job.clone(), self.config.operators.clone());
        let checked = self.store.look(move |c| admission::admit(c, &operators, &job).map(drop));
        checked.await.map_err(|e| e.by(self.me()))
    }

    /// The job of a row with the values of this run, read again from its proposal's text.
    pub(crate) async fn job_of(&self, job: &JobRow) -> Result<hushwire_kinds::Job, Fault> {
        let id = job.proposal.clone();
        let proposal = self.store.look(move |c| proposals::get(c, &id)).await?;
        let proposal = proposal.ok_or_else(|| Fault::internal("reading the job", "its proposal is gone"))?;
        proposal.proposed.known()?.with(&job.body.values())
    }

    /// A job with its attempts, results and progress, for clients.
    pub(crate) async fn view(&self, id: &str) -> Result<jobs::JobView, Fault> {
        let name = id.to_owned();
        let view = self.store.look(move |c| {
            let job = jobs::known(c, &name)?;
            jobs::view(c, job)
        });
        let mut view = view.await?;
        view.progress = self.progress(id);
        Ok(view)
    }

    /// Attempts that have not ended.
    pub(crate) async fn open_attempts(&self) -> Result<Vec<attempts::AttemptRow>, Fault> {
        self.store.read(attempts::open).await
    }

    /// The number of jobs by state and kind.
    pub(crate) async fn counts(&self) -> Result<Vec<(String, String, i64)>, Fault> {
        self.store.read(records::counts).await
    }

    /// Waits until no attempt runs here any more, for at most this long.
    pub(crate) async fn idle(&self, most: Duration) {
        let until = tokio::time::Instant::now() + most;
        while self.running() > 0 && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
