//! Runs of three parties, compared with the evaluator.

mod operations;
mod plans;
mod rectifiers;
mod runs;
mod wire;

use crate::{
    Cut, KeptInputs, Plan, ThreeError,
    prim::Three,
    run::PlanRun,
    test_support::{opened, shared},
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_compute::{Computation, ComputeError, Tensor, evaluate, test_support::inputs};
use hushwire_machine::{
    Cost,
    drive::{Lockstep, Machine, Place},
};
use hushwire_plan::{Group, KeptValues, land};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Rep3Party, Shares};
use hushwire_testkit::suite::{self, Values, computation_of as text};

/// The outputs in order, the cost of party 0, and whether each machine declared its cost.
type Ran = (Vec<Tensor>, Cost, bool);

/// Runs three parties in lockstep.
fn three(
    backend: Backend,
    plan: &Plan,
    cut: Cut,
    bound: &Computation,
    given: &Values,
) -> Result<Ran, ThreeError> {
    let _watch = registry::watch();
    let mut shares = shares_of(plan, bound, given);
    let begin = &mut |party: &mut Rep3Party| {
        let inputs = std::mem::take(&mut shares[party.role().index()]);
        PlanRun::new(party.role(), plan.at(cut), cut, inputs)
    };
    in_session(&mut Rep3Party::three(backend), plan, cut, bound, begin, &mut |_| {})
}

/// Each party's shares of all inputs.
fn shares_of(plan: &Plan, bound: &Computation, given: &Values) -> [Vec<Shares>; 3] {
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let mut shares: [Vec<Shares>; 3] = Default::default();
    for ((name, _), door) in bound.inputs().zip(plan.inputs()) {
        for (to, share) in shares.iter_mut().zip(shared(&mut prg, &given[name], *door)) {
            to.push(share);
        }
    }
    shares
}

/// A run of one party in a session; `hears` receives the messages of party 0.
fn in_session<'p>(
    parties: &mut [Rep3Party; 3],
    plan: &'p Plan,
    cut: Cut,
    bound: &Computation,
    begin: &mut dyn FnMut(&mut Rep3Party) -> Result<PlanRun<'p>, ThreeError>,
    hears: &mut dyn FnMut(&[u8]),
) -> Result<Ran, ThreeError> {
    let mut runs: Vec<PlanRun<'_>> = parties.iter_mut().map(begin).collect::<Result<_, _>>()?;
    let (mut cost, mut declared) = (Cost::default(), true);
    loop {
        let (mut waves, mut groups) = (vec![], vec![]);
        for (party, run) in parties.iter_mut().zip(&mut runs) {
            let _end = registry::here().end(party.role().index()).enter();
            run.alone(&mut party.next_batch()?)?;
            let (wave, of_wave) = run.wave(party)?;
            waves.push(wave);
            groups.push(of_wave.into_iter());
        }
        if waves[0].is_empty() {
            break;
        }
        let mut rounds = vec![0; cut.lanes()];
        for lane in (0..).map(|group| cut.lane(group)) {
            let Some(flights) = groups.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() else {
                break;
            };
            let begin = |(end, group)| registry::as_end(end, || Group::begin(group));
            let mut flights = flights.into_iter().enumerate().map(begin).collect::<Result<Vec<_>, _>>()?;
            // The cost of a sort depends on the opened values, so it is counted.
            let own = flights[0].cost();
            declared &= own.is_some();
            let mut spent = Cost::default();
            Lockstep::new().run_edited(&mut flights, |place: Place, message| {
                spent.rounds = spent.rounds.max(place.round as u64 + 1);
                if place.party == 0 {
                    spent.bytes_sent += message.len() as u64;
                    hears(message);
                }
            })?;
            let own = own.unwrap_or(spent);
            rounds[lane] += own.rounds;
            cost.bytes_sent += own.bytes_sent;
            flights.into_iter().try_for_each(land)?;
        }
        cost.rounds += rounds.into_iter().max().unwrap();
        runs.iter_mut().zip(waves).for_each(|(run, wave)| run.end(wave));
    }
    let outputs: Vec<Vec<Shares>> = runs.into_iter().map(PlanRun::outputs).collect();
    let opened = plan.outputs().enumerate().map(|(k, door)| {
        let all = [0, 1, 2].map(|p| &outputs[p][k]);
        (0..3).for_each(|p| assert_eq!(all[p].next, all[(p + 1) % 3].own, "shares fit"));
        opened(all, door, &bound.node(bound.outputs()[k].value).ty)
    });
    Ok((opened.collect(), cost, declared))
}

