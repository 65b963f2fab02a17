//! The bytes on the wire equal those of the file of digests and the declared costs, whatever a
//! party computes them with.

use crate::common::{IDS, ROLES, brought, context, inproc_nets, parties, run, terms, values};
use hushwire_aes::Backend;
use hushwire_circuit::{TwoParty, named};
use hushwire_garble::{
    Role, Scheme,
    yao::{Opening, Terms, YaoParty},
};
use hushwire_machine::{Meter, Transcript, drive::Wiring};
use hushwire_ot::{Context, Functionality, Level, Protocol};
use hushwire_prg::Seed;
use hushwire_testkit::{Digests, Trace};

/// The hashes of both links and a party's outputs, with this backend and width at one party.
fn trace(scheme: Scheme, local: Role, backend: Backend, width: usize) -> ([Option<[u8; 32]>; 2], Vec<u8>) {
    let program = named::program("sort:3x4").expect("a circuit of ours");
    let owners = (0..program.inputs().len()).map(|i| i % 2).collect();
    let roles = TwoParty::new(&program, owners, vec![[true; 2]; program.outputs().len()]);
    let [zero, one] = parties(inproc_nets(), |role, channel| {
        let transcript = Transcript::new(IDS[role as usize]);
        channel.tap(transcript.tap());
        let backend = if role == local { backend } else { Backend::best() };
        let context = Context { backend, ..context() };
        let seed = Seed::from_bytes([role as u8; 16]);
        let mut party = YaoParty::open(channel, role, &context, terms(scheme), &seed).expect("set up");
        if role == local {
            party = party.with_width(width);
        }
        let mut outputs = vec![];
        for seed in [1, 2] {
            outputs.extend(
                run(&mut party, channel, &program, &roles, 5, &values(&program, 5, seed)).expect("a run"),
            );
        }
        let links = [(IDS[0], IDS[1]), (IDS[1], IDS[0])].map(|(from, to)| transcript.link(from, to, 0));
        (links, outputs)
    });
    assert_eq!(zero, one, "both ends saw the same messages");
    zero
}

/// Runs a set-up and two runs.
fn session(backend: Backend, terms: Terms) -> Trace {
    let program = named::program("sort:3x4").expect("a circuit of ours");
    let owners = (0..program.inputs().len()).map(|i| i % 2).collect();
    let roles = TwoParty::new(&program, owners, vec![[true, false]; program.outputs().len()]);
    let context = Context { backend, ..context() };
    let trace = Trace::new();
    let mut both = ROLES.map(|role| {
        let seed = Seed::from_bytes([role as u8; 16]);
        Opening::new(role, &context, terms, &seed).expect("a private scheme")
    });
    trace.run(Wiring::Ring, &mut both);
    let mut both = both.map(Opening::finish);
    for seed in [1, 2] {
        let values = values(&program, 5, seed);
        let inputs = ROLES.map(|role| brought(&program, &roles, role, 5, &values));
        let mut runs = both.each_mut().map(|party| {
            let inputs = &inputs[party.role() as usize];
            party.begin(&program, &roles, inputs).expect("inputs fit")
        });
        trace.run(Wiring::Ring, &mut runs);
        runs.into_iter().for_each(|run| drop(run.finish()));
    }
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("yao");
    for scheme in Scheme::PRIVATE {
        all.run(&format!("yao/{scheme}"), |backend| session(backend, terms(scheme)));
    }
    for ot in [Protocol::Iknp, Protocol::FerretB10] {
        all.run(&format!("yao/{ot}"), |backend| session(backend, Terms { ot, ..Terms::default() }));
    }
    all.compare();
}

#[test]
fn neither_width_nor_tier_changes_a_byte() {
    for scheme in Scheme::PRIVATE {
        let first = trace(scheme, Role::Garbler, Backend::best(), usize::MAX);
        assert!(first.0.iter().all(Option::is_some));
        for local in [Role::Garbler, Role::Evaluator] {
            for (i, backend) in Backend::all().into_iter().enumerate() {
                let width = [1, 2, 4, 8, 16, 32, 37][i % 7];
                assert_eq!(trace(scheme, local, backend, width), first, "{scheme} {local:?} {backend:?}");
            }
            assert_eq!(trace(scheme, local, Backend::best(), 1), first, "{scheme} {local:?}");
        }
    }
}

#[test]
fn bytes_and_counts_are_as_declared() {
    let program = named::program("add:32").expect("a circuit of ours");
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true; 2]]);
    for scheme in Scheme::PRIVATE {
        let [garbler, evaluator] = parties(inproc_nets(), |role, channel| {
            let seed = Seed::from_bytes([role as u8; 16]);
            let mut party = YaoParty::open(channel, role, &context(), terms(scheme), &seed).expect("set up");
            let meter = Meter::new();
            channel.tap(meter.tap());
            run(&mut party, channel, &program, &roles, 5, &values(&program, 5, 1)).expect("a run");
            (meter.reading().cost(), party.stats())
        });
        let what = if scheme.has_free_xor() { Functionality::Cot } else { Functionality::RotChosen };
        let [sender, receiver] = Protocol::SoftSpoken4.cost(Level::SemiHonest, what, 32 * 5);
        let outputs = (33u64 * 5).div_ceil(8);
        let (stats, tables) = (garbler.1, garbler.1.table_bytes);
        assert_eq!(garbler.0.bytes_sent, 32 + sender.bytes_sent + tables + outputs, "{scheme}");
        assert_eq!(evaluator.0.bytes_sent, 32 + receiver.bytes_sent + outputs, "{scheme}");
        assert_eq!((stats.runs, stats.ands), (1, 5 * program.ands()));
        assert_eq!(stats.batches.gates, stats.ands);
        assert_eq!((evaluator.1.ands, evaluator.1.table_bytes), (stats.ands, tables));
        if scheme.has_free_xor() && scheme != Scheme::ThreeHalves {
            assert_eq!(tables, 32 * stats.ands);
        }
        assert!(stats.setup > std::time::Duration::ZERO && stats.first_gate > std::time::Duration::ZERO);
    }
}
