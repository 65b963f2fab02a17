//! Each operation against the evaluator: at the edges of numbers, in every form, and with the
//! declared cost.

use super::{check, check_cut, given, text};
use crate::{Cut, Plan, run::PlanRun, test_support::shared};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Tensor, test_support::inputs};
use hushwire_machine::drive::{Lockstep, Place};
use hushwire_plan::{Talk, land};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Addition, Rep3Party, share};
use hushwire_testkit::suite::each_operation;
use std::{collections::BTreeMap, time::Duration};

#[test]
fn bits_of_any_width_follow_an_order() {
    for (width, inner) in [(1, 1), (37, 3), (64, 1), (65, 2), (130, 1)] {
        let row = if inner == 1 { "n".into() } else { format!("n, {inner}") };
        let c = text(&format!(
            "input x: bits({width})[{row}] from m\ninput y: u8[n] from m\ninput z: u32[n] from m\n\
             p = order(y)\noutput a = permute(x, p) to m\noutput b = permute(permute(x, p), invert(p)) to m\n\
             output c = permute(z, p) to m"
        ));
        for n in [0, 1, 70] {
            for plan in [Plan::new, Plan::on_bits] {
                assert!(check(&c, &given(&c, n), plan).is_some(), "{width} {inner} {n}");
            }
        }
    }
}

#[test]
fn each_operation_in_each_form_at_edges() {
    // x and y arrive as bits; p is words, and q is words that also have bits.
    let columns =
        [("u8", 11), ("i16", 11), ("u32", 1), ("i64", 11), ("u37", 11), ("i128", 2), ("u1", 11), ("i64", 0)];
    for plan in [Plan::new, Plan::on_bits] {
        each_operation(&columns, 1, |c, given| check(c, given, plan).is_some());
    }
}

/// The sign of a difference gives the order as long as no difference wraps. It is used up to the
/// last such range, and not beyond.
#[test]
fn comparisons_are_by_the_sign_where_ranges_allow_it() {
    // Each case has the ranges of x and y, and the numbers added to their squares. The flags tell
    // whether x² < y² and y² < x² are computed from the sign.
    let cases = [
        // Squares are in 0 … 121, in the second case also in 0 … 144, whose difference does not fit
        // an i8.
        ("u8", ["0..12", "0..12"], [0, 0], [true, true]),
        ("u8", ["0..12", "0..13"], [0, 0], [false, false]),
        // The differences go up to 127, 128 and 129. There is one more negative number.
        ("u8", ["0..12", "0..1"], [6, 0], [true, true]),
        ("u8", ["0..12", "0..1"], [7, 0], [false, true]),
        ("u8", ["0..1", "0..12"], [0, 7], [true, false]),
        ("u8", ["0..1", "0..12"], [0, 8], [false, false]),
        ("i8", ["-8..9", "-7..8"], [0, 0], [true, true]),
        ("i8", ["-9..10", "-8..9"], [0, 0], [false, false]),
        ("u32", ["0..40000", "0..40000"], [0, 0], [true, true]),
        ("u32", ["0..65536", "0..65536"], [0, 0], [false, false]),
    ];
    for (scalar, [x, y], more, by_sign) in cases {
        for (compare, bounded) in
            [("<", by_sign[0]), ("<=", by_sign[1]), (">", by_sign[1]), (">=", by_sign[0])]
        {
            // Products are words, and reach the ends of their ranges.
            let c = text(&format!(
                "input x: {scalar}[n] in {x} from m\ninput y: {scalar}[n] in {y} from m\n\
                 p = x * x + {}\nq = y * y + {}\noutput c = p {compare} q to m\n",
                more[0], more[1]
            ));
            let plan = Plan::new(&c.bind(&[("n".to_owned(), 5)].into()).unwrap()).unwrap();
            let by_sign = plan.steps.iter().any(|step| matches!(step.talk(), Some(Talk::LessBounded)));
            assert_eq!(by_sign, bounded, "{c}");
            let ends = |range: &str, k: usize| -> Tensor {
                let (low, end) = range.split_once("..").unwrap();
                let [low, high] = [low.parse::<i128>().unwrap(), end.parse::<i128>().unwrap() - 1];
                let all = [[low, low, 0, high, high], [low, 0, low, high, 0]][k];
                let scalar = c.nodes()[0].ty.scalar;
                Tensor::from_numbers(scalar, &[5], all)
            };
            let given = BTreeMap::from([("x".to_owned(), ends(x, 0)), ("y".to_owned(), ends(y, 1))]);
            let cost = check(&c, &given, Plan::new).expect("it runs");
            let many = inputs(&c, 3, 100);
            let of = |body: &str| check(&text(body), &many, Plan::new).expect("it runs");
            if bounded && compare == "<" {
                let free = of(&format!(
                    "input x: {scalar}[n] from m\ninput y: {scalar}[n] from m\n\
                     p = wrapping(x * x)\nq = wrapping(y * y)\noutput c = p < q to m\n"
                ));
                assert!(check(&c, &many, Plan::new).unwrap().bytes_sent < free.bytes_sent);
            }
            assert!(cost.rounds > 0);
        }
    }
}

