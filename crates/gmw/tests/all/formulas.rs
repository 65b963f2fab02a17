//! Compares the messages of whole sessions with the formulas, and checks that triples are used
//! once, which right outputs do not show.

use crate::pair::{self, both, random_inputs, roles};
use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_circuit::{
    Layered, ONE, Planes, Program, TwoParty, ZERO, input_slot, named, planes::plane_bytes,
};
use hushwire_gmw::{GmwParty, triples};
use hushwire_machine::{Channel, PartyId, Tap};
use hushwire_ot::{
    BitTriples, Context, Driver, Protocol, SemiHonest, Sid, Triples, open_receiver, open_sender,
};
use hushwire_prg::{Prg, Seed};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

const OT: Protocol = Protocol::SoftSpoken4;

/// A party's messages, in the order in which it sent them.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<Vec<u8>>>>);

impl Tap for Sent {
    fn outgoing(&mut self, _: PartyId, _: u16, message: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().expect("one thread").push(message.to_vec());
        None
    }
    fn incoming(&mut self, _: PartyId, _: u16, _: &mut [u8]) {}
}

impl Sent {
    fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.0.lock().expect("one thread"))
    }
}

/// The name of a session and the parties' seeds.
#[derive(Clone, Copy)]
struct Of {
    sid: u8,
    seeds: [u8; 2],
}

impl Of {
    fn context(self) -> Context {
        Context { sid: Sid([self.sid; 32]), backend: Backend::best() }
    }
    fn seed(self, i: usize) -> Seed {
        Seed::from_bytes([self.seeds[i]; 16])
    }
}

/// A program, its number of instances, and all inputs.
type Run = (Program, usize, Planes);

fn run_of(name: &str, instances: usize, seed: u8) -> Run {
    let program = named::program(name).expect("a circuit of ours");
    let inputs = random_inputs(&program, instances, seed);
    (program, instances, inputs)
}

/// A run with zeros as inputs.
fn zeros_of(name: &str, instances: usize) -> Run {
    let program = named::program(name).expect("a circuit of ours");
    let zeros = Planes::zeros(program.input_bits(), instances);
    (program, instances, zeros)
}

/// The messages of both parties: first those of the set-up, then those of every run.
fn session(of: Of, runs: &[Run]) -> [Vec<Vec<Vec<u8>>>; 2] {
    let party = |i: usize, channel: &mut Channel| {
        let sent = Sent::default();
        channel.tap(Box::new(sent.clone()));
        let mut party = GmwParty::open(channel, i, &of.context(), OT, &of.seed(i)).expect("a set-up");
        let mut all = vec![sent.take()];
        for (program, _, inputs) in runs {
            let roles = roles(program);
            let own = pair::own(program, &roles, i, inputs);
            let learnt = party.run(channel, program, &roles, &own).expect("an honest run");
            assert!(learnt == pair::plain(program, &roles, i, inputs), "{}", program.name());
            all.push(sent.take());
        }
        all
    };
    // Each party has both streams of input shares. The streams are equal if the parties draw the
    // same.
    let same = of.seeds[0] == of.seeds[1];
    both(|i, channel| if same { registry::silent(|| party(i, channel)) } else { party(i, channel) })
}

/// The triples of the same session, made by OT endpoints of the test's own.
fn made(of: Of, counts: &[usize]) -> [Vec<BitTriples>; 2] {
    both(|i, channel: &mut Channel| {
        let driver = &mut Driver::new();
        let contexts = [0, 1].map(|sender| of.context().child("gmw triples from", sender));
        let (send, receive) = (of.seed(i).derive("gmw sender", &[]), of.seed(i).derive("gmw receiver", &[]));
        let (mut sender, mut receiver);
        if i == 0 {
            sender = open_sender::<SemiHonest>(driver, channel, &contexts[0], OT, &send).expect("a set-up");
            receiver =
                open_receiver::<SemiHonest>(driver, channel, &contexts[1], OT, &receive).expect("a set-up");
        } else {
            receiver =
                open_receiver::<SemiHonest>(driver, channel, &contexts[0], OT, &receive).expect("a set-up");
            sender = open_sender::<SemiHonest>(driver, channel, &contexts[1], OT, &send).expect("a set-up");
        }
        let make = |count: &usize| {
            let mut steps = Triples::new(&mut sender, &mut receiver, *count, i == 0);
            driver.run(channel, &mut steps).expect("honest OTs");
            steps.finish()
        };
        counts.iter().map(make).collect()
    })
}

fn bit(bytes: &[u8], k: usize) -> bool {
    bytes[k / 8] >> (k % 8) & 1 == 1
}

