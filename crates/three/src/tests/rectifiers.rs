//! Rectifiers: maxima with 0, with and without shifts and pools.

use super::{check, check_cut};
use crate::{Cut, Plan, prim::OwnTalk};
use hushwire_aes::Backend;
use hushwire_compute::{
    Computation,
    test_support::{Dice, inputs},
};
use hushwire_plan::Talk;

fn computation(scalar: &str, x: [usize; 4], body: &str) -> Computation {
    let text = format!("computation c\nmembers m\ninput a: {scalar}{x:?} from m\nx = a * a\n{body}\n");
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Rectifiers with any reader, after a pool, or both, on numbers that fill their ring and others
/// that do not.
#[test]
fn rectifiers_are_the_evaluators() {
    let mut dice = Dice::new(7);
    for round in 0..60 {
        let mut below = |n: usize| dice.below(n);
        let scalar = ["i8", "i16", "i32", "i64", "i37", "i20", "u16"][round % 7];
        let by = 1 + below(5);
        let [size, stride, more] = [1, 1, 0].map(|least| [least + below(3), least + below(3)]);
        let x = [1 + below(2), 1 + below(3), size[0] + more[0], size[1] + more[1]];
        let around = [0, 1, 2, 3].map(|k| below(size[k % 2]));
        let pool = format!("p = pool_max(x, {size:?}, stride={stride:?}, pad={around:?})");
        for body in [
            format!("y = max(x, 0) >> {by}\noutput z = y * y to m"),
            format!("y = max(0, x) >> {by}\noutput z = y to m"),
            format!("y = max(x, 0)\noutput z = y * y to m\noutput w = y >> {by} to m"),
            format!(
                "y = max(x, 0) >> {by}\nw = max(x + x, 0) >> {}\noutput z = concat(y, w, axis=1) * 3 to m",
                by + 1
            ),
            format!("{pool}\noutput z = max(p, 0) >> {by} to m"),
            format!("{pool}\ny = max(p, 0) >> {by}\noutput z = y * y to m\noutput w = p to m"),
            format!(
                "y = max(x, 0) >> {by}\nz = pool_max(y, {size:?}, stride={stride:?}, pad={around:?})\noutput z = z * z to m"
            ),
            format!(
                "y = max(x, 0) >> {by}\noutput z = pool_min(y, {size:?}, stride={stride:?}, pad={around:?}) to m\noutput w = y - x to m"
            ),
        ] {
            let c = computation(scalar, x, &body);
            is_the_evaluators(&c, round as u64);
        }
    }
}

/// In few rounds, and with the fewest bytes.
fn is_the_evaluators(c: &Computation, seed: u64) {
    let given = inputs(c, seed, 0);
    for cut in [Cut::whole(), Cut::whole().with_few(0)] {
        assert!(check_cut(c, &given, Plan::new, Backend::best(), cut).is_some(), "{c}");
    }
}

/// Windows of rectified numbers, whose steps depend on the cost of rounds.
#[test]
fn windows_in_few_rounds_are_the_evaluators() {
    let mut dice = Dice::new(11);
    for round in 0..40 {
        let mut below = |n: usize| dice.below(n);
        let scalar = ["i8", "i16", "i32", "i64", "i37", "i20"][round % 6];
        let by = 1 + below(5);
        let [size, stride, more] = [1, 1, 0].map(|least| [least + below(4), least + below(3)]);
        let x = [1 + below(2), 1 + below(3), size[0] + more[0], size[1] + more[1]];
        let around = [0, 1, 2, 3].map(|k| below(size[k % 2]));
        let pool = |of: &str| format!("pool_max({of}, {size:?}, stride={stride:?}, pad={around:?})");
        for body in [
            format!("p = {}\ny = max(p, 0) >> {by}\noutput z = y * y to m", pool("x")),
            format!(
                "y = max(x, 0) >> {by}\nw = max(x + x, 0) >> {by}\nv = concat(y, w, axis=1)\nz = {}\noutput u = z * z to m",
                pool("v")
            ),
            format!("y = max(x, 0)\nz = {}\noutput u = z * z to m\noutput w = z to m", pool("y")),
        ] {
            is_the_evaluators(&computation(scalar, x, &body), round as u64);
        }
    }
}

/// If rounds are expensive, a pool of nine elements and its rectifier take few rounds, else few
/// bytes. A run reports the same steps for both plans.
#[test]
fn pools_take_few_rounds_where_rounds_are_dear() {
    let body = "p = pool_max(x, [3, 3], stride=[2, 2], pad=[1, 1, 0, 0])\ny = max(p, 0) >> 13\noutput z = y * y to m";
    let plan = Plan::new(&computation("i32", [1, 64, 16, 16], body)).unwrap();
    let of = |cut: Cut| plan.cost(0, cut).unwrap().cost;
    let [far, near] = [Cut::whole(), Cut::whole().with_few(0)].map(of);
    // A product, a rectifier of five rounds, two levels of four rounds, and a product.
    assert_eq!(far.rounds, 1 + 5 + 2 * 4 + 1);
    assert!(near.rounds > 80 && near.bytes_sent < far.bytes_sent, "{near:?}, {far:?}");
    let least = Cut::whole().with_few(64 * 16 * 16);
    assert_eq!(of(least), far);
    assert!(of(Cut::whole().with_few(64 * 16 * 16 - 1)).rounds > 40, "longer than what is few");
    let waves = plan.wave_costs(0, Cut::whole()).unwrap();
    assert_eq!(waves.iter().map(|(_, cost)| cost.rounds).sum::<u64>(), far.rounds);
    let told: Vec<(usize, usize)> = waves.iter().map(|(leg, _)| plan.told(Cut::whole(), leg.done)).collect();
    let course: Vec<usize> = plan.course().iter().map(|leg| leg.done).collect();
    assert!(
        told.is_sorted()
            && told.iter().all(|(done, whole)| course.contains(done) && *whole == plan.steps.len())
    );
    assert_eq!(
        plan.told(Cut::whole(), plan.at(Cut::whole()).steps.len()),
        (plan.steps.len(), plan.steps.len())
    );
}

/// Numbers that come in a wider ring: as they are, without their lowest bits, and rectified.
#[test]
fn numbers_in_a_wider_ring() {
    for (from, to) in [("i8", "i9"), ("i8", "i64"), ("i16", "i40"), ("i32", "i64"), ("i37", "i64")] {
        for body in [
            "y = x",
            "y = x >> 3",
            "y = max(x, 0) >> 3",
            "y = max(x, 0)",
            "y = reshape(x, [8]) >> 1",
            "y = a",
            "y = max(x, 0) >> 2\noutput u = y * y to m",
            "y = x >> 2\noutput u = y * y to m",
        ] {
            let body = format!(
                "{body}\nw = wrapping(cast(y, {to}))\noutput z = w * w to m\noutput v = cast(w, {from}) to m"
            );
            is_the_evaluators(&computation(from, [1, 2, 2, 2], &body), 3);
        }
    }
}

/// A number that is shifted before it comes in a wider ring is not shifted as words.
#[test]
fn a_shift_and_a_wider_ring_are_one() {
    let bytes = |body: &str| {
        let c = computation("i32", [1, 4, 16, 16], &format!("{body}\noutput z = cast(y, i64) to m"));
        Plan::new(&c).unwrap().cost(0, Cut::whole()).unwrap().cost.bytes_sent
    };
    assert!(bytes("y = x >> 13") < bytes("y = x"), "fewer bits are numbers");
}

/// Maxima with other numbers, or with more zeros than numbers, are not rectifiers. Shifts drop from
/// one bit to all bits.
#[test]
fn what_looks_like_a_rectifier_is_the_evaluators() {
    for scalar in ["i8", "i37"] {
        let bits: usize = scalar[1..].parse().unwrap();
        let mut bodies: Vec<String> = [
            "y = max(x, 1)\noutput z = y * y to m",
            "y = max(-1, x) >> 1\noutput z = y to m",
            "y = max(x, const(SCALAR[1, 2, 2, 2], [0, 0, 0, 4, 0, 0, 0, 0])) >> 1\noutput z = y to m",
            "y = max(x, const(SCALAR[1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 0, 0])) >> 1\noutput z = y to m",
            "s = sum(reshape(x, [8]))\ny = max(s, const(SCALAR[3], [0, 0, 0])) >> 1\noutput z = y to m",
            "y = max(x, 0) >> 1\nw = max(x + x, 0) >> 2\noutput z = concat(w, y, axis=1) to m",
        ]
        .map(|body| body.replace("SCALAR", scalar))
        .into();
        bodies.extend([0, 1, bits - 2, bits - 1].iter().flat_map(|by| {
            [
                format!("y = max(x, 0) >> {by}\noutput z = y to m"),
                format!("y = max(x, 0) >> {by}\noutput z = y * y to m"),
                format!("p = pool_max(x, [2, 2], stride=[1, 1])\noutput z = max(p, 0) >> {by} to m"),
            ]
        }));
        for body in bodies {
            let c = computation(scalar, [1, 2, 2, 2], &body);
            for seed in 0..8 {
                assert!(check(&c, &inputs(&c, seed, 0), Plan::new).is_some(), "{body}");
            }
        }
    }
    let c = computation("i16", [1, 0, 2, 2], "p = pool_max(x, [2, 2])\noutput z = max(p, 0) >> 3 to m");
    assert!(check(&c, &inputs(&c, 1, 0), Plan::new).is_some());
}

/// The bits of ANDs for each row.
fn ands(body: &str) -> u64 {
    let cost = |body: &str| {
        let c = computation("i32", [1, 1, 8, 64], body);
        let plan = Plan::new(&c).unwrap();
        let rectified = plan
            .steps
            .iter()
            .filter(|s| matches!(s.talk(), Some(Talk::Own(OwnTalk::ToBits { rectified: true, .. }))));
        (plan.cost(2, Cut::whole().with_few(0)).unwrap().cost.bytes_sent, rectified.count())
    };
    let ((with, rectifiers), (without, 0)) = (cost(body), cost("output z = x to m")) else {
        panic!("{body}")
    };
    assert!(rectifiers <= 1);
    8 * (with - without) / 512
}

#[test]
fn rectifiers_cost_a_conversion_and_the_bits_that_stay() {
    assert_eq!(ands("output z = max(x, 0) to m"), 31 + 31);
    assert_eq!(ands("output z = max(x, 0) >> 13 to m"), 31 + 18);
    // Neighbours are compared without the 13 bits and a sign, and half as many remain.
    assert_eq!(
        2 * ands("p = pool_max(x, [1, 2], stride=[1, 2])\noutput z = max(p, 0) >> 13 to m"),
        2 * 31 + 2 * 19 + 18
    );
}
