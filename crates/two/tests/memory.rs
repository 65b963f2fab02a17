//! The memory of a run, compared with its plan's estimate. Every case is a process of its own,
//! whose peak the operating system reports.
#![cfg(target_os = "linux")]

use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor};
use hushwire_machine::{Channel, PartyId, inproc};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use hushwire_testkit::{case, peak, took};
use hushwire_two::{ArithmeticParty, Distance, Plan, Products};
use std::{thread, time::Duration};

/// The cases: a kind of step, the rows, and a computation on columns x and y with these rows. Each
/// also runs with a quarter of the rows.
const CASES: [(&str, u64, &str); 19] = [
    ("products", 1 << 18, "output z = x * y to m"),
    ("a sort", 1 << 13, "output z = permute(y, order(x)) to m"),
    ("a median", 1 << 13, "output z = median(x + y) to m"),
    ("sums", 1 << 20, "output z = sum(x + y) to m"),
    ("comparisons", 1 << 17, "output z = x < y to m"),
    ("comparisons of products", 1 << 17, "p = x * y\noutput z = p == x * x to m"),
    ("choices", 1 << 18, "p = x + y\noutput z = select(x < y, p, x) to m"),
    ("conversions", 1 << 17, "output z = (x & y) * (x ^ y) to m"),
    ("bits", 1 << 19, "output z = (x & y) ^ (x | y) to m"),
    ("shifts", 1 << 17, "output z = shift_right(x + y, 3) * x to m"),
    ("an opening", 1 << 19, "output z = reveal(x + y) to m"),
    ("divisions", 1 << 13, "output z = x / 3 + y to m"),
    ("the greatest", 1 << 17, "output z = max_of(x + y) to m"),
    ("the place of the least", 1 << 16, "output z = argmin(x + y) to m"),
    ("rows that are kept", 1 << 15, "output z = compact(x < y, y, rows=9) to m"),
    ("a partition", 1 << 15, "output z = permute(y, order(x < y)) to m"),
    (
        "copies and pieces",
        1 << 19,
        "p = concat(x, y)\noutput z = slice(p, 7..99) to m\noutput w = prefix_sum(p) to m",
    ),
    ("scans", 1 << 11, "output z = scan_max(x < y, x) to m"),
    ("matrices", 1 << 14, "output z = matmul(reshape(x, [128, 128]), reshape(y, [128, 128])) to m"),
];

fn plan(body: &str, rows: u64) -> Plan {
    let text = format!(
        "computation c\nmembers m\ninput x: u64[{rows}] from m\ninput y: u64[{rows}] from m\n{body}\n"
    );
    let computation: Computation = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
    let learns = vec![[true, false]; computation.outputs().len()];
    Plan::with(&computation, &[0, 1], &learns, Products::Ot).unwrap()
}

/// Runs two parties on threads. Returns the memory after a first run with few rows, and the total.
fn measured(body: &str, rows: u64) -> [u64; 2] {
    let first = plan("output z = x * y to m", 64);
    let ids = [PartyId(0), PartyId(1)];
    let nets = inproc::mesh_capped(&ids, 2, Duration::from_secs(600), usize::MAX);
    let (first, before) = (&first, std::sync::Barrier::new(2));
    let before = &before;
    let told: Vec<u64> = thread::scope(|scope| {
        let parties = nets.into_iter().enumerate().map(|(i, mut net)| {
            scope.spawn(move || {
                let peer = Some(ids[1 - i]);
                let lanes = [0, 1].map(|lane| net.channel(lane, peer, peer).expect("a lane"));
                let [mut channel, ots]: [Channel; 2] = lanes;
                let context = Context { sid: Sid([3; 32]), backend: Backend::best() };
                let party = ArithmeticParty::open(ots, i, &context, Protocol::SoftSpoken4, &Seed::random());
                let mut party = party.expect("a set-up").ahead(true);
                let scalar = hushwire_compute::Scalar::unsigned(64);
                let own = |rows: u64| {
                    let numbers = (0..rows).map(|i| u128::from(i * 7 % 1000));
                    vec![Tensor::from_words(scalar, &[rows as usize], numbers.collect::<Vec<_>>())]
                };
                party.run(&mut channel, first, own(64), &mut |_, _| true).expect("an honest run");
                before.wait();
                let began = peak();
                before.wait();
                // Each party has its own plan, as in separate processes.
                let plan = plan(body, rows);
                party.run(&mut channel, &plan, own(rows), &mut |_, _| true).expect("an honest run");
                began
            })
        });
        let parties: Vec<_> = parties.collect();
        parties.into_iter().map(|party| party.join().expect("it ends")).collect()
    });
    [told[0], peak()]
}

/// The case for which this process was started. Without a case there is nothing to measure.
#[test]
fn one_case() {
    if let Some(case) = case() {
        let (case, rows) = case.split_once(' ').expect("a case and its rows");
        let [before, after] = measured(CASES[case.parse::<usize>().unwrap()].2, rows.parse().unwrap());
        println!("took={}", after - before);
    }
}

/// The most memory taken, as a multiple of the estimate. It includes what an allocator keeps for
/// each thread.
const MOST: f64 = 1.25;
const SLACK: u64 = 4 << 20;

/// The peaks of separate processes, one for each case: the memory that a party took, and its plan's
/// estimate.
fn compare(cases: impl Iterator<Item = (usize, u64)>) {
    let mut wrong = vec![];
    for (case, rows) in cases {
        // Half of the memory that two parties took in one process.
        let took = took("one_case", &format!("{case} {rows}")) / 2;
        let (name, _, body) = CASES[case];
        let stated = plan(body, rows).memory(Distance::Near);
        let mib = |bytes: u64| bytes as f64 / 1_048_576.0;
        println!(
            "{name}, {rows} rows: {:.1} of {:.1} MiB: {:.2}",
            mib(took),
            mib(stated),
            took as f64 / stated as f64
        );
        if took > (stated as f64 * MOST) as u64 + SLACK {
            wrong.push(format!("{name}, {rows} rows: {:.1} of {:.1} MiB", mib(took), mib(stated)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn sizes(case: usize) -> [(usize, u64); 2] {
    let rows = CASES[case].1;
    // A matrix has the square of the rows.
    [(case, rows), (case, if case == CASES.len() - 1 { rows } else { rows / 4 })]
}

#[test]
fn a_run_takes_what_its_plan_says() {
    compare([(0, 1 << 16), (0, 1 << 14), (1, 1 << 9), (1, 1 << 8)].into_iter());
}

#[test]
#[ignore = "every kind of step takes minutes"]
fn every_kind_of_step_takes_what_its_plan_says() {
    compare((0..CASES.len()).flat_map(sizes));
}

/// An estimate grows with the rows. For four times the rows it is about four times as large, or
/// less if pieces bound it.
#[test]
fn statements_grow_with_rows() {
    for (name, _, body) in &CASES[..CASES.len() - 1] {
        let stated = |rows: u64| plan(body, rows).memory(Distance::Near);
        let (some, more) = (stated(1 << 9), stated(1 << 11));
        assert!(some < more && more <= 6 * some, "{name}: {some} and {more}");
    }
}