/// Packs bits into whole bytes.
fn packed(bits: impl IntoIterator<Item = bool>) -> Vec<u8> {
    let bits: Vec<bool> = bits.into_iter().collect();
    bits.chunks(8).map(|c| c.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}

/// The messages that a run of one block must have: layer by layer, then the shares of outputs.
/// `streams` has the streams of input shares, of which party i owns number i.
fn expected(run: &Run, made: [&BitTriples; 2], streams: &mut [Prg; 2]) -> [Vec<Vec<u8>>; 2] {
    let (program, n, inputs) = run;
    let block: Arc<Layered> = program.stages().stage(0).block;
    assert_eq!((program.stages().len(), program.stages().stage(0).copies), (1, 1), "a flat program");
    // The shares of each bit, instance by instance.
    let mut slots = vec![[vec![false; *n], vec![false; *n]]; block.slots()];
    slots[ONE as usize][0].fill(true);
    assert_eq!(ZERO, 0);
    let (mut at, plane) = (0, plane_bytes(*n));
    for (k, width) in program.inputs().iter().enumerate() {
        let owner = roles(program).owners[k];
        let mut mask = vec![0; width * plane];
        streams[owner].fill(&mut mask);
        for i in 0..*width {
            for j in 0..*n {
                let masked = bit(&mask[i * plane..], j);
                let share = &mut slots[input_slot(at + i) as usize];
                share[1 - owner][j] = masked;
                share[owner][j] = masked ^ bit(&inputs[(at + i) * plane..], j);
            }
        }
        at += width;
    }
    let (mut sent, mut used, mut products) = ([vec![], vec![]], 0, vec![]);
    for layer in block.layers() {
        for (slot, product) in layer.products.iter().zip(std::mem::take(&mut products)) {
            slots[*slot as usize] = product;
        }
        for [a, b, out] in &layer.xors {
            let (a, b) = (slots[*a as usize].clone(), &slots[*b as usize]);
            slots[*out as usize] =
                [0, 1].map(|i| a[i].iter().zip(&b[i]).map(|(x, y)| x ^ y).collect::<Vec<_>>());
        }
        if layer.ands.is_empty() {
            break;
        }
        let width = layer.ands.len() * n;
        let triple =
            |i: usize, share: fn(&BitTriples) -> &Vec<u8>, k: usize| bit(share(made[i]), 8 * used + k);
        let masked = |i: usize, operand: usize, share: fn(&BitTriples) -> &Vec<u8>| -> Vec<bool> {
            let of = |k: usize| k < width && slots[layer.ands[k / n][operand] as usize][i][k % n];
            // Fills up whole bytes with the remaining triples.
            (0..width.next_multiple_of(8)).map(|k| of(k) ^ triple(i, share, k)).collect()
        };
        let d = [0, 1].map(|i| masked(i, 0, |t| &t.a));
        let e = [0, 1].map(|i| masked(i, 1, |t| &t.b));
        for k in 0..width {
            let (d, e) = (d[0][k] ^ d[1][k], e[0][k] ^ e[1][k]);
            let z = |i: usize| {
                let [a, b, c] = [triple(i, |t| &t.a, k), triple(i, |t| &t.b, k), triple(i, |t| &t.c, k)];
                c ^ d & b ^ e & a ^ (i == 0) & d & e
            };
            if k % n == 0 {
                products.push([vec![], vec![]]);
            }
            let product = products.last_mut().expect("one for each AND");
            (0..2).for_each(|i| product[i].push(z(i)));
        }
        used += width.div_ceil(8);
        for i in 0..2 {
            sent[i].push([packed(d[i].clone()), packed(e[i].clone())].concat());
        }
    }
    for (i, sent) in sent.iter_mut().enumerate() {
        sent.push(block.output_slots().iter().flat_map(|s| packed(slots[*s as usize][i].clone())).collect());
    }
    sent
}

#[test]
fn messages_are_those_of_the_formulas_run_after_run() {
    let of = Of { sid: 3, seeds: [1, 2] };
    let runs =
        [run_of("mul:5", 16, 1), run_of("add:7", 3, 2), run_of("mul:5", 16, 1), run_of("less:9", 13, 4)];
    let counts: Vec<usize> = runs.iter().map(|(p, n, _)| triples(p, *n) as usize).collect();
    let (sent, made) = (session(of, &runs), made(of, &counts));
    let mut streams = [0, 1].map(|i| {
        let seed = of.seed(i).derive("gmw input shares", &of.context().sid.0);
        assert_eq!(
            sent[i][0].last().expect("a set-up")[..],
            seed.expose()[..],
            "the seed of its input shares"
        );
        Prg::new(Backend::best(), &seed, "gmw input shares")
    });
    for (k, run) in runs.iter().enumerate() {
        let messages = expected(run, [&made[0][k], &made[1][k]], &mut streams);
        for i in 0..2 {
            let own = &sent[i][k + 1];
            assert_eq!(own[0].len(), 32, "the digest comes first");
            let last = &own[own.len() - messages[i].len()..];
            assert!(*last == messages[i], "run {k}: party {i} sends something else");
            // Runs 0 and 2 are equal.
            assert!((1..=k).all(|j| sent[i][j][0] != own[0]), "run {k}: a digest is a run's");
        }
    }
}

/// The messages of a run's layers, without the digest and the outputs.
fn layers<'a>(run: &Run, sent: &'a [Vec<u8>]) -> &'a [Vec<u8>] {
    let end = sent.len() - 1;
    &sent[end - run.0.depth()..end]
}

