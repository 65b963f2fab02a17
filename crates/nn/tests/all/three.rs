//! Whole networks among three parties against the plain evaluator, bit by bit.

use super::{fixed::every_operator, larger, network, sample};
use hushwire_aes::Backend;
use hushwire_compute::{Computation, Output, Tensor, evaluate};
use hushwire_machine::{PartyId, Tap};
use hushwire_nn::{INPUT, Members, Network, Numbers, Secure, zoo};
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::{Transport, party, run_three};
use hushwire_three::{
    Cut, Plan, run,
    test_support::{opened, shared},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Lengths of all messages that a party sends, in order.
#[derive(Clone, Default)]
struct Lengths(Arc<Mutex<Vec<(u8, usize)>>>);

impl Tap for Lengths {
    fn outgoing(&mut self, to: PartyId, _lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().push((to.0, msg.len()));
        None
    }
    fn incoming(&mut self, _from: PartyId, _lane: u16, _msg: &mut [u8]) {}
}

type Said = [Vec<(u8, usize)>; 3];

/// The outputs of a computation that three parties run, and the lengths of what each said.
pub(super) fn three(c: &Computation, inputs: &BTreeMap<String, Tensor>) -> (BTreeMap<String, Tensor>, Said) {
    let plan = Plan::new(c).unwrap();
    let mut prg = Prg::new(Backend::best(), &Seed::random(), "test");
    let doors = c.inputs().zip(plan.inputs());
    let shares: Vec<_> = doors.map(|((name, _), door)| shared(&mut prg, &inputs[name], *door)).collect();
    let lengths: [Lengths; 3] = Default::default();
    let made = run_three(Transport::Inproc, 1, None, |role, mut net| {
        let (left, right) = (Some(role.left().id()), Some(role.right().id()));
        let mut ring = net.channel(0, left, right).unwrap();
        let mut back = net.channel(0, right, left).unwrap();
        for channel in [&mut ring, &mut back] {
            channel.tap(Box::new(lengths[role.index()].clone()));
        }
        let mut party = party(1, role, Backend::best());
        let inputs = shares.iter().map(|s| s[role.index()].clone()).collect();
        run(&mut party, vec![[&mut ring, &mut back]], &plan, Cut::whole(), inputs, &mut |_, _| true).unwrap()
    });
    let tensor = |(k, (output, door)): (usize, (&Output, _))| {
        let shares = [0, 1, 2].map(|p| &made[p][k]);
        (output.name.clone(), opened(shares, door, &c.node(output.value).ty))
    };
    let outputs = c.outputs().iter().zip(plan.outputs()).enumerate().map(tensor).collect();
    (outputs, lengths.map(|lengths| lengths.0.lock().unwrap().clone()))
}

/// A network's computation and all inputs of it.
pub(super) fn prepared(
    network: &Network,
    numbers: Numbers,
    seed: u64,
) -> (Computation, BTreeMap<String, Tensor>) {
    let input = sample(network, seed);
    let greatest = network.calibrated([&input]).unwrap();
    let secure = Secure::new(network, numbers, &Members::default()).unwrap();
    let mut inputs = secure.weights(network, &greatest, 2).unwrap();
    inputs.insert(INPUT.to_owned(), secure.input(&input).unwrap());
    (secure.computation().clone(), inputs)
}

fn check(network: &Network, numbers: Numbers, seed: u64) -> Said {
    let (c, inputs) = prepared(network, numbers, seed);
    let (found, said) = three(&c, &inputs);
    assert_eq!(found, evaluate(&c, &inputs).unwrap());
    said
}

#[test]
fn every_operator_among_three_parties() {
    for bits in [32, 40] {
        check(&network(&every_operator(1), Some(&[2, 3, 9, 9])), Numbers::of(bits), 2);
    }
}

/// Messages are as long for other weights and inputs of the same shapes.
#[test]
fn lengths_depend_on_the_architecture_alone() {
    let said = [1, 2].map(|seed| {
        let network = network(&every_operator(seed), Some(&[1, 3, 9, 9]));
        check(&network, Numbers::default(), seed)
    });
    assert_eq!(said[0], said[1]);
    assert!(said[0].iter().all(|all| all.len() > 100), "parties spoke");
}

#[test]
#[ignore = "minutes at this level"]
fn squeezenet_for_small_images_among_three_parties() {
    check(&network(&zoo::make("squeezenet-cifar", 1).unwrap(), None), Numbers::default(), 3);
}

#[test]
#[ignore = "minutes at this level"]
fn squeezenet_among_three_parties() {
    check(&network(&zoo::make("squeezenet", 1).unwrap(), None), Numbers::default(), 3);
}

#[test]
#[ignore = "many minutes at this level"]
fn resnet50_and_densenet121_among_three_parties() {
    for name in ["resnet50", "densenet121"] {
        check(&network(&zoo::make(name, 1).unwrap(), None), Numbers::default(), 3);
    }
}

#[test]
#[ignore = "minutes at this level"]
fn larger_networks_among_three_parties() {
    for network in larger() {
        check(&network, Numbers::default(), 3);
    }
}
