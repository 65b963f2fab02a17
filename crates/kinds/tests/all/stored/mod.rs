//! Data sets at rest, sealed outputs, the commit decision, cancellation and events, with the plain
//! evaluator as oracle.

#[cfg(feature = "nn")]
mod inferences;
#[cfg(feature = "sql")]
mod queries;

use super::common::{self, World};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_compute::{Tensor, evaluate};
use hushwire_fault::code;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask, Job, Runs, stored_input};
use hushwire_rep3::{
    Role,
    stored::{Dealer, PART, StoredColumn, parts},
};
use hushwire_session::{
    Cancel, Decider, Decision, Event, Fault, InputPlace, Member, MemberConfig, Outcome, OutputPlace,
    Protocol, SealedShare, SealedSink, StoredData, Task, run,
};
use hushwire_testkit::noise;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Barrier, Mutex},
    thread,
    time::{Duration, Instant},
};

/// Each party's parts of a data set.
type Kept = [Vec<Wiped<Vec<u8>>>; 3];

/// A data set at rest.
struct AtRest {
    columns: Vec<StoredColumn>,
    dealer: Dealer,
    kept: Kept,
}

impl AtRest {
    fn new(columns: Vec<StoredColumn>) -> Self {
        Self { columns, dealer: Dealer::new(Backend::best()), kept: [vec![], vec![], vec![]] }
    }

    /// Shares the next part.
    fn put(&mut self, planes: Vec<Wiped<Vec<u8>>>) {
        let part = self.kept[0].len() as u32;
        let made = self.dealer.part(&self.columns, part, planes).unwrap_or_else(|e| panic!("{e}"));
        self.kept.iter_mut().zip(made).for_each(|(kept, made)| kept.push(made));
    }

    /// The inputs of a computation that a data set brings, from text.
    fn of_inputs(task: &ComputeTask, data: &str, values: &BTreeMap<&str, String>) -> Self {
        let owner = Member::Data(data.into());
        let mut all = vec![];
        for (i, (name, ty)) in task.computation().inputs().enumerate() {
            if task.owner(i) == Some(&owner) {
                let place = InputPlace::Values(Wiped::new(values[name].clone()));
                all.push(stored_input(name, ty, &place).unwrap_or_else(|e| panic!("{e}")));
            }
        }
        let (columns, planes): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let mut at_rest = Self::new(columns);
        for part in 0..parts(&at_rest.columns) {
            let of = |planes: &Vec<Wiped<Vec<u8>>>| planes.get(part as usize).cloned().unwrap_or_default();
            at_rest.put(planes.iter().map(of).collect());
        }
        at_rest
    }

    fn at(&self, party: u8) -> StoredData {
        let index = usize::from(party);
        let (seeds, parts) = (self.dealer.seeds(Role::ALL[index]), Arc::new(self.kept[index].clone()));
        StoredData { columns: self.columns.clone(), seeds, parts }
    }
}

/// Keeps sealed shares.
#[derive(Default)]
struct Sink(Mutex<BTreeMap<String, SealedShare>>);

impl SealedSink for Sink {
    fn take(&self, recipient: &str, sealed: SealedShare) -> Result<(), Fault> {
        let before = self.0.lock().expect("nobody panicked").insert(recipient.to_owned(), sealed);
        assert!(before.is_none(), "once a run");
        Ok(())
    }
}

impl Sink {
    fn of(&self, recipient: &str) -> Option<SealedShare> {
        self.0.lock().expect("nobody panicked").get(recipient).cloned()
    }
}

/// The configurations of all connected members.
pub(crate) fn configs<T: Task>(task: &T) -> BTreeMap<Member, MemberConfig> {
    let all = common::configs(&task.agreement().members()).into_iter();
    all.map(|config| (config.me.clone(), config)).collect()
}

pub(crate) type Ended<T> = BTreeMap<Member, Result<Outcome<<T as Task>::Learnt>, Fault>>;

