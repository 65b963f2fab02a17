//! Whole computations compared with the plain evaluator, over OTs from a dealer.

use super::{
    pair::{context, dealt_again, triples},
    session::{own, sessions},
};
use crate::{
    Distance, Plan, Products, TwoError,
    encrypted::{LayerJob, LayerKeys},
    form::{StepValue, WordShare},
    plan::BEGIN,
    prim::{OwnTalk, StepWay, way},
    run::PlanRun,
    runtime::Supplies,
    talk::{opened, share_bytes},
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_compute::{Computation, Tensor, evaluate, test_support::inputs};
use hushwire_machine::drive::Lockstep;
use hushwire_ot::Protocol;
use hushwire_plan::{Talk, land};
use hushwire_prg::Seed;
use hushwire_testkit::suite;
pub(crate) use hushwire_testkit::suite::{Values, computation_of as text};

/// The outputs of a run in lockstep. Its cost is compared with the plan's.
pub(crate) fn two(plan: &Plan, own: [Vec<Tensor>; 2]) -> Result<Vec<Tensor>, TwoError> {
    let _watch = registry::watch();
    let mut own = own.into_iter();
    let mut runs = [0, 1].map(|i| PlanRun::new(i, plan, own.next().expect("two")).expect("inputs fit"));
    let (mut bytes, mut rounds, mut pieces) = ([BEGIN as u64; 2], 1, 0);
    let mut keys: [LayerKeys; 2] = Default::default();
    loop {
        runs.iter_mut().try_for_each(PlanRun::alone)?;
        let waves = runs.each_mut().map(PlanRun::wave);
        let slots: Vec<usize> = waves[0].extents().iter().map(|extent| extent.at).collect();
        if slots.is_empty() {
            break;
        }
        for group in plan.groups(&slots, Distance::Near) {
            if let StepWay::Encrypted(layer) = way(&plan.steps[group[0].0]) {
                let weights = waves.each_ref().map(|wave| {
                    let reads = wave.task(group[0].0).whole();
                    (reads[0].words().own.clone(), reads[1].words().own.clone())
                });
                let jobs: Vec<LayerJob<'_>> = weights
                    .iter()
                    .map(|(weights, x)| LayerJob {
                        linear: &layer.linear,
                        evaluator: layer.evaluator,
                        weights,
                        kept: None,
                        x,
                        threads: 1,
                    })
                    .collect();
                let mut plays = vec![];
                for (i, job) in jobs.iter().enumerate() {
                    let seed = Seed::from_bytes([i as u8; 16]);
                    plays.push(job.begin(i, Backend::best(), &seed, &mut keys[i]));
                }
                let mut all = 0;
                Lockstep::new().run_edited(&mut plays, |place, message| {
                    bytes[place.party] += message.len() as u64;
                    all = all.max(place.round as u64 + 1);
                })?;
                rounds += all;
                for (i, play) in plays.into_iter().enumerate() {
                    let made = jobs[i].end(play, &mut keys[i]);
                    let form = StepValue::Words(WordShare::new(layer.linear.ring(), made));
                    waves[i].task(group[0].0).put(&group[0].1, form);
                }
                continue;
            }
            let mut both = [vec![], vec![]];
            for piece in &group {
                let tally = plan.tally_of(piece);
                let (cots, stocks) = (dealt_again(pieces, tally.cots), triples(pieces, tally.triples));
                let context = context().child("two piece", pieces);
                pieces += 1;
                for (index, ots) in cots.into_iter().zip(stocks).enumerate() {
                    both[index].push((piece.clone(), Supplies { index, context, ots }));
                }
            }
            let [a, b] = both;
            let mut both = [waves[0].group(a).begin()?, waves[1].group(b).begin()?];
            let mut all = 0;
            Lockstep::new().run_edited(&mut both, |place, message| {
                bytes[place.party] += message.len() as u64;
                all = all.max(place.round as u64 + 1);
            })?;
            rounds += all;
            both.into_iter().try_for_each(land)?;
        }
        runs.iter_mut().zip(waves).for_each(|(run, wave)| run.end(wave));
    }
    let [a, b] = runs.map(PlanRun::outputs);
    let mut due = [0u64; 2];
    let mut values = vec![];
    for (output, (a, b)) in plan.outputs.iter().zip(a.iter().zip(&b)) {
        let shares = [a, b].map(|form| share_bytes(form, output.scalar.bits()));
        (0..2).filter(|i| output.to[*i]).for_each(|i| due[1 - i] += shares[0].len() as u64);
        values.push(opened(a, output.scalar, &output.lengths, [&shares[0], &shares[1]]));
    }
    let tally = plan.tally(Distance::Near);
    assert_eq!(tally.bytes, [0, 1].map(|i| bytes[i] + due[i]), "declared bytes");
    assert_eq!(tally.rounds, rounds + u64::from(due != [0, 0]), "declared rounds");
    Ok(values)
}

/// A computation without symbols. Its inputs belong to the parties in turn, or all to one party.
pub(crate) fn plan_of(bound: &Computation, turn: usize) -> Result<(Plan, Vec<usize>), TwoError> {
    let owners: Vec<usize> = (0..bound.inputs().count()).map(|k| (k * turn + turn / 2) % 2).collect();
    let learns: Vec<[bool; 2]> =
        (0..bound.outputs().len()).map(|k| [[true, true], [true, false], [false, true]][k % 3]).collect();
    Ok((Plan::new(bound, &owners, &learns)?, owners))
}

/// Whether two parties and the evaluator have equal results; false if either refuses.
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
    if plan.moves() {
        check_session(&bound, &plan, &owners, given);
        return true;
    }
    let made = two(&plan, own).unwrap_or_else(|e| panic!("{e}\n{c}"));
    for (output, made) in bound.outputs().iter().zip(made) {
        let expected = &expected[&output.name];
        assert!(made == *expected, "{}: {made:?} for {expected:?}\n{c}", output.name);
    }
    true
}

