//! Whole networks among three parties, compared with the plain evaluator bit by bit.

use super::{fixed::every_operator, larger, network, parties, sample};
use hushwire_compute::{Computation, Tensor, evaluate};
use hushwire_nn::{INPUT, Members, Network, Numbers, Secure, zoo};
use std::collections::BTreeMap;

/// A network's computation, and all of its inputs.
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

pub(super) fn check(network: &Network, numbers: Numbers, seed: u64) -> parties::Said<3> {
    let (c, inputs) = prepared(network, numbers, seed);
    let (found, said) = parties::three(&c, &inputs);
    assert_eq!(found, evaluate(&c, &inputs).unwrap());
    said
}

#[test]
fn every_operator_among_three_parties() {
    for bits in [32, 40] {
        check(&network(&every_operator(1), Some(&[2, 3, 9, 9])), Numbers::of(bits), 2);
    }
}

/// Messages have the same lengths for other weights and inputs of the same shapes.
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