pub(crate) fn run_all<T>(task: &T, configs: BTreeMap<Member, MemberConfig>) -> Ended<T>
where
    T: Task<Learnt: Send> + Sync,
{
    run_heard(task, configs, |_| {})
}

/// Runs all members; `hears` receives the events of party 0.
fn run_heard<T>(
    task: &T,
    configs: BTreeMap<Member, MemberConfig>,
    hears: impl Fn(Event) + Send + Sync + 'static,
) -> Ended<T>
where
    T: Task<Learnt: Send> + Sync,
{
    let hears = Arc::new(hears);
    thread::scope(|scope| {
        let running: Vec<_> = configs
            .into_iter()
            .map(|(me, config)| {
                let (hears, first) = (hears.clone(), me == Member::Party(0));
                let observer: hushwire_session::Observer = Arc::new(move |event| {
                    if first {
                        hears(event);
                    }
                });
                (me, scope.spawn(move || run(task, config, &observer)))
            })
            .collect();
        running.into_iter().map(|(me, thread)| (me, thread.join().expect("no panic"))).collect()
    })
}

fn compute(text: &str, members: &[(&str, &str)]) -> ComputeTask {
    let mut job = ComputeJob::new(Protocol::Rep3, ComputationSource::Text(text.into()));
    let member = |text: &str| text.parse().unwrap_or_else(|e| panic!("{e}"));
    job.members = members.iter().map(|(name, is)| ((*name).to_owned(), member(is))).collect();
    ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"))
}

/// The evaluator's output.
fn evaluated(task: &ComputeTask, values: &BTreeMap<&str, String>, output: &str) -> Tensor {
    let inputs = task.computation().inputs().map(|(name, ty)| {
        let place = InputPlace::Values(Wiped::new(values[name].clone()));
        let tensor = hushwire_kinds::read_input(name, ty, &place, &BTreeMap::new());
        (name.to_owned(), tensor.unwrap_or_else(|e| panic!("{e}")).0)
    });
    let inputs = inputs.collect();
    let found = evaluate(task.computation(), &inputs).unwrap_or_else(|e| panic!("{e}"));
    found[output].clone()
}

fn numbers(n: u64, of: impl Fn(u64) -> u64) -> String {
    (0..n).map(|i| of(i).to_string()).collect::<Vec<_>>().join(",")
}

/// Numbers that are multiplied, and numbers that are compared. They are words and bits in the plan,
/// and bit planes at rest.
const PRODUCTS: &str = "computation c\nmembers hospital, registry, clerk\nsymbols n\n\
    input x: u32[n] from hospital\ninput f: bool[n] from hospital\ninput y: u32[n] from registry\n\
    p = x * y\nq = select(f & (x < y), p, x)\noutput s = sum(p) to clerk\noutput q = q to clerk\n";

fn products(n: u64) -> BTreeMap<&'static str, String> {
    let flags = (0..n).map(|i| (i % 3 == 1).to_string()).collect::<Vec<_>>().join(",");
    let (x, y) = (numbers(n, |i| i * 7919 % 100_003), numbers(n, |i| i * 104_729 % 65_537));
    BTreeMap::from([("x", x), ("f", flags), ("y", y)])
}

const AT_REST: [(&str, &str); 2] = [("hospital", "data:hospital"), ("registry", "data:registry")];

/// Runs a task whose data sets are at the parties.
fn with_data(
    task: &ComputeTask,
    data: &[(&str, &AtRest)],
    furnish: impl Fn(&Member, &mut MemberConfig),
) -> BTreeMap<Member, MemberConfig> {
    let mut all = configs(task);
    for (me, config) in &mut all {
        if let Member::Party(party) = me {
            config.stored =
                data.iter().map(|(name, at_rest)| ((*name).to_owned(), at_rest.at(*party))).collect();
        }
        furnish(me, config);
    }
    all
}

fn records(outcome: &Outcome<hushwire_kinds::Computed>, j: usize) -> &[u8] {
    let found = outcome.learnt.records.iter().find(|(at, _)| *at == j);
    &found.unwrap_or_else(|| panic!("output {j}")).1
}