/// The same over channels. Steps that move rows take OTs during the run.
pub(crate) fn check_session(c: &Computation, plan: &Plan, owners: &[usize], given: &Values) {
    let expected = evaluate(c, given).expect("a result");
    let made = sessions(Protocol::SoftSpoken4, |i, mut party, channel| {
        let mine = own(c, given, owners, i);
        party.run(channel, plan, mine, &mut |_, _| true).unwrap_or_else(|e| panic!("{e}\n{c}"))
    });
    for (i, made) in made.into_iter().enumerate() {
        let due = c.outputs().iter().zip(&plan.outputs).filter(|(_, of)| of.to[i]);
        for ((output, _), made) in due.zip(made) {
            assert!(
                made == expected[&output.name],
                "{}: {made:?} for {:?}\n{c}",
                output.name,
                expected[&output.name]
            );
        }
    }
}

#[test]
fn random_computations() {
    let mut turn = 0;
    suite::random_computations(120, |c, given| {
        turn += 1;
        check(c, given, 1 + (turn - 1) % 2)
    });
}

#[test]
fn each_operation_on_numbers_and_on_bits() {
    let columns =
        [("u8", 9), ("i8", 9), ("i37", 9), ("u64", 9), ("i64", 9), ("i100", 1), ("u8", 1), ("i64", 1)];
    suite::each_operation(&columns, 4, |c, given| check(c, given, 1));
}

#[test]
fn the_same_is_computed_once_and_what_nobody_reads_never() {
    let of = |lines: &str| {
        let c = text(&format!(
            "input f: bool[40] from m\ninput x: u8[40] from m\ninput y: u8[40] from m\n{lines}"
        ));
        assert!(check(&c, &inputs(&c, 6, 0), 1), "{lines}");
        let plan = plan_of(&c, 1).expect("a plan").0;
        (plan.steps.len(), plan.tally(Distance::Near).ots())
    };
    let alone = of("output z = x & y to m");
    assert_eq!(of("w = wrapping(x) * wrapping(y)\nv = w < y\noutput z = x & y to m"), alone);
    // Two columns are copied down by flags that are picked and joined only once.
    let one = of("output a = copy_down(f, x & 3) to m");
    let both = of("output a = copy_down(f, x & 3) to m\noutput b = copy_down(f, y & 3) to m");
    assert!(both.0 < 2 * one.0 && both.1 < 2 * one.1, "{both:?} of two, {one:?} of one");
}

