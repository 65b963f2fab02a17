//! Sorts and moves of rows compared with the plain evaluator, their costs, and the values that they
//! open.

use super::{
    random::{check, check_session, plan_of, text},
    session::{own, sessions},
};
use crate::Distance;
use hushwire_compute::{Computation, Tensor, evaluate, test_support::inputs};
use hushwire_machine::Meter;
use hushwire_ot::Protocol;
use hushwire_plan::{Reorder, Talk};

/// A computation on two columns of `n` rows, with many equal keys in `k`.
fn rows(n: usize, ty: &str, body: &str) -> Computation {
    text(&format!(
        "input x: {ty}[{n}] from m\ninput y: {ty}[{n}] from m\ninput k: u2[{n}] from m\ninput f: bool[{n}] from m\n\
         p = x + y\n{body}"
    ))
}

const BODIES: [&str; 12] = [
    "output a = permute(y, order(x)) to m",
    "output a = permute(p, order(p)) to m",
    "output a = permute(f, order(desc x)) to m",
    "o = order(k)\noutput a = permute(x, o) to m\noutput b = permute(permute(y, o), invert(o)) to m",
    "output a = permute(y, order(k, desc x, f)) to m",
    "output a = permute(y, permute(order(x), order(k))) to m",
    "output a = permute(y, invert(permute(order(x), invert(order(k))))) to m",
    "output a = permute(x, order(f)) to m\noutput b = permute(y, order(desc f)) to m",
    "output a = compact(f, p, rows=5) to m\noutput b = compact(x < y, f, rows=40) to m",
    "output a = median(p) to m",
    "output a = reveal(permute(p, order(k))) + x to m",
    "output a = permute(x, reveal(order(k))) to m",
];

/// Keys of one and several words, signed and unsigned. Few rows use a network, and more rows use
/// comparisons.
#[test]
fn rows_come_as_the_evaluator_has_them() {
    let mut compared = 0;
    for (n, ty) in [(1, "i8"), (2, "u64"), (3, "i64"), (20, "i37"), (70, "u64"), (130, "i8"), (90, "u100")] {
        for body in BODIES {
            let c = rows(n, ty, body);
            compared += u32::from(check(&c, &inputs(&c, 7, n), 1));
        }
    }
    assert!(compared > 75, "{compared}");
}

/// Keys that are too wide for one string are sorted part by part.
#[test]
fn wide_keys_and_many() {
    let c = text(
        "input x: u128[70] from m\ninput y: u64[70] from m\ninput z: u64[70] from m\ninput k: u1[70] from m\n\
         o = order(k, y, desc x, z)\noutput a = permute(z, o) to m\noutput b = permute(x, order(x)) to m",
    );
    assert!(check(&c, &inputs(&c, 3, 70), 1));
}

/// A move has its declared cost, message by message. A sort has about its declared cost, and
/// exactly that if all pairs are compared.
#[test]
fn moves_cost_what_is_declared() {
    for (n, body, exact) in [
        (100, "output a = compact(f, p, rows=5) to m\noutput b = permute(x, order(f)) to m", true),
        (3, "output a = permute(y, order(x)) to m", true),
        (300, "output a = permute(y, order(x)) to m", false),
    ] {
        let c = rows(n, "u64", body);
        let (plan, owners) = plan_of(&c, 1).unwrap();
        if n > 64 {
            assert!(plan.moves(), "{body}");
        }
        let given = inputs(&c, 5, 0);
        for distance in [Distance::Near, Distance::Far] {
            let costs = plan.costs(Protocol::SoftSpoken4, distance);
            let spent = sessions(Protocol::SoftSpoken4, |i, party, channel| {
                let meter = Meter::new();
                channel.tap(meter.tap());
                let mut party = party.distance(distance).metered(&meter);
                party.run(channel, &plan, own(&c, &given, &owners, i), &mut |_, _| true).expect("honest");
                (meter.reading().cost(), meter.lane(1))
            });
            for (i, (all, ots)) in spent.into_iter().enumerate() {
                let declared = [costs.all.cost(i), costs.ots.cost(i)];
                if exact {
                    assert_eq!([all, ots], declared, "{body}");
                }
                for (spent, declared) in [all, ots].into_iter().zip(declared) {
                    let near = |a: u64, b: u64| a <= 2 * b + 64 && b <= 2 * a + 64;
                    assert!(near(spent.bytes_sent, declared.bytes_sent), "{spent:?} for {declared:?}");
                    assert!(near(spent.rounds, declared.rounds), "{spent:?} for {declared:?}");
                }
            }
        }
    }
}

/// For few rows a network takes less, for more rows comparisons do.
#[test]
fn few_rows_are_sorted_by_a_network() {
    let kinds = |n: usize| {
        let c = rows(n, "u8", BODIES[0]);
        let plan = plan_of(&c, 1).unwrap().0;
        plan.steps.iter().any(|step| matches!(step.talk(), Some(Talk::Reorder(Reorder::Sort { .. }))))
    };
    assert!(!kinds(2) && kinds(65) && kinds(1000));
}

/// The cost of a median of many rows grows as n log n: twice the rows take little more than twice
/// the OTs.
#[test]
fn sorts_grow_as_n_log_n() {
    let ots = |n: usize| {
        let c = rows(n, "u64", "output a = median(p) to m");
        plan_of(&c, 1).unwrap().0.tally(Distance::Near).ots() as f64
    };
    let (some, more) = (ots(1 << 12), ots(1 << 14));
    // A sorting network takes 4 · (14 / 12)² = 5.4 times as much.
    assert!(more / some < 5.2, "{some} {more}");
}

/// Every sort draws new networks, so two sorts of the same keys open different orders.
#[test]
fn every_sort_is_shuffled_anew() {
    let c = rows(70, "u64", "output a = permute(y, order(x)) to m\noutput b = permute(y, order(x, k)) to m");
    let (plan, owners) = plan_of(&c, 1).unwrap();
    assert!(plan.moves());
    let mut given = inputs(&c, 5, 0);
    let scalar = given["x"].scalar();
    given.insert("x".into(), Tensor::from_words(scalar, &[70], (0..70).collect::<Vec<u128>>()));
    check_session(&c, &plan, &owners, &given);
    let opened = sessions(Protocol::SoftSpoken2, |i, mut party, channel| {
        let mut made = vec![];
        for _ in 0..2 {
            party.run(channel, &plan, own(&c, &given, &owners, i), &mut |_, _| true).expect("honest");
            made.extend(party.opened_orders());
        }
        made
    });
    assert_eq!(opened[0], opened[1], "both open the same");
    let mut orders = opened[0].clone();
    assert_eq!(orders.len(), 4);
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 4, "an order was opened twice");
    assert!(evaluate(&c, &given).is_ok());
}