#[test]
fn data_sets_bring_inputs_and_take_no_part() {
    // One part, with whole bytes and with a remainder, and two parts.
    for (n, clerk) in [(1000, "client:clerk"), (13, "party2"), (PART + 13, "party1")] {
        let task = compute(PRODUCTS, &[AT_REST[0], AT_REST[1], ("clerk", clerk)]);
        let values = products(n);
        let [hospital, registry] =
            ["hospital", "registry"].map(|data| AtRest::of_inputs(&task, data, &values));
        let members = task.agreement().members();
        assert!(members.iter().all(Member::is_connected), "{members:?}");
        let clerk: Member = clerk.parse().expect("a member");
        let all = with_data(&task, &[("hospital", &hospital), ("registry", &registry)], |me, config| {
            if *me == clerk {
                let memory = |name: &str| (name.to_owned(), OutputPlace::Memory);
                config.outputs = [memory("s"), memory("q")].into();
            }
        });
        let ended = run_all(&task, all);
        let outcome = ended[&clerk].as_ref().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(outcome.learnt.symbols["n"], n);
        for (j, output) in ["s", "q"].into_iter().enumerate() {
            assert!(*records(outcome, j) == *evaluated(&task, &values, output).records(), "{output} of {n}");
        }
    }
}

/// A changed bit of a share that one party keeps, anywhere, is found before anything is opened.
#[test]
fn shares_that_differ_are_found_before_anything_is_opened() {
    let task = compute(PRODUCTS, &[AT_REST[0], AT_REST[1], ("clerk", "recipient:clerk")]);
    let values = products(40);
    for (party, of_hospital) in [(0, true), (1, true), (2, true), (2, false)] {
        let [mut hospital, mut registry] =
            ["hospital", "registry"].map(|data| AtRest::of_inputs(&task, data, &values));
        let altered = if of_hospital { &mut hospital } else { &mut registry };
        altered.kept[party][0][0] ^= 8;
        let sinks = [0; 3].map(|_| Arc::new(Sink::default()));
        let data = [("hospital", &hospital), ("registry", &registry)];
        let all = with_data(&task, &data, |me, config| {
            if let Member::Party(at) = me {
                config.sealed = Some(sinks[usize::from(*at)].clone());
            }
        });
        let name = if of_hospital { "hospital" } else { "registry" };
        for (me, ended) in run_all(&task, all) {
            let error = ended.err().unwrap_or_else(|| panic!("{me} computed with {name} altered"));
            assert_eq!(error.code(), code::DATA_SET_DIFFERS, "{me}: {error}");
            let cause = error.cause();
            assert!(cause.contains(&format!("data set {name}")), "{me}: {error}");
            assert!(cause.contains(&format!("party {party}")), "{me}: {error}");
        }
        assert!(sinks.iter().all(|sink| sink.of("clerk").is_none()), "nothing was handed on");
    }
}

#[test]
fn what_a_data_set_lacks_shows_before_anybody_is_dialled() {
    let task = compute(PRODUCTS, &[AT_REST[0], AT_REST[1], ("clerk", "party0")]);
    let values = products(8);
    let [hospital, registry] = ["hospital", "registry"].map(|data| AtRest::of_inputs(&task, data, &values));
    let refused = |change: &dyn Fn(&mut MemberConfig)| {
        let data = [("hospital", &hospital), ("registry", &registry)];
        let mut config = with_data(&task, &data, |_, _| {}).remove(&Member::Party(1)).expect("party 1");
        change(&mut config);
        let opened = hushwire_session::open(&task, &mut config).err();
        opened.unwrap_or_else(|| panic!("it was taken")).to_string()
    };
    let error = refused(&|config| drop(config.stored.remove("registry")));
    assert!(error.contains("party 1 keeps no shares of data set registry"), "{error}");
    let error = refused(&|config| {
        let other = config.stored["registry"].clone();
        config.stored.insert("registri".into(), other);
    });
    assert!(error.contains("no data set registri; did you mean `registry`?"), "{error}");
    let error = refused(&|config| {
        config.stored.get_mut("registry").expect("it is there").columns[0].name = "y: i32".into();
    });
    assert!(error.contains("data set registry has no column y: u32"), "{error}");
    let error = refused(&|config| {
        config.stored.get_mut("registry").expect("it is there").columns[0].lengths = vec![9];
    });
    assert!(error.contains('8') && error.contains('9'), "{error}");
    // A part that is cut short.
    let mut short = AtRest::of_inputs(&task, "registry", &values);
    short.kept[2][0].pop();
    let ended = run_all(&task, with_data(&task, &[("hospital", &hospital), ("registry", &short)], |_, _| {}));
    let error = ended[&Member::Party(2)].as_ref().err().map(ToString::to_string).unwrap_or_default();
    assert!(error.contains("part 0 of data set registry has"), "{error}");
    assert!(ended.values().all(Result::is_err));
}

