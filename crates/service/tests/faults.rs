//! Points of failure: a party is killed there, or its disk refuses. One oracle holds.
//!
//! After a restart, a job has one end at all parties, runs are counted alike, a result that is
//! there opens to the plain one, and no blob is left without a row.
#![cfg(feature = "failpoints")]

mod rig;

use rig::{Rig, logs};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

const MINUTE: Duration = Duration::from_secs(90);

/// Points at which every party passes in a job.
const POINTS: [&str; 20] = [
    "store.before.job",
    "store.after.job",
    "store.before.reserved",
    "store.after.reserved",
    "store.before.started",
    "store.after.started",
    "store.before.prepared",
    "store.after.prepared",
    "store.before.decision",
    "store.after.decision",
    "store.before.committed",
    "store.after.committed",
    "blob.write",
    "blob.fsync",
    "blob.rename",
    "worker.spawn",
    "worker.inputs",
    "worker.sealed",
    "peer.sent.report",
    "peer.heard.reserve",
];

/// Points that a party's role has it pass: party 0 decides, and the others report.
fn passes(point: &str, party: usize) -> bool {
    match point {
        "store.before.decision" | "store.after.decision" | "peer.heard.reserve" => party == 0,
        "store.before.committed" | "store.after.committed" | "peer.sent.report" => party != 0,
        _ => true,
    }
}

/// Runs a job while `party` fails at `point`.
fn case(rig: &mut Rig, point: &str, party: usize, action: &str) {
    let name = format!("{action} of party {party} at {point}");
    let begun = Instant::now();
    if let Some(mut running) = rig.parties[party].take() {
        running.signal(rustix::process::Signal::KILL);
        assert!(running.ends_within(Duration::from_secs(5)), "{name}");
    }
    rig.start(party, &format!("{point}={action}"));
    rig.answers(party);
    let key = Rig::fresh_key();
    let body = rig.job();
    let mut id = None;
    let until = Instant::now() + Duration::from_secs(40);
    for other in 0..3 {
        loop {
            if let Some(answer) = rig.submit_to(other, &key, &body)
                && answer.status.is_success()
            {
                id = answer.json()["id"].as_str().map(str::to_owned);
                break;
            }
            // The one that fails is started again, as a supervisor does.
            revive(rig, party);
            assert!(Instant::now() < until, "{name}: not submitted: {}", logs(rig.dir.path()));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let id = id.expect("three parties took it");
    let until = Instant::now() + MINUTE;
    let seen = loop {
        revive(rig, party);
        let seen: Vec<_> = (0..3).filter_map(|party| rig.look(party, &id)).collect();
        let ended =
            |view: &&serde_json::Value| matches!(view["state"].as_str(), Some("committed" | "failed"));
        if seen.iter().filter(ended).count() == 3 {
            break seen;
        }
        // Nothing can be fetched before the decision.
        assert!(Instant::now() < until, "{name}: no end: {seen:#?} {}", logs(rig.dir.path()));
        std::thread::sleep(Duration::from_millis(50));
    };
    let states: BTreeSet<&str> = seen.iter().filter_map(|view| view["state"].as_str()).collect();
    assert_eq!(states.len(), 1, "{name}: one end: {seen:#?}");
    let attempts: BTreeSet<u64> = seen.iter().filter_map(|view| view["attempt"].as_u64()).collect();
    if states.contains("committed") {
        assert_eq!(attempts.len(), 1, "{name}: {seen:#?}");
        rig.check_result(&id, *attempts.first().expect("one") as u32);
    } else {
        assert!(seen.iter().all(|view| !view["cause"]["cause"].is_null()), "{name}: a cause: {seen:#?}");
    }
    let counted = |party: usize| -> i64 {
        let sql = "SELECT count(*) FROM runs WHERE job = ?1 AND refunded = 0";
        rig.store(party).query_row(sql, [&id], |row| row.get(0)).expect("a row")
    };
    let counted: BTreeSet<i64> = (0..3).map(counted).collect();
    assert_eq!(counted.len(), 1, "{name}: runs are counted alike: {counted:?} {seen:#?}");
    // Each worker passes its points anew: the next case is without them.
    if point.starts_with("worker") {
        rig.parties[party] = None;
        rig.start(party, "");
        rig.answers(party);
    }
    eprintln!("{name}: {} after {:.1} s", states.first().expect("one"), begun.elapsed().as_secs_f64());
}

/// Starts a party again that has ended, without points.
fn revive(rig: &mut Rig, party: usize) {
    if let Some(running) = &mut rig.parties[party]
        && running.0.try_wait().expect("it is ours").is_some()
    {
        rig.start(party, "");
        rig.answers(party);
    }
}

fn cases(chosen: impl Fn(usize, &str, usize, &str) -> bool) {
    let mut rig = Rig::up().apart();
    for party in 0..3 {
        rig.start(party, "");
        rig.answers(party);
    }
    let mut n = 0;
    for (at, point) in POINTS.into_iter().enumerate() {
        for party in 0..3 {
            for action in ["kill", "enospc", "eio"] {
                if passes(point, party) && chosen(at, point, party, action) {
                    case(&mut rig, point, party, action);
                    n += 1;
                }
            }
        }
    }
    assert!(n > 0);
    // After the sweep of a restart, every blob has a row.
    for party in 0..3 {
        if let Some(mut running) = rig.parties[party].take() {
            running.signal(rustix::process::Signal::TERM);
            assert!(running.ends_within(Duration::from_secs(15)), "{}", logs(rig.dir.path()));
        }
        rig.start(party, "");
        rig.answers(party);
        let store = rig.store(party);
        let mut statement = store
            .prepare("SELECT blob FROM results UNION SELECT blob FROM parts WHERE stored = 1")
            .expect("SQL");
        let known: BTreeSet<String> =
            statement.query_map([], |row| row.get(0)).expect("rows").collect::<Result<_, _>>().expect("text");
        let there: BTreeSet<String> = std::fs::read_dir(rig.blobs(party))
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(there, known, "party {party}");
    }
}

/// The decider and another party at the two points where an answer matters most.
#[test]
fn kills_around_the_decision_leave_one_end() {
    cases(|_, point, party, action| {
        let decides = matches!(point, "store.before.decision" | "store.after.decision") && party == 0;
        action == "kill" && (decides || (point, party) == ("store.after.prepared", 1))
    });
}

/// Every point, every party, every failure: minutes.
#[test]
#[ignore = "minutes: run by --full"]
fn every_failure_at_every_point_leaves_one_end() {
    cases(|_, _, _, _| true);
}