/// Operations that are rewritten by others. A back end without a rule for them still runs them.
#[test]
fn derived_forms() {
    for expr in [
        "divide(x, x + 1.5)",
        "sqrt(x)",
        "exp(x)",
        "log(x)",
        "sigmoid(x)",
        "erf(x) + softplus(x)",
        "gelu(x) + sigmoid(x)",
        "sin(x) + cos(x)",
        "log_softmax(x) + log_sum_exp(x)",
        "floor(x) + ceil(x) + truncate(x) + round_even(x) + sign(x)",
        "group_sum(v, k)",
        "group_mean(v, k)",
        "compact(group_end(k), group_count(k), rows=3)",
        "median(v)",
        "variance(v)",
        "histogram(k, const(u8[3], [0, 2, 4]))",
        "top_k(v, rows=2)",
        "shift_right(v, k)",
        "clamp(v, -5, 100)",
    ] {
        let text = format!(
            "computation c\nmembers m\nsymbols n\ninput x: fixed(32, 16)[n] from m\ninput k: u8[n] in 0..4 from m\n\
             input v: i64[n] from m\noutput z = {expr} to m\n"
        );
        let c: Computation = text.parse().unwrap();
        for plan in [Plan::new, Plan::on_bits] {
            assert!(check(&c, &inputs(&c, 7, 9), plan).is_some(), "{expr}");
        }
    }
}

