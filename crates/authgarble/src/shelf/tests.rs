//! Tests of shelves: killed processes, damaged files, and mix-ups.

use super::*;
use crate::{
    Form, Need, Roles,
    rig::{World, run, seed, stocks},
};
use hushwire_block::registry;
use hushwire_circuit::named;
use hushwire_prg::Prg;
use hushwire_testkit::random_program;
use std::{
    process::{Child, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The variable that gives a child process its order, its directory, and the number of steps after
/// which it is killed.
pub(super) const CHILD: &str = "HUSHWIRE_SHELF_CHILD";

/// The work of a process that [`killed_processes_hand_out_nothing_twice`] kills.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let mut told = told.splitn(3, ':');
    let mut next = || told.next().expect("three words").to_owned();
    let (what, life, dir) = (next(), next().parse().expect("a number"), next());
    let shelf = shelf(Path::new(&dir), 0);
    shelf.life.set(life);
    let kind = if what.ends_with("garbled") { What::Garbled } else { What::Stock };
    if what.starts_with("put") {
        kind.put(&shelf).expect("it is kept");
    } else {
        kind.take(&shelf).expect("it is there");
        fs::write(Path::new(&dir).join("handed"), "").expect("a file");
    }
}

/// The kinds of files on a shelf.
#[derive(Clone, Copy, Debug)]
enum What {
    Stock,
    Garbled,
}

impl What {
    const ALL: [What; 2] = [What::Stock, What::Garbled];

    fn put(self, shelf: &Shelf) -> Result<(), ShelfError> {
        match self {
            What::Stock => shelf.put("a", stocks(91, 2, Need { triples: 0, masks: 20 }).remove(0)),
            What::Garbled => shelf.put_garbled("a", garbled().1),
        }
    }

    fn take(self, shelf: &Shelf) -> Result<(), ShelfError> {
        match self {
            What::Stock => shelf.take(Backend::best(), "a").map(drop),
            What::Garbled => shelf.take_garbled(Backend::best(), "a", [0, 2], &tasks()).map(drop),
        }
    }

    /// The name of the kind in a child's orders and in file names.
    fn name(self) -> &'static str {
        match self {
            What::Stock => "stock",
            What::Garbled => "garbled",
        }
    }
}

/// Two circuits, the same at every call.
fn tasks() -> Vec<Task> {
    let program = named::program("add:3").expect("a built-in");
    let roles = || Roles::new(&program, 2, vec![0, 1], vec![vec![true, true]]);
    [4, 1].map(|instances| Task::new(&program, roles(), instances, Form::HalfGates)).to_vec()
}

/// The tasks of [`tasks`], and party 0's garbled circuits for them.
fn garbled() -> (Vec<Task>, Vec<Garbled>) {
    let (tasks, circuits) = (tasks(), garbled_of(92, 2, &tasks()));
    (tasks, circuits.into_iter().next().expect("two parties"))
}

/// Garbled circuits of every party, from one set-up.
fn garbled_of(world: u8, n: usize, tasks: &[Task]) -> Vec<Vec<Garbled>> {
    let needs = tasks.iter().map(Task::need);
    let need = needs.reduce(|a, b| Need { triples: a.triples + b.triples, masks: a.masks + b.masks });
    let _watch = registry::watch();
    let mut stocks = stocks(world, n, need.expect("a task"));
    let mut circuits: Vec<Vec<_>> = (0..n).map(|_| vec![]).collect();
    for task in tasks {
        let all = run(stocks.iter_mut().map(|stock| stock.garble(task)).collect()).expect("honest");
        circuits.iter_mut().zip(all).for_each(|(of, garbled)| of.push(garbled));
    }
    circuits
}

/// Held while a process is started, and by tests that expect a lock to be free once its holder has
/// dropped it: between its fork and its exec, a new process holds the locks of all threads of this
/// one.
static FORKS: Mutex<()> = Mutex::new(());

