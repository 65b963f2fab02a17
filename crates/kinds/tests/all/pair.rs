//! Computations of two parties on words, over real links. Plain arithmetic is the oracle.

use crate::common::configs;
use hushwire_block::Wiped;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask, Computed};
use hushwire_ot::Protocol as Extension;
use hushwire_session::{
    Fault, InputPlace, Kind, Member, Observer, Outcome, OutputPlace, Protocol, Task, run,
};
use std::{collections::BTreeMap, sync::Arc, thread};

/// The salaries of three people, two of whom belong to one party.
const SALARIES: &str = include_str!("../../../../examples/compute/salaries.hwc");

/// Runs both parties of a task over TLS. Each brings its inputs, and learns into memory the outputs
/// that `outputs` names for it.
fn run_two(
    task: &ComputeTask,
    inputs: [Vec<(&str, InputPlace)>; 2],
    outputs: [&[&str]; 2],
) -> [Outcome<Computed>; 2] {
    ends_of_two(task, inputs, outputs).map(|end| end.unwrap_or_else(|e| panic!("{e}")))
}

/// Like [`run_two`], whether the run succeeds or not.
pub(crate) fn ends_of_two(
    task: &ComputeTask,
    inputs: [Vec<(&str, InputPlace)>; 2],
    outputs: [&[&str]; 2],
) -> [Result<Outcome<Computed>, Fault>; 2] {
    let mut configs = configs(&task.agreement().members());
    for ((config, inputs), outputs) in configs.iter_mut().zip(inputs).zip(outputs) {
        config.inputs.extend(inputs.into_iter().map(|(name, place)| (name.to_owned(), place)));
        config.outputs.extend(outputs.iter().map(|name| ((*name).to_owned(), OutputPlace::Memory)));
    }
    let made: Vec<Result<Outcome<Computed>, Fault>> = thread::scope(|scope| {
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                run(task, config, &quiet)
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().map(|party| party.join().expect("a party ends")).collect()
    });
    made.try_into().unwrap_or_else(|_| panic!("two parties"))
}

#[test]
fn salaries_between_two() {
    let mut job = ComputeJob::new(Protocol::Two, ComputationSource::Text(SALARIES.to_owned()));
    for (name, party) in [("ada", 0), ("bob", 1), ("cleo", 0)] {
        job.members.insert(name.to_owned(), Member::Party(party));
    }
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    assert!(task.agreement().fields.iter().any(|field| field.text.starts_with("two, ot softspoken4")));
    let pay = |pay: u64| InputPlace::Values(Wiped::new(pay.to_string()));
    let inputs = [vec![("ada_pay", pay(4_100)), ("cleo_pay", pay(4_700))], vec![("bob_pay", pay(5_300))]];
    let outputs: [&[&str]; 2] =
        [&["ada_below", "cleo_below", "sum", "mean_pay"], &["bob_below", "sum", "mean_pay"]];
    let records: Vec<BTreeMap<usize, Vec<u8>>> = run_two(&task, inputs, outputs)
        .into_iter()
        .map(|outcome| outcome.learnt.records.into_iter().collect())
        .collect();
    for records in &records {
        assert_eq!(records[&0], 14_100u64.to_le_bytes());
        assert_eq!(records[&1], 4_700u64.to_le_bytes());
    }
    assert_eq!([&records[0][&2], &records[1][&3], &records[0][&4]], [&vec![1], &vec![0], &vec![0]]);
}

