//! Phases of authenticated garbling that `party --prepare` makes before a run, and the runs that
//! use them.

use crate::{
    common::Place,
    rehearsal::{Ended, Rehearsal, Running},
};
use std::{fs, path::PathBuf};

const PARTIES: [&str; 2] = ["party0", "party1"];
const JOB: &str = r#"
protocol = "authgarble"
parties = 2
circuit = "less:32"
[[inputs]]
name = "a"
from = "party0"
sample = "0000002a"
[[inputs]]
name = "b"
from = "party1"
sample = "00000063"
[[outputs]]
name = "less"
to = ["party0", "party1"]
[parameters]
threads = 1
"#;

/// A computation whose number of rows is not known before a run.
const SCORES: &str = "computation scores\nmembers a, b\nsymbols n\ninput x: u32[n] from a\ninput y: u32[n] from b\n\
    output total = sum(x * y) to a, b\n";

/// Writes the files of both parties, each with a directory for preprocessing.
fn world() -> Rehearsal {
    shelved(Rehearsal::new(JOB))
}

/// The same for a computation, with two rows from each party.
fn computed() -> Rehearsal {
    let place = Place::new();
    place.put("scores.hwc", SCORES.as_bytes());
    let job = "protocol = \"authgarble\"\nparties = 2\ncomputation = \"scores.hwc\"\n";
    let world = shelved(Rehearsal::within(place, job));
    world.place.put("r/x.csv", b"x\n3\n4\n");
    world.place.put("r/y.csv", b"y\n5\n6\n");
    world
}

fn shelved(world: Rehearsal) -> Rehearsal {
    for party in PARTIES {
        world.edit(&format!("r/{party}.toml"), |text| {
            format!("{text}\n[authgarble]\nshelf = \"{party}.shelf\"\n")
        });
    }
    world
}

fn start(world: &Rehearsal, options: &str) -> Vec<Running> {
    let start = |name: &'static str| {
        world.spawn(name, world.place.hushwire(&format!("{} {options}", Rehearsal::line(name))))
    };
    PARTIES.into_iter().map(start).collect()
}

fn run(world: &Rehearsal, options: &str) -> Vec<Ended> {
    let mut all = world.end(start(world, options));
    all.iter().for_each(Ended::good);
    all.sort_by_key(|ended| ended.name);
    all
}

/// Returns the files in a party's directory for preprocessing.
fn waiting(world: &Rehearsal, party: &str) -> Vec<PathBuf> {
    let Ok(dir) = fs::read_dir(world.place.at(&format!("r/{party}.shelf"))) else { return vec![] };
    let all = dir.flatten().map(|entry| entry.path());
    all.filter(|path| path.extension().is_some_and(|end| end == "stock" || end == "garbled")).collect()
}

const TAKEN: &str = "phase is taken from disk by 1 of 1 threads";

#[test]
fn a_garbled_circuit_that_waits_on_disk_serves_one_run() {
    let world = world();
    for ended in run(&world, "--prepare 1 --up-to function-dependent") {
        let done = "is done: garbled circuits for 1 run of less:32";
        assert!(ended.out.is_empty() && ended.err.contains(done), "{}: {}", ended.name, ended.err);
    }
    let taken = "the function-dependent phase is taken from disk by 1 of 1 threads";
    // After that, no file is left, and the parties make the preprocessing themselves.
    for waits in [true, false] {
        for ended in run(&world, "") {
            assert_eq!(ended.err.contains(taken), waits, "{}: {}", ended.name, ended.err);
            assert_eq!(ended.out, "less=1\n", "{}", ended.name);
        }
    }
    let alone = world.place.ran(&format!("{} --up-to function-dependent", Rehearsal::line("party0")));
    assert!(alone.code == Some(2) && alone.err.contains("--prepare"), "{}", alone.err);
}

/// The digest of a job also allows its preprocessing, but not the preprocessing of another job.
#[test]
fn what_is_made_ahead_is_allowed_by_the_digest_of_its_job() {
    let world = world();
    let digest = world.place.ran("job digest job.toml").out.trim().to_owned();
    for ended in run(&world, &format!("--prepare 1 --allow {digest}")) {
        assert!(ended.err.contains("for 1 run of less:32"), "{}: {}", ended.name, ended.err);
    }
    world.edit("job.toml", |text| text.replace("less:32", "add:32").replace("\"less\"", "\"sum\""));
    let start = |name: &'static str| {
        let allow = if name == "party0" { format!(" --allow {digest}") } else { String::new() };
        world.spawn(name, world.place.hushwire(&format!("{} --prepare 1{allow}", Rehearsal::line(name))))
    };
    let all = world.end(PARTIES.into_iter().map(start).collect());
    assert!(all[0].code == Some(5) && all[0].error().contains("--allow"), "{}", all[0].error());
    all[1].blames("party0");
}

