//! Tests that pin the bytes on the wire, on every tier, and the bytes of an AND in declared costs.

use crate::{
    Form, Need, Roles, Script, Setup, Task, bucket_size, garble_cost, online_cost, preprocess_cost,
    rig::{World, seed},
    setup_cost,
};
use hushwire_aes::Backend;
use hushwire_circuit::named;
use hushwire_machine::drive::{Lockstep, Wiring};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Prg;
use hushwire_testkit::{Digests, Trace, backends};

/// Runs scripts to their end, and records the messages.
fn heard<T>(mut scripts: Vec<Script<'_, T>>) -> (Vec<T>, Trace) {
    let trace = Trace::new();
    trace.run(Wiring::Mesh, &mut scripts);
    (scripts.into_iter().map(Script::finish).collect(), trace)
}

const PHASES: [&str; 4] = ["set-up", "preprocessing", "garbling", "online"];

/// The trace of the four phases.
fn phases(backend: Backend, n: usize, form: Form) -> [Trace; 4] {
    phases_of("mul:6", 3, 1, backend, n, form)
}

/// The traces of all phases of `instances` instances of a circuit, with every party on `threads`
/// threads.
fn phases_of(
    circuit: &str,
    instances: usize,
    threads: usize,
    backend: Backend,
    n: usize,
    form: Form,
) -> [Trace; 4] {
    let context = Context { sid: Sid([17; 32]), backend };
    let program = named::program(circuit).expect("it has a name");
    let mut prg = Prg::new(Backend::best(), &seed(18, n), "pinned");
    let world = World::new(&mut prg, &program, n, instances, form);
    let open = |me| Setup::open(&context, [me, n], threads, Protocol::SoftSpoken4, &seed(19, me));
    let (setups, one) = heard((0..n).map(open).collect());
    let need = world.task.need();
    let (mut stocks, two) = heard(setups.into_iter().map(|setup| setup.preprocess(need)).collect());
    let (garbled, three) = heard(stocks.iter_mut().map(|stock| stock.garble(&world.task)).collect());
    let (outputs, four) =
        heard(garbled.into_iter().zip(&world.inputs).map(|(g, inputs)| g.evaluate(inputs)).collect());
    assert!(outputs == world.outputs);
    [one, two, three, four]
}

const RUNS: [(usize, Form, &str); 4] = [
    (2, Form::HalfGates, "half-gates"),
    (3, Form::Rows, "rows"),
    (3, Form::HalfGates, "half-gates"),
    (5, Form::HalfGates, "half-gates"),
];

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("authgarble");
    for (n, form, name) in RUNS {
        for (phase, trace) in PHASES.into_iter().zip(phases(Backend::best(), n, form)) {
            all.ran(&format!("authgarble/{n}-{name}/{phase}"), &trace);
        }
    }
    all.compare();
}

/// All tiers and all widths of batches send the same bytes.
#[test]
fn tiers_and_widths_change_no_byte() {
    for (n, form, _) in RUNS {
        let best = phases(Backend::best(), n, form);
        assert_eq!(phases(Backend::best().unbatched(), n, form), best, "{n} parties");
        if n < 5 {
            for backend in backends() {
                assert_eq!(phases(backend, n, form), best, "{n} parties on {backend:?}");
            }
        }
    }
}

/// The lists are long enough for several threads, and the last part is shorter than the others.
#[test]
fn threads_change_no_byte() {
    for (n, form) in [(2, Form::HalfGates), (3, Form::Rows)] {
        let of = |threads| phases_of("aes128", 1, threads, Backend::best(), n, form);
        let one = of(1);
        for threads in [2, 5] {
            assert_eq!(of(threads), one, "{threads} threads, {n} parties");
        }
    }
}

/// The cost of a set-up is the declared one with every extension by rows.
#[test]
fn set_ups_cost_what_they_say() {
    let mut found = vec![];
    let mut declared = vec![];
    for (n, ot) in SET_UPS {
        let (mut spent, mut rounds) = (vec![0; n], 0);
        let context = Context { sid: Sid([23; 32]), backend: Backend::best() };
        let mut scripts: Vec<_> =
            (0..n).map(|me| Setup::open(&context, [me, n], 1, ot, &seed(23, me))).collect();
        let count = |place: hushwire_machine::drive::Place, message: &mut Vec<u8>| {
            spent[place.party] += message.len() as u64;
            rounds = rounds.max(place.round as u64 + 1);
        };
        Lockstep::wired(Wiring::Mesh).run_edited(&mut scripts, count).expect("honest parties");
        found.push((rounds, spent));
        let cost = setup_cost(n, ot).expect("of an extension by rows");
        declared.push((cost.rounds, vec![cost.bytes_sent; n]));
    }
    assert_eq!(found, declared);
    assert_eq!(setup_cost(2, Protocol::FerretB11), None);
}

const SET_UPS: [(usize, Protocol); 5] = [
    (2, Protocol::Kos),
    (2, Protocol::SoftSpoken2),
    (2, Protocol::SoftSpoken4),
    (2, Protocol::SoftSpoken8),
    (3, Protocol::SoftSpoken4),
];

/// The bytes for an AND in each phase are those of the crate's documentation, within 5 % of the
/// declared costs, which runs must match.
#[test]
fn bytes_for_an_and_are_those_of_the_page() {
    const ANDS: u64 = 1 << 17;
    let near = |cost: u64, formula: f64, what: &str| {
        let each = cost as f64 / ANDS as f64;
        assert!((each / formula - 1.0).abs() < 0.05, "{what}: {each} bytes, {formula} on the page");
    };
    let program = named::program("aes128").expect("it has a name");
    let instances = usize::try_from(ANDS / program.ands()).expect("few") + 1;
    let ands = program.ands() * instances as u64;
    let scale = |bytes: u64| bytes * ANDS / ands;
    for n in [2, 3, 5, 8] {
        let (b, peers) = (bucket_size(ANDS) as f64, (n - 1) as f64);
        let made = preprocess_cost(n, Protocol::SoftSpoken4, Need { triples: ANDS, masks: ANDS });
        let formula = peers * (12.0 * b + 16.0 * b + b / 8.0 + (b - 1.0) / 8.0 + 4.0);
        near(made.bytes_sent, formula, "function-independent");
        let (owners, learns) =
            (vec![0; program.inputs().len()], vec![vec![true; n]; program.outputs().len()]);
        let roles = Roles::new(&program, n, owners, learns);
        let task = |form| Task::new(&program, roles.clone(), instances, form);
        let rows = garble_cost(1, n, &task(Form::Rows)).bytes_sent;
        near(scale(rows), peers / 4.0 + 64.0 * n as f64, "function-dependent");
        let halves = task(Form::HalfGates);
        let blocks = 16.0 * (3 * n - 4) as f64;
        near(scale(garble_cost(1, n, &halves).bytes_sent), peers / 4.0 + blocks + 0.125, "half gates");
        near(scale(garble_cost(n - 1, n, &halves).bytes_sent), peers / 4.0 + blocks, "half gates");
        // Online, inputs and outputs add a bit each to Λ of every AND; the documentation counts Λ
        // alone.
        let ends = (program.output_bits() + program.input_bits()) * instances / 8;
        let online = online_cost(0, n, &halves).bytes_sent - (n - 1) as u64 * ends as u64;
        near(scale(online), peers / 8.0, "online");
    }
}
