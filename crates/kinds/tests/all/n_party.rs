//! Jobs of n parties, all but one of which may be corrupted, over real links, with a thread for
//! each party. The plain evaluator is the oracle.

use crate::common::{World, check, configs};
use hushwire_block::Wiped;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask, Outputs};
use hushwire_session::{
    Event, Fault, FromDisk, InputPlace, Member, MemberConfig, Observer, Outcome, OutputPlace, Peer, Phase,
    Preparation, Protocol, Task, run,
};
use hushwire_wire::{Identity, Listener};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

fn among(n: usize) -> String {
    format!("protocol = \"authgarble\"\nparties = {n}")
}

#[test]
fn any_party_brings_and_learns() {
    let (all, two) = (["party0", "party1", "party2", "party3", "party4"], ["party0", "party1"]);
    check(&among(2), "add:13", 30, &two, &[&two], "batch = 16\nthreads = 2");
    check(&among(3), "less:32", 9, &["party2", "party1"], &[&["party0", "party2"]], "");
    check(&among(5), "mux:5", 7, &["party4", "party1", "party3"], &[&all], "threads = 3");
    let halves = format!("{}\nvariant = \"ywz20\"", among(4));
    check(&halves, "less:32", 9, &["party3", "party1"], &[&["party0", "party2"]], "batch = 4\nthreads = 2");
    // One owner brings everything, and nobody learns anything.
    check(&among(3), "add:4", 3, &["party1", "party1"], &[&[]], "");
}

/// The default is three parties, and the name on the command line is also the name in a file.
#[test]
fn the_number_of_parties() {
    let all = ["party0", "party1", "party2"];
    check("protocol = \"authgarble\"", "add:4", 1, &["party0", "party2"], &[&all], "");
    check("protocol = \"authgarble:4\"", "add:4", 1, &["party0", "party3"], &[&all], "");
    check("protocol = \"authgarble:4\"\nparties = 2", "add:4", 1, &["party0", "party1"], &[&["party1"]], "");
    check("protocol = \"authgarble:4:ywz20\"\nparties = 3", "add:4", 1, &["party0", "party2"], &[&all], "");
    check(
        "protocol = \"authgarble:4:ywz20\"\nparties = 2",
        "add:4",
        1,
        &["party0", "party1"],
        &[&["party1"]],
        "",
    );
}

#[test]
fn another_number_of_parties_is_another_job() {
    let two = ["party0", "party1"];
    let world = |protocol: &str| World::under(protocol, "add:4", 1, &two, &[&two], "");
    let (ours, theirs) = (world(&among(2)).plan.agreement(), world(&among(3)).plan.agreement());
    let halves = world("protocol = \"authgarble:3:ywz20\"").plan.agreement();
    assert!(theirs.differences(&halves.tags())[0].starts_with("protocol (ours: authgarble:3 revision 5, "));
    assert!(
        ours.differences(&theirs.tags())[0]
            .starts_with("protocol (ours: authgarble:2 revision 5, ot softspoken4")
    );
    assert_eq!(theirs.members(), [0, 1, 2].map(Member::Party));
    let shown = world(&among(2)).run(|_, member, config| {
        let digits = if member.key() == "party0" { ("0", "e") } else { ("1", "3") };
        config.inputs.insert(digits.0.into(), InputPlace::Hex(digits.1.to_owned().into()));
    });
    for (member, outcome) in &shown {
        let outcome = outcome.as_ref().unwrap_or_else(|e| panic!("{member}: {e}"));
        assert_eq!(outcome.learnt.digits, [(0, "11".to_owned())], "{member}");
    }
}

/// Five people who do not trust each other learn the sum of their salaries. Each also learns
/// whether its own is below the mean.
#[test]
fn five_salaries() {
    const TEXT: &str = include_str!("../../../../examples/compute/salaries-five.hwc");
    let job = ComputeJob::new(Protocol::Authgarble(5), ComputationSource::Text(TEXT.to_owned()));
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let mut configs = configs(&task.agreement().members());
    for (i, config) in configs.iter_mut().enumerate() {
        let name = ["ada", "bob", "cleo", "dan", "eve"][i];
        let pay = InputPlace::Values(Wiped::new((1000 * (i + 1)).to_string()));
        config.inputs.insert(format!("{name}_pay"), pay);
        for output in ["sum".to_owned(), format!("{name}_below")] {
            config.outputs.insert(output, OutputPlace::Memory);
        }
    }
    let records: Vec<Vec<Vec<u8>>> = thread::scope(|scope| {
        let task = &task;
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                let outcome = run(task, config, &quiet).unwrap_or_else(|e| panic!("{e}"));
                outcome.learnt.records.into_iter().map(|(_, records)| records).collect()
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|party| party.join().expect("a party ends")).collect()
    });
    for (i, records) in records.iter().enumerate() {
        assert_eq!(records[0], 15_000u32.to_le_bytes(), "party {i}");
        // The third salary is exactly the mean.
        assert_eq!(records[1..], [vec![u8::from(i < 2)]], "party {i}");
    }
}