/// Bits are joined by one circuit, and copies of few bits are made on bits. So neither waits for
/// the levels of other steps.
#[test]
fn joins_and_copies_take_few_rounds() {
    let rounds = |line: &str| {
        let c = text(&format!(
            "input f: bool[131] from m\ninput x: u8[131] from m\ninput y: u8[131] from m\n\
             p = wrapping(x * y)\noutput q = p < y to m\noutput a = {line} to m"
        ));
        assert!(check(&c, &inputs(&c, 6, 0), 1), "{line}");
        let tally = plan_of(&c, 1).expect("a plan").0.tally(Distance::Near);
        (tally.rounds, tally.ots())
    };
    let figures = ["any(f)", "any(x < y)", "copy_down(f, x)", "copy_down(f, p)"].map(rounds);
    // On words, a copy would take 32 or 34 rounds of this run, and 5,637 OTs.
    for ((rounds, ots), most) in
        figures.into_iter().zip([(16, 5_200), (16, 9_000), (22, 9_500), (26, 18_000)])
    {
        assert!(rounds <= most.0 && ots <= most.1, "{figures:?}");
    }
}

/// Layers with the weights of either party, by OT and under encryption: kernels of all kinds,
/// groups, strides, padding, several images, matrices on either side. Rings include some in which
/// encryption has room, and one in which it has none.
#[test]
fn layers_of_one_partys_weights() {
    let layers = [
        ("[2, 2, 6, 5]", "[3, 2, 3, 3]", "conv2d(wrapping(x), wrapping(w), pad=[1, 0, 2, 1])"),
        ("[1, 3, 7, 9]", "[4, 3, 2, 3]", "conv2d(wrapping(x), wrapping(w), stride=[2, 3])"),
        ("[2, 4, 5, 5]", "[6, 2, 1, 1]", "conv2d(wrapping(x), wrapping(w), stride=[2, 2], groups=2)"),
        ("[1, 1, 1, 1]", "[2, 1, 1, 1]", "conv2d(wrapping(x), wrapping(w), pad=[1, 1, 1, 1])"),
        ("[3, 4]", "[4, 5]", "matmul(wrapping(x), wrapping(w))"),
        ("[1, 20]", "[20, 3]", "matmul(wrapping(x), wrapping(w))"),
        ("[4, 3]", "[2, 4]", "matmul(wrapping(w), wrapping(x))"),
    ];
    for (x, w, layer) in layers {
        for ring in [32, 40, 64] {
            let c = text(&format!(
                "input x: i{ring}{x} from m\ninput w: i{ring}{w} from m\ny = {layer}\noutput a = max(y, 0) to m\noutput b = y + y to m"
            ));
            // The weights are as large as a layer of 40 bits allows.
            let mut given = inputs(&c, 5, 0);
            for of in ["x", "w"].into_iter().filter(|_| ring == 40) {
                let (scalar, lengths) = (given[of].scalar(), given[of].lengths().to_vec());
                let n = lengths.iter().product::<usize>() as i128;
                let numbers = (0..n).map(|i| (i - n / 2) * 1237);
                given.insert(of.into(), Tensor::from_numbers(scalar, &lengths, numbers));
            }
            let expected = evaluate(&c, &given).unwrap();
            for evaluator in [0, 1] {
                for products in [Products::Ot, Products::He] {
                    let owners = [1 - evaluator, evaluator];
                    let plan = Plan::with(&c, &owners, &[[true; 2]; 2], products).unwrap();
                    assert_eq!(plan.coefficients() > 0, products == Products::He && ring < 49, "{layer}");
                    let mut own: [Vec<Tensor>; 2] = Default::default();
                    own[1 - evaluator].push(given["x"].clone());
                    own[evaluator].push(given["w"].clone());
                    let made = two(&plan, own).unwrap();
                    let what = format!("{layer} modulo 2^{ring}, {products:?}, weights of {evaluator}");
                    assert_eq!([&made[0], &made[1]], [&expected["a"], &expected["b"]], "{what}");
                }
            }
        }
    }
}

