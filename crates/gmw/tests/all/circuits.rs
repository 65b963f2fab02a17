//! Two parties over channels compared with plain evaluation: named and random circuits, few and
//! many instances, stages, all kinds of roles, and the declared rounds and bytes.

use crate::pair::{self, both, both_capped, check, context, own, plain, random_inputs, roles};
use hushwire_aes::Backend;
use hushwire_circuit::{Builder, Layered, Program, Stage, TwoParty, named};
use hushwire_gmw::{circuit_cost, triples, triples_cost};
use hushwire_ot::Protocol;
use hushwire_testkit::picked_circuit;
use proptest::prelude::*;
use std::sync::Arc;

fn program(name: &str) -> Program {
    named::program(name).expect("a circuit of ours")
}

#[test]
fn named_circuits_compute_what_plain_ones_do() {
    for (name, instances) in [("aes128", 3), ("less:32", 1000), ("mul:8", 64), ("add:16", 7), ("sort:8x8", 5)]
    {
        let program = program(name);
        check(Backend::best(), &program, &roles(&program), instances);
    }
}

#[test]
fn every_number_of_instances_and_every_tier() {
    let program = program("less:8");
    for instances in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 1000, 2047, 4100] {
        check(Backend::best(), &program, &roles(&program), instances);
    }
    for backend in Backend::all() {
        check(backend, &program, &roles(&program), 100);
        check(backend, &program, &roles(&program), 2500);
    }
}

#[test]
fn declared_rounds_and_bytes_are_the_measured_ones() {
    for (name, instances) in [("aes128", 1), ("less:32", 100), ("add-fast:32", 2000), ("sort:8x8", 3)] {
        let program = program(name);
        let roles = roles(&program);
        let ots = triples_cost(Protocol::SoftSpoken4, triples(&program, instances));
        for (i, reading) in check(Backend::best(), &program, &roles, instances).iter().enumerate() {
            let circuit = circuit_cost(&program, &roles, i, instances);
            assert_eq!(circuit.rounds, program.depth() as u64 + 2, "the digest, each layer, the outputs");
            assert_eq!(reading.rounds(), circuit.rounds + ots.rounds, "{name}");
            assert_eq!(reading.bytes_sent(), circuit.bytes_sent + ots.bytes_sent, "{name}");
        }
    }
}

#[test]
fn an_and_takes_two_bits_and_a_triple_of_31_each_way() {
    let program = program("mul:32");
    let instances = 256;
    let ands = program.ands() * instances as u64;
    assert_eq!(triples(&program, instances), ands);
    let readings = check(Backend::best(), &program, &roles(&program), instances);
    for reading in readings {
        let bits = 8.0 * reading.bytes_sent() as f64 / ands as f64;
        assert!((33.0..34.0).contains(&bits), "{bits} bits an AND");
    }
}

#[test]
fn layers_beyond_a_message_are_split() {
    // Nine ANDs at once, and nine more on the products.
    let mut g = Builder::new();
    let (a, b) = (g.input(9), g.input(9));
    let first: Vec<_> = a.iter().zip(&b).map(|(a, b)| g.and(*a, *b)).collect();
    let second = (0..9).map(|i| g.and(first[i], first[(i + 1) % 9])).collect();
    let circuit = g.finish(&[second]);
    let program = Program::flat("nine", &circuit);
    let roles = roles(&program);
    for (instances, messages) in [(200_000, 2), (130_001, 2), ((1 << 20) + 3, 9)] {
        let cost = circuit_cost(&program, &roles, 0, instances);
        assert_eq!(cost.rounds, 2 + 2 * messages, "{instances}");
    }
    for instances in [200_000, 130_001] {
        // Triples are made call after call, and all of them are used.
        let count = triples(&program, instances);
        assert!(count > 2 << 20);
        let ots = triples_cost(Protocol::SoftSpoken4, count);
        for (i, reading) in check(Backend::best(), &program, &roles, instances).iter().enumerate() {
            let sent = circuit_cost(&program, &roles, i, instances).bytes_sent + ots.bytes_sent;
            // An extension may have made up to 511 further triples.
            assert!(reading.bytes_sent().abs_diff(sent) <= 512 * 8, "{instances}");
        }
    }
}

