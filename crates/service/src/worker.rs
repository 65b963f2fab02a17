//! A worker: the process of one attempt. It hears its order, meets the other parties' workers, runs
//! its side, leaves its outputs in a directory, and ends when its daemon's end of the socket
//! closes.

use crate::order::{FromWorker, Made, OrderedData, OrderedShelf, Prepared, ToWorker, WorkerOrder, hear, say};
use hushwire_fault::{Fault, code};
use hushwire_kinds::{Runs, Visitor, Words};
use hushwire_machine::PartyId;
use hushwire_rep3::stored::StoredColumn;
use hushwire_seal::{
    BlakeName, SealTo, Signature, SignedManifest,
    dataset::OpenedData,
    result::{self, ResultPlace},
};
use hushwire_session::{
    Event, Material, Member, MemberConfig, Observer, Outcome, Peer, SealedShare, SealedSink, ShelfOwner,
    StoredData, StoredParts, open, run_part, session_of, size,
};
use hushwire_wire::{Identity, Listener};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};
use zeroize::Zeroizing;

/// LOCAL: how often progress is reported.
const REPORT: Duration = Duration::from_millis(100);
/// LOCAL: how often the memory is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// LOCAL: address space beside what a worker computes in: stacks, libraries, files.
const BESIDE: u64 = 2 << 30;

/// Runs the worker to its end.
pub(crate) fn main() -> ! {
    // No core dump, whatever the system does with them, and no debugger of the same user.
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
        Ok(prepared) => {
            tell(&FromWorker::Prepared(Box::new(prepared)));
            // The daemon says that it has heard, or is gone.
            drop(next(&orders));
            process::exit(0)
        }
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

fn work(orders: &Orders) -> Result<Prepared, Fault> {
    let Some(ToWorker::Order(order)) = next(orders) else { return Err(unexpected()) };
    let party = PartyId(order.party);
    let most = order.memory.saturating_add(BESIDE);
    let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
    watch_memory(order.memory, order.of_policy, party);
    let job = order.job.clone();
    job.visit(Runner { orders, order: *order }).and_then(|ended| ended).map_err(|e| e.by(party))
}

/// Ends the worker once it has more memory than it may. The limit of address space is above that:
/// it counts what is reserved and never used, and ends a process without a reason.
fn watch_memory(most: u64, of_policy: bool, party: PartyId) {
    thread::spawn(move || {
        loop {
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
            thread::sleep(LOOK);
        }
    });
}

/// The orders of the daemon, of which several threads wait for one.
type Orders = Arc<Mutex<Receiver<ToWorker>>>;

/// The next order; none, once the daemon is gone.
fn next(orders: &Orders) -> Option<ToWorker> {
    orders.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Asks the daemon before preprocessing is used, which writes it down.
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

/// The preprocessing that the daemon names.
fn shelf_owner(shelf: &OrderedShelf) -> Result<ShelfOwner, Fault> {
    let odd = |e: &dyn std::fmt::Display| Fault::internal("taking preprocessing", e);
    let mut key = Zeroizing::new([0; 16]);
    hex::decode_to_slice(shelf.key.as_bytes(), &mut key[..]).map_err(|e| odd(&e))?;
    let pins = shelf.pins.iter().map(|pin| pin.parse().map_err(|e| odd(&e))).collect::<Result<_, Fault>>()?;
    Ok(ShelfOwner::new(&key, pins))
}

/// Opens the inputs, meets the others, and runs this party's side.
struct Runner<'a> {
    orders: &'a Orders,
    order: WorkerOrder,
}

impl Visitor for Runner<'_> {
    type Out = Result<Prepared, Fault>;

    fn visit<K: Runs>(self, job: &K) -> Self::Out {
        let Self { orders, order } = self;
        let me = Member::Party(order.party);
        let identity = Identity::generate(&format!("worker of {me}"));
        let identity = identity.map_err(|e| Fault::internal("making the key of an attempt", e.cause()))?;
        let pin = identity.pin();
        let handed = io::stdin().as_fd().try_clone_to_owned();
        let listener = handed.and_then(|handed| Listener::handed(handed, PARTY_PORT));
        let listener = listener.map_err(|e| Fault::internal("listening", e))?;
        let mut config = MemberConfig::new(me.clone(), identity, Some(Arc::new(listener)));
        config.session = session_of(&order.label);
        config.server_name = Some(order.greeting.clone());
        config.inputs = order.inputs;
        config.keys = order.keys;
        if let Some(shelf) = &order.shelf {
            config.shelf = Some(shelf.dir.clone());
            config.shelf_owner = Some(shelf_owner(shelf)?);
            config.material = Some(Arc::new(Uses(orders.clone())));
        }
        for (name, data) in &order.data {
            config.stored.insert(name.clone(), stored(order.party, data)?);
        }
        let sink = Arc::new(Sink {
            dir: order.results.clone(),
            party: order.party,
            attempt: order.attempt.clone(),
            recipients: order.recipients,
            made: Mutex::default(),
        });
        config.sealed = Some(sink.clone());
        let task = job.task()?;
        let agreement = hushwire_session::Task::agreement(&task);
        let part = open(&task, &mut config)?;
        // Each daemon knows the address of the others' ports.
        tell(&FromWorker::Ready(Peer { member: me.clone(), address: None, pin }));
        let Some(ToWorker::Meet(all)) = next(orders) else { return Err(unexpected()) };
        config.peers = all.into_iter().filter(|peer| peer.member != me).collect();
        let Outcome { learnt, stats } = run_part(agreement, part, config, &observer())?;
        let printed = Zeroizing::new(task.printed(&learnt));
        let mut outputs = std::mem::take(&mut *sink.made.lock().unwrap_or_else(PoisonError::into_inner));
        if !printed.is_empty() {
            keep(&order.results, LEARNT, &printed)?;
            outputs.push(Made { output: LEARNT.to_owned(), file: LEARNT.to_owned(), recipient: me.key() });
        }
        Ok(Prepared { outputs, stats, peak_memory: peak_memory() })
    }
}