/// Bits past the last row may have any value: no party receives them when a value is opened.
#[test]
fn what_stands_past_the_last_row_is_not_opened() {
    let c = text("input x: u8[3] from m\noutput y = reveal(x) to m");
    let plan = Plan::new(&c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let shares = share(&mut prg, &[0xff; 8]).map(|s| vec![s]);
    let mut flights = vec![];
    for (mut party, inputs) in Rep3Party::three(Backend::best()).into_iter().zip(shares) {
        let mut run = PlanRun::new(party.role(), &plan, Cut::whole(), inputs).unwrap();
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        flights.extend(run.wave(&mut party).unwrap().1.into_iter().map(|group| group.begin().unwrap()));
    }
    let mut heard = 0;
    let mut see = |_: Place, message: &mut Vec<u8>| {
        heard += message.len();
        assert!(message.iter().all(|byte| byte >> 3 == 0), "{message:?}");
    };
    Lockstep::new().run_edited(&mut flights, &mut see).unwrap();
    assert_eq!(heard, 3 * 8);
}

/// Rows are partitioned by one bit without comparisons. The cost is exact, unlike that of a sort.
#[test]
fn an_order_by_one_bit_is_a_partition() {
    for rows in [0, 1, 2, 9, 65] {
        for (scalar, by) in [("bool", "f"), ("bool", "desc f"), ("i1", "f"), ("u1", "desc f")] {
            let c = text(&format!(
                "input x: i16[{rows}] from m\ninput f: {scalar}[{rows}] from m\n\
                 p = order({by})\nq = permute(x, p)\noutput y = q to m\noutput z = permute(q, invert(p)) to m"
            ));
            let given = given(&c, rows);
            check(&c, &given, Plan::new).expect("it runs on shares");
            let plan = Plan::new(&c).unwrap();
            assert!(plan.cost(0, Cut::whole()).unwrap().exact);
        }
    }
}

#[test]
fn sorts_between_parties_that_are_far_apart_compare_by_trees() {
    let c = text("input x: u32[n] from m\noutput y = permute(x, order(x)) to m");
    let (n, given) = (17_000, given(&c, 17_000));
    let plan = Plan::new(&c.bind(&[("n".to_owned(), n)].into()).unwrap()).unwrap();
    let spent = |delay| {
        let cut = Cut::new(1, delay);
        let cost = check_cut(&c, &given, Plan::new, Backend::best(), cut).expect("it runs");
        let likely = plan.likely_cost(0, cut).unwrap();
        assert!(
            cost.rounds < 2 * likely.rounds && likely.rounds < 2 * cost.rounds,
            "{likely:?} for {cost:?}"
        );
        cost
    };
    let (near, far) = (spent(Duration::ZERO), spent(Duration::from_millis(20)));
    assert!(3 * far.rounds < 2 * near.rounds, "{far:?} for {near:?}");
    assert!(far.bytes_sent > near.bytes_sent);
}

/// A ring may be wider than its numbers. Carries above the numbers are neither opened nor output.
#[test]
fn what_stands_above_a_number_is_not_opened() {
    let c = text(
        "input x: u4[3] from m\ninput y: u4[3] from m\ns = x + y\noutput z = s to m\noutput w = reveal(s) to m",
    );
    let plan = Plan::new(&c).unwrap();
    assert!(plan.inputs().iter().all(|door| door.addition() == Addition::Words(1)));
    let values = given(&c, 3);
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let inputs = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = inputs.map(|((name, _), door)| shared(&mut prg, &values[name], *door)).collect();
    assert!(
        shares.iter().flatten().flat_map(|s| s.own.iter()).any(|byte| byte >> 4 != 0),
        "in the whole ring"
    );
    let (mut flights, mut runs) = (vec![], vec![]);
    for (p, mut party) in Rep3Party::three(Backend::best()).into_iter().enumerate() {
        let own = shares.iter().map(|s| s[p].clone()).collect();
        let mut run = PlanRun::new(party.role(), &plan, Cut::whole(), own).unwrap();
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        let (wave, groups) = run.wave(&mut party).unwrap();
        flights.extend(groups.into_iter().map(|group| group.begin().unwrap()));
        runs.push((party, run, wave));
    }
    let mut heard = 0;
    let mut see = |_: Place, message: &mut Vec<u8>| {
        heard += message.len();
        assert!(message.iter().all(|byte| byte >> 4 == 0), "{message:?}");
    };
    Lockstep::new().run_edited(&mut flights, &mut see).unwrap();
    assert_eq!(heard, 3 * 3);
    flights.into_iter().try_for_each(land).unwrap();
    for (mut party, mut run, wave) in runs {
        run.end(wave);
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        let outputs = run.outputs();
        assert!(outputs[0].own.iter().chain(outputs[0].next.iter()).all(|byte| byte >> 4 == 0));
    }
}

/// Rows with equal keys become neighbours, and the keys are in a random order. The test's results
/// do not depend on that order: for example, the number of rows before a key's first one. The cost
/// is exact, unlike that of a sort.
#[test]
fn rows_meet_by_tags_of_their_keys() {
    for rows in [1, 2, 9, 65] {
        let c = text(&format!(
            "input x: u16[{rows}] from m\ninput y: u64[{rows}] from m\nk = x & 3\np = meet(k, y & 1, first={})\n\
             s = permute(k, p)\nt = permute(y, p)\nl = permute(s * 0 + 1, p)\n\
             output back = permute(s, invert(p)) to m\noutput all = sum(t) to m\noutput ones = sum(l) to m",
            rows / 2
        ));
        let given = given(&c, rows);
        check(&c, &given, Plan::new).expect("it runs on shares");
        assert!(Plan::new(&c).unwrap().cost(0, Cut::whole()).unwrap().exact);
    }
}