/// The command line gives the number of rows, and the run has only the remaining phases.
#[test]
fn a_computation_is_prepared_for_as_many_rows() {
    let world = computed();
    let alone = world.place.ran(&format!("{} --prepare 1", Rehearsal::line("party0")));
    assert_eq!(alone.code, Some(2), "{}", alone.err);
    assert!(alone.err.contains("depends on n") && alone.err.contains("--symbol n=…"), "{}", alone.err);
    for ended in run(&world, "--prepare 1 --up-to function-dependent --symbol n=2 --json -") {
        assert!(ended.err.contains("is done: garbled circuits for 1 run of scores"), "{}", ended.err);
        let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&report["computation"], &report["stocks"]), (&"scores".into(), &1.into()));
    }
    run(&world, "--prepare 1 --symbol n=2");
    let mut sent = vec![];
    for found in [[1, 1], [1, 0], [0, 0]] {
        let reports = run(&world, "--json -").into_iter().map(|ended| {
            assert_eq!(ended.err.contains(TAKEN), found[0] > 0, "{}", ended.err);
            serde_json::from_str::<serde_json::Value>(&ended.out).unwrap_or_else(|e| panic!("{e}"))
        });
        let reports: Vec<_> = reports.collect();
        for report in &reports {
            assert_eq!(report["outputs"]["total"], 39);
            let disk = &report["from_disk"];
            assert_eq!([&disk["function_independent"], &disk["function_dependent"]], found);
        }
        sent.push(reports[0]["bytes_sent"].as_u64().expect("a number"));
    }
    assert!(sent[0] < sent[1] && sent[1] < sent[2] / 2, "{sent:?}");
    let circuit = self::world();
    let odd = circuit.place.ran(&format!("{} --prepare 1 --symbol n=2", Rehearsal::line("party0")));
    assert!(odd.code == Some(2) && odd.err.contains("only computations have lengths"), "{}", odd.err);
}

/// `kill -9` after a file is marked as used. No run uses it again, even if it is put back.
#[test]
fn whoever_is_killed_in_a_run_takes_nothing_twice() {
    let world = computed();
    run(&world, "--prepare 1 --up-to function-dependent --symbol n=2");
    let copies = PARTIES.map(|party| {
        let path = waiting(&world, party).remove(0);
        (fs::read(&path).expect("it waits"), path)
    });
    let mut running = start(&world, "");
    world.until_said(&["party0"], TAKEN);
    running.remove(0).kill();
    world.end(running);
    for (copy, path) in &copies {
        fs::write(path, copy).expect("put back");
    }
    let all = world.end(start(&world, ""));
    assert!(all.iter().all(|ended| ended.code != Some(0) && ended.out.is_empty()), "{all:?}");
    assert!(all.iter().any(|ended| ended.error().contains("was used before")), "{all:?}");
    copies.iter().for_each(|(_, path)| drop(fs::remove_file(path)));
    assert!(run(&world, "").iter().all(|ended| ended.out == "total=39\n"));
}

/// `kill -9` during the preprocessing. Files that both parties have complete can be used, and no
/// other file is in the way.
#[test]
fn whoever_is_killed_while_it_prepares_leaves_whole_files() {
    let world = computed();
    let mut running = start(&world, "--prepare 1000 --symbol n=2");
    while waiting(&world, "party0").len() < 3 {
        assert!(running[0].lives(), "{}", world.said("party0"));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.remove(0).kill();
    world.end(running)[0].blames("party0");
    assert!(run(&world, "").iter().all(|ended| ended.out == "total=39\n" && ended.err.contains(TAKEN)));
    let parts = fs::read_dir(world.place.at("r/party0.shelf")).expect("a shelf").flatten();
    assert!(!parts.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".part")));
}

/// Two processes of each party, of two runs at the same time, with one directory.
#[test]
fn of_two_runs_at_once_one_takes_what_waits() {
    let world = computed();
    let other = Rehearsal::bare();
    for party in PARTIES {
        let text = String::from_utf8(world.place.get(&format!("r/{party}.toml"))).expect("text");
        let ports = [0, 1].map(|i| (world.port + i, other.port + i));
        let moved =
            ports.iter().fold(text, |text, (from, to)| text.replace(&format!(":{from}"), &format!(":{to}")));
        world.place.put(&format!("r/{party}b.toml"), moved.as_bytes());
    }
    run(&world, "--prepare 1 --up-to function-dependent --symbol n=2");
    let second = |(party, name): (&str, &'static str)| {
        world.spawn(name, world.place.hushwire(&format!("party job.toml --config r/{party}b.toml --run b")))
    };
    let mut running = start(&world, "");
    running.extend(PARTIES.into_iter().zip(["second0", "second1"]).map(second));
    let mut all = world.end(running);
    all.sort_by_key(|ended| ended.name);
    let served = all.chunks(2).filter(|run| {
        let took: Vec<_> =
            run.iter().map(|ended| ended.code == Some(0) && ended.err.contains(TAKEN)).collect();
        assert_eq!(took[0], took[1], "{run:?}");
        took[0]
    });
    assert!(served.count() <= 1, "{all:?}");
    for ended in &all {
        assert!(matches!(ended.code, Some(0 | 3 | 4)), "{ended:?}");
        assert!(ended.code != Some(0) || ended.out == "total=39\n", "{ended:?}");
    }
    // A run that ends early may leave the copy of one party, which no run can use.
    assert!(run(&world, "").iter().all(|ended| ended.out == "total=39\n" && !ended.err.contains(TAKEN)));
}

/// An inference is a computation.
#[cfg(feature = "nn")]
#[test]
fn an_inference_is_prepared_as_the_computation_that_it_is() {
    use hushwire_nn::{npy, zoo};
    let place = Place::new();
    let mut w = zoo::Writer::new("small", 3, &[1, 4]);
    let x = w.gemm("input", [4, 3]);
    let model = w.finish(&x).to_bytes();
    place.put("m.onnx", &model);
    let ran = place.ran("model plan m.onnx --out network.hwc");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let job = "kind = \"infer\"\nprotocol = \"authgarble:2\"\nnetwork = \"network.hwc\"\nowner = \"party0\"\nclient = \"party1\"\n";
    let world = shelved(Rehearsal::within(place, job));
    world.place.put("r/model.onnx", &model);
    world.place.put("r/input.npy", &npy::write(&zoo::sample(&[1, 4], 5)));
    run(&world, "--prepare 1 --up-to function-dependent");
    for taken in [1, 0] {
        let report = &run(&world, "--json -")[1];
        let report: serde_json::Value = serde_json::from_str(&report.out).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report["from_disk"]["function_dependent"], taken, "{report}");
    }
}
