//! Workers that wait for another run of their job.

use crate::{
    rig::{Rig, logs},
    support::{LONG, run, until, word, workers},
};
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// The workers of each party.
fn waiting(rig: &Rig) -> Vec<Vec<u32>> {
    let of = |party: usize| workers(rig.parties[party].as_ref().expect("it runs").0.id());
    (0..3).map(of).collect()
}

/// Runs the sample's job, whose result is checked.
fn committed(rig: &Rig) {
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed", "{}", logs(rig.dir.path()));
}

#[test]
fn workers_serve_their_job_again_and_end_with_its_data() {
    let mut rig = Rig::up().apart();
    rig.all_up();
    committed(&rig);
    let first = waiting(&rig);
    assert!(first.iter().all(|workers| workers.len() == 1), "{first:?}");
    for _ in 0..3 {
        committed(&rig);
        assert_eq!(waiting(&rig), first, "the same processes");
    }
    // A worker that is gone is replaced, and the others meet the new one.
    let gone = first[1][0];
    kill_process(Pid::from_raw(gone.cast_signed()).expect("a number"), Signal::KILL).expect("it is ours");
    until(&rig, "the worker is gone", LONG, || !waiting(&rig)[1].contains(&gone));
    committed(&rig);
    let second = waiting(&rig);
    assert_eq!((second[1].len(), second[1].contains(&gone)), (1, false), "{second:?}");
    committed(&rig);
    assert_eq!(waiting(&rig), second);
    // No worker keeps the content key of a deleted data set.
    run(&rig, &format!("data delete {} --to owner.toml", word(&rig.up["sample"]["data"])));
    until(&rig, "workers with that data set end", Duration::from_secs(10), || {
        waiting(&rig).iter().all(Vec::is_empty)
    });
}

#[test]
fn an_operator_can_have_a_process_for_each_attempt() {
    let mut rig = Rig::up().apart();
    for party in 0..3 {
        rig.configure(party, "warm = 0");
    }
    rig.all_up();
    committed(&rig);
    until(&rig, "no worker is left", Duration::from_secs(10), || waiting(&rig).iter().all(Vec::is_empty));
    committed(&rig);
}
