//! A result that is at least 0 by definition is never negative, whatever is rounded before.

use super::{network, sample};
use hushwire_compute::evaluate;
use hushwire_nn::{
    Array, Floats, INPUT, Members, Network, Numbers, Secure, decode,
    onnx::{Attribute, Model},
    zoo::{self, Random, Writer},
};
use proptest::prelude::*;

/// The output; `None` if values are too large for the ring and wrap.
fn output(network: &Network, numbers: Numbers, input: &Array) -> Option<Array> {
    let greatest = network.calibrated([input]).unwrap();
    let secure = Secure::new(network, numbers, &Members::default()).unwrap();
    let floats = Floats::new(network, input, false).unwrap();
    let rooms = secure.rooms(network, &greatest, 1, &floats).ok()?;
    if rooms.iter().any(|room| *room <= 0.0) {
        return None;
    }
    let mut inputs = secure.weights(network, &greatest, 1).ok()?;
    inputs.insert(INPUT.to_owned(), secure.input(input).unwrap());
    Some(decode(&evaluate(secure.computation(), &inputs).unwrap()["output"]))
}

fn ints(all: &[i64]) -> Attribute {
    Attribute::Ints(all.to_vec())
}

fn clip(w: &mut Writer, x: &str, bounds: [f32; 2]) -> String {
    let [low, high] = bounds.map(|bound| w.weights(&[], vec![bound]));
    w.op("Clip", &[x, &low, &high], &[])
}

/// An operator whose result is at least 0.
fn rectified(w: &mut Writer, random: &mut Random, x: &str) -> String {
    match random.below(7) {
        0 => clip(w, x, [0.0, 6.0]),
        1 => w.op("Sigmoid", &[x], &[]),
        2 => w.op("Softmax", &[x], &[("axis", Attribute::Int(1))]),
        3 => {
            let pooled = w.pool("MaxPool", x, 2, 1, 0, false);
            w.relu(&pooled)
        }
        _ => w.relu(x),
    }
}

/// An operator that keeps a value at 0 or above.
fn kept(w: &mut Writer, random: &mut Random, x: &str) -> String {
    match random.below(7) {
        0 => w.pool("MaxPool", x, 2, 1, i64::from(random.below(2) == 0), false),
        1 => w.pool("AveragePool", x, 2, 1, i64::from(random.below(2) == 0), false),
        2 => w.op(
            "AveragePool",
            &[x],
            &[
                ("kernel_shape", ints(&[3, 3])),
                ("pads", ints(&[1; 4])),
                ("count_include_pad", Attribute::Int(1)),
            ],
        ),
        3 => w.op("Transpose", &[x], &[("perm", ints(&[0, 1, 3, 2]))]),
        4 => w.op("Add", &[x, x], &[]),
        5 => w.op("Concat", &[x, x], &[("axis", Attribute::Int(1))]),
        // A square, and the product of values that are at least 0.
        _ => {
            let turned = w.op("Transpose", &[x], &[("perm", ints(&[0, 1, 3, 2]))]);
            w.op("MatMul", &[x, &turned], &[])
        }
    }
}

fn random_network(seed: u64) -> Model {
    let mut random = Random::new(seed);
    let mut w = Writer::new("m", seed, &[1, 2, 6, 6]);
    let mut x = "input".to_owned();
    let mut channels = 2;
    for _ in 0..random.below(3) {
        x = w.conv(&x, [channels, 3], 1 + 2 * random.below(2), 1, 1, true);
        x = w.relu(&x);
        channels = 3;
    }
    x = match random.below(4) {
        0 => w.batch_norm(&x, channels),
        1 => x,
        _ => w.conv(&x, [channels, 3], 3, 1, 1, true),
    };
    x = rectified(&mut w, &mut random, &x);
    for _ in 0..random.below(3) {
        x = kept(&mut w, &mut random, &x);
    }
    w.finish(&x)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn what_is_rectified_is_never_below_zero(seed: u64, bits in prop::sample::select(vec![20u8, 32, 41, 64]), size in prop::sample::select(vec![0.01f32, 1.0, 4.0])) {
        let network = network(&random_network(seed), None);
        let mut input = sample(&network, seed);
        input.data.iter_mut().for_each(|x| *x *= size);
        let found = output(&network, Numbers::of(bits), &input);
        prop_assume!(found.is_some());
        let found = found.unwrap_or_default();
        let odd = found.data.iter().find(|x| **x < 0.0);
        prop_assert!(odd.is_none(), "{odd:?} of {:?}", network.layers.iter().map(|l| l.kind.name()).collect::<Vec<_>>());
    }
}

/// Each of the operators at the end of a network, with operands far from 0 and within a step of it.
#[test]
fn zeros_are_zeros() {
    for op in ["Relu", "Clip", "Sigmoid", "Softmax", "MaxPool"] {
        let mut w = Writer::new("m", 3, &[1, 3, 4, 4]);
        let x = w.conv("input", [3, 4], 1, 1, 0, true);
        let y = match op {
            "Clip" => clip(&mut w, &x, [0.0, 6.0]),
            "MaxPool" => {
                let x = w.relu(&x);
                w.pool("MaxPool", &x, 2, 2, 0, false)
            }
            "Softmax" => w.op(op, &[&x], &[("axis", Attribute::Int(1))]),
            _ => w.op(op, &[&x], &[]),
        };
        let network = network(&w.finish(&y), None);
        for size in [1e-4, 1.0, 30.0] {
            let mut input = zoo::sample(&[1, 3, 4, 4], 5);
            input.data.iter_mut().for_each(|x| *x *= size);
            let found = output(&network, Numbers::default(), &input).expect("there is room");
            assert!(found.data.iter().all(|x| *x >= 0.0), "{op} {size}: {found:?}");
        }
    }
}