fn no_forks() -> MutexGuard<'static, ()> {
    FORKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a child process with these orders.
fn start_child(dir: &Path, what: &str, life: usize) -> Child {
    let this = std::env::current_exe().expect("this test");
    let mut command = std::process::Command::new(this);
    command
        .args(["--exact", "shelf::tests::child", "--test-threads=1"])
        .env(CHILD, format!("{what}:{life}:{}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let _forking = no_forks();
    command.spawn().expect("a process")
}

/// Runs a child process to its end. Returns whether it ended by itself; otherwise it was killed.
fn run_child(dir: &Path, what: &str, life: usize) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let ran = start_child(dir, what, life).wait_with_output().expect("a process");
    assert!(ran.status.success() || ran.status.signal() == Some(9), "{ran:?}");
    ran.status.success()
}

/// If two processes read a file before either marks it, exactly one of them gets it.
#[cfg(target_os = "linux")]
#[test]
fn of_two_processes_at_once_one_takes_a_file() {
    use std::os::unix::fs::MetadataExt;
    for what in What::ALL {
        let dir = tempfile::tempdir().expect("a directory");
        what.put(&shelf(dir.path(), 0)).expect("it is kept");
        let marks = File::create(dir.path().join("0").join("used")).expect("a file");
        flock(&marks, FlockOperation::LockExclusive).expect("nobody else is here");
        let both = [0, 1].map(|_| start_child(dir.path(), &format!("take-{}", what.name()), usize::MAX));
        let inode = format!(":{} ", marks.metadata().expect("a file").ino());
        let waiting = || {
            let locks = fs::read_to_string("/proc/locks").expect("the system's locks");
            locks.lines().filter(|line| line.contains("->") && line.contains(&inode)).count()
        };
        let until = Instant::now() + Duration::from_mins(1);
        while waiting() < 2 {
            assert!(Instant::now() < until, "both have read the {}, and wait to mark it", what.name());
            std::thread::sleep(Duration::from_millis(5));
        }
        flock(&marks, FlockOperation::Unlock).expect("it was held");
        let ended = both.map(|child| child.wait_with_output().expect("a process"));
        assert_eq!(ended.iter().filter(|ran| ran.status.success()).count(), 1, "{ended:?}");
        let refused = ended.iter().find(|ran| !ran.status.success()).expect("one");
        let told = [&refused.stdout[..], &refused.stderr].concat();
        assert!(String::from_utf8_lossy(&told).contains("Used"), "{refused:?}");
    }
}

/// Does the same as [`whoever_is_killed_hands_out_nothing_twice`], with processes that SIGKILL ends
/// between any two writes.
#[test]
fn killed_processes_hand_out_nothing_twice() {
    What::ALL.into_iter().for_each(killed_processes);
}

fn killed_processes(what: What) {
    let all = tempfile::tempdir().expect("a directory");
    let [put, take] = ["put", "take"].map(|order| format!("{order}-{}", what.name()));
    let mut kept = 0;
    for steps in 0.. {
        let dir = all.path().join(format!("put{steps}"));
        let ended = run_child(&dir, &put, steps);
        let taken = what.take(&shelf(&dir, 0));
        assert!(!ended || taken.is_ok(), "whole when it was kept");
        assert!(taken.is_ok() || matches!(taken, Err(ShelfError::Gone { .. })), "whole or not there");
        kept += usize::from(taken.is_ok());
        if ended {
            assert!(steps >= 7, "killed between all writes");
            break;
        }
    }
    assert!(kept >= 2);
    let (mut handed, mut refused) = (0, 0);
    for steps in 0.. {
        let dir = all.path().join(format!("take{steps}"));
        assert!(run_child(&dir, &put, usize::MAX));
        let path = dir.join("0").join(format!("a.{}", what.name()));
        let copy = fs::read(&path).expect("it is there");
        let ended = run_child(&dir, &take, steps);
        assert_eq!(ended, dir.join("handed").exists());
        handed += usize::from(ended);
        // An administrator puts the file back when repairing what a crash has left.
        fs::write(&path, &copy).expect("copied back");
        let again = what.take(&shelf(&dir, 0));
        assert!(!(ended && again.is_ok()), "handed out twice after {steps} steps");
        refused += usize::from(matches!(again, Err(ShelfError::Used { .. })));
        fs::write(&path, &copy).expect("copied back");
        let again = what.take(&shelf(&dir, 0));
        assert!(matches!(again, Err(ShelfError::Used { .. })), "used by then, whoever used it");
        if ended {
            assert!(steps >= 8, "killed between all writes");
            break;
        }
    }
    assert!(handed == 1 && refused >= 3, "marked before it is handed out: {refused}");
}

fn parts(dir: &Path) -> usize {
    let names = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".part")).count()
}

