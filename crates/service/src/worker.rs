//! A worker: the process of one attempt, or of several attempts of one job. It reads its order,
//! meets the other parties' workers, runs this party's part, leaves its outputs in a directory, and
//! ends when the daemon closes the socket.

use crate::order::{
    FromWorker, Made, MadePlace, MemoryLimit, OrderedData, OrderedShelf, Prepared, ToWorker, WorkerOrder,
    hear, say,
};
use crate::reporter::Reporter;
use hushwire_block::Wiped;
use hushwire_fault::{Fault, code};
use hushwire_kinds::{Runs, Visitor, Words};
use hushwire_machine::PartyId;
use hushwire_seal::{
    BlakeName, SealTo, Signature, SignedManifest,
    dataset::OpenedData,
    result::{self, ResultPlace},
};
use hushwire_session::{
    Agreement, Decision, KeptLinks, Material, Member, MemberConfig, Outcome, Peer, SealedShare, SealedSink,
    ShelfOwner, StoredData, StoredParts, Task, open, run_part, run_part_until, session_of, size,
};
use hushwire_wire::{Identity, Listener};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    os::{
        fd::AsFd,
        unix::{fs::FileExt, net::UnixStream},
    },
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

/// LOCAL: how often the memory is measured.
const LOOK: Duration = Duration::from_millis(50);
/// LOCAL: while little memory is used, the peak is read only once in this many measurements.
const SELDOM: u64 = 20;
/// LOCAL: the address space for stacks, libraries and files, in bytes, beyond the memory limit.
const BESIDE: u64 = 2 << 30;

/// Runs the worker until it ends.
pub(crate) fn main() -> ! {
    // No core dump, whatever the system's settings are, and no debugger of the same user.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // A bug in one thread ends the process, so that no other thread waits for it.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if hushwire_session::panic_is_caught() {
            return;
        }
        report(info);
        process::exit(101);
    }));
    let orders = orders();
    match work(&orders) {
        // The daemon has heard of all outputs, or has ended.
        Ok(()) => process::exit(0),
        Err(e) => {
            let code = e.kind().exit_code();
            tell(&FromWorker::Failed(e));
            process::exit(code.into())
        }
    }
}

fn unexpected() -> Fault {
    Fault::internal("following the daemon", "an order was missing or out of turn")
}

fn work(orders: &Orders) -> Result<(), Fault> {
    let Some(ToWorker::Order(order)) = next(orders) else { return Err(unexpected()) };
    let party = PartyId(order.party);
    let most = order.limit.most.saturating_add(BESIDE);
    let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
    let (under_way, reporter) = (UnderWay::default(), Reporter::new(tell));
    under_way.set(true);
    watch(order.limit, party, under_way.clone(), reporter.clone());
    let job = order.job.clone();
    job.visit(Runner { orders, order: *order, under_way, reporter })
        .and_then(|ended| ended)
        .map_err(|e| e.by(party))
}

/// Ends the worker when it uses more memory than its limit, and has progress reported. The limit of
/// address space is above the memory limit, because it also counts what is reserved and never used,
/// and because it ends a process without a reason.
fn watch(
    MemoryLimit { most, of_policy }: MemoryLimit,
    party: PartyId,
    under_way: UnderWay,
    reporter: Reporter,
) {
    thread::spawn(move || {
        let resident = Resident::open();
        for n in 1_u64.. {
            under_way.wait();
            thread::sleep(LOOK);
            reporter.look();
            // Reading the peak takes as long as a tenth of a small job.
            let little = resident.as_ref().and_then(Resident::bytes).is_some_and(|now| now < most / 4);
            if little && n % SELDOM != 0 {
                continue;
            }
            if let Some(has) = peak_memory().filter(|has| *has > most) {
                let (has, most) = (size::show(has), size::show(most));
                let fault = if of_policy {
                    let cause =
                        format!("the worker took {has}, and `max.memory` of this party's policy is {most}");
                    Fault::new(code::POLICY_DENIES, "computing", cause, crate::attempt::LARGER)
                } else {
                    let cause =
                        format!("the worker took {has}, and `memory` of this party's config is {most}");
                    Fault::new(
                        code::WORKER,
                        "computing",
                        cause,
                        "make the job smaller, or raise `memory` there",
                    )
                };
                tell(&FromWorker::Failed(fault.by(party)));
                process::exit(4);
            }
        }
    });
}