/// Three parties that keep their keys from run to run, with a directory of preprocessing each.
pub(crate) struct Kept {
    /// The notes for people at each party, of all runs.
    pub(crate) notes: &'static [Mutex<Vec<String>>; 3],
    world: World,
    identities: Vec<Identity>,
    /// Which of them is party 0, 1 and 2 in the next run.
    seats: [usize; 3],
}

/// The inputs and outputs of a party of the circuit's job.
fn sums(party: usize, config: &mut MemberConfig) {
    let value = |of: u8| InputPlace::memory((0..6).map(|i| i * of).collect::<Vec<u8>>());
    config.inputs = (0..2).filter(|i| *i == party).map(|i| (i.to_string(), value(i as u8 + 1))).collect();
    config.outputs.insert("0".into(), OutputPlace::Memory);
}

impl Kept {
    pub(crate) fn new() -> Self {
        let all = ["party0", "party1", "party2"];
        // Two threads, one of which has more work.
        let world = World::under(&among(3), "add:8", 6, &all[..2], &[&all], "batch = 2\nthreads = 2");
        let identities = (0..3).map(|p| Identity::generate(&format!("p{p}")).expect("a key")).collect();
        Self { notes: Box::leak(Box::default()), world, identities, seats: [0, 1, 2] }
    }

    pub(crate) fn shelf(&self, party: usize) -> PathBuf {
        self.world.at(&format!("shelf{party}"))
    }

    pub(crate) fn stocks(&self, party: usize) -> Vec<PathBuf> {
        self.ending(party, "stock")
    }

    pub(crate) fn garbled(&self, party: usize) -> Vec<PathBuf> {
        self.ending(party, "garbled")
    }

    fn ending(&self, party: usize, ending: &str) -> Vec<PathBuf> {
        let Ok(dir) = fs::read_dir(self.shelf(party)) else { return vec![] };
        let all = dir.map(|entry| entry.expect("an entry").path());
        all.filter(|path| path.extension().is_some_and(|end| end == ending)).collect()
    }

    /// The parties' configurations for a run; those in `with` have their shelves.
    pub(crate) fn configs(
        &self,
        with: &[usize],
        furnish: impl Fn(usize, &mut MemberConfig),
    ) -> Vec<MemberConfig> {
        let seated = self.seats.iter().map(|who| &self.identities[*who]);
        let parts: Vec<_> = seated
            .zip(0..)
            .map(|(identity, p)| {
                let listener = Arc::new(Listener::bind("127.0.0.1:0").unwrap_or_else(|e| panic!("{e}")));
                let member = Member::Party(p);
                let peer = Peer { member, address: Some(listener.address()), pin: identity.pin() };
                (identity, peer, listener)
            })
            .collect();
        let peers: Vec<_> = parts.iter().map(|(_, peer, _)| peer.clone()).collect();
        let parts = parts.into_iter().enumerate().map(|(p, (identity, peer, listener))| {
            let identity = Identity::from_pem(&identity.to_pem()).expect("its own text");
            let mut config = MemberConfig::new(peer.member, identity, Some(listener));
            config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
            config.shelf = with.contains(&p).then(|| self.shelf(self.seats[p]));
            furnish(p, &mut config);
            config
        });
        parts.collect()
    }

    /// Runs every party on a thread, and keeps its notes.
    pub(crate) fn each<R: Send>(
        &self,
        configs: Vec<MemberConfig>,
        run: impl Fn(usize, MemberConfig, &Observer) -> R + Sync,
    ) -> Vec<R> {
        let (notes, run) = (self.notes, &run);
        thread::scope(|scope| {
            let spawn = |(p, config): (usize, MemberConfig)| {
                let heard = move |event| {
                    if let Event::Note(note) = event {
                        notes[p].lock().expect("no panic").push(note);
                    }
                };
                scope.spawn(move || run(p, config, &(Arc::new(heard) as Observer)))
            };
            let running: Vec<_> = configs.into_iter().enumerate().map(spawn).collect();
            running.into_iter().map(|party| party.join().expect("no panic")).collect()
        })
    }

