//! Whole computations against the plain evaluator, over OTs from a dealer.

use super::pair::{context, dealt, triples};
use crate::{
    Plan, TwoError,
    form::Form,
    play::Play,
    run::Run,
    talk::{begin, opened, share_bytes},
};
use hushwire_compute::{
    Computation, Tensor, evaluate,
    test_support::{computation, inputs},
};
use hushwire_wire::drive::{Abreast, Lockstep};
use std::collections::BTreeMap;

pub(crate) type Values = BTreeMap<String, Tensor>;

/// The outputs of a run in lockstep; compares what it cost with what the plan says.
pub(crate) fn two(plan: &Plan, own: [Vec<Tensor>; 2]) -> Result<Vec<Tensor>, TwoError> {
    let mut own = own.into_iter();
    let mut runs = [0, 1].map(|i| Run::new(i, plan, own.next().expect("two")).expect("inputs fit"));
    let (mut bytes, mut rounds, mut pieces) = ([32u64; 2], 1, 0);
    loop {
        runs.iter_mut().try_for_each(Run::alone)?;
        let waves = runs.each_mut().map(Run::wave);
        let slots: Vec<usize> = waves[0].iter().map(|(at, _)| *at).collect();
        if slots.is_empty() {
            break;
        }
        for group in plan.groups(&slots) {
            let mut plays: [Vec<Play<'_, Form>>; 2] = Default::default();
            for piece in &group {
                let tally = plan.tally_of(piece);
                let (cots, stocks) = (dealt(tally.cots), triples(tally.triples));
                let context = context().child("two piece", pieces);
                pieces += 1;
                for (i, both) in cots.into_iter().zip(stocks).enumerate() {
                    let reads = &waves[i].iter().find(|(at, _)| *at == piece.0).unwrap().1;
                    let whole = plan.is_whole(piece.0);
                    let reads = reads.iter().map(|f| if whole { f.clone() } else { f.rows(&piece.1) });
                    plays[i].push(begin(i, &context, both, &plan.steps[piece.0], reads.collect())?);
                }
            }
            let mut both = plays.map(Abreast::new);
            let mut all = 0;
            Lockstep::new().run_edited(&mut both, |place, message| {
                bytes[place.party] += message.len() as u64;
                all = all.max(place.round as u64 + 1);
            })?;
            rounds += all;
            for (run, made) in runs.iter_mut().zip(both) {
                for (piece, play) in group.iter().zip(made.into_machines()) {
                    run.land(piece, play.finish());
                }
            }
        }
        runs.iter_mut().for_each(|run| run.end(&slots));
    }
    let [a, b] = runs.map(Run::outputs);
    let mut due = [0u64; 2];
    let mut values = vec![];
    for (output, (a, b)) in plan.outputs.iter().zip(a.iter().zip(&b)) {
        let shares = [a, b].map(|form| share_bytes(form, output.scalar.bits()));
        (0..2).filter(|i| output.to[*i]).for_each(|i| due[1 - i] += shares[0].len() as u64);
        values.push(opened(a, output.scalar, &output.lengths, [&shares[0], &shares[1]]));
    }
    let tally = plan.tally();
    assert_eq!(tally.bytes, [0, 1].map(|i| bytes[i] + due[i]), "declared bytes");
    assert_eq!(tally.rounds, rounds + u64::from(due != [0, 0]), "declared rounds");
    Ok(values)
}

/// A computation without symbols, with inputs dealt to the parties in turn, or all to one.
pub(crate) fn plan_of(bound: &Computation, turn: usize) -> Result<(Plan, Vec<usize>), TwoError> {
    let owners: Vec<usize> = (0..bound.inputs().count()).map(|k| (k * turn + turn / 2) % 2).collect();
    let learns: Vec<[bool; 2]> =
        (0..bound.outputs().len()).map(|k| [[true, true], [true, false], [false, true]][k % 3]).collect();
    Ok((Plan::new(bound, &owners, &learns)?, owners))
}

/// Whether two parties gave what the evaluator gives; false where either refuses.
pub(crate) fn check(c: &Computation, given: &Values, turn: usize) -> bool {
    let Ok(expected) = evaluate(c, given) else { return false };
    let bound = c.bind(&c.symbols_of(given).unwrap()).unwrap();
    let (plan, owners) = match plan_of(&bound, turn) {
        Ok(plan) => plan,
        Err(TwoError::Compute(_)) => return false,
        Err(e) => panic!("{e}\n{c}"),
    };
    let mut own: [Vec<Tensor>; 2] = Default::default();
    bound.inputs().zip(&owners).for_each(|((name, _), owner)| own[*owner].push(given[name].clone()));
    let made = two(&plan, own).unwrap_or_else(|e| panic!("{e}\n{c}"));
    for (output, made) in bound.outputs().iter().zip(made) {
        let expected = &expected[&output.name];
        assert!(made == *expected, "{}: {made:?} for {expected:?}\n{c}", output.name);
    }
    true
}

#[test]
fn random_computations() {
    let mut compared = 0;
    for seed in 0..120 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, [0, 1, 2, 3, 9, 17][seed as usize % 6]);
        compared += u32::from(check(&c, &given, 1 + seed as usize % 2));
    }
    assert!(compared > 60, "{compared}");
}

/// A computation of one member's numbers.
pub(crate) fn text(body: &str) -> Computation {
    let text = format!("computation c\nmembers m\n{body}\n");
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn each_operation_on_numbers_and_on_bits() {
    let exprs = [
        "p + x",
        "x - p",
        "p * q",
        "-p",
        "p < q",
        "p <= x",
        "p > q",
        "p >= q",
        "p == q",
        "p != x",
        "x < 3",
        "select(x < y, p, q)",
        "select(p == q, p, 7)",
        "p >> 3",
        "x >> 3",
        "p << 2",
        "abs(p)",
        "min(p, x)",
        "max(p, q)",
        "p / 3",
        "p % 5",
        "sum(p)",
        "mean(p)",
        "min_of(x)",
        "max_of(p)",
        "argmin(x)",
        "argmax(p)",
        "prefix_sum(x)",
        "matmul(p, q)",
        "slice(concat(p, x), 3..9)",
        "p + reveal(sum(q))",
        "permute(p, order(y))",
        "count(p == q)",
        "all(p == p)",
        "any(x < y)",
        "compact(x < y, p, rows=5)",
        "max(p, 0)",
        "x & y",
    ];
    for ty in ["u8", "i8", "i37", "u64", "i64", "i100"] {
        for expr in exprs {
            for n in [9, 1] {
                if expr.starts_with("slice") && n < 5 || ty == "i100" && n > 1 {
                    continue;
                }
                let c = text(&format!(
                    "input x: {ty}[{n}] from m\ninput y: {ty}[{n}] from m\np = x * y\nq = select(y < x, x, y)\n\
                     output a = {expr} to m"
                ));
                assert!(check(&c, &inputs(&c, 7, n), 1), "{ty} {expr} {n}");
            }
        }
    }
}