/// Partial files stay while their writer runs; those that a crash left are removed.
#[test]
fn only_parts_that_nobody_writes_are_removed() {
    let _alone = no_forks();
    let all = tempfile::tempdir().expect("a directory");
    drop(shelf(all.path(), 0));
    let dir = all.path().join("0");
    fs::write(dir.join(".00ff.part"), "a piece").expect("a file");
    let writing = File::open(&dir).expect("the directory");
    flock(&writing, FlockOperation::LockShared).expect("a lock");
    drop(shelf(all.path(), 0));
    assert_eq!(parts(&dir), 1, "somebody writes it");
    drop(writing);
    drop(shelf(all.path(), 0));
    assert_eq!(parts(&dir), 0, "nobody writes it");
}

fn shelf(dir: &Path, party: usize) -> Shelf {
    Shelf::open(&dir.join(party.to_string()), seed(3, party)).expect("a directory")
}

/// Preprocessing from disk serves like fresh preprocessing, but only once.
#[test]
fn stocks_from_disk_run_once() {
    let mut prg = Prg::new(Backend::best(), &seed(3, 9), "shelf");
    let program = random_program(&mut prg);
    let world = World::new(&mut prg, &program, 3, 2, Form::Rows);
    let dir = tempfile::tempdir().expect("a directory");
    for (p, stock) in stocks(90, 3, world.task.need()).into_iter().enumerate() {
        shelf(dir.path(), p).put("a", stock).expect("it is kept");
    }
    let file = |p: usize| dir.path().join(p.to_string()).join("a.stock");
    assert_eq!(shelf(dir.path(), 1).names().expect("a directory"), ["a"]);
    let copy = fs::read(file(1)).expect("it is there");
    let mut all: Vec<_> =
        (0..3).map(|p| shelf(dir.path(), p).take(Backend::best(), "a").expect("it is there")).collect();
    let garbled = run(all.iter_mut().map(|stock| stock.garble(&world.task)).collect()).expect("honest");
    assert!(world.evaluate(garbled).expect("honest") == world.outputs);
    assert!(matches!(shelf(dir.path(), 1).take(Backend::best(), "a"), Err(ShelfError::Gone { .. })));
    assert!(shelf(dir.path(), 1).names().expect("a directory").is_empty());
    // A file that is copied back is recognised; a file that was changed, or sealed under another
    // key, is refused.
    fs::write(file(1), &copy).expect("a file");
    assert!(matches!(shelf(dir.path(), 1).take(Backend::best(), "a"), Err(ShelfError::Used { .. })));
    for place in [0, 30, 60, copy.len() / 2, copy.len() - 1] {
        let mut changed = copy.clone();
        changed[place] ^= 1;
        fs::write(file(1), &changed).expect("a file");
        let taken = shelf(dir.path(), 1).take(Backend::best(), "a");
        assert!(matches!(taken, Err(ShelfError::Foreign { .. })), "{place}");
    }
    fs::write(file(2), &copy).expect("a file");
    assert!(matches!(shelf(dir.path(), 2).take(Backend::best(), "a"), Err(ShelfError::Foreign { .. })));
}