    /// All parties' results of a task; those in `with` have their shelves.
    fn run<T: Task<Learnt: Send> + Sync>(
        &self,
        task: &T,
        with: &[usize],
    ) -> Vec<Result<Outcome<T::Learnt>, Fault>> {
        self.each(self.configs(with, sums), |_, config, observer| run(task, config, observer))
    }

    /// A run of the job with correct results: the bytes that its parties sent.
    fn sum(&self, with: &[usize]) -> u64 {
        self.summed(with).0
    }

    /// Like [`Kept::sum`], with what each party took from disk.
    fn summed(&self, with: &[usize]) -> (u64, Vec<Option<FromDisk>>) {
        let ends = self.run(&self.world.prepared, with);
        let ends = ends.into_iter().map(|end| {
            let Outcome { learnt: Outputs { records, from_disk, .. }, stats } =
                end.unwrap_or_else(|e| panic!("{e}"));
            // Nine bits in two bytes each.
            assert_eq!(records, [(0, vec![0, 0, 3, 0, 6, 0, 9, 0, 12, 0, 15, 0])]);
            (stats.bytes_sent, from_disk)
        });
        let (sent, from_disk): (Vec<_>, Vec<_>) = ends.unzip();
        (sent.into_iter().sum(), from_disk)
    }

    /// Makes the preprocessing for `times` runs.
    fn prepare(&self, times: u32) {
        self.prepare_up_to(times, Phase::FunctionIndependent);
    }

    fn prepare_up_to(&self, times: u32, up_to: Phase) {
        let task = Preparation::new(&self.world.prepared, times).unwrap_or_else(|e| panic!("{e}"));
        let task = task.up_to(up_to);
        for end in self.run(&task, &[0, 1, 2]) {
            let end = end.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(end.learnt, 2 * u64::from(times), "a stock for each thread and run");
        }
    }
}

pub(crate) fn copied(from: &[PathBuf], to: &Path) -> Vec<PathBuf> {
    let copy = |path: &PathBuf| {
        let to = to.join(path.file_name().expect("a name"));
        fs::copy(path, &to).expect("a copy");
        to
    };
    from.iter().map(copy).collect()
}

#[test]
fn preprocessing_made_ahead_serves_one_run_each() {
    let kept = Kept::new();
    let all = [0, 1, 2];
    let whole = kept.sum(&[]);
    kept.prepare(2);
    assert!(all.iter().all(|p| kept.stocks(*p).len() == 4));
    // If one party has no file, the others do not use theirs, which stay for later.
    assert!(kept.sum(&[0, 2]) > whole / 2);
    assert!(all.iter().all(|p| kept.stocks(*p).len() == 4));
    for left in [2, 0] {
        let sent = kept.sum(&all);
        assert!(sent < whole / 2, "{sent} bytes where a whole run sends {whole}");
        assert!(all.iter().all(|p| kept.stocks(*p).len() == left));
    }
    // No files are left, which is not an error.
    assert!(kept.sum(&all) > whole / 2);
}

/// A stock binds each party to its place. Parties that meet in another order do not use it, and it
/// waits for the order in which it was made.
#[test]
fn preprocessing_serves_parties_in_the_order_that_made_it() {
    let mut kept = Kept::new();
    let all = [0, 1, 2];
    let whole = kept.sum(&[]);
    kept.prepare(1);
    for seats in [[1, 0, 2], [0, 2, 1], [1, 2, 0]] {
        kept.seats = seats;
        assert!(kept.sum(&all) > whole / 2, "{seats:?}");
        assert!(all.iter().all(|p| kept.stocks(*p).len() == 2));
    }
    kept.seats = all;
    assert!(kept.sum(&all) < whole / 2);
    assert!(all.iter().all(|p| kept.stocks(*p).is_empty()));
}

