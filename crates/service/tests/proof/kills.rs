//! Kills of daemons and workers at random moments while jobs are submitted.

use crate::{
    rig::{Rig, logs},
    support::{LONG, Lots, number, run, until, workers},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{collections::BTreeMap, thread, time::Duration};

/// A job that was sent to some of the parties, and its name once a party has taken it.
#[derive(Default)]
struct Sent {
    id: Option<String>,
    at: [bool; 3],
}

/// Sends every job to the parties that have not taken it.
fn send(rig: &Rig, jobs: &mut BTreeMap<String, Sent>) {
    let body = rig.job();
    for (key, sent) in jobs.iter_mut() {
        for party in 0..3 {
            if sent.at[party] {
                continue;
            }
            if let Some(answer) = rig.submit_to(party, key, &body)
                && answer.status.is_success()
            {
                sent.at[party] = true;
                sent.id = answer.json()["id"].as_str().map(str::to_owned);
            }
        }
    }
}

fn ended(rig: &Rig, job: &str) -> Option<Vec<Value>> {
    let seen: Vec<_> = (0..3).filter_map(|party| rig.look(party, job)).collect();
    let ends = |view: &Value| matches!(view["state"].as_str(), Some("committed" | "failed"));
    (seen.len() == 3 && seen.iter().all(ends)).then_some(seen)
}

fn random_kills(kills: u64, seed: u64) {
    eprintln!("{kills} kills by the seed {seed}");
    let (mut rig, mut lots) = (Rig::up().apart(), Lots(seed));
    rig.all_up();
    let mut jobs: BTreeMap<String, Sent> = BTreeMap::new();
    let (mut ends, mut hit) = (BTreeMap::<String, u64>::new(), [0u64; 2]);
    let mut settle = |rig: &Rig, jobs: &mut BTreeMap<String, Sent>| {
        jobs.retain(|_, sent| {
            let Some(id) = sent.id.as_deref().filter(|_| sent.at == [true; 3]) else { return true };
            let Some(seen) = ended(rig, id) else { return true };
            *ends.entry(rig.one_end(id, &seen)).or_default() += 1;
            false
        });
        ends.clone()
    };
    for n in 0..kills {
        // A few jobs are always running.
        while jobs.len() < 3 {
            jobs.insert(Rig::fresh_key(), Sent::default());
        }
        send(&rig, &mut jobs);
        thread::sleep(Duration::from_millis(lots.below(700)));
        let victim = lots.below(3) as usize;
        let daemon = rig.parties[victim].as_ref().map_or(0, |running| running.0.id());
        let its = workers(daemon);
        if lots.below(2) == 0 && !its.is_empty() {
            let pid = its[lots.below(its.len() as u64) as usize];
            // The worker may have ended meanwhile.
            let _ = kill_process(Pid::from_raw(pid.cast_signed()).expect("a number"), Signal::KILL);
            hit[1] += 1;
        } else {
            rig.kill(victim);
            thread::sleep(Duration::from_millis(lots.below(300)));
            rig.start(victim, "");
            rig.answers(victim);
            hit[0] += 1;
        }
        for sent in jobs.values() {
            sent.id.iter().for_each(|id| rig.nothing_is_out_before_the_decision(id));
        }
        let so_far = settle(&rig, &mut jobs);
        if n % 10 == 9 {
            eprintln!("after {} kills: {so_far:?}", n + 1);
        }
    }
    let mut last = BTreeMap::new();
    until(&rig, "every job has an end", LONG * 2, || {
        send(&rig, &mut jobs);
        last = settle(&rig, &mut jobs);
        jobs.is_empty()
    });
    eprintln!("{} daemons and {} workers were killed: {last:?}", hit[0], hit[1]);
    assert!(last.get("committed") > Some(&0), "{last:?}{}", logs(rig.dir.path()));
    rig.restart_and_compare_blobs();
    run(&rig, "audit verify --to auditor.toml");
}

/// A few of the kills of the test below.
#[test]
fn some_random_kills_leave_one_end() {
    random_kills(4, 7);
}

/// `HUSHWIRE_KILLS` is the number of kills, and `HUSHWIRE_SEED` draws them.
#[test]
#[ignore = "minutes: run by --full"]
fn two_hundred_random_kills_leave_one_end() {
    random_kills(number("HUSHWIRE_KILLS", 200), number("HUSHWIRE_SEED", 1));
}