/// A product of private matrices takes OTs in one direction only, and rectifiers of a party's own
/// numbers take none. The party that sends most sends the forecast bytes and a set-up. The OTs are
/// few, so they are made in the same way whether the parties are near or far. Consecutive messages
/// in one direction are one round of a job, and exchanges of a forecast: the product's and the
/// outputs'.
#[test]
fn bytes_and_rounds_of_two_are_as_forecast() {
    let text = "computation c\nmembers a, b\ninput x: i32[1, 300] from a\ninput w: i32[300, 90] from b\n\
                input z: i32[2001] from a\noutput y = wrapping(matmul(wrapping(x), wrapping(w))) to b\n\
                output r = max(z, 0) to b\n";
    for ot in [Extension::SoftSpoken2, Extension::SoftSpoken4] {
        let mut job = ComputeJob::new(Protocol::Two, ComputationSource::Text(text.to_owned()));
        job.ot = Some(ot);
        for (name, party) in [("a", 0), ("b", 1)] {
            job.members.insert(name.to_owned(), Member::Party(party));
        }
        let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
        let bound = task.bound(&BTreeMap::new()).unwrap_or_else(|e| panic!("{e}"));
        let (forecast, _) = bound.forecast(task.chosen(), true).unwrap_or_else(|e| panic!("{e}"));
        let numbers = |n: usize| {
            let numbers = (0..n as i32).flat_map(|i| (i * 7919 - 50_000).to_le_bytes());
            InputPlace::memory(numbers.collect::<Vec<u8>>())
        };
        let inputs = [vec![("x", numbers(300)), ("z", numbers(2001))], vec![("w", numbers(27_000))]];
        let made = run_two(&task, inputs, [&[], &["y", "r"]]);
        let sent = made.iter().map(|outcome| outcome.stats.bytes_sent).max().unwrap_or_default();
        let rounds = made.iter().map(|outcome| outcome.stats.rounds).max().unwrap_or_default();
        // Base OTs, trees of the extensions, and the agreement on the job.
        let set_up = 40_000;
        assert!((forecast.bytes_sent..forecast.bytes_sent + set_up).contains(&sent), "{sent}, {forecast:?}");
        assert!((forecast.rounds - 1..forecast.rounds + 40).contains(&rounds), "{rounds}, {forecast:?}");
    }
}

/// A median of `rows` sums, with `memory` agreed on.
pub(crate) fn median(protocol: Protocol, rows: u64, memory: Option<u64>) -> [Result<Vec<u8>, Fault>; 2] {
    let text = "computation ord\nmembers a, b\nsymbols n\ninput x: u64[n] from a\ninput y: u64[n] from b\n\
                output m = median(x + y) to a\n";
    let mut job = ComputeJob::new(protocol, ComputationSource::Text(text.to_owned()));
    job.memory = memory;
    for (name, party) in [("a", 0), ("b", 1)] {
        job.members.insert(name.to_owned(), Member::Party(party));
    }
    let task = ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"));
    let numbers = |k: u64| {
        InputPlace::memory((0..rows).flat_map(|i| (i * k % 1009).to_le_bytes()).collect::<Vec<u8>>())
    };
    let ends = ends_of_two(&task, [vec![("x", numbers(7919))], vec![("y", numbers(104_729))]], [&["m"], &[]]);
    ends.map(|end| end.map(|outcome| outcome.learnt.records.into_iter().flat_map(|(_, r)| r).collect()))
}

/// A run is refused before anything is opened if it takes more memory than was agreed on, or than
/// the default for lengths that inputs give. Both the protocol on words and the one on circuits do
/// so.
#[test]
fn runs_beyond_their_memory_are_refused() {
    for (protocol, rows, memory) in [
        (Protocol::Gmw, 2_000, Some(1 << 20)),
        (Protocol::Two, 2_000, Some(1 << 20)),
        (Protocol::Two, 2_000, Some(4 << 20)),
    ] {
        for end in median(protocol, rows, memory) {
            let e = end.expect_err("it takes more");
            let words = ["n is 2000 at party", "bring fewer rows, or agree on"];
            // A party that finds it a moment later may hear of it before.
            let found = words.iter().all(|words| e.to_string().contains(words)) && e.kind() == Kind::File;
            assert!(found || e.is_consequence(), "{protocol}: {e}");
        }
    }
}

/// The same rows within enough memory.
#[test]
fn a_median_keeps_to_its_memory() {
    let mut sums: Vec<u64> = (0..2000u64).map(|i| i * 7919 % 1009 + i * 104_729 % 1009).collect();
    sums.sort_unstable();
    let [learnt, _] =
        median(Protocol::Two, 2000, Some(128 << 20)).map(|end| end.unwrap_or_else(|e| panic!("{e}")));
    // The lower of the two sums in the middle.
    assert_eq!(learnt, sums[999].to_le_bytes());
}
