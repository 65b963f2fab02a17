//! Runs of three parties against the evaluator.

use crate::{
    Cut, Door, Plan, ThreeError,
    plan::Prim,
    run::{Run, run},
    test_support::{opened, shared},
    wave::{Group, Wave, land},
};
use hushwire_aes::Backend;
use hushwire_compute::{
    Computation, ComputeError, Op, Tensor, evaluate,
    test_support::{computation, inputs},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Addition, Party, Role, Shares, share};
use hushwire_testkit::{Transport, run_three};
use hushwire_wire::{
    Channel, Cost, SessionId,
    drive::{Lockstep, Machine, Place},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

type Values = BTreeMap<String, Tensor>;

/// The outputs, in order, the cost of party 0, and whether all of that was declared.
type Ran = (Vec<Tensor>, Cost, bool);

/// Runs three parties in lockstep.
fn three(
    backend: Backend,
    plan: &Plan,
    cut: Cut,
    bound: &Computation,
    given: &Values,
) -> Result<Ran, ThreeError> {
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let mut shares: [Vec<Shares>; 3] = Default::default();
    for ((name, _), door) in bound.inputs().zip(plan.inputs()) {
        for (to, share) in shares.iter_mut().zip(shared(&mut prg, &given[name], *door)) {
            to.push(share);
        }
    }
    let mut parties = Party::three(backend);
    let mut runs: Vec<Run<'_>> = parties
        .iter()
        .zip(shares)
        .map(|(party, inputs)| Run::new(party.role(), plan, cut, inputs))
        .collect::<Result<_, _>>()?;
    let (mut cost, mut declared) = (Cost::default(), true);
    loop {
        let mut waves: Vec<Wave<'_>> = vec![];
        for (party, run) in parties.iter_mut().zip(&mut runs) {
            run.alone(&mut party.next_batch()?)?;
            waves.push(run.wave(party)?);
        }
        if waves[0].is_empty() {
            break;
        }
        let mut groups: Vec<_> = waves.iter_mut().map(|wave| wave.groups().into_iter()).collect();
        let mut rounds = vec![0; cut.lanes()];
        for lane in (0..).map(|group| cut.lane(group)) {
            let Some(flights) = groups.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() else {
                break;
            };
            let mut flights = flights.into_iter().map(Group::begin).collect::<Result<Vec<_>, _>>()?;
            // A sort's cost depends on what it opens, and is counted.
            let own = flights[0].cost();
            declared &= own.is_some();
            let mut spent = Cost::default();
            Lockstep::new().run_edited(&mut flights, |place: Place, message| {
                spent.rounds = spent.rounds.max(place.round as u64 + 1);
                spent.bytes_sent += if place.party == 0 { message.len() as u64 } else { 0 };
            })?;
            let own = own.unwrap_or(spent);
            rounds[lane] += own.rounds;
            cost.bytes_sent += own.bytes_sent;
            flights.into_iter().try_for_each(land)?;
        }
        cost.rounds += rounds.into_iter().max().unwrap();
        runs.iter_mut().zip(waves).try_for_each(|(run, wave)| wave.end(run))?;
    }
    let outputs: Vec<Vec<Shares>> = runs.into_iter().map(Run::outputs).collect::<Result<_, _>>()?;
    let opened = plan.outputs().enumerate().map(|(k, door)| {
        let all = [0, 1, 2].map(|p| &outputs[p][k]);
        (0..3).for_each(|p| assert_eq!(all[p].next, all[(p + 1) % 3].own, "shares fit"));
        opened(all, door, &bound.node(bound.outputs()[k].value).ty)
    });
    Ok((opened.collect(), cost, declared))
}

/// Whether three parties gave what the evaluator gives; none where either refuses.
pub(crate) fn check(
    c: &Computation,
    given: &Values,
    plan: fn(&Computation) -> Result<Plan, ComputeError>,
) -> Option<Cost> {
    check_cut(c, given, plan, Backend::best(), Cut::whole())
}

fn check_cut(
    c: &Computation,
    given: &Values,
    plan: fn(&Computation) -> Result<Plan, ComputeError>,
    backend: Backend,
    cut: Cut,
) -> Option<Cost> {
    let expected = evaluate(c, given).ok()?;
    let bound = c.bind(&c.symbols_of(given).unwrap()).unwrap();
    let plan = match plan(&bound) {
        Ok(plan) => plan,
        Err(e) if e.to_string().contains("do not run") => return None,
        Err(e) => panic!("{e}\n{c}"),
    };
    let (opened, cost, declared) = match three(backend, &plan, cut, &bound, given) {
        Ok(ran) => ran,
        Err(e) => panic!("{e}\n{c}"),
    };
    let planned = plan.cost(0, cut).unwrap();
    if declared {
        assert_eq!(planned.cost, cost, "{c}");
    } else {
        assert!(planned.cost.rounds >= cost.rounds && planned.cost.bytes_sent >= cost.bytes_sent, "{c}");
    }
    for (output, opened) in bound.outputs().iter().zip(opened) {
        let expected = &expected[&output.name];
        assert!(opened == *expected, "{}: {opened:?} for {expected:?}\n{c}", output.name);
    }
    Some(cost)
}

fn random_computations(plan: fn(&Computation) -> Result<Plan, ComputeError>) {
    let mut compared = 0;
    for seed in 0..200 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, [0, 1, 2, 3, 9, 17][seed as usize % 6]);
        compared += u32::from(check(&c, &given, plan).is_some());
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn random_computations_on_bits() {
    random_computations(Plan::on_bits);
}

#[test]
fn random_computations_on_numbers() {
    random_computations(Plan::new);
}

/// A computation of one member's numbers.
fn text(body: &str) -> Computation {
    let text = format!("computation c\nmembers m\nsymbols n\n{body}\n");
    text.parse().unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Inputs of this many rows each.
fn given(c: &Computation, n: usize) -> Values {
    inputs(c, 7, n)
}

#[test]
fn operations_that_are_ready_together_share_rounds() {
    let cost = |body: &str| {
        let c = text(&format!("input x: u32[n] from m\ninput y: u32[n] from m\n{body}"));
        check(&c, &given(&c, 20), Plan::on_bits).expect("it runs")
    };
    let one = cost("output a = x < y to m");
    let two = cost("output a = x < y to m\noutput b = y < x + 0 to m\noutput c = select(x == y, x, y) to m");
    assert!(one.rounds > 0 && two.rounds <= one.rounds + 1, "{one:?} {two:?}");
    assert!(two.bytes_sent > 2 * one.bytes_sent);
    let chain = cost("output a = max(max(x, y), x) to m");
    assert_eq!(chain.rounds, 2 * cost("output a = max(x, y) to m").rounds);
}

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
fn shares_of_another_size_are_refused() {
    let c = text("input x: u8[3] from m\noutput y = x < 3 to m");
    let plan = Plan::new(&c).unwrap();
    let bits = |width, rows: usize| {
        let bytes = width * rows.div_ceil(8);
        Shares { own: vec![0; bytes], next: vec![0; bytes] }
    };
    let refused = |shares| Run::new(Role::ALL[0], &plan, Cut::whole(), shares);
    for wrong in [vec![], vec![bits(8, 9)], vec![bits(7, 3)], vec![bits(8, 3), bits(8, 3)]] {
        assert!(matches!(refused(wrong), Err(ThreeError::Share(_))));
    }
    assert!(refused(vec![bits(8, 3)]).is_ok());
}

/// Runs over channels of one process; `go_on` of each party.
fn over_channels(
    c: &Computation,
    given: &Values,
    cut: Cut,
    go_on: impl Fn(usize, usize) -> bool + Sync,
) -> [Result<Vec<Shares>, ThreeError>; 3] {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let inputs = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = inputs.map(|((name, _), door)| shared(&mut prg, &given[name], *door)).collect();
    run_three(Transport::Inproc, cut.lanes() as u16, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut lanes: Vec<[Channel; 2]> = (0..cut.lanes() as u16)
            .map(|l| [net.channel(l, left, right).unwrap(), net.channel(l, right, left).unwrap()])
            .collect();
        let id = SessionId([3; 16]);
        let mut party = Party::open(role, Backend::best(), id, Seed::random(), &mut lanes[0][1]).unwrap();
        // One session runs several.
        let mut once = || {
            let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
            let lanes = lanes.iter_mut().map(<[Channel; 2]>::each_mut).collect();
            run(&mut party, lanes, &plan, cut, inputs, &mut |a, b| go_on(a, b))
        };
        let (first, second) = (once()?, once()?);
        assert_eq!(first.len(), second.len());
        Ok(second)
    })
}

#[test]
fn a_session_runs_several_computations_over_channels() {
    let c = text("input x: i16[900] from m\nr = reveal(min_of(x))\noutput y = select(x < r + 5, x, 0) to m");
    let values = given(&c, 0);
    let expected = &evaluate(&c, &values).unwrap()["y"];
    for (threads, rows) in [(1, usize::MAX), (1, 64), (2, 128), (3, 64)] {
        let cut = Cut::new(threads, Duration::ZERO).with_rows(rows);
        let made = over_channels(&c, &values, cut, |_, _| true).map(Result::unwrap);
        let plan = Plan::new(&c).unwrap();
        let (door, ty) = (plan.outputs().next().unwrap(), &c.node(c.outputs()[0].value).ty);
        assert_eq!(opened([0, 1, 2].map(|p| &made[p][0]), door, ty), *expected, "{cut:?}");
    }
}

#[test]
fn results_and_bytes_are_the_same_for_every_cut() {
    let c = text(
        "input x: u32[n] from m\ninput y: u32[n] from m\np = x * y\nq = p + x\nb = p < q\n\
         output a = select(b, p, q) to m\noutput c = min(x, y) to m\noutput d = (p == q) & b to m\noutput e = q >> 3 to m\n\
         output f = count(b) to m\noutput g = p & y to m\noutput h = reveal(p) + x to m\noutput i = reveal(b) & (x < y) to m\n\
         output j = sum(reshape(reveal(p), [n, 1])) to m\n\
         k = reveal(reshape(q, [n, 1]))\noutput l = sum(k) to m\noutput o = transpose(k, [1, 0]) to m",
    );
    for n in [0, 63, 200, 1027] {
        let given = given(&c, n);
        let one = |backend, cut| check_cut(&c, &given, Plan::new, backend, cut).expect("it runs");
        let whole = one(Backend::best(), Cut::whole());
        for (i, backend) in hushwire_testkit::backends().into_iter().enumerate() {
            for rows in [[64, 200], [65, 1 << 20]][i % 2] {
                let cost = one(backend, Cut::new(1 + i as u16 % 3, Duration::ZERO).with_rows(rows));
                assert_eq!(cost.bytes_sent, whole.bytes_sent, "{n} rows in pieces of {rows}");
                assert!(cost.rounds >= whole.rounds);
                assert!(n / rows > 1 || cost.rounds == whole.rounds, "no more rounds without pieces");
            }
        }
        // No more groups than lanes: as few rounds.
        let far = Cut::new(2, Duration::from_secs(1));
        assert_eq!(one(Backend::best(), far), whole);
    }
}

/// A run tells of the steps that its course names, each beside the operation that is under way.
#[test]
fn the_course_of_a_run_is_known_beforehand() {
    let c = text(
        "input x: u32[300] from m\ninput y: u32[300] from m\np = x * y\nb = p < y\nz = select(b, p, x)\n\
         o = order(z, x)\nw = permute(z, o)\noutput e = w == y to m\noutput f = count(b) to m",
    );
    let heard = Mutex::new(BTreeSet::new());
    let hears = |done, all| heard.lock().unwrap().insert((done, all)) || done <= all;
    let ran = over_channels(&c, &given(&c, 0), Cut::new(2, Duration::ZERO), hears);
    assert!(ran.iter().all(Result::is_ok));
    let (plan, heard) = (Plan::new(&c).unwrap(), heard.into_inner().unwrap());
    let all = plan.steps.len();
    let legs: Vec<(usize, usize)> =
        plan.course().iter().map(|leg| (leg.done, all)).chain([(all, all)]).collect();
    assert_eq!(heard.into_iter().collect::<Vec<_>>(), legs);
    let ops: Vec<&Op> = plan.course().iter().map(|leg| &c.node(leg.node).op).collect();
    let place = |is: fn(&Op) -> bool| ops.iter().position(|op| is(op)).unwrap_or_else(|| panic!("{ops:?}"));
    let sorts = place(|op| matches!(op, Op::Order { .. }));
    assert!(place(|op| *op == Op::Mul) < sorts && sorts < place(|op| *op == Op::Permute), "{ops:?}");
}

#[test]
fn a_run_that_is_cancelled_ends_between_rounds() {
    let c = text("input x: u8[9] from m\noutput y = x / 3 to m");
    for cut in [Cut::whole(), Cut::new(2, Duration::ZERO)] {
        for made in over_channels(&c, &given(&c, 0), cut, |done, all| done == all) {
            assert!(matches!(made, Err(ThreeError::Cancelled)));
        }
    }
}

#[test]
fn each_operation_in_each_form_at_edges() {
    // x and y come as bits; p, their product, is words, and q words that have bits too.
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
        "select(x < y, x, y)",
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
        "sum(x)",
        "mean(p)",
        "mean(x)",
        "min_of(x)",
        "max_of(p)",
        "argmin(x)",
        "argmax(p)",
        "prefix_sum(x)",
        "matmul(p, q)",
        "slice(concat(p, x), 3..9)",
        "p + reveal(sum(q))",
        "permute(p, order(y))",
        "permute(x, order(p, desc q))",
        "permute(x, invert(order(y)))",
        "permute(p, reveal(order(y)))",
        "permute(x, permute(order(y), order(x)))",
        "count(p == q)",
        "all(p == p)",
        "any(x < y)",
        "compact(x < y, p, rows=5)",
        "cast(p, i16)",
        "cast(p, u64)",
        "cast(p, u3)",
        "p * 5",
        "reveal(p) * q",
        "!p",
        "p & x",
        "gather(p, reveal(cast(y & 0, u8)))",
        "scan_sum(x < y, p)",
        "scan_sum(x < y, x)",
        "copy_down(x < y, x)",
        "copy_down(x < y, p)",
        "scan_min(x == y, x)",
        "scan_max(x < y, p)",
        "argmin(x & y)",
        "argmax(x & 1)",
        "compact(x < y, p, rows=30)",
        "compact(x < y, x == y, rows=3)",
        "wrapping(p) + x",
    ];
    let mut ran = BTreeMap::new();
    for scalar in ["u8", "i16", "u32", "i64", "u37", "i128", "u1"] {
        for expr in exprs {
            // What needs a length that is known has one.
            let of = |rows: &str| {
                let text = format!(
                    "computation c\nmembers m\nsymbols n\ninput x: {scalar}[{rows}] from m\ninput y: {scalar}[{rows}] from m\n\
                     p = x * y\nq = p + x\noutput bit = q < y to m\noutput z = {expr} to m\n"
                );
                text.parse::<Computation>()
            };
            let Ok(c) = of("n").or_else(|_| of("11")) else { continue };
            for plan in [Plan::new, Plan::on_bits] {
                let times = ran.entry(expr).or_insert(0usize);
                let rows = [11, 11, 11, 1, 2, 0][*times % 6];
                *times += usize::from(check(&c, &given(&c, rows), plan).is_some());
            }
        }
    }
    let never: Vec<_> = exprs.iter().filter(|expr| ran.get(*expr) < Some(&2)).collect();
    assert!(never.is_empty(), "{never:?}");
}

