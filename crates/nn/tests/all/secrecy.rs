//! The agreement of members, and what it reveals about a model.

use super::{fixed::every_operator, network, sample};
use hushwire_nn::{
    INPUT, Kind, Members, Network, Numbers, Secure,
    onnx::{Attribute, Data},
    zoo::Writer,
};
use std::sync::Arc;

fn computation(network: &Network) -> Vec<u8> {
    Secure::new(network, Numbers::default(), &Members::default()).unwrap().computation().to_bytes()
}

/// Two models of one architecture have the same computation, even if weights are 0 or have the
/// other sign.
#[test]
fn the_computation_is_the_architectures() {
    let one = every_operator(1);
    let expected = computation(&network(&one, None));
    assert_eq!(computation(&network(&every_operator(2), None)), expected);
    for change in [|_: f32| 0.0, |x: f32| -x.abs() - 0.1, |x: f32| x * 1e-20] {
        let mut other = one.clone();
        for (k, weights) in other.graph.weights.iter_mut().enumerate() {
            // Variances are above 0: every fourth weight of the first normalization.
            if let (Data::Floats(all), false) = (&mut weights.data, k == 5 || k == 9) {
                all.iter_mut().for_each(|x| *x = change(*x));
            }
        }
        assert_eq!(computation(&network(&other, None)), expected);
    }
}

/// Folded constants, an embedding and moves: the values of weights decide nothing, even if they are
/// compared with each other.
#[test]
fn folded_weights_decide_nothing() {
    let model = |by: fn(f32) -> f32| {
        let mut w = Writer::new("m", 3, &[1, 4]);
        let weights = |w: &mut Writer, lengths: &[usize]| {
            let n: usize = lengths.iter().product();
            w.weights(lengths, (0..n).map(|i| by(0.3 * i as f32 - 0.5)).collect())
        };
        let [a, b, table] = [&[4][..], &[4], &[6, 4]].map(|lengths| weights(&mut w, lengths));
        let more = w.op("Greater", &[&a, &b], &[]);
        let more = w.op("Cast", &[&more], &[("to", Attribute::Int(1))]);
        let sum = w.op("Sub", &[&more, &a], &[]);
        let x = w.op("Mul", &["input", &sum], &[]);
        let places = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![2, 0, 1, 3]))]);
        let x = w.op("Gather", &[&x, &places], &[("axis", Attribute::Int(1))]);
        let place = w.op("Floor", &[&x], &[]);
        let rows = w.op("Gather", &[&table, &place], &[]);
        w.finish(&rows)
    };
    let expected = computation(&network(&model(|x| x), None));
    for by in [|_: f32| 0.0, |x: f32| -x, |x: f32| x * 1e-20, |_: f32| 1.0] {
        assert_eq!(computation(&network(&model(by), None)), expected);
    }
}

/// Operators composed of others: all members compute the same, whatever the weights are.
#[test]
fn weights_decide_nothing_in_what_is_made_of_others() {
    type Build = fn(&mut Writer, &dyn Fn(f32) -> f32) -> String;
    fn weights(w: &mut Writer, lengths: &[usize], by: &dyn Fn(f32) -> f32) -> String {
        let n: usize = lengths.iter().product();
        w.weights(lengths, (0..n).map(|i| by(0.3 * i as f32 - 0.5)).collect())
    }
    let all: [(&str, Build); 9] = [
        ("Einsum", |w, by| {
            let b = weights(w, &[3, 2], by);
            w.op("Einsum", &["input", &b], &[("equation", Attribute::Text("bij,jk->bik".into()))])
        }),
        ("MatMul", |w, by| {
            let b = weights(w, &[4, 3, 2], by);
            w.op("MatMul", &["input", &b], &[])
        }),
        ("Where", |w, by| {
            let [a, b] = [&[3][..], &[4, 3]].map(|lengths| weights(w, lengths, by));
            let zero = w.weights(&[], vec![0.0]);
            let more = w.op("Greater", &[&a, &zero], &[]);
            w.op("Where", &[&more, "input", &b], &[])
        }),
        ("ScatterND", |w, by| {
            let places = w.integers(7, &[2, 2], vec![0, 3, 0, 1]);
            let b = weights(w, &[2, 3], by);
            w.op("ScatterND", &["input", &places, &b], &[("reduction", Attribute::Text("max".into()))])
        }),
        ("Attention", |w, by| {
            let mask = weights(w, &[4, 4], by);
            let heads = ["q_num_heads", "kv_num_heads"].map(|name| (name, Attribute::Int(1)));
            w.op("Attention", &["input", "input", "input", &mask], &heads)
        }),
        ("Concat", |w, by| {
            let b = weights(w, &[1, 1, 3], by);
            w.op("Concat", &["input", &b], &[("axis", Attribute::Int(1))])
        }),
        ("Pow", |w, by| {
            let b = weights(w, &[3], by);
            let x = w.op("Exp", &["input"], &[]);
            w.op("Pow", &[&x, &b], &[])
        }),
        ("DequantizeLinear", |w, by| {
            let b = weights(w, &[3], by);
            let zero = w.integers(3, &[3], vec![1, 2, 3]);
            w.op("DequantizeLinear", &["input", &b, &zero], &[("axis", Attribute::Int(2))])
        }),
        ("Clip", |w, by| {
            let [low, high] = [0.25, -0.5].map(|x| w.weights(&[], vec![by(x)]));
            w.op("Clip", &["input", &low, &high], &[])
        }),
    ];
    for (op, build) in all {
        let of = |by: &dyn Fn(f32) -> f32| {
            let mut w = Writer::new("m", 1, &[1, 4, 3]);
            let y = build(&mut w, by);
            let mut model = w.finish(&y);
            model.opset = 23;
            computation(&network(&model, None))
        };
        let expected = of(&|x| x);
        for by in [|_: f32| 0.0, |x: f32| -x, |x: f32| x * 1e-20, |_: f32| 1.0] {
            assert_eq!(of(&by), expected, "{op}");
        }
    }
}

/// Except for epsilons, bounds of clips and weights are in no constant.
#[test]
fn weights_are_private_inputs() {
    let mut network = network(&every_operator(1), None);
    let before = computation(&network);
    for layer in &mut network.layers {
        if let Kind::Clip(clip) = &mut layer.kind {
            (clip.low, clip.high) = (clip.low.map(|x| x / 3.0), clip.high.map(|x| x * 7.0));
        }
        if let Kind::Conv(conv) = &mut layer.kind {
            conv.bias = Arc::new(vec![9.0; conv.bias.len()]);
        }
    }
    assert_eq!(computation(&network), before);
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).unwrap();
    let input = sample(&network, 1);
    let greatest = network.calibrated([&input]).unwrap();
    let weights = secure.weights(&network, &greatest, 1).unwrap();
    for (name, ty) in secure.computation().inputs() {
        assert_eq!(weights.contains_key(name), name != INPUT, "{name}: {ty}");
    }
    let told = secure.computation().explain();
    assert!(
        told.contains("owner brings") && told.contains("client brings input: fixed(32, 10)[1, 3, 9, 9]"),
        "{told}"
    );
    assert!(told.contains("owner brings") && told.contains("and learns nothing"), "{told}");
}
