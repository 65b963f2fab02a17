//! Honest parties: shares that fit their MACs, and circuits compared with the plain evaluator.

use crate::{
    AuthError, Form, Need,
    rig::{World, run, seed, setups, stocks, values},
};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_circuit::named;
use hushwire_prg::Prg;
use hushwire_testkit::random_program;

fn prg(label: &str) -> Prg {
    Prg::new(Backend::best(), &seed(0, 0), label)
}

#[test]
fn triples_are_products_and_every_mac_fits() {
    for n in 2..=5 {
        let need = Need { triples: 440, masks: 77 };
        let mut stocks = stocks(n as u8, n, need);
        let deltas: Vec<_> = stocks.iter().map(|stock| stock.delta).collect();
        let sum = deltas.iter().fold(0, |sum, delta| sum ^ delta.to_u128());
        assert!(sum & 2 == 2 && deltas.iter().all(|delta| delta.lsb()));
        let taken: Vec<_> =
            stocks.iter_mut().map(|stock| stock.take(440, 77).expect("there are as many")).collect();
        let of = |pick: fn(&crate::stock::Triples) -> &crate::shares::Shares| {
            values(&deltas, &taken.iter().map(|(triples, _)| pick(triples)).collect::<Vec<_>>())
        };
        let [a, b, c] = [of(|t| &t.a), of(|t| &t.b), of(|t| &t.c)];
        assert!((0..440).all(|k| c[k] == (a[k] && b[k])));
        assert!(a.iter().any(|a| *a) && b.iter().any(|b| !*b));
        let masks = values(&deltas, &taken.iter().map(|(_, masks)| masks).collect::<Vec<_>>());
        assert!(masks.iter().any(|m| *m) && masks.iter().any(|m| !*m));
        assert!(stocks[0].take(1, 0).is_err(), "they serve once");
    }
}

#[test]
fn a_stock_may_hold_masks_alone() {
    let setups = setups(40, 3);
    let need = Need { triples: 0, masks: 3 };
    let stocks = run(setups.into_iter().map(|s| s.preprocess(need)).collect()).expect("honest parties");
    assert_eq!(stocks[1].left(), need);
}

/// Random circuits with random owners and recipients run one after the other on one stock, and give
/// the outputs of the plain evaluator.
#[test]
fn random_circuits_do_what_the_evaluator_does() {
    let mut prg = prg("random circuits");
    for (n, form) in (2..=5).flat_map(|n| Form::ALL.map(|form| (n, form))) {
        let worlds: Vec<World> = (0..6)
            .map(|k| World::new(&mut prg, &random_program(&mut fresh(k)), n, [1, 3, 9][k % 3], form))
            .collect();
        let need = worlds.iter().map(|world| world.task.need()).fold(Need::default(), |sum, need| Need {
            triples: sum.triples + need.triples,
            masks: sum.masks + need.masks,
        });
        let _watch = registry::watch();
        let mut stocks = stocks(50 + 2 * n as u8 + form as u8, n, need);
        for world in worlds {
            let garbled = run(stocks.iter_mut().map(|stock| stock.garble(&world.task)).collect());
            let outputs = world.evaluate(garbled.expect("honest parties")).expect("honest parties");
            assert!(outputs == world.outputs, "{n} parties, {form:?}");
        }
    }
}

fn fresh(k: usize) -> Prg {
    Prg::new(Backend::best(), &seed(1, k), "circuits")
}

/// Runs the circuit in both forms on one stock.
fn named_circuit(name: &str, parties: &[usize]) {
    let program = named::program(name).expect("it has a name");
    for &n in parties {
        let worlds = Form::ALL.map(|form| World::new(&mut prg(name), &program, n, 1, form));
        let need = worlds[0].task.need();
        let _watch = registry::watch();
        let mut stocks = stocks(n as u8, n, Need { triples: 2 * need.triples, masks: 2 * need.masks });
        for world in worlds {
            let garbled = run(stocks.iter_mut().map(|stock| stock.garble(&world.task)).collect());
            let outputs = world.evaluate(garbled.expect("honest parties")).expect("honest parties");
            assert!(outputs == world.outputs, "{n} parties, {}", world.task.form.name(n));
        }
    }
}

#[test]
fn aes_among_two_and_three() {
    named_circuit("aes128", &[2, 3]);
}

#[test]
fn sha256_among_three() {
    named_circuit("sha256", &[3]);
}

/// A job may have at most this number of parties.
#[test]
#[ignore = "minutes: eight parties"]
fn eight_parties() {
    let mut prg = prg("eight");
    for (k, form) in (0..6).map(|k| (k, Form::ALL[k % 2])) {
        let world = World::new(&mut prg, &random_program(&mut fresh(20 + k)), 8, [1, 9, 3][k % 3], form);
        assert!(world.run(k as u8).expect("honest parties") == world.outputs);
    }
    named_circuit("aes128", &[5, 8]);
    named_circuit("sha256", &[2, 4, 8]);
}

/// Programs with blocks in stages, with many copies in parallel.
#[test]
fn programs_in_stages() {
    named_circuit("sort:8x5", &[2, 4]);
}

#[test]
fn parties_with_other_circuits_or_too_few_triples_end() {
    let program = named::program("add:8").expect("it has a name");
    let worlds = [1, 2].map(|k| World::new(&mut prg(&format!("{k}")), &program, 3, k, Form::Rows));
    let mut all = stocks(60, 3, worlds[1].task.need());
    let scripts =
        all.iter_mut().enumerate().map(|(i, stock)| stock.garble(&worlds[usize::from(i == 1)].task));
    assert!(matches!(run(scripts.collect()), Err(AuthError::Mismatch { .. })));
    let mut all = stocks(61, 3, Need { triples: 2, masks: 1 << 10 });
    let scripts = all.iter_mut().map(|stock| stock.garble(&worlds[0].task));
    // Batches make more triples than were asked for.
    assert!(run(scripts.collect()).is_ok());
    let mut all = stocks(61, 3, Need { triples: 2, masks: 20 });
    let scripts = all.iter_mut().map(|stock| stock.garble(&worlds[0].task));
    assert!(matches!(run(scripts.collect()), Err(AuthError::Short { what: "masks", .. })));
}