/// The party that reads a stock under another stock's name refuses it, and every party ends.
#[test]
fn preprocessing_under_a_wrong_name_is_refused() {
    let kept = Kept::new();
    kept.prepare(1);
    let first: Vec<_> = (0..3).map(|p| kept.stocks(p)).collect();
    let mut swapped = Kept { seats: [1, 0, 2], ..kept };
    swapped.prepare(1);
    for (p, first) in first.iter().enumerate() {
        let parts = |path: &PathBuf| -> Vec<String> {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            name.split('-').map(str::to_owned).collect()
        };
        let (second, _): (Vec<_>, Vec<_>) =
            swapped.stocks(p).into_iter().partition(|path| !first.contains(path));
        let like = parts(&second[0]);
        second.iter().for_each(|path| fs::remove_file(path).expect("it is there"));
        for path in first {
            // The place and the other parties.
            let mut name = parts(path);
            name[1..3].clone_from_slice(&like[1..3]);
            fs::rename(path, path.with_file_name(name.join("-"))).expect("a name");
        }
    }
    let ends = swapped.run(&swapped.world.prepared, &[0, 1, 2]);
    let errors: Vec<_> = ends.into_iter().map(|end| end.expect_err("no outputs").to_string()).collect();
    assert!(errors.iter().any(|e| e.contains("another place") && e.contains("keep stocks")), "{errors:?}");
    swapped.seats = [0, 1, 2];
    swapped.sum(&[]);
}

#[test]
fn preprocessing_that_is_put_back_is_refused() {
    let kept = Kept::new();
    kept.prepare(1);
    let aside = kept.world.at("aside");
    let copies: Vec<_> = (0..3)
        .map(|p| {
            let to = aside.join(p.to_string());
            fs::create_dir_all(&to).expect("a directory");
            copied(&kept.stocks(p), &to)
        })
        .collect();
    kept.sum(&[0, 1, 2]);
    // A copy at one party alone, as after a crash between two writes: no other party offers it.
    copied(&copies[1], &kept.shelf(1));
    kept.sum(&[0, 1, 2]);
    assert_eq!(kept.stocks(1).len(), 2);
    // Copies at all of them, from a backup: every party ends, and some report the reason.
    for p in [0, 2] {
        copied(&copies[p], &kept.shelf(p));
    }
    let ends = kept.run(&kept.world.prepared, &[0, 1, 2]);
    let errors: Vec<_> = ends.into_iter().map(|end| end.expect_err("no outputs").to_string()).collect();
    assert!(
        errors.iter().any(|e| e.contains("was used before") && e.contains("delete that file")),
        "{errors:?}"
    );
}

#[test]
fn only_authgarble_is_prepared_and_where_there_is_a_place() {
    let two = ["party0", "party1"];
    let yao = World::under("protocol = \"yao\"", "add:8", 1, &two, &[&two], "");
    let error = Preparation::new(&yao.prepared, 1).err().expect("an error");
    assert!(error.to_string().contains("no preprocessing"), "{error}");
    let kept = Kept::new();
    for times in [0, 1001] {
        assert!(Preparation::new(&kept.world.prepared, times).is_err());
    }
    let task = Preparation::new(&kept.world.prepared, 1).unwrap_or_else(|e| panic!("{e}"));
    for end in kept.run(&task, &[]) {
        let error = end.expect_err("it has no shelf").to_string();
        assert!(error.contains("[authgarble]") && error.contains("shelf"), "{error}");
    }
}

/// A run's report on the phases that it took from disk.
fn disk(independent: u16, dependent: u16) -> Vec<Option<FromDisk>> {
    vec![Some(FromDisk { function_independent: independent, function_dependent: dependent }); 3]
}

/// A circuit that was garbled ahead leaves only the online phase to one run. Circuits are taken
/// before stocks, which stay.
#[test]
fn circuits_garbled_ahead_serve_one_run_each() {
    let kept = Kept::new();
    let all = [0, 1, 2];
    let (whole, none) = kept.summed(&[]);
    assert_eq!(none, [None; 3], "nobody has a directory");
    kept.prepare_up_to(2, Phase::FunctionDependent);
    kept.prepare(1);
    let (stocked, online) = ((2, 0), (2, 2));
    let mut bytes = vec![];
    for (left, stocks, (independent, dependent)) in
        [(2, 2, online), (0, 2, online), (0, 0, stocked), (0, 0, (0, 0))]
    {
        let (sent, from_disk) = kept.summed(&all);
        assert_eq!(from_disk, disk(independent, dependent));
        assert!(all.iter().all(|p| (kept.garbled(*p).len(), kept.stocks(*p).len()) == (left, stocks)));
        bytes.push(sent);
    }
    assert!(bytes[0] == bytes[1] && bytes[1] < bytes[2] && bytes[2] < whole / 2, "{bytes:?} of {whole}");
    assert!(bytes[3] > whole / 2);
}

