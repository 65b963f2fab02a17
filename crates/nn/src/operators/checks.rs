//! The test of an operator. It compares floating point with a formula, fixed point with floating
//! point, and parties with the plain evaluator.

use crate::{
    Array, Floats, INPUT, Kind, Layer, Members, Network, NetworkReport, Numbers, Secure,
    onnx::Model,
    operators::operator,
    parties::{three, two},
    zoo,
};
use hushwire_compute::{Scalar, Tensor, evaluate};
use hushwire_fault::Code;
use hushwire_two::{Plan, Products};

/// The network of a model, read from its file, and a sample input.
fn of(model: &Model) -> (Network, Array) {
    let read = Model::read(&model.to_bytes()).expect("it was written");
    let network = Network::new(read, None).unwrap_or_else(|e| panic!("{e}"));
    let input = zoo::sample(network.input_lengths(), 7);
    (network, input)
}

/// Rounded arguments, and the values of a layer on them in the plain evaluator.
pub(super) fn fixed(kind: Kind, all: &[f64], numbers: Numbers) -> (Vec<f64>, Vec<f64>) {
    let layer = |kind, reads, name: &str| Layer { name: name.into(), kind, reads, lengths: vec![all.len()] };
    let layers = vec![
        layer(Kind::Input(super::Input { whole: false, range: None }), vec![], "x"),
        layer(kind, vec![0], "y"),
    ];
    let ends = |name: &str, at| vec![(name.to_owned(), at)];
    let network = Network { name: "one".into(), layers, inputs: ends("x", 0), outputs: ends("y", 1) };
    let secure = Secure::new(&network, numbers, &Members::default()).expect("it is supported");
    let step = 2f64.powi(-i32::from(numbers.frac));
    let steps: Vec<i128> = all.iter().map(|x| (x / step).round() as i128).collect();
    let scalar = Scalar::Fixed { bits: numbers.bits, frac: numbers.frac };
    let given = Tensor::from_numbers(scalar, &[all.len()], steps.iter().copied());
    // An owner without weights brings this input.
    let nothing = Tensor::from_numbers(Scalar::Fixed { bits: numbers.bits, frac: 0 }, &[], [1]);
    let given = [(INPUT.to_owned(), given), ("nothing0".to_owned(), nothing)].into();
    let made = evaluate(secure.computation(), &given).expect("it is evaluated");
    let output = &made["output"];
    let values = (0..all.len()).map(|i| output.number(i).expect("a number") as f64 * step).collect();
    (steps.iter().map(|x| *x as f64 * step).collect(), values)
}

/// The error of a model that is refused.
pub(super) fn refused(model: &Model) -> Code {
    let read = Model::read(&model.to_bytes()).and_then(|model| Network::new(model, None));
    read.expect_err("it is refused").code()
}

/// Like [`check`], for a model whose operators are from the set `ai.onnx.ml` if that set has them.
pub(super) fn check_ml(mut model: Model, steps: f32, formula: impl Fn(&Array) -> Vec<f32>) {
    model.ml = 3;
    for node in &mut model.graph.nodes {
        if operator("", &node.op).is_none() {
            node.domain = "ai.onnx.ml".into();
        }
    }
    check(&model, steps, formula);
}

/// Compares a model's output on a sample input with the elements from `formula`. In floating point
/// the error is up to about a float's rounding, in fixed point up to `steps` steps of the inputs'
/// scale. Runs with three and two parties must give the bits of fixed point.
pub(super) fn check(model: &Model, steps: f32, formula: impl Fn(&Array) -> Vec<f32>) {
    let (network, input) = of(model);
    let expected = formula(&input);
    let float = Floats::new(&network, &input, true).expect("it is evaluated");
    let float = float.value(network.outputs[0].1).data.clone();
    let off = |of: &[f32]| of.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    assert_eq!(float.len(), expected.len());
    assert!(off(&float) < 1e-5, "{float:?} is not {expected:?}");
    let greatest = network.calibrated([&input]).expect("it is evaluated");
    for bits in [32, 40] {
        let numbers = Numbers::of(bits);
        let report = NetworkReport::new(&network, numbers, &greatest, 1, &input).expect("it has room");
        let step = 2f32.powi(-i32::from(numbers.frac));
        assert!(off(&report.output.data) <= steps * step, "{} steps", off(&report.output.data) / step);
        assert!(report.layers.iter().all(|layer| layer.room >= 0.0), "{:?}", report.layers);
    }
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).expect("it is supported");
    let mut inputs = secure.weights(&network, &greatest, 1).expect("they fit");
    inputs.insert(INPUT.to_owned(), secure.input(&input).expect("it fits"));
    let c = secure.computation();
    let plain = evaluate(c, &inputs).expect("it is evaluated");
    assert_eq!(three(c, &inputs).0, plain, "three parties");
    let owners: Vec<usize> = c.inputs().map(|(name, _)| usize::from(name == INPUT)).collect();
    for products in [Products::He, Products::Ot] {
        let plan = Plan::with(c, &owners, &[[false, true]], products).expect("two parties take it");
        assert_eq!(two(c, &plan, &inputs, &owners, false).0, plain, "two parties, {products:?}");
    }
}