/// The address of the listener, for people: others dial the party port.
const PARTY_PORT: &str = "the party port";
/// The output of what the party itself learns.
const LEARNT: &str = "learnt";

/// The parts of a data set, opened one at a time.
struct SealedParts {
    opened: OpenedData,
    files: Vec<PathBuf>,
}

impl StoredParts for SealedParts {
    fn part(&self, part: u32) -> Result<Zeroizing<Vec<u8>>, Fault> {
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
    let bytes = Zeroizing::new(hex::decode(data.opened.as_bytes()).map_err(|e| odd(&e))?);
    let opened = OpenedData::from_bytes(manifest, usize::from(party), &bytes)?;
    let columns =
        manifest.inputs.iter().map(|column| StoredColumn::new(&column.name, column.bits, manifest.padded));
    let seeds = Zeroizing::new(*opened.seeds());
    Ok(StoredData {
        columns: columns.collect(),
        seeds,
        parts: Arc::new(SealedParts { opened, files: data.parts.clone() }),
    })
}

/// Seals this party's shares to their recipients.
struct Sink {
    dir: PathBuf,
    party: u8,
    attempt: (String, u32),
    recipients: BTreeMap<String, SealTo>,
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
        let file = format!("sealed-{recipient}");
        keep(&self.dir, &file, &bytes)?;
        let made = Made { output: recipient.to_owned(), file, recipient: to.id().to_string() };
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(made);
        Ok(())
    }
}

/// Writes an output. The daemon keeps a copy, which is on the disk before the party is prepared.
fn keep(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Fault> {
    let path = dir.join(name);
    let write = || -> io::Result<()> {
        crate::failpoint::pass(|| "worker.sealed".to_owned())?;
        let mut file = File::create_new(&path)?;
        file.write_all(bytes)
    };
    write().map_err(|e| Fault::io("write", &path, &e))
}

/// Passes on what a person may want to know, now and then.
fn observer() -> Observer {
    let last = Mutex::new(None::<Instant>);
    Arc::new(move |event| match event {
        Event::Progress(done, of) => {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if done == of || last.is_none_or(|at| at.elapsed() >= REPORT) {
                *last = Some(Instant::now());
                tell(&FromWorker::Progress(done, of));
            }
        }
        Event::Phase(phase) => tell(&FromWorker::Phase(phase)),
        Event::Traffic { sent, received } => tell(&FromWorker::Traffic(sent, received)),
        Event::Note(note) => tell(&FromWorker::Note(note)),
        _ => {}
    })
}

/// A worker's own line to its daemon.
fn tell(message: &FromWorker) {
    // The process ends when the daemon's end closes; a lost line shows there.
    let _ = say(io::stdout().lock(), message);
}

/// Orders from the daemon. The process ends as soon as the daemon's is gone.
fn orders() -> Orders {
    let (sender, orders) = mpsc::channel();
    thread::spawn(move || {
        let Ok(socket) = io::stdout().as_fd().try_clone_to_owned() else { process::exit(3) };
        let mut lines = BufReader::new(UnixStream::from(socket));
        let mut line = Zeroizing::new(String::new());
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

/// The most memory that this process ever had resident.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}