/// A circuit serves only the job that it was garbled for. Another job takes nothing of it.
#[test]
fn circuits_garbled_ahead_are_of_one_job() {
    let kept = Kept::new();
    let all = [0, 1, 2];
    kept.prepare_up_to(1, Phase::FunctionDependent);
    let mut other = kept;
    let ours = other.world;
    other.world = World::under(
        &among(3),
        "sub:8",
        6,
        &["party0", "party1"],
        &[&["party0", "party1", "party2"]],
        "batch = 2\nthreads = 2",
    );
    let shelves = all.map(|p| (ours.at(&format!("shelf{p}")), other.world.at(&format!("shelf{p}"))));
    for (from, to) in &shelves {
        fs::rename(from, to).expect("a directory");
    }
    let ends = other.run(&other.world.prepared, &all);
    for end in ends {
        let end = end.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(end.learnt.from_disk, disk(0, 0)[0]);
    }
    assert!(all.iter().all(|p| other.garbled(*p).len() == 2), "they wait");
    for (from, to) in &shelves {
        fs::rename(to, from).expect("a directory");
    }
    other.world = ours;
    assert_eq!(other.summed(&all).1, disk(2, 2));
}

/// If one party has lost its copies, the others learn which one, nothing is used, and the run does
/// all phases.
#[test]
fn a_party_that_lost_its_circuits_is_named() {
    let kept = Kept::new();
    let all = [0, 1, 2];
    kept.prepare_up_to(1, Phase::FunctionDependent);
    let aside = kept.world.at("aside");
    fs::create_dir_all(&aside).expect("a directory");
    let copies = copied(&kept.garbled(1), &aside);
    kept.garbled(1).iter().for_each(|path| fs::remove_file(path).expect("it is there"));
    assert_eq!(kept.summed(&all).1, disk(0, 0));
    for (p, notes) in kept.notes.iter().enumerate() {
        let notes = notes.lock().expect("no panic");
        let told = notes.iter().filter(|note| note.contains("are not used: party 1 has no copy")).count();
        assert_eq!(told, usize::from(p != 1), "{notes:?}");
    }
    assert!([0, 2].iter().all(|p| kept.garbled(*p).len() == 2), "they wait");
    // After the copies are restored, they are used.
    copied(&copies, &kept.shelf(1));
    assert_eq!(kept.summed(&all).1, disk(2, 2));
    let notes = kept.notes[1].lock().expect("no panic");
    assert!(notes.contains(&"the function-dependent phase is taken from disk by 2 of 2 threads".to_owned()));
}

/// Files that are restored after use, changed, or renamed: every party ends, and the reason is
/// named.
#[test]
fn circuits_that_are_not_what_they_say_are_refused() {
    let kept = Kept::new();
    let all = [0, 1, 2];
    let ends = |kept: &Kept| -> Vec<String> {
        let ends = kept.run(&kept.world.prepared, &all);
        ends.into_iter().map(|end| end.expect_err("no outputs").to_string()).collect()
    };
    kept.prepare_up_to(1, Phase::FunctionDependent);
    let aside = kept.world.at("aside");
    let copies = all.map(|p| {
        let to = aside.join(p.to_string());
        fs::create_dir_all(&to).expect("a directory");
        copied(&kept.garbled(p), &to)
    });
    assert_eq!(kept.summed(&all).1, disk(2, 2));
    // From a backup, at all of them.
    for p in all {
        copied(&copies[p], &kept.shelf(p));
    }
    let errors = ends(&kept);
    assert!(
        errors.iter().any(|e| e.contains("was used before") && e.contains("delete that file")),
        "{errors:?}"
    );
    all.iter().flat_map(|p| kept.garbled(*p)).for_each(|path| fs::remove_file(path).expect("it is there"));
    // One bit of one file.
    kept.prepare_up_to(1, Phase::FunctionDependent);
    for path in kept.garbled(2) {
        let mut bytes = fs::read(&path).expect("it is there");
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        fs::write(&path, bytes).expect("a file");
    }
    let errors = ends(&kept);
    assert!(errors.iter().any(|e| e.contains("or it was changed")), "{errors:?}");
    all.iter().flat_map(|p| kept.garbled(*p)).for_each(|path| fs::remove_file(path).expect("it is there"));
    // The names of the two threads' files are swapped at one party. The contents then belong to
    // other circuits.
    kept.prepare_up_to(1, Phase::FunctionDependent);
    let files = kept.garbled(0);
    let [first, second] = &files[..] else { panic!("two threads") };
    let between = first.with_extension("between");
    fs::rename(first, &between).expect("a name");
    fs::rename(second, first).expect("a name");
    fs::rename(&between, second).expect("a name");
    let errors = ends(&kept);
    assert!(errors.iter().any(|e| e.contains("another circuit was garbled")), "{errors:?}");
}