#[test]
fn members_that_are_not_connected_have_their_places() {
    let planned = |members: &[(&str, &str)], protocol| {
        let mut job = ComputeJob::new(protocol, ComputationSource::Text(PRODUCTS.into()));
        let member = |text: &str| text.parse().unwrap_or_else(|e| panic!("{e}"));
        job.members = members.iter().map(|(name, is)| ((*name).to_owned(), member(is))).collect();
        ComputeTask::new(&job).map(|task| task.terms().to_string()).map_err(|e| e.to_string())
    };
    let [hospital, registry] = AT_REST;
    let terms = planned(&[hospital, registry, ("clerk", "recipient:anna")], Protocol::Rep3);
    let members = "hospital: data:hospital, registry: data:registry, clerk: recipient:anna";
    assert!(terms.as_ref().is_ok_and(|terms| terms.contains(members)), "{terms:?}");
    let refused =
        |members: &[(&str, &str)], protocol| planned(members, protocol).expect_err("it was planned");
    let error = refused(&[hospital, registry, ("clerk", "data:clerk")], Protocol::Rep3);
    assert!(error.contains("data set clerk is no person, and learns outputs"), "{error}");
    let error = refused(&[("hospital", "recipient:x"), registry, ("clerk", "party0")], Protocol::Rep3);
    assert!(error.contains("recipient x is not connected, and brings inputs"), "{error}");
    let error = refused(&[hospital, ("registry", "party1"), ("clerk", "party0")], Protocol::Gmw);
    assert!(error.contains("protocol gmw keeps no shares"), "{error}");
    let text = "protocol = \"rep3\"\ncircuit = \"less:8\"\n[[inputs]]\nfrom = \"data:x\"\n[[inputs]]\nfrom = \"party0\"\n[[outputs]]\nto = [\"party1\"]\n";
    let job = Job::parse(text, Path::new("job.toml")).unwrap_or_else(|e| panic!("{e}"));
    let error = job.agreement().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("data:x is not connected"), "{error}");
}

/// The job in a file. Recipients open a result with what they have: the file and three shares.
fn sealed_job(dir: &Path) -> (Job, ComputeTask) {
    std::fs::write(dir.join("c.hwc"), PRODUCTS).expect("a file");
    let text = "kind = \"compute\"\ncomputation = \"c.hwc\"\n[members]\nhospital = \"data:hospital\"\n\
        registry = \"data:registry\"\nclerk = \"recipient:clerk\"\n";
    let job = Job::parse(text, &dir.join("job.toml")).unwrap_or_else(|e| panic!("{e}"));
    let Job::Compute(compute) = &job else { panic!("a computation's job") };
    let task = compute.task().unwrap_or_else(|e| panic!("{e}"));
    (job, task)
}

