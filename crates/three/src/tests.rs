//! Runs of three parties against the evaluator.

use crate::{
    Plan, ThreeError,
    run::{Run, Wave},
};
use hushwire_aes::Backend;
use hushwire_compute::{
    Computation, ComputeError, Tensor, evaluate,
    test_support::{computation, inputs},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{Party, ring::Bits, share};
use hushwire_wire::{
    Cost,
    drive::{Abreast, Lockstep, Machine},
};
use std::collections::BTreeMap;

type Values = BTreeMap<String, Tensor>;

/// Runs three parties in lockstep; outputs in order, and what party 0 sent.
fn three(plan: &Plan, bound: &Computation, given: &Values) -> Result<(Vec<Vec<u8>>, Cost), ThreeError> {
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let mut shares: [Vec<Bits>; 3] = Default::default();
    for (name, _) in bound.inputs() {
        let planes = given[name].to_planes();
        for (to, share) in shares.iter_mut().zip(share(&mut prg, &planes)) {
            to.push(Bits::new(planes.width(), planes.instances(), share).unwrap());
        }
    }
    let mut parties = Party::three(Backend::best());
    let mut runs: Vec<Run<'_>> = parties
        .iter()
        .zip(shares)
        .map(|(party, inputs)| Run::new(party.role(), plan, inputs))
        .collect::<Result<_, _>>()?;
    let (mut lockstep, mut cost) = (Lockstep::new(), Cost::default());
    loop {
        let mut waves: Vec<Wave<'_>> = vec![];
        for (party, run) in parties.iter_mut().zip(&mut runs) {
            let mut batch = party.next_batch()?;
            run.alone(&mut batch)?;
            waves.push(run.wave(&mut batch)?);
        }
        if waves[0].is_empty() {
            break;
        }
        let mut machines: Vec<_> = waves
            .iter_mut()
            .map(|wave| Abreast::new(wave.iter_mut().map(|(_, ready)| ready.machine()).collect()))
            .collect();
        let wave_cost = machines[0].cost().expect("every machine declares its cost");
        lockstep.run(&mut machines)?;
        cost = Cost {
            rounds: cost.rounds + wave_cost.rounds,
            bytes_sent: cost.bytes_sent + wave_cost.bytes_sent,
        };
        for (run, wave) in runs.iter_mut().zip(waves) {
            for (slot, ready) in wave {
                run.put(slot, ready.finish()?);
            }
        }
    }
    let outputs: Vec<Vec<Bits>> = runs.into_iter().map(Run::outputs).collect::<Result<_, _>>()?;
    let opened = (0..bound.outputs().len()).map(|k| {
        let own = [0, 1, 2].map(|p| &*outputs[p][k].shares().own);
        for p in 0..3 {
            assert_eq!(outputs[p][k].shares().next, outputs[(p + 1) % 3][k].shares().own, "shares fit");
        }
        hushwire_rep3::open(own).unwrap()
    });
    Ok((opened.collect(), cost))
}

/// Whether three parties gave what the evaluator gives; none where either refuses.
fn check(
    c: &Computation,
    given: &Values,
    plan: fn(&Computation) -> Result<Plan, ComputeError>,
) -> Option<Cost> {
    let expected = evaluate(c, given).ok()?;
    let bound = c.bind(&c.symbols_of(given).unwrap()).unwrap();
    let plan = match plan(&bound) {
        Ok(plan) => plan,
        Err(e) if e.to_string().contains("do not run") => return None,
        Err(e) => panic!("{e}\n{c}"),
    };
    let (opened, cost) = match three(&plan, &bound, given) {
        Ok(ran) => ran,
        Err(e) => panic!("{e}\n{c}"),
    };
    for (output, opened) in bound.outputs().iter().zip(opened) {
        let expected = &expected[&output.name];
        let planes = expected.to_planes();
        let opened =
            hushwire_circuit::Planes::new(planes.width(), planes.instances(), opened).unwrap().trimmed();
        let made = Tensor::from_planes(expected.scalar(), expected.lengths(), &opened);
        assert!(made == *expected, "{}: {made:?} for {expected:?}\n{c}", output.name);
    }
    Some(cost)
}

#[test]
fn random_computations_on_bits() {
    let mut compared = 0;
    for seed in 0..200 {
        let c = computation(seed);
        let given = inputs(&c, seed ^ 1, [0, 1, 2, 3, 9, 17][seed as usize % 6]);
        compared += u32::from(check(&c, &given, Plan::on_bits).is_some());
    }
    assert!(compared > 60, "{compared}");
}