/// Whether an attempt is running. A worker that waits for another attempt takes no more memory.
#[derive(Clone, Default)]
struct UnderWay(Arc<(Mutex<bool>, Condvar)>);

impl UnderWay {
    fn set(&self, is: bool) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = is;
        self.0.1.notify_all();
    }

    /// Waits until an attempt is running.
    fn wait(&self) {
        let is = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.1.wait_while(is, |is| !*is).unwrap_or_else(PoisonError::into_inner));
    }
}

/// The orders from the daemon. Several threads may wait for one.
type Orders = Arc<Mutex<Receiver<ToWorker>>>;

/// The next order; `None` once the daemon is gone.
fn next(orders: &Orders) -> Option<ToWorker> {
    orders.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Asks the daemon, which records it, before preprocessing is used.
struct Uses(Orders);

impl Material for Uses {
    fn uses(&self, file: &str) -> Result<(), Fault> {
        tell(&FromWorker::Uses(file.to_owned()));
        match next(&self.0) {
            Some(ToWorker::Used(refused)) => refused.map_or(Ok(()), Err),
            _ => Err(unexpected()),
        }
    }
}

/// The preprocessing that the daemon has named.
fn shelf_owner(shelf: &OrderedShelf) -> Result<ShelfOwner, Fault> {
    let odd = |e: &dyn std::fmt::Display| Fault::internal("taking preprocessing", e);
    let mut key = Wiped::new([0; 16]);
    hex::decode_to_slice(shelf.key.as_bytes(), &mut key[..]).map_err(|e| odd(&e))?;
    let pins = shelf.pins.iter().map(|pin| pin.parse().map_err(|e| odd(&e))).collect::<Result<_, Fault>>()?;
    Ok(ShelfOwner::new(&key, pins))
}

/// Opens the inputs, meets the other parties, and runs this party's part: once, or for several
/// attempts of the same job, with the same data and recipients.
struct Runner<'a> {
    orders: &'a Orders,
    order: WorkerOrder,
    under_way: UnderWay,
    reporter: Reporter,
}

/// What a worker keeps from one attempt to the next.
struct Standing {
    /// The agreement of all parties. It follows from the job.
    agreement: Agreement,
    listener: Arc<Listener>,
    /// The key of its connections.
    key: Wiped<String>,
    kept: KeptLinks,
    stored: BTreeMap<String, StoredData>,
    recipients: Arc<BTreeMap<String, SealTo>>,
}

impl Visitor for Runner<'_> {
    type Out = Result<(), Fault>;

    fn visit<K: Runs>(self, job: &K) -> Self::Out {
        let Self { orders, mut order, under_way, reporter } = self;
        let task = job.task()?;
        let handed = io::stdin().as_fd().try_clone_to_owned();
        let listener = handed.and_then(|handed| Listener::handed(handed, PARTY_PORT));
        let listener = listener.map_err(|e| Fault::internal("listening", e))?;
        let data = std::mem::take(&mut order.data);
        let stored = data.iter().map(|(name, data)| Ok((name.clone(), stored(order.party, data)?)));
        let mut standing = Standing {
            agreement: task.agreement(),
            listener: Arc::new(listener),
            key: new_key(order.party)?,
            kept: KeptLinks::new(),
            stored: stored.collect::<Result<_, Fault>>()?,
            recipients: Arc::new(std::mem::take(&mut order.recipients)),
        };
        loop {
            reporter.begin();
            attempt(&task, orders, &order, &standing, &reporter)?;
            under_way.set(false);
            match next(orders) {
                Some(ToWorker::Again(another)) if order.stays => order.first = another,
                _ => return Ok(()),
            }
            under_way.set(true);
            if !standing.kept.are_there() {
                standing.kept.close();
                standing.key = new_key(order.party)?;
            }
        }
    }
}

fn new_key(party: u8) -> Result<Wiped<String>, Fault> {
    let identity = Identity::generate(&format!("worker of {}", Member::Party(party)));
    let identity = identity.map_err(|e| Fault::internal("making the key of an attempt", e.cause()))?;
    Ok(identity.to_pem().into())
}