/// Whether three parties and the evaluator have equal results; `None` if either refuses.
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

#[test]
fn random_computations_on_bits() {
    suite::random_computations(200, |c, given| check(c, given, Plan::on_bits).is_some());
}

#[test]
fn random_computations_on_numbers() {
    suite::random_computations(200, |c, given| check(c, given, Plan::new).is_some());
}

/// Inputs that are kept as bit planes, for any use in the computation.
#[test]
fn random_computations_on_planes_that_are_kept() {
    let planes = |c: &Computation| Plan::with_planes(c, &[true; 64]);
    suite::random_computations(100, |c, given| check(c, given, planes).is_some());
    let c = text("input x: u32[n] from m\ninput y: u32[n] from m\noutput z = x * y + x to m");
    let bound = c.bind(&c.symbols_of(&given(&c, 9)).unwrap()).unwrap();
    let bytes = |plan: Plan| plan.inputs().iter().map(crate::Door::bytes).collect::<Vec<_>>();
    assert_eq!(bytes(Plan::new(&bound).unwrap()), [36, 36], "as numbers");
    assert_eq!(bytes(Plan::with_planes(&bound, &[true]).unwrap()), [64, 36], "the first as planes");
    assert!(check(&c, &given(&c, 9), |c| Plan::with_planes(c, &[true])).is_some());
}

/// Shares that parties keep from run to run, such as those of a served model's weights. Results are
/// correct, and no position of a stream is used twice. No message of the second run equals one of
/// the first, although all inputs are the same. Kept shares are converted to the forms of the plan
/// once, so a run converts none of them. Parties agree even if they first use the kept shares in
/// different sessions.
#[test]
fn shares_that_are_kept_serve_several_runs_of_a_session() {
    let c = text(
        "input w: fixed(32, 8)[6, 50] from m\ninput x: fixed(32, 8)[50, 4] from m\n\
         v = reshape(transpose(w, [1, 0]), [50, 6])\ny = rescale(wrapping(matmul(wrapping(transpose(v, [1, 0])), wrapping(x))), 8)\n\
         output z = max(y, 0) to m",
    );
    let given = given(&c, 1);
    let (expected, plan) = (&evaluate(&c, &given).unwrap()["z"], Plan::new(&c).unwrap());
    let _watch = registry::watch();
    let mut parties = Rep3Party::three(Backend::best());
    let shares = shares_of(&plan, &c, &given);
    let keep = |p: usize| KeptInputs::new(&plan, vec![(0, shares[p][0].clone())]).expect("they fit");
    let kept = [0, 1, 2].map(keep);
    // Party 1 has served another client's request with them before.
    kept[1].values(&mut Rep3Party::three(Backend::best())[1], &plan, Cut::whole()).expect("its values");
    let said: Vec<Vec<Vec<u8>>> = (0..3)
        .map(|_| {
            let mut said = vec![];
            let begin = &mut |party: &mut Rep3Party| {
                let p = party.role().index();
                let before = kept[p].values(party, &plan, Cut::whole())? as *const KeptValues<Three>;
                let run =
                    PlanRun::after(&kept[p], party, &plan, Cut::whole(), vec![(1, shares[p][1].clone())]);
                assert!(std::ptr::eq(before, kept[p].values(party, &plan, Cut::whole())?), "computed once");
                run
            };
            let ran = in_session(&mut parties, &plan, Cut::whole(), &c, begin, &mut |message| {
                said.push(message.to_vec());
            });
            let (opened, ..) = ran.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(opened, std::slice::from_ref(expected));
            said
        })
        .collect();
    let lengths: Vec<Vec<usize>> = said.iter().map(|run| run.iter().map(Vec::len).collect()).collect();
    assert!(lengths[0].len() > 3 && lengths.iter().all(|of| *of == lengths[0]), "{lengths:?}");
    // Short messages may be equal by chance.
    for [a, b] in [[0, 1], [0, 2], [1, 2]] {
        let alike = said[a].iter().zip(&said[b]).filter(|(a, b)| a.len() > 8 && a == b);
        assert_eq!(alike.count(), 0, "runs {a} and {b} send the same");
    }
}

/// Inputs of this many rows each.
fn given(c: &Computation, n: usize) -> Values {
    inputs(c, 7, n)
}
