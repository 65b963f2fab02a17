//! Runs: rounds, cuts, courses, memory, and refusals.

use super::{Values, check, check_cut, given, text};
use crate::{
    Cut, Plan, ThreeError,
    form::{RingWords, StepValue},
    prim::Three,
    run::{PlanRun, run},
    test_support::{opened, shared},
};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Op, evaluate};
use hushwire_machine::{Channel, SessionId};
use hushwire_plan::{Extent, PlanStep, Size, StepRows, Talk, home};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Rep3Party, Role, Shares, ring::Column};
use hushwire_testkit::{Transport, run_three};
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

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
fn shares_of_another_size_are_refused() {
    let c = text("input x: u8[3] from m\noutput y = x < 3 to m");
    let plan = Plan::new(&c).unwrap();
    let bits = |width, rows: usize| {
        let bytes = width * rows.div_ceil(8);
        Shares { own: vec![0; bytes], next: vec![0; bytes] }
    };
    let refused = |shares| PlanRun::new(Role::ALL[0], &plan, Cut::whole(), shares);
    for wrong in [vec![], vec![bits(8, 9)], vec![bits(7, 3)], vec![bits(8, 3), bits(8, 3)]] {
        assert!(matches!(refused(wrong), Err(ThreeError::Share(_))));
    }
    assert!(refused(vec![bits(8, 3)]).is_ok());
}

/// Runs over channels of one process, with a `go_on` for each party.
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
        let mut party = Rep3Party::open(role, Backend::best(), id, Seed::random(), &mut lanes[0][1]).unwrap();
        // One session has several runs.
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
                // The dealers' thirds of a piece are whole bytes, so one party's third may be
                // longer.
                let differ = cost.bytes_sent.abs_diff(whole.bytes_sent);
                assert!(50 * differ <= whole.bytes_sent, "{n} rows in pieces of {rows}: {cost:?}, {whole:?}");
                assert!(cost.rounds >= whole.rounds);
                assert!(n / rows > 1 || cost.rounds == whole.rounds, "no more rounds without pieces");
            }
        }
        // There are no more groups than lanes, so there are as few rounds.
        let far = Cut::new(2, Duration::from_secs(1));
        assert_eq!(one(Backend::best(), far), whole);
    }
}

/// A run reports the steps that its course names, each with the current operation.
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

/// Rows move in several messages, also in steps that run one after the other: bits of two widths,
/// numbers, and places.
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

/// Values that other steps read, or that are outputs, are not overwritten by steps that run in
/// pieces.
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
fn a_value_is_made_over_one_of_its_size_that_nobody_else_has() {
    let column = |rows: usize| Arc::new(Column::<u32>::zeros(rows));
    let over = |cuts: bool, reads: [Arc<Column<u32>>; 2]| {
        let (prim, size) = (Talk::<Three>::Product(()).into(), Size::Words(32, 100));
        let step = PlanStep { prim, reads: vec![], size, rows: StepRows::Over, node: 0 };
        let mut reads = reads.map(|column| Some(StepValue::Words(RingWords::U32(column))));
        home(&step, Extent { at: 0, rows: 100, cuts }, &mut reads).and_then(Option::take)?;
        reads.iter().position(Option::is_none)
    };
    assert_eq!(over(true, [column(100), column(100)]), Some(0));
    let kept = column(100);
    assert_eq!(over(true, [kept.clone(), column(100)]), Some(1));
    assert_eq!(over(true, [kept.clone(), kept.clone()]), None);
    assert_eq!(over(true, [column(99), column(99)]), None);
    assert_eq!(over(false, [column(100), column(100)]), None);
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
    // This holds for any length of the chain.
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
    // From this length on, the values take the most memory, not the pieces.
    assert_eq!(grows(4 * n), 2 * grows(2 * n), "values grow, pieces do not");
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