/// Runs one attempt, until the daemon has the decision.
fn attempt<T: Words>(
    task: &T,
    orders: &Orders,
    order: &WorkerOrder,
    standing: &Standing,
    reporter: &Reporter,
) -> Result<(), Fault> {
    let (me, of) = (Member::Party(order.party), &order.first);
    let identity = Identity::from_pem(&standing.key);
    let identity = identity.map_err(|e| Fault::internal("reading the key of an attempt", e.cause()))?;
    let pin = identity.pin();
    let mut config = MemberConfig::new(me.clone(), identity, Some(standing.listener.clone()));
    config.server_name = Some(of.greeting.clone());
    config.inputs = order.inputs.clone();
    config.keys = order.keys.clone();
    config.kept = order.stays.then(|| standing.kept.clone());
    if let Some(shelf) = &order.shelf {
        config.shelf = Some(shelf.dir.clone());
        config.shelf_owner = Some(shelf_owner(shelf)?);
        config.material = Some(Arc::new(Uses(orders.clone())));
    }
    config.stored = standing.stored.clone();
    let sink = Arc::new(Sink {
        dir: of.results.clone(),
        party: order.party,
        attempt: of.attempt.clone(),
        recipients: standing.recipients.clone(),
        made: Mutex::default(),
    });
    config.sealed = Some(sink.clone());
    let agreement = standing.agreement.clone();
    let has_clients = !agreement.clients.is_empty();
    let part = open(task, &mut config)?;
    // Each daemon fills in the address of the other parties' ports.
    tell(&FromWorker::Ready(Peer { member: me.clone(), address: None, pin }, standing.kept.are_there()));
    let Some(ToWorker::Meet(all, label, on_kept)) = next(orders) else { return Err(unexpected()) };
    config.session = session_of(&label);
    if !on_kept {
        standing.kept.close();
    }
    config.peers = all.into_iter().filter(|peer| peer.member != me).collect();
    let prepared = |Outcome { learnt, stats }: &Outcome<T::Learnt>| {
        let printed = Wiped::new(task.printed(learnt));
        let mut outputs = std::mem::take(&mut *sink.made.lock().unwrap_or_else(PoisonError::into_inner));
        if !printed.is_empty() {
            keep(&of.results, LEARNT, &printed)?;
            let place = MadePlace::File(LEARNT.to_owned());
            outputs.push(Made { output: LEARNT.to_owned(), place, recipient: me.key() });
        }
        let stays = standing.kept.are_there();
        let stats = stats.clone();
        tell(&FromWorker::Prepared(Box::new(Prepared { outputs, stats, peak_memory: peak_memory(), stays })));
        Ok(())
    };
    if has_clients {
        // Clients hear that all is done only after party 0 has decided so.
        let decide = |outcome: &Outcome<T::Learnt>| {
            prepared(outcome)?;
            match next(orders) {
                Some(ToWorker::Bye) => Ok(Decision::Commit),
                _ => Ok(Decision::Abort),
            }
        };
        return run_part_until(agreement, part, config, &reporter.observer(), decide).map(drop);
    }
    prepared(&run_part(agreement, part, config, &reporter.observer())?)
}

/// The name of the listener for people. Other workers dial the party port.
const PARTY_PORT: &str = "the party port";
/// The name of the output that the party itself learns.
const LEARNT: &str = "learnt";

/// The parts of a data set, opened one at a time.
struct SealedParts {
    opened: OpenedData,
    files: Vec<PathBuf>,
}

impl StoredParts for SealedParts {
    fn part(&self, part: u32) -> Result<Wiped<Vec<u8>>, Fault> {
        let missing = || Fault::internal("taking stored inputs", "the data set has no such part");
        let path = self.files.get(part as usize).ok_or_else(missing)?;
        crate::failpoint::pass(|| "worker.inputs".to_owned()).map_err(|e| Fault::io("read", path, &e))?;
        let sealed = fs::read(path).map_err(|e| Fault::io("read", path, &e))?;
        Ok(self.opened.part(u64::from(part), sealed)?)
    }
}

/// A data set as the session takes it.
fn stored(party: u8, data: &OrderedData) -> Result<StoredData, Fault> {
    let odd = |e: &dyn std::fmt::Display| Fault::internal("taking stored inputs", e);
    let signature: Signature = data.signature.parse().map_err(|e| odd(&e))?;
    let signed = SignedManifest::read(data.manifest.as_bytes(), signature)?;
    let manifest = signed.manifest();
    let bytes = Wiped::new(hex::decode(data.opened.as_bytes()).map_err(|e| odd(&e))?);
    let opened = OpenedData::from_bytes(manifest, usize::from(party), &bytes)?;
    let columns = manifest.columns();
    let seeds = Wiped::new(*opened.seeds());
    Ok(StoredData { columns, seeds, parts: Arc::new(SealedParts { opened, files: data.parts.clone() }) })
}

