//! The memory of a run, compared with its plan's estimate. Every case is a process of its own,
//! whose peak the operating system reports.
#![cfg(target_os = "linux")]

use hushwire_aes::Backend;
use hushwire_compute::Computation;
use hushwire_machine::{Channel, SessionId};
use hushwire_prg::Seed;
use hushwire_rep3::{Rep3Party, Shares};
use hushwire_testkit::{Transport, case, peak, run_three, took};
use hushwire_three::{Cut, Plan, run};
use std::time::Duration;

/// The cases: a kind of step, the rows, and a computation on columns x and y with these rows.
const CASES: [(&str, u64, &str); 12] = [
    ("products", 1 << 20, "output z = x * y to m"),
    ("sums", 1 << 20, "output z = sum(x * y + x) to m"),
    ("comparisons of bits", 1 << 20, "output z = x < y to m"),
    ("comparisons of numbers", 1 << 19, "p = x * y\noutput z = p < x * x to m"),
    ("choices", 1 << 19, "p = x * y\noutput z = select(x < y, p, x * x) * p to m"),
    ("conversions", 1 << 19, "output z = (x & y) * (x ^ y) to m"),
    ("divisions by two", 1 << 19, "output z = shift_right(x * y, 3) * x to m"),
    ("an opening", 1 << 20, "output z = reveal(x * y) to m"),
    ("a sort", 1 << 17, "output z = permute(y, order(x)) to m"),
    ("rows that are kept", 1 << 18, "output z = compact(x < y, y, rows=9) to m"),
    ("matrices", 1 << 20, "output z = matmul(reshape(x, [1024, 1024]), reshape(y, [1024, 1024])) to m"),
    (
        "a convolution",
        1 << 20,
        "output z = conv2d(reshape(x, [1, 16, 256, 256]), reshape(slice(y, 0..2304), [16, 16, 3, 3]), pad=[1, 1, 1, 1]) to m",
    ),
];

fn plan(case: usize) -> Plan {
    let (_, rows, body) = CASES[case];
    let text = format!(
        "computation c\nmembers m\ninput x: u64[{rows}] from m\ninput y: u64[{rows}] from m\n{body}\n"
    );
    let computation: Computation = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
    Plan::new(&computation).unwrap()
}

fn cut() -> Cut {
    Cut::new(1, Duration::ZERO)
}

/// Runs three parties on shares that are bytes of zeros, since the steps do not depend on values.
/// Returns the memory that all three took.
fn measured(case: usize) -> u64 {
    let (plan, cut) = (plan(case), cut());
    let before = peak();
    run_three(Transport::TcpInsecure, cut.lanes() as u16, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut lanes: Vec<[Channel; 2]> = (0..cut.lanes() as u16)
            .map(|l| [net.channel(l, left, right).unwrap(), net.channel(l, right, left).unwrap()])
            .collect();
        let id = SessionId([3; 16]);
        let mut party = Rep3Party::open(role, Backend::best(), id, Seed::random(), &mut lanes[0][1]).unwrap();
        // The zeros are written one by one, because the system would not allocate pages otherwise.
        let zeros = |bytes: usize| (0..bytes).map(|_| std::hint::black_box(0)).collect();
        let inputs =
            plan.inputs().iter().map(|door| Shares { own: zeros(door.bytes()), next: zeros(door.bytes()) });
        let lanes = lanes.iter_mut().map(<[Channel; 2]>::each_mut).collect();
        run(&mut party, lanes, &plan, cut, inputs.collect(), &mut |_, _| true).unwrap().len()
    });
    peak() - before
}

/// The case for which this process was started. Without a case there is nothing to measure.
#[test]
fn one_case() {
    if let Some(case) = case() {
        println!("took={}", measured(case.parse().unwrap()));
    }
}

/// The most and the least memory taken, as parts of the estimate.
const MOST: f64 = 1.5;
const LEAST: f64 = 0.2;

/// The peaks of separate processes, one for each case: the memory that a party took, and its plan's
/// estimate.
fn compare(cases: impl Iterator<Item = usize>) {
    let mut wrong = vec![];
    for case in cases {
        // A third of the memory that three parties took in one process. It includes what an
        // allocator keeps for each thread.
        let (took, said) =
            (took("one_case", &case.to_string()) as f64 / 3.0, plan(case).memory(cut()) as f64);
        let (name, ratio) = (CASES[case].0, took / said);
        println!("{name}: {:.1} of {:.1} MiB: {ratio:.2}", took / 1_048_576.0, said / 1_048_576.0);
        if !(LEAST..=MOST).contains(&ratio) {
            wrong.push(format!("{name}: {ratio:.2}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_run_takes_what_its_plan_says() {
    compare([0, 2].into_iter());
}

#[test]
#[ignore = "every kind of step takes a minute"]
fn every_kind_of_step_takes_what_its_plan_says() {
    compare(0..CASES.len());
}
