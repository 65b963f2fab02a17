//! Whole networks between the model's owner and the client against the plain evaluator, bit by bit.

use super::{fixed::every_operator, larger, network, three::prepared};
use hushwire_aes::Backend;
use hushwire_compute::{Tensor, evaluate};
use hushwire_machine::{PartyId, Tap, inproc};
use hushwire_nn::{INPUT, Network, Numbers, zoo};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::Seed;
use hushwire_two::{Party, Plan, Products};
use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];

/// Lengths of all messages that a party sends on each lane, in order.
#[derive(Clone, Default)]
struct Lengths(Arc<Mutex<[Vec<usize>; 2]>>);

impl Tap for Lengths {
    fn outgoing(&mut self, _to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap()[usize::from(lane)].push(msg.len());
        None
    }
    fn incoming(&mut self, _from: PartyId, _lane: u16, _msg: &mut [u8]) {}
}

/// Runs a network between two parties, of whom the second has the input and learns the output; the lengths of what each said.
fn check(network: &Network, numbers: Numbers, seed: u64, products: Products) -> [[Vec<usize>; 2]; 2] {
    let (c, inputs) = prepared(network, numbers, seed);
    let owners: Vec<usize> = c.inputs().map(|(name, _)| usize::from(name == INPUT)).collect();
    let plan = Plan::with(&c, &owners, &vec![[false, true]; c.outputs().len()], products).unwrap();
    assert_eq!(plan.coefficients() > 0, products == Products::He);
    let own = |i: usize| -> Vec<Tensor> {
        let all = c.inputs().zip(&owners).filter(|(_, owner)| **owner == i);
        all.map(|((name, _), _)| inputs[name].clone()).collect()
    };
    let lengths: [Lengths; 2] = Default::default();
    let nets = inproc::mesh_capped(&IDS, 2, Duration::from_secs(600), usize::MAX);
    let (plan, own, taps) = (&plan, &own, &lengths);
    let made: Vec<Vec<Tensor>> = thread::scope(|scope| {
        let party = |(i, mut net): (usize, hushwire_machine::Net)| {
            scope.spawn(move || {
                let peer = Some(IDS[1 - i]);
                let [mut channel, mut ots] = [0, 1].map(|lane| net.channel(lane, peer, peer).unwrap());
                [&mut channel, &mut ots]
                    .into_iter()
                    .for_each(|channel| channel.tap(Box::new(taps[i].clone())));
                let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
                let seed = Seed::from_bytes([i as u8 + 1; 16]);
                let party = Party::open(ots, i, &context, Protocol::SoftSpoken2, &seed).unwrap();
                party
                    .threads(2)
                    .ahead(products == Products::He)
                    .run(&mut channel, plan, own(i), &mut |_, _| true)
                    .unwrap()
            })
        };
        let threads: Vec<_> = nets.into_iter().enumerate().map(party).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(made[0].is_empty(), "the owner learns nothing");
    let expected = evaluate(&c, &inputs).unwrap();
    for (output, made) in c.outputs().iter().zip(&made[1]) {
        assert!(*made == expected[&output.name], "{}, {products:?}", output.name);
    }
    lengths.map(|lengths| lengths.0.lock().unwrap().clone())
}

const BOTH: [Products; 2] = [Products::He, Products::Ot];

/// Under encryption and by OT, and messages are as long for other weights and inputs of the same shapes.
#[test]
fn every_operator_between_two_parties() {
    for products in BOTH {
        let said = [1, 2].map(|seed| {
            let network = network(&every_operator(seed), Some(&[1, 3, 9, 9]));
            check(&network, Numbers::default(), seed, products)
        });
        assert_eq!(said[0], said[1]);
        assert!(said[0].iter().flatten().all(|all| all.len() > 20), "parties spoke");
    }
}

/// Two images, and a ring that is wider than words of encryption's single prime.
#[test]
fn images_in_a_wider_ring_between_two_parties() {
    let model = || {
        let mut w = zoo::Writer::new("small", 3, &[2, 2, 8, 8]);
        let x = w.conv("input", [2, 4], 3, 1, 1, true);
        let x = w.relu(&x);
        let x = w.pool("MaxPool", &x, 3, 2, 1, false);
        let x = w.op("GlobalAveragePool", &[&x], &[]);
        let x = w.op("Flatten", &[&x], &[]);
        let x = w.gemm(&x, [4, 6]);
        w.finish(&x)
    };
    for bits in [32, 40] {
        check(&network(&model(), None), Numbers::of(bits), 2, Products::He);
    }
}

#[test]
#[ignore = "minutes at this level"]
fn squeezenet_for_small_images_between_two_parties() {
    for products in BOTH {
        check(&network(&zoo::make("squeezenet-cifar", 1).unwrap(), None), Numbers::default(), 3, products);
    }
}

#[test]
#[ignore = "minutes at this level"]
fn squeezenet_between_two_parties() {
    check(&network(&zoo::make("squeezenet", 1).unwrap(), None), Numbers::default(), 3, Products::He);
}

#[test]
#[ignore = "minutes at this level"]
fn larger_networks_between_two_parties() {
    for network in larger() {
        check(&network, Numbers::default(), 3, Products::He);
    }
}
