//! The machine alone, with triples from a dealer: all parties on one thread, lanes, and the bytes
//! on the wire.

use crate::pair::{both, open, own, random_inputs, roles};
use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, eval, named};
use hushwire_gmw::{CircuitBatch, CircuitWorkspace, Stock, triples};
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Lane, Lockstep, Machine, Misstep, Wiring},
};
use hushwire_ot::ideal;
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::{Digests, Trace};

fn prg(label: &str) -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([9; 16]), label)
}

/// Triples from a dealer, in the form in which OTs make them.
fn dealt(count: u64) -> [Stock; 2] {
    ideal::triples(&mut prg("triples"), count).map(|made| {
        let mut stock = Stock::new();
        stock.add(made);
        stock
    })
}

/// Both parties' batches, and the expected output planes.
fn batches(backend: Backend, program: &Program, instances: usize) -> ([CircuitBatch<'_>; 2], Planes) {
    let inputs = random_inputs(program, instances, 3);
    let mut shares = [inputs.clone(), Planes::zeros(inputs.width(), instances)];
    prg("shares").fill(&mut shares[1]);
    let [masked, mask] = &mut shares;
    masked.iter_mut().zip(mask.iter()).for_each(|(x, m)| *x ^= m);
    let mut stocks = dealt(triples(program, instances)).into_iter();
    let batches = [0, 1].map(|i| {
        let (stock, ws) = (stocks.next().expect("one each"), CircuitWorkspace::default());
        CircuitBatch::new(backend, i, program, &shares[i], stock, ws)
    });
    (batches, eval::eval(program, &inputs).expect("inputs fit"))
}

fn sum([mut a, b]: [Planes; 2]) -> Planes {
    a.iter_mut().zip(b.iter()).for_each(|(a, b)| *a ^= b);
    a
}

fn opened(batches: &mut [CircuitBatch<'_>; 2]) -> Planes {
    assert!(batches.iter_mut().all(|b| b.stock().bytes() == 0), "every triple is used once");
    sum(batches.each_ref().map(CircuitBatch::output))
}

const RUNS: [(&str, usize); 7] = [
    ("aes128", 1),
    ("less:16", 7),
    ("mul:8", 64),
    ("add:9", 1000),
    ("sort:5x4", 3),
    ("sort:4x4", 130),
    ("mux:5", 5000),
];

#[test]
fn all_parties_on_one_thread() {
    for (name, instances) in RUNS {
        let program = named::program(name).expect("a circuit of ours");
        for backend in Backend::all() {
            let (mut parties, expected) = batches(backend, &program, instances);
            Lockstep::new().run(&mut parties).unwrap_or_else(|e| panic!("{e}"));
            assert!(opened(&mut parties) == expected, "{name} × {instances} on {backend:?}");
        }
    }
}

#[test]
fn lanes_run_batches() {
    let program = named::program("mul:6").expect("a circuit of ours");
    let outputs = both(|i, channel| {
        let (batches, expected) = batches(Backend::best(), &program, 70);
        let batch = batches.into_iter().nth(i).expect("two");
        let from = channel.from();
        let hollow = hushwire_machine::Channel::new(0, None, None, std::time::Duration::from_secs(1));
        let mut lane = Lane::new(std::mem::replace(channel, hollow));
        let done = lane.run(batch).expect("an honest run");
        assert_eq!(lane.into_channels()[0].from(), from);
        (done.output(), expected)
    });
    let [(a, expected), (b, _)] = outputs;
    assert!(sum([a, b]) == expected);
}

/// The trace of a batch of both parties.
fn batch(backend: Backend, program: &Program, instances: usize) -> Trace {
    let (mut parties, _) = batches(backend, program, instances);
    let trace = Trace::new();
    trace.run(Wiring::Ring, &mut parties);
    trace
}

/// The trace of a set-up and two runs over a channel: triples, the digest, inputs and outputs.
fn session(backend: Backend, program: &Program) -> Trace {
    let (roles, trace) = (roles(program), Trace::new());
    both(|i, channel| {
        channel.tap(trace.tap(i));
        let mut party = open(channel, i, backend).expect("a set-up");
        for seed in [1, 2] {
            let inputs = own(program, &roles, i, &random_inputs(program, 9, seed));
            party.run(channel, program, &roles, &inputs).expect("an honest run");
        }
    });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("gmw");
    for (name, instances) in RUNS {
        let program = named::program(name).expect("a circuit of ours");
        all.run(&format!("gmw/batch/{name}/{instances}"), |backend| batch(backend, &program, instances));
    }
    let program = named::program("mul:8").expect("a circuit of ours");
    all.run("gmw/session", |backend| session(backend, &program));
    all.compare();
}

/// A caller's own transport passes on a message that is shorter or longer. The message is refused,
/// and the whole message is refused afterwards as well.
#[test]
fn messages_of_other_lengths_end_a_batch() {
    let program = named::program("mul:6").expect("a circuit of ours");
    let rounds = program.depth();
    for (i, last) in [(0, 0), (1, 0), (0, 1), (1, rounds / 2), (0, rounds - 1), (1, rounds - 1)] {
        for change in [0, 1, -1, 9] {
            let mut batch = batches(Backend::best(), &program, 70).0.into_iter().nth(i).expect("two");
            let mut own = vec![0; batch.round(0).map_or(0, |round| round.out)];
            batch.write(0, &mut own).expect("its turn");
            for _ in 0..last {
                let mut next = vec![0; batch.upcoming().map_or(0, |round| round.out)];
                let heard = vec![0; own.len()];
                batch.turn(&[Exchanged { own: &own, heard: &heard }], &mut next).expect("whole messages");
                own = next;
            }
            let len = if change == 0 { 0 } else { own.len().saturating_add_signed(change) };
            let (heard, whole) = (vec![0; len], vec![0; own.len()]);
            let mut next = vec![0; batch.upcoming().map_or(0, |round| round.out)];
            let mut go_on = |heard: &[u8]| match last + 1 {
                end if end == rounds => batch.read(&[Exchanged { own: &own, heard }]),
                _ => batch.turn(&[Exchanged { own: &own, heard }], &mut next),
            };
            let step = "a circuit layer";
            assert!(matches!(go_on(&heard), Err(NetError::Malformed { msg, .. }) if msg == step));
            assert!(matches!(go_on(&whole), Err(NetError::Misstep(lost)) if lost == Misstep::Lost { step }));
            assert!(batch.round(0).is_some(), "it never looks done");
        }
    }
}

#[test]
#[should_panic(expected = "triples are needed")]
fn a_batch_without_triples_is_a_bug() {
    let program = named::program("add:8").expect("a circuit of ours");
    let shares = Planes::zeros(program.input_bits(), 5);
    let ws = CircuitWorkspace::default();
    let mut batch = CircuitBatch::new(Backend::best(), 0, &program, &shares, Stock::new(), ws);
    let mut message = vec![0; batch.round(0).map_or(0, |round| round.out)];
    drop(batch.write(0, &mut message));
}