/// If a write is killed after any step, the file is whole or absent. If a take is killed after any
/// step, the file is handed out at most once.
#[test]
fn whoever_is_killed_hands_out_nothing_twice() {
    What::ALL.into_iter().for_each(killed);
}

fn killed(what: What) {
    for life in 0..8 {
        let _alone = no_forks();
        let dir = tempfile::tempdir().expect("a directory");
        let first = shelf(dir.path(), 0);
        first.life.set(life);
        let kept = what.put(&first).is_ok();
        assert_eq!(kept, life >= 7);
        let taken = what.take(&shelf(dir.path(), 0));
        assert_eq!(taken.is_ok(), life >= 5, "linked, and so whole, from the fifth step on");
        assert_eq!(parts(&dir.path().join("0")), 0, "nothing is left over after {life} steps");
    }
    let mut refused = 0;
    for life in 0..9 {
        let dir = tempfile::tempdir().expect("a directory");
        what.put(&shelf(dir.path(), 0)).expect("it is kept");
        let path = dir.path().join("0").join(format!("a.{}", what.name()));
        let copy = fs::read(&path).expect("it is there");
        let killed = shelf(dir.path(), 0);
        killed.life.set(life);
        let handed = what.take(&killed).is_ok();
        fs::write(&path, &copy).expect("copied back");
        let again = what.take(&shelf(dir.path(), 0));
        assert!(!(handed && again.is_ok()), "handed out twice after {life} steps");
        refused += usize::from(matches!(again, Err(ShelfError::Used { .. })));
        // No later attempt gets the file, whatever happened before.
        fs::write(&path, &copy).expect("copied back");
        assert!(matches!(what.take(&shelf(dir.path(), 0)), Err(ShelfError::Used { .. })));
    }
    assert!(refused >= 3, "marked before it is handed out");
}

/// After a power cut a disk holds only what was synced. A file therefore gets its name after it is
/// synced, and is handed out after its mark is synced.
#[test]
fn marks_are_on_the_disk_before_anything_is_handed_out() {
    for what in What::ALL {
        let dir = tempfile::tempdir().expect("a directory");
        let shelf = shelf(dir.path(), 0);
        what.put(&shelf).expect("it is kept");
        assert_eq!(shelf.done.take(), ["write", "write", "sync", "link", "sync directory"], "{what:?}");
        what.take(&shelf).expect("it is there");
        assert_eq!(shelf.done.take(), ["mark", "mark", "sync marks", "sync directory", "remove"], "{what:?}");
    }
}

/// Circuits from disk are evaluated like fresh ones, but only once.
#[test]
fn circuits_from_disk_run_once() {
    let mut prg = Prg::new(Backend::best(), &seed(3, 11), "shelf");
    for (n, form) in [2, 3, 5].into_iter().flat_map(|n| Form::ALL.map(|form| (n, form))) {
        let program = random_program(&mut prg);
        let worlds = [3, 1].map(|instances| World::new(&mut prg, &program, n, instances, form));
        let tasks = worlds.each_ref().map(|world| world.task.clone());
        let dir = tempfile::tempdir().expect("a directory");
        let of = garbled_of(93, n, &tasks);
        let ids: Vec<_> = of.iter().map(|all| all[0].id()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "a name that all have alike");
        for (p, circuits) in of.into_iter().enumerate() {
            shelf(dir.path(), p).put_garbled("a", circuits).expect("they are kept");
        }
        assert_eq!(shelf(dir.path(), 1).garbled_names().expect("a directory"), ["a"]);
        assert!(shelf(dir.path(), 1).names().expect("a directory").is_empty(), "no stock");
        let take = |p: usize| shelf(dir.path(), p).take_garbled(Backend::best(), "a", [p, n], &tasks);
        let all: Vec<_> = (0..n).map(|p| take(p).expect("they are there")).collect();
        let mut all: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
        for world in &worlds {
            let garbled = all.iter_mut().map(|of| of.next().expect("a circuit of each task")).collect();
            assert!(
                world.evaluate(garbled).expect("honest") == world.outputs,
                "{n} parties, {}",
                form.name(n)
            );
        }
        assert!((0..n).all(|p| matches!(take(p), Err(ShelfError::Gone { .. }))));
    }
}