/// Maxima with 0 that only a shift reads, with and without pools before them, and operations on the
/// results. Others have additional readers.
#[test]
fn rectifiers_before_shifts() {
    let bodies = [
        ("y = max(t, 0) >> 5", "y", 1),
        ("y = max(0, t) >> 28", "y + t", 1),
        ("r = max(t, 0)\ny = r >> 5", "y + r", 0),
        ("r = max(t, 1)\ny = r >> 5", "y", 0),
        ("y = max(t, 0) >> 0", "y", 0),
        ("y = max(t, 0) >> 31", "y", 0),
        ("p = pool_max(t, [3, 3], stride=[2, 2], pad=[0, 1, 0, 0])\ny = max(p, 0) >> 9", "y * y", 1),
        ("p = pool_max(t, [2, 2], stride=[3, 3])\ny = max(p, 0) >> 9", "y", 1),
        ("p = pool_max(t, [3, 3])\ny = max(p, 0) >> 9", "y + p", 1),
        ("p = pool_max(t, [5, 6])\ny = max(p, 0) >> 9\nz = reshape(y, [4])", "max_of(z) + argmax_of(z)", 1),
        (
            "a = max(t, 0) >> 9\nb = max(-t, 0) >> 9\nc = concat(a, b, axis=1)\ny = pool_max(c, [2, 3], stride=[2, 2])",
            "y",
            2,
        ),
        (
            "a = max(t, 0) >> 9\nb = max(-t, 0) >> 8\nc = concat(a, b, axis=1)\ny = pool_max(c, [2, 3], stride=[2, 2])",
            "y",
            2,
        ),
        ("p = reshape(t, [12, 10])\ny = pool_max(p, [3, 2])", "y", 0),
    ];
    for (body, output, count) in bodies {
        let output = output.replace("argmax_of(z)", "cast(argmax(z), i32)");
        let c = text(&format!(
            "input x: i32[2, 2, 5, 6] from m\ninput s: i32[2, 2, 5, 6] from m\nt = wrapping(x) * wrapping(s)\n{body}\n\
             output a = {output} to m"
        ));
        let given = inputs(&c, 11, 0);
        let (plan, _) = plan_of(&c, 1).unwrap();
        let found = plan
            .steps
            .iter()
            .filter(|step| matches!(step.talk(), Some(Talk::Own(OwnTalk::Rectify { .. }))))
            .count();
        assert_eq!(found, count, "{body}");
        assert!(check(&c, &given, 1), "{body}");
    }
}

/// Numbers that come in a wider ring: as they are, without their lowest bits, and rectified; from
/// words and from inputs. Where bits went, no comparison is needed.
#[test]
fn numbers_in_a_wider_ring() {
    for (from, to) in [("i8", "i9"), ("i8", "i64"), ("i20", "i40"), ("i32", "i64"), ("i63", "i64")] {
        for (body, compares) in [
            ("y = t", true),
            ("y = t >> 3", false),
            ("y = max(t, 0) >> 3", false),
            ("y = max(t, 0)", false),
            ("y = reshape(t, [30]) >> 1", false),
            ("y = x", true),
            ("y = max(t, 0) >> 2\noutput b = y to m", false),
        ] {
            let c = text(&format!(
                "input x: {from}[5, 6] from m\ninput s: {from}[5, 6] from m\nt = wrapping(x) * wrapping(s)\n{body}\n\
                 w = wrapping(cast(y, {to}))\noutput a = w * w to m\noutput v = cast(w, {from}) to m"
            ));
            let (plan, _) = plan_of(&c, 1).unwrap();
            let is = |prim: fn(&OwnTalk) -> bool| {
                plan.steps.iter().any(|step| matches!(step.talk(), Some(Talk::Own(of)) if prim(of)))
            };
            assert_eq!(is(|of| matches!(of, OwnTalk::Widen)), compares, "{c}");
            for turn in 1..3 {
                assert!(check(&c, &inputs(&c, 12, 0), turn), "{c}");
            }
        }
    }
}

/// Weights beyond a layer's bound are refused before any message.
#[test]
fn weights_without_room() {
    let c = text(
        "input x: i48[1, 9] from m\ninput w: i48[9, 1] from m\noutput y = matmul(wrapping(x), wrapping(w)) to m",
    );
    let plan = Plan::with(&c, &[0, 1], &[[true; 2]], Products::He).unwrap();
    let (_, layer) = plan.layers().next().expect("a layer under encryption");
    let most = i128::from(layer.linear.weight());
    assert!(most < 1 << 47);
    let of = |w: i128| {
        Tensor::from_numbers(
            c.inputs().nth(1).unwrap().1.scalar,
            &[9, 1],
            (0..9).map(|i| if i == 4 { w } else { 1 }),
        )
    };
    assert!(PlanRun::new(1, &plan, vec![of(-most)]).is_ok());
    let refused = PlanRun::new(1, &plan, vec![of(-most - 1)]).err().map(|e| e.to_string());
    assert!(refused.is_some_and(|e| e.contains("a weight is greater")));
}