#[test]
fn sealed_outputs_open_with_three_shares_and_name_who_alters_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let (job, task) = sealed_job(dir.path());
    assert_eq!(job.data_sets().ok(), Some(vec!["hospital".to_owned(), "registry".to_owned()]));
    assert_eq!(job.recipients().ok(), Some(vec!["clerk".to_owned()]));
    let values = products(100);
    let [hospital, registry] = ["hospital", "registry"].map(|data| AtRest::of_inputs(&task, data, &values));
    let sinks = [0; 3].map(|_| Arc::new(Sink::default()));
    let data = [("hospital", &hospital), ("registry", &registry)];
    let all = with_data(&task, &data, |me, config| {
        if let Member::Party(at) = me {
            config.sealed = Some(sinks[usize::from(*at)].clone());
        }
    });
    for (me, ended) in run_all(&task, all) {
        let outcome = ended.unwrap_or_else(|e| panic!("{me}: {e}"));
        assert!(outcome.learnt.shown.is_empty() && outcome.learnt.records.is_empty(), "{me} learns nothing");
    }
    let shares = sinks.each_ref().map(|sink| sink.of("clerk").unwrap_or_else(|| panic!("a share")));
    let opened = job.open_sealed("clerk", &shares).unwrap_or_else(|e| panic!("{e}"));
    let expected = evaluated(&task, &values, "s");
    let text = String::from_utf8(opened.text).expect("text");
    assert!(text.starts_with(&format!("s={}\n", expected.get(0))), "{text}");
    let q = evaluated(&task, &values, "q");
    let rows = (0..100).map(|i| q.get(i).to_string() + "\n").collect::<String>();
    assert_eq!(String::from_utf8_lossy(&opened.csv["q"]), "q\n".to_owned() + &rows);
    assert_eq!(opened.json["outputs"]["q"][7], q.get(7) as u64);
    // The shares are uniform: none is the value.
    for share in &shares {
        assert!(!share.share.windows(8).any(|bytes| *bytes == q.records()[..8]));
    }
    for party in 0..3 {
        let mut altered = shares.clone();
        let at = altered[party].share.len() - 40;
        altered[party].share[at] ^= 1;
        let mut digest = shares.clone();
        digest[party].next[5] ^= 1;
        for (what, shares) in [("share", altered), ("digest", digest)] {
            let error = job.open_sealed("clerk", &shares).err().unwrap_or_else(|| panic!("{what}"));
            let named = format!("the share of party {party} ");
            assert!(error.code() == code::SEALED_DIFFERS && error.cause().starts_with(&named), "{error}");
        }
    }
    let another = job.open_sealed("anna", &shares).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(another.contains("for clerk, and not for anna"), "{another}");
}

/// Decides after all parties have come, or later.
struct Waits {
    all: Arc<Barrier>,
    decision: Decision,
    seen: Arc<Mutex<Vec<bool>>>,
    file: std::path::PathBuf,
}

impl Decider for Waits {
    fn prepared(&self) -> Result<Decision, Fault> {
        self.all.wait();
        self.seen.lock().expect("nobody panicked").push(self.file.exists());
        self.all.wait();
        Ok(self.decision)
    }
}

/// No output has its name at any member before the decision, and none has it after an abort.
#[test]
fn outputs_are_in_place_once_it_is_decided() {
    let text = "computation c\nmembers a, b\ninput x: u32 from a\noutput y = x + 1 to a, b\n";
    for decision in [Decision::Commit, Decision::Abort] {
        let dir = tempfile::tempdir().expect("a directory");
        let task = compute(text, &[("a", "party1"), ("b", "client:bob")]);
        let (all, seen) = (Arc::new(Barrier::new(3)), Arc::new(Mutex::new(vec![])));
        let file = dir.path().join("y.bin");
        let of_client = dir.path().join("y.client");
        let mut configs = configs(&task);
        for (me, config) in &mut configs {
            match me {
                Member::Party(party) => {
                    let waits = Waits { all: all.clone(), decision, seen: seen.clone(), file: file.clone() };
                    config.decider = Some(Arc::new(waits));
                    if *party == 1 {
                        config.inputs.insert("x".into(), InputPlace::Values("41".to_owned().into()));
                        config.outputs.insert("y".into(), OutputPlace::File(file.clone()));
                    }
                }
                _ => drop(config.outputs.insert("y".into(), OutputPlace::File(of_client.clone()))),
            }
        }
        let ended = run_all(&task, configs);
        assert_eq!(*seen.lock().expect("nobody panicked"), [false; 3], "no name before the decision");
        if decision == Decision::Commit {
            assert!(ended.values().all(Result::is_ok));
            assert_eq!(std::fs::read(&file).ok(), Some(42u32.to_le_bytes().to_vec()));
            assert_eq!(std::fs::read(&of_client).ok(), Some(42u32.to_le_bytes().to_vec()));
        } else {
            assert!(!file.exists() && !of_client.exists());
            for (me, ended) in ended {
                let error = ended.err().unwrap_or_else(|| panic!("{me} has its output"));
                assert!(me == Member::Client("bob".into()) || error.code() == code::ABORTED, "{me}: {error}");
            }
        }
    }
}