#[test]
fn outputs_go_to_whom_they_are_due() {
    let mut g = Builder::new();
    let (a, b, c) = (g.input(5), g.input(3), g.input(4));
    let and = g.and(a[0], b[1]);
    let sum = g.xor(c[3], and);
    let one = g.not(sum);
    let circuit = g.finish(&[vec![and, a[4]], vec![sum], vec![one, hushwire_circuit::Bit::ONE], vec![c[0]]]);
    let program = Program::flat("roles", &circuit);
    let owners = [vec![0, 1, 0], vec![0, 0, 0], vec![1, 1, 1]];
    let learns = [
        vec![[true, false], [false, true], [true, true], [false, false]],
        vec![[true, false]; 4],
        vec![[false, true]; 4],
        vec![[false, false]; 4],
    ];
    for owners in owners {
        for learns in &learns {
            let roles = TwoParty::new(&program, owners.clone(), learns.clone());
            let readings = check(Backend::best(), &program, &roles, 11);
            let ots = triples_cost(Protocol::SoftSpoken4, triples(&program, 11));
            for (i, reading) in readings.iter().enumerate() {
                let circuit = circuit_cost(&program, &roles, i, 11);
                assert_eq!(reading.rounds(), circuit.rounds + ots.rounds);
                assert_eq!(reading.bytes_sent(), circuit.bytes_sent + ots.bytes_sent);
            }
        }
    }
}

/// Adds `2^stages` numbers pairwise, all pairs of a stage at once.
fn tree(width: usize, stages: u32) -> Program {
    let block = program(&format!("add-mod:{width}")).to_circuit().expect("a small circuit");
    let block = Arc::new(Layered::new(&block));
    let w = width as u32;
    let registers = |number: u32| number * w..(number + 1) * w;
    let stage = |k: u32| {
        let copies = 1u32 << (stages - 1 - k);
        let pairs = (0..copies).flat_map(|c| registers((2 * c) << k).chain(registers((2 * c + 1) << k)));
        Stage {
            block: block.clone(),
            copies: copies as usize,
            reads: pairs.collect(),
            writes: (0..copies).flat_map(|c| registers((2 * c) << k)).collect(),
        }
    };
    let numbers = 1usize << stages;
    let stages: Vec<Stage> = (0..stages).map(stage).collect();
    let (inputs, outputs) = (vec![width; numbers], vec![width]);
    Program::new("tree", inputs, outputs, numbers * width, (0..w).collect(), Arc::new(stages))
}

#[test]
fn stages_of_many_copies() {
    for instances in [1, 3, 8, 13, 64, 100] {
        let program = tree(7, 4);
        check(Backend::best(), &program, &roles(&program), instances);
    }
}

#[test]
fn runs_follow_each_other_in_a_session() {
    let programs = ["less:8", "add:16", "less:8"].map(program);
    // Queues of a few bytes: nothing relies on the capacity of a transport.
    both_capped(1 << 12, |i, channel| {
        let mut party = pair::open(channel, i, Backend::best()).expect("a set-up");
        for (k, program) in programs.iter().enumerate() {
            let (roles, instances) = (roles(program), 50 * k + 1);
            let all = random_inputs(program, instances, k as u8);
            let inputs = own(program, &roles, i, &all);
            let learnt = party.run(channel, program, &roles, &inputs).expect("an honest run");
            assert!(learnt == plain(program, &roles, i, &all), "run {k}");
        }
    });
}

#[test]
fn triples_from_every_extension() {
    let program = program("add:16");
    let roles = roles(&program);
    let instances = 1100;
    let all = random_inputs(&program, instances, 5);
    for ot in Protocol::ALL.into_iter().filter(|ot| ot.supports(hushwire_ot::Level::SemiHonest)) {
        both(|i, channel| {
            let seed = hushwire_prg::Seed::from_bytes([i as u8 + 3; 16]);
            let mut party = hushwire_gmw::GmwParty::open(channel, i, &context(Backend::best()), ot, &seed)
                .expect("a set-up");
            for _ in 0..2 {
                let inputs = own(&program, &roles, i, &all);
                let learnt = party.run(channel, &program, &roles, &inputs).expect("an honest run");
                assert!(learnt == plain(&program, &roles, i, &all), "{ot}");
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn random_circuits_of_any_batch(
        picks in prop::collection::vec(any::<(u8, u32, u32)>(), 1..120),
        widths in (1usize..6, 0usize..5),
        outputs in 1usize..20,
        instances in prop::sample::select(vec![1usize, 2, 3, 7, 8, 9, 64, 100, 511, 512, 513, 2048, 2100]),
    ) {
        let circuit = picked_circuit([widths.0, widths.1], &picks, outputs);
        let program = Program::flat("random", &circuit);
        check(Backend::best(), &program, &roles(&program), instances);
    }
}