/// Seals this party's shares to their recipients.
struct Sink {
    dir: PathBuf,
    party: u8,
    attempt: (String, u32),
    recipients: Arc<BTreeMap<String, SealTo>>,
    made: Mutex<Vec<Made>>,
}

impl SealedSink for Sink {
    fn take(&self, recipient: &str, sealed: SealedShare) -> Result<(), Fault> {
        let to = self.recipients.get(recipient).ok_or_else(|| {
            let cause = format!("the job was submitted without a key of recipient {recipient}");
            Fault::usage("sealing results", cause, "submit it with the recipient's card")
        })?;
        let (job, attempt) = (&self.attempt.0, self.attempt.1);
        let place = ResultPlace { job, attempt, output: recipient, party: self.party };
        let bytes = result::seal(to, &place, &sealed.share, &BlakeName(sealed.next))?;
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // All small results pass in one line.
        let place = if bytes.len() <= crate::failpoint::small_result() && all.len() < SMALL_RESULTS {
            passed(&self.dir)?;
            MadePlace::Here(hex::encode(&bytes))
        } else {
            let file = format!("sealed-{recipient}");
            keep(&self.dir, &file, &bytes)?;
            MadePlace::File(file)
        };
        all.push(Made { output: recipient.to_owned(), place, recipient: to.id().to_string() });
        Ok(())
    }
}

/// LOCAL: the most small results of an attempt, which pass over the socket of the worker's orders.
const SMALL_RESULTS: usize = 8;

/// Passes the failpoint of an output.
fn passed(path: &Path) -> Result<(), Fault> {
    crate::failpoint::pass(|| "worker.sealed".to_owned()).map_err(|e| Fault::io("write", path, &e))
}

/// Writes an output. The daemon copies it to the disk before the party is prepared.
fn keep(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Fault> {
    let path = dir.join(name);
    passed(&path)?;
    let write = || -> io::Result<()> {
        match fs::create_dir(dir) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let mut file = File::create_new(&path)?;
        file.write_all(bytes)
    };
    write().map_err(|e| Fault::io("write", &path, &e))
}

/// Sends a line to the daemon.
fn tell(message: &FromWorker) {
    // If the daemon closed its end, the process ends anyway, so a lost line needs no handling.
    let _ = say(io::stdout().lock(), message);
}

/// The orders from the daemon. The process ends as soon as the daemon has closed its end.
fn orders() -> Orders {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let Ok(socket) = io::stdout().as_fd().try_clone_to_owned() else { process::exit(3) };
        let mut lines = BufReader::new(UnixStream::from(socket));
        let mut line = Wiped::new(String::new());
        loop {
            line.clear();
            match lines.read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => process::exit(3),
            }
            match hear(&line) {
                Ok(ToWorker::Cancel) => process::exit(3),
                Ok(order) => drop(sender.send(order)),
                Err(e) => {
                    let _ =
                        writeln!(io::stderr(), "a worker is started by hushwire-service, not by hand ({e})");
                    process::exit(2);
                }
            }
        }
    });
    Arc::new(Mutex::new(orders))
}

/// Measures the resident memory of this process, which takes little time.
struct Resident {
    statm: File,
    page: u64,
}

impl Resident {
    fn open() -> Option<Self> {
        Some(Self { statm: File::open("/proc/self/statm").ok()?, page: rustix::param::page_size() as u64 })
    }

    fn bytes(&self) -> Option<u64> {
        let mut line = [0; 128];
        let n = self.statm.read_at(&mut line, 0).ok()?;
        let pages: u64 = std::str::from_utf8(line.get(..n)?).ok()?.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page)
    }
}

/// The most memory, in bytes, that this process has ever had resident.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_use_is_about_what_the_most_so_far_allows() {
        let block = std::hint::black_box(vec![1_u8; 8 << 20]);
        let now = Resident::open().and_then(|resident| resident.bytes()).expect("a size");
        let most = peak_memory().expect("a size");
        // The system counts pages a little late.
        assert!(now > block.len() as u64 && now < most + (16 << 20), "{now} {most}");
    }
}