/// The sign of a difference is the order where no difference wraps, up to the last one, and is not taken for it beyond.
#[test]
fn comparisons_are_by_the_sign_where_ranges_allow_it() {
    let cases = [
        // Products of these are 0 … 121 and 0 … 132: their difference is no i8 in the second case.
        ("u8", "0..12", "0..12", true),
        ("u8", "0..12", "0..13", false),
        ("i8", "-8..9", "-7..8", true),
        ("i8", "-9..10", "-8..9", false),
        ("u32", "0..40000", "0..40000", true),
        ("u32", "0..65536", "0..65536", false),
    ];
    for (scalar, x, y, bounded) in cases {
        for compare in ["<", "<=", ">", ">="] {
            // Products are words, and meet their ranges' ends.
            let c = text(&format!(
                "input x: {scalar}[n] in {x} from m\ninput y: {scalar}[n] in {y} from m\n\
                 p = x * x\nq = y * y\noutput c = p {compare} q to m\n"
            ));
            let plan = Plan::new(&c.bind(&[("n".to_owned(), 5)].into()).unwrap()).unwrap();
            let by_sign = plan.steps.iter().any(|step| matches!(step.prim, Prim::LessBounded));
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

/// Forms that are written with other operations: what no back end knows, all have.
#[test]
fn derived_forms() {
    for expr in [
        "divide(x, x + 1.5)",
        "sqrt(x)",
        "exp(x)",
        "log(x)",
        "sigmoid(x)",
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

/// Bits past the last row may be anything: nobody hears them when a value is opened.
#[test]
fn what_stands_past_the_last_row_is_not_opened() {
    let c = text("input x: u8[3] from m\noutput y = reveal(x) to m");
    let plan = Plan::new(&c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let shares = share(&mut prg, &[0xff; 8]).map(|s| vec![s]);
    let mut flights = vec![];
    for (mut party, inputs) in Party::three(Backend::best()).into_iter().zip(shares) {
        let mut run = Run::new(party.role(), &plan, Cut::whole(), inputs).unwrap();
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        flights
            .extend(run.wave(&mut party).unwrap().groups().into_iter().map(|group| group.begin().unwrap()));
    }
    let mut heard = 0;
    let mut see = |_: Place, message: &mut Vec<u8>| {
        heard += message.len();
        assert!(message.iter().all(|byte| byte >> 3 == 0), "{message:?}");
    };
    Lockstep::new().run_edited(&mut flights, &mut see).unwrap();
    assert_eq!(heard, 3 * 8);
}

/// Rows by one bit are parted without comparisons: the cost is exact, unlike a sort's.
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

/// Rows move in several messages, steps that take turns among them: bits of two widths, numbers, and places.
#[test]
fn long_columns_are_moved_in_pieces() {
    let rows = 4500;
    let c = text(&format!(
        "input x: i64[{rows}] from m\ninput f: bool[{rows}] from m\np = order(desc f)\nq = permute(x, p)\n\
         output y = q to m\noutput s = select(permute(f, p), q, x) to m\n\
         output n = permute(x * x, p) to m\noutput z = permute(q, invert(p)) to m"
    ));
    let given = given(&c, rows);
    let cost = |cut: Cut| check_cut(&c, &given, Plan::new, Backend::best(), cut).expect("it runs on shares");
    let near = Cut::new(1, Duration::ZERO);
    let (pieces, whole) = (cost(near.with_rows(64)), cost(near));
    assert!(pieces.bytes_sent == whole.bytes_sent && pieces.rounds > whole.rounds);
}

/// Values that others read, or that go out, stay as they are, where steps that run in pieces make theirs over others.
#[test]
fn values_that_are_read_again_are_not_written_over() {
    let rows = 500;
    let c = text(&format!(
        "input x: u32[{rows}] from m\ninput y: u32[{rows}] from m\ninput f: bool[{rows}] from m\n\
         a = x * y\nb = a * y\nc = select(f, b, x)\noutput p = a to m\noutput q = c * x to m\noutput o = b * b to m\n\
         g = (x < y) & f\nd = select(g, y, x) & y\noutput r = d & x to m\noutput s = g to m\noutput t = d to m"
    ));
    let given = given(&c, rows);
    for cut in [Cut::whole(), Cut::whole().with_rows(64), Cut::new(2, Duration::ZERO).with_rows(64)] {
        check_cut(&c, &given, Plan::new, Backend::best(), cut).expect("it runs on shares");
        check_cut(&c, &given, Plan::on_bits, Backend::best(), cut).expect("it runs on bits");
    }
}

#[test]
fn memory_is_that_of_values_while_they_are_read_and_of_pieces() {
    let memory = |body: &str, n: u64, cut: Cut| {
        let c = text(&format!("input x: u64[n] from m\ninput y: u64[n] from m\n{body}"));
        Plan::new(&c.bind(&[("n".to_owned(), n)].into()).unwrap()).unwrap().memory(cut)
    };
    let (n, near) = (1 << 20, Cut::new(1, Duration::ZERO));
    let column = 16 * n;
    let one = memory("output z = x & y to m", n, near);
    // Two inputs, the result, and pieces of them.
    assert!((3 * column..4 * column).contains(&one), "{one}");
    // However long the chain.
    let p = |k: usize| {
        let steps: String = (1..k).map(|i| format!("p{i} = p{} * x\n", i - 1)).collect();
        format!("p0 = x * y\n{steps}output z = sum(p{}) to m", k - 1)
    };
    assert_eq!(memory(&p(3), n, near), memory(&p(9), n, near), "a product that is read goes");
    // Without pieces a comparison takes several times its columns.
    let less = "p = x * y\nq = p * y\noutput z = p < q to m";
    assert!(memory(less, n, Cut::whole()) > 2 * memory(less, n, near));
    assert!(memory(less, n, Cut::new(4, Duration::ZERO)) > memory(less, n, near), "lanes add up");
    let grows = |n: u64| memory(less, 2 * n, near) - memory(less, n, near);
    // From where on the values, and not the pieces, are the most.
    assert_eq!(grows(4 * n), 2 * grows(2 * n), "values grow, pieces do not");
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

#[test]
fn pieces_are_shortened_until_a_run_keeps_to_its_memory() {
    let c = text("input x: u32[n] from m\np = x * x\noutput y = reveal(p < p * x) to m");
    let n = 20_000;
    let bound = c.bind(&[("n".to_owned(), n)].into()).unwrap();
    let plan = Plan::new(&bound).unwrap();
    let far = Cut::new(1, Duration::from_secs(1));
    let (whole, shortest) = (plan.memory(far), plan.memory(far.with_rows(1 << 10)));
    assert!(shortest < whole / 2, "{shortest} of {whole}");
    assert_eq!(plan.cut_within(far, whole), Some(far), "as it is, where it fits");
    assert_eq!(plan.cut_within(far, 1000), None);
    let within = plan.cut_within(far, whole / 2).expect("shorter pieces fit");
    assert!(within != far && plan.memory(within) <= whole / 2);
    let given = given(&c, n as usize);
    let cost = |cut| check_cut(&c, &given, Plan::new, Backend::best(), cut).expect("it runs");
    assert_eq!(cost(within).bytes_sent, cost(far).bytes_sent);
}

/// A ring may be wider than its numbers: what was carried above them is not opened, nor does it go out.
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
    for (p, mut party) in Party::three(Backend::best()).into_iter().enumerate() {
        let own = shares.iter().map(|s| s[p].clone()).collect();
        let mut run = Run::new(party.role(), &plan, Cut::whole(), own).unwrap();
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        let mut wave = run.wave(&mut party).unwrap();
        flights.extend(wave.groups().into_iter().map(|group| group.begin().unwrap()));
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
        wave.end(&mut run).unwrap();
        run.alone(&mut party.next_batch().unwrap()).unwrap();
        let outputs = run.outputs().unwrap();
        assert!(outputs[0].own.iter().chain(outputs[0].next.iter()).all(|byte| byte >> 4 == 0));
    }
}

#[test]
fn inputs_come_as_numbers_where_nobody_asks_for_their_bits() {
    let forms = |lines: &str| {
        let c = text(&format!("input x: i32[4] from m\ninput y: i32[4] from m\n{lines}"));
        let plan = Plan::new(&c).unwrap();
        let number = |door: &Door| matches!(door.addition(), Addition::Words(_));
        let cost = plan.cost(0, Cut::whole()).unwrap().cost;
        check(&c, &given(&c, 5), Plan::new).unwrap();
        let outputs: Vec<bool> = plan.outputs().map(|door| number(&door)).collect();
        ([number(&plan.inputs()[0]), number(&plan.inputs()[1])], outputs, cost)
    };
    let sum = forms("output s = sum(x + y) to m");
    assert_eq!(sum, ([true; 2], vec![true], Cost::default()));
    assert_eq!(forms("output s = transpose(x - y, [0]) to m").2, Cost::default());
    let product = forms("output p = x * y to m");
    assert_eq!((product.0, product.1, product.2.rounds), ([true; 2], vec![true], 1));
    assert_eq!(forms("output s = sum(x) to m\noutput l = x < y to m").0, [false; 2]);
    assert_eq!(forms("output s = x + 1 < y to m").0, [false; 2]);
    assert_eq!(forms("output s = permute(x, order(y)) * x to m").0, [true, false]);
    assert_eq!(forms("output s = x to m\noutput t = y to m").0, [false; 2]);
}

#[test]
fn the_same_is_computed_once_and_what_nobody_reads_never() {
    let steps = |lines: &str| {
        let inputs = "input f: bool[9] from m\ninput x: u8[9] from m\ninput y: u8[9] from m";
        let c = text(&format!("{inputs}\n{lines}"));
        check(&c, &given(&c, 6), Plan::new).unwrap();
        Plan::new(&c).unwrap().steps.len() - 3
    };
    let alone = steps("output z = x & y to m");
    assert_eq!(steps("w = x * y\nv = w < y\noutput z = x & y to m"), alone);
    // Two columns are copied down by flags that are picked and joined once.
    let one = steps("output a = copy_down(f, x) to m");
    let both = steps("output a = copy_down(f, x) to m\noutput b = copy_down(f, y) to m");
    assert!(both - one < one, "{both} steps of two, {one} of one");
    let order = "o = order(x)\noutput a = permute(y, o) to m";
    assert_eq!(steps(order), steps(&format!("{order}\noutput b = permute(y, o) to m")));
}

/// A circuit has a number of the computation built in, whatever steps it comes through, and no AND for what follows from it.
#[test]
fn numbers_of_the_computation_are_built_in_however_they_are_made() {
    let bytes = |with: &str| {
        let c = text(&format!("input x: i64[9] from m\ninput y: i64[9] from m\noutput z = x < {with} to m"));
        check(&c, &given(&c, 7), Plan::new).unwrap();
        Plan::new(&c).unwrap().cost(0, Cut::whole()).unwrap().cost.bytes_sent
    };
    assert_eq!(bytes("cast(const(i8, 5), i64)"), bytes("const(i64, 5)"));
    assert!(bytes("cast(const(i8, 0), i64)") < bytes("y"));
}

/// Keys that meet are in a random order, of which nothing here depends: how many rows stand before the first of a key's, say. The cost is
/// exact, unlike a sort's.
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
