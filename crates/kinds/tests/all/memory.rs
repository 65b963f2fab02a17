//! The memory of computations as circuits, compared with the agreed limit. Every case runs in a
//! process of its own, whose peak the system reports.
#![cfg(target_os = "linux")]

use crate::common::configs;
use hushwire_kinds::{ComputationSource, ComputeJob, ComputeTask};
use hushwire_session::{InputPlace, Member, Observer, OutputPlace, Protocol, Task, run};
use hushwire_testkit::{case, peak, took};
use std::{collections::BTreeMap, sync::Arc, thread};

/// Operations, and rows.
const CASES: [(&str, u64); 9] = [
    ("x * y", 3000),
    ("x + y", 40_000),
    ("select(x < y, x, y)", 20_000),
    ("permute(y, order(x))", 400),
    ("sum(x * y)", 2000),
    ("x / y", 300),
    ("compact(x < y, y, rows=9)", 1000),
    ("scan_max(x < y, x)", 2000),
    ("median(x + y)", 400),
];

/// `authgarble` is not among them: its preprocessing takes more than a circuit's bits
/// (docs/jobs.md).
const PROTOCOLS: [Protocol; 2] = [Protocol::Gmw, Protocol::Yao];

/// The bytes that a job counts for a circuit's bit.
const BIT: u64 = 32;

/// The memory that a process takes for messages and buffers in every computation.
const SLACK: u64 = 12 << 20;

fn task(protocol: Protocol, operation: &str, rows: u64, memory: Option<u64>) -> ComputeTask {
    let text = format!(
        "computation c\nmembers a, b\ninput x: u32[{rows}] from a\ninput y: u32[{rows}] from b\noutput z = {operation} to a\n"
    );
    let mut job = ComputeJob::new(protocol, ComputationSource::Text(text));
    job.memory = memory;
    for (name, party) in [("a", 0), ("b", 1)] {
        job.members.insert(name.to_owned(), Member::Party(party));
    }
    ComputeTask::new(&job).unwrap_or_else(|e| panic!("{e}"))
}

/// The bytes of memory that the job must agree on for its circuit's bits.
fn needed(protocol: Protocol, operation: &str, rows: u64) -> u64 {
    let bound =
        task(protocol, operation, rows, None).bound(&BTreeMap::new()).unwrap_or_else(|e| panic!("{e}"));
    let program = hushwire_compute::circuits::program(bound.rest()).unwrap_or_else(|e| panic!("{e}"));
    BIT * program.registers() as u64
}

fn run_both(task: &ComputeTask, rows: u64) -> Result<(), String> {
    let mut configs = configs(&task.agreement().members());
    for (config, name) in configs.iter_mut().zip(["x", "y"]) {
        let numbers: Vec<u8> = (0..rows as u32).flat_map(|i| (i * 7919 % 1009 + 1).to_le_bytes()).collect();
        config.inputs.insert(name.to_owned(), InputPlace::memory(numbers));
    }
    configs[0].outputs.insert("z".to_owned(), OutputPlace::Memory);
    thread::scope(|scope| {
        let running = configs.into_iter().map(|config| {
            scope.spawn(move || {
                let quiet: Observer = Arc::new(|_| {});
                run(task, config, &quiet).map(drop).map_err(|e| e.to_string())
            })
        });
        let running: Vec<_> = running.collect();
        running.into_iter().try_for_each(|party| party.join().expect("a party ends"))
    })
}

/// Runs the case that this process was started for. Without one there is nothing to measure.
#[test]
fn one_case() {
    let Some(case) = case() else { return };
    let numbers: Vec<u64> = case.split(' ').map(|n| n.parse().expect("a number")).collect();
    let (protocol, (operation, _), rows) =
        (PROTOCOLS[numbers[0] as usize], CASES[numbers[1] as usize], numbers[2]);
    run_both(&task(protocol, "x + y", 16, None), 16).expect("an honest run");
    let before = peak();
    let memory = needed(protocol, operation, rows);
    run_both(&task(protocol, operation, rows, Some(memory)), rows).expect("an honest run within its memory");
    println!("took={}", peak() - before);
}

/// Starts a process for each case, and checks that no party took more memory than was agreed on.
fn compare(cases: impl Iterator<Item = (usize, usize, u64)>) {
    let mut wrong = vec![];
    for (p, case, rows) in cases {
        let (protocol, (operation, _)) = (PROTOCOLS[p], CASES[case]);
        let took = took("memory::one_case", &format!("{p} {case} {rows}")) / 2;
        let may = needed(protocol, operation, rows);
        let said = format!("{protocol}, {rows} rows of {operation}: {} of {} KiB", took >> 10, may >> 10);
        println!("{said}");
        if took > may + SLACK {
            wrong.push(said);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_circuit_takes_what_it_may() {
    compare((0..PROTOCOLS.len()).map(|p| (p, 0, 400)));
}

#[test]
#[ignore = "every operation of every protocol takes minutes"]
fn every_operation_takes_what_it_may() {
    let sizes = |case: usize| [CASES[case].1, CASES[case].1 / 4];
    let cases = (0..CASES.len()).flat_map(|case| sizes(case).map(|rows| (case, rows)));
    compare(cases.flat_map(|(case, rows)| (0..PROTOCOLS.len()).map(move |p| (p, case, rows))));
}

/// A circuit that has more bits than the memory holds is refused.
#[test]
fn a_circuit_beyond_its_memory_is_refused() {
    for protocol in PROTOCOLS {
        let memory = needed(protocol, "x * y", 100) - BIT;
        let refused = run_both(&task(protocol, "x * y", 100, Some(memory)), 100).expect_err("it takes more");
        assert!(refused.contains("as a circuit the computation has more than"), "{refused}");
    }
}