/// Cancels within a second at any time: while others are missing, while it computes, and before the
/// confirmation.
#[test]
fn a_run_is_cancelled_within_a_second() {
    let steps: String =
        (0..60).map(|i| format!("p{} = select(p{i} < y, p{i} * y, x) / 3\n", i + 1)).collect();
    let text = format!(
        "computation c\nmembers party0, party1\ninput x: u32[20000] from party0\ninput y: u32[20000] from party1\n\
         p0 = x + y\n{steps}output s = sum(p60) to party0\n"
    );
    let task = compute(&text, &[]);
    let (x, y) = (numbers(20_000, |i| i * 31), numbers(20_000, |i| i * 17 + 1));
    let bring = |configs: &mut BTreeMap<Member, MemberConfig>| {
        for (party, name, values) in [(0, "x", &x), (1, "y", &y)] {
            let config = configs.get_mut(&Member::Party(party)).expect("a party");
            config.inputs.insert(name.into(), InputPlace::Values(values.clone().into()));
        }
    };
    // No other member comes.
    let mut alone = configs(&task);
    bring(&mut alone);
    alone.retain(|me, _| *me == Member::Party(0));
    let cancel = alone[&Member::Party(0)].cancel.clone();
    let (began, later) = (Instant::now(), cancel.clone());
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        later.cancel();
    });
    let error =
        run_all(&task, alone).remove(&Member::Party(0)).and_then(Result::err).expect("it was cancelled");
    assert_eq!((error.code(), error.step()), (code::CANCELLED, "connecting".to_owned()), "{error}");
    assert!(began.elapsed() < Duration::from_millis(1300), "{:?}", began.elapsed());
    thread.join().expect("no panic");
    // While it computes: the others hear that it was interrupted.
    let mut all = configs(&task);
    bring(&mut all);
    let cancel: Cancel = all[&Member::Party(0)].cancel.clone();
    let asked = Arc::new(Mutex::new(None));
    let when = asked.clone();
    let ended = run_heard(&task, all, move |event| {
        if matches!(event, Event::Progress(done, whole) if done > 20 && done < whole) {
            when.lock().expect("nobody panicked").get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    });
    let after = asked.lock().expect("nobody panicked").expect("it was asked").elapsed();
    assert!(after < Duration::from_secs(1), "{after:?}");
    for (me, ended) in ended {
        let error = ended.err().unwrap_or_else(|| panic!("{me} went on"));
        match me {
            Member::Party(0) => {
                assert_eq!(error.code(), code::CANCELLED, "{error}");
                assert!(!error.step().is_empty() && error.step() != "connecting", "{error}");
            }
            _ => assert!(error.to_string().contains("party 0: was interrupted"), "{me}: {error}"),
        }
    }
    // A handle that was used ends the next run at once.
    let mut again = configs(&task);
    bring(&mut again);
    again.retain(|me, _| *me == Member::Party(0));
    let config = again.get_mut(&Member::Party(0)).expect("party 0");
    config.connect_timeout = Duration::from_secs(1);
    config.cancel.cancel();
    let error =
        run_all(&task, again).remove(&Member::Party(0)).and_then(Result::err).expect("it was cancelled");
    assert_eq!(error.code(), code::CANCELLED, "{error}");
}

