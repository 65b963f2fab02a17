//! Whole networks between the model's owner and the client, compared with the plain evaluator bit
//! by bit.

use super::{fixed::every_operator, larger, network, parties, three::prepared};
use hushwire_compute::evaluate;
use hushwire_nn::{INPUT, Network, Numbers, zoo};
use hushwire_two::{Plan, Products};

/// Runs a network between two parties, of which the second has the input and learns the output.
/// Returns the lengths of each party's messages.
pub(super) fn check(
    network: &Network,
    numbers: Numbers,
    seed: u64,
    products: Products,
) -> [parties::Said<2>; 2] {
    let (c, inputs) = prepared(network, numbers, seed);
    let owners: Vec<usize> = c.inputs().map(|(name, _)| usize::from(name == INPUT)).collect();
    let plan = Plan::with(&c, &owners, &vec![[false, true]; c.outputs().len()], products).unwrap();
    assert_eq!(plan.coefficients() > 0, products == Products::He);
    let (made, said) = parties::two(&c, &plan, &inputs, &owners, products == Products::He);
    for (name, expected) in evaluate(&c, &inputs).unwrap() {
        assert!(made[&name] == expected, "{name}, {products:?}");
    }
    said
}

const BOTH: [Products; 2] = [Products::He, Products::Ot];

/// Under encryption and by OT. Messages have the same lengths for other weights and inputs of the
/// same shapes.
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