#[test]
fn no_triple_and_no_share_serves_twice() {
    // If x and y are zeros, their AND opens a and b of its triple, for 128 instances each. No two
    // of these blocks may be equal.
    let sessions = [
        Of { sid: 1, seeds: [1, 2] },
        Of { sid: 2, seeds: [1, 2] },
        Of { sid: 1, seeds: [3, 2] },
        Of { sid: 1, seeds: [1, 4] },
    ];
    let (mut seen, mut own) = (HashSet::new(), HashSet::new());
    for (s, of) in sessions.into_iter().enumerate() {
        let runs = [0; 3].map(|_| zeros_of("mul:6", 128));
        let sent = session(of, &runs);
        for (k, run) in runs.iter().enumerate() {
            let [zero, one] = [0, 1].map(|i| layers(run, &sent[i][k + 1]).concat());
            let opened: Vec<u8> = zero.iter().zip(&one).map(|(x, y)| x ^ y).collect();
            for block in opened.chunks_exact(16) {
                assert!(seen.insert(block.to_vec()), "session {s}, run {k}: a triple came before");
            }
            // Each party's message alone reveals nothing about its share: it is masked afresh.
            for block in zero.chunks_exact(16).chain(one.chunks_exact(16)) {
                assert!(own.insert(block.to_vec()), "session {s}, run {k}: a mask came before");
            }
            let ones: u32 = opened.iter().map(|byte| byte.count_ones()).sum();
            let bits = 8.0 * opened.len() as f64;
            assert!((f64::from(ones) - bits / 2.0).abs() < 3.0 * bits.sqrt(), "six standard deviations");
        }
    }
}

#[test]
fn directions_share_nothing() {
    // This holds even for parties that draw the same values, since each direction has its own
    // context and seeds.
    let [zero, one] = made(Of { sid: 1, seeds: [7, 7] }, &[1024]);
    for (x, y) in [(&zero[0].a, &one[0].a), (&zero[0].b, &one[0].b), (&zero[0].a, &zero[0].b)] {
        assert_ne!(x, y);
    }
    let sent = session(Of { sid: 1, seeds: [7, 7] }, &[run_of("mul:5", 16, 1)]);
    let [zero, one] = sent.map(|all| all.concat());
    let long = |all: &[Vec<u8>]| all.iter().filter(|m| m.len() > 32).cloned().collect::<HashSet<_>>();
    assert!(
        long(&zero).len() > 2 && long(&zero).is_disjoint(&long(&one)),
        "OTs of both directions are alike"
    );
}

#[test]
fn shares_of_inputs_are_fresh_in_every_run() {
    // Without ANDs, the peer's share of an input is its share of the output.
    let mut g = hushwire_circuit::Builder::new();
    let (a, b) = (g.input(128), g.input(128));
    let program = Program::flat("both", &g.finish(&[a, b]));
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true; 2]; 2]);
    let mut seen = HashSet::new();
    for of in [Of { sid: 1, seeds: [1, 2] }, Of { sid: 2, seeds: [1, 2] }, Of { sid: 1, seeds: [3, 4] }] {
        let shares = both(|i, channel| {
            let sent = Sent::default();
            channel.tap(Box::new(sent.clone()));
            let mut party = GmwParty::open(channel, i, &of.context(), OT, &of.seed(i)).expect("a set-up");
            let last = |_| {
                party.run(channel, &program, &roles, &Planes::zeros(128, 8)).expect("an honest run");
                sent.take().pop().expect("the outputs' shares")
            };
            (0..3).map(last).collect::<Vec<_>>()
        });
        for (k, (zero, one)) in shares[0].iter().zip(&shares[1]).enumerate() {
            assert_eq!(zero, one, "shares of zeros");
            for block in zero.chunks_exact(16) {
                assert!(seen.insert(block.to_vec()), "run {k}: a share came before");
            }
        }
    }
}