/// For every kind of job, waiting ends at once, and computing ends between two batches.
#[test]
fn runs_of_circuits_are_cancelled_too() {
    let world = World::new("mul:32", 300_000, &["party0", "client:ann"], &[&["party2"]], "batch = 2048");
    let configs = world.configs(|world, member, config| {
        for i in world.plan.inputs_of(member) {
            let path = world.at(&format!("in{i}"));
            std::fs::write(&path, noise(i as u64, 4 * 300_000)).expect("a file");
            config.inputs.insert(i.to_string(), InputPlace::File(path));
        }
        for j in world.plan.outputs_of(member) {
            config.outputs.insert(j.to_string(), OutputPlace::Memory);
        }
    });
    let cancel = configs[1].1.cancel.clone();
    let asked = Arc::new(Mutex::new(None));
    let ended: Vec<_> = thread::scope(|scope| {
        let (prepared, asked) = (&world.prepared, &asked);
        let running = configs.into_iter().map(|(me, config)| {
            let (cancel, asked, second) = (cancel.clone(), asked.clone(), me == Member::Party(1));
            let observer: hushwire_session::Observer = Arc::new(move |event| {
                if matches!(event, Event::Progress(done, of) if second && 2 * done < of) {
                    asked.lock().expect("nobody panicked").get_or_insert_with(Instant::now);
                    cancel.cancel();
                }
            });
            (me, scope.spawn(move || run(prepared, config, &observer)))
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|(me, thread)| (me, thread.join().expect("no panic"))).collect()
    });
    let asked = *asked.lock().expect("nobody panicked");
    let errors: Vec<_> = ended.iter().map(|(me, ended)| (me, ended.as_ref().err())).collect();
    let after = asked.unwrap_or_else(|| panic!("nobody asked: {errors:?}")).elapsed();
    assert!(after < Duration::from_secs(1), "{after:?}");
    for (me, ended) in ended {
        let error = ended.err().unwrap_or_else(|| panic!("{me} went on"));
        match me {
            Member::Party(1) => {
                assert_eq!(
                    (error.code(), error.step()),
                    (code::CANCELLED, "computing".to_owned()),
                    "{error}"
                );
            }
            _ => assert!(error.to_string().contains("party 1: was interrupted"), "{me}: {error}"),
        }
    }
}

#[test]
fn a_run_tells_what_is_under_way_and_what_moves() {
    let task = compute(PRODUCTS, &[AT_REST[0], AT_REST[1], ("clerk", "party0")]);
    let values = products(300);
    let [hospital, registry] = ["hospital", "registry"].map(|data| AtRest::of_inputs(&task, data, &values));
    let data = [("hospital", &hospital), ("registry", &registry)];
    let heard = Arc::new(Mutex::new(vec![]));
    let hears = heard.clone();
    let ended = run_heard(&task, with_data(&task, &data, |_, _| {}), move |event| {
        hears.lock().expect("nobody panicked").push(event);
    });
    let outcome = ended[&Member::Party(0)].as_ref().unwrap_or_else(|e| panic!("{e}"));
    let heard = heard.lock().expect("nobody panicked");
    let phase = |event: &Event| if let Event::Phase(name) = event { Some(name.clone()) } else { None };
    let phases: Vec<String> = heard.iter().filter_map(phase).collect();
    let place = |name: &str| phases.iter().position(|phase| phase == name);
    let order = ["connecting", "computing", "<", "writing outputs", "confirmation"].map(place);
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{phases:?}");
    let traffic = heard.iter().filter_map(|event| match event {
        Event::Traffic { sent, received } => Some([*sent, *received]),
        _ => None,
    });
    let traffic: Vec<[u64; 2]> = traffic.collect();
    assert!(traffic.is_sorted(), "{traffic:?}");
    assert_eq!(traffic.last(), Some(&[outcome.stats.bytes_sent, outcome.stats.bytes_received]));
}