/// Each way in which a file can differ from the wanted one has an error of its own, and does not
/// use up the right file.
#[test]
fn other_circuits_are_refused_and_stay() {
    use std::os::unix::fs::PermissionsExt;
    let all = tempfile::tempdir().expect("a directory");
    let ours = shelf(all.path(), 0);
    let (tasks, circuits) = garbled();
    ours.put_garbled("a", circuits).expect("they are kept");
    let path = all.path().join("0").join("a.garbled");
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    let copy = fs::read(&path).expect("it is there");
    let take = |place: [usize; 2], tasks: &[Task]| ours.take_garbled(Backend::best(), "a", place, tasks);
    for place in [[1, 2], [0, 3]] {
        let refused = take(place, &tasks);
        let Err(ShelfError::Party { found: [0, 2], expected, .. }) = refused else { panic!("{place:?}") };
        assert_eq!(expected, place);
    }
    let [first, second] = &tasks[..] else { panic!("two") };
    let program = named::program("sub:3").expect("a built-in");
    let other = Task::new(&program, first.roles.clone(), 4, Form::HalfGates);
    let roles = Roles { learns: vec![vec![true, false]], ..first.roles.clone() };
    let roles = Task::new(&first.program, roles, 4, Form::HalfGates);
    let form = Task::new(&first.program, first.roles.clone(), 4, Form::Rows);
    for tasks in [
        vec![second.clone(), first.clone()],
        vec![first.clone()],
        vec![other, second.clone()],
        vec![roles, second.clone()],
        vec![form, second.clone()],
    ] {
        assert!(matches!(take([0, 2], &tasks), Err(ShelfError::Circuit { .. })));
    }
    for place in [24, 60, copy.len() / 2, copy.len() - 1] {
        let mut changed = copy.clone();
        changed[place] ^= 1;
        fs::write(&path, &changed).expect("a file");
        assert!(matches!(take([0, 2], &tasks), Err(ShelfError::Foreign { .. })), "{place}");
    }
    for cut in [0, 23, 57, copy.len() - 1] {
        fs::write(&path, &copy[..cut]).expect("a file");
        assert!(matches!(take([0, 2], &tasks), Err(ShelfError::Foreign { .. })), "{cut} bytes");
    }
    let mut newer = copy.clone();
    newer[23] = b'9';
    fs::write(&path, &newer).expect("a file");
    assert!(matches!(take([0, 2], &tasks), Err(ShelfError::Version { .. })));
    // A stock is never accepted as circuits, nor are circuits as a stock, whatever the file's name
    // is.
    let stock = path.with_extension("stock");
    fs::write(&stock, &copy).expect("a file");
    assert!(matches!(ours.take(Backend::best(), "a"), Err(ShelfError::Foreign { .. })));
    // The file is refused under another party's key, and is unharmed under its own.
    fs::write(all.path().join("1.garbled"), &copy).expect("a file");
    let theirs = Shelf::open(all.path(), seed(3, 1)).expect("a directory");
    let taken = theirs.take_garbled(Backend::best(), "1", [0, 2], &tasks);
    assert!(matches!(taken, Err(ShelfError::Foreign { .. })));
    fs::write(&path, &copy).expect("a file");
    assert!(take([0, 2], &tasks).is_ok());
    fs::write(&path, &copy).expect("put back");
    assert!(matches!(take([0, 2], &tasks), Err(ShelfError::Used { .. })));
}
