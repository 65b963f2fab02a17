//! Layers in floating point, compared with loops from ONNX's definitions.

use super::network;
use hushwire_nn::{
    Array, Floats,
    onnx::{Attribute, Model},
    zoo::{self, Writer},
};
use proptest::prelude::*;

fn run(model: &Model, input: &Array) -> Array {
    let network = network(model, Some(&input.lengths));
    Floats::new(&network, input, true).unwrap().value(network.outputs[0].1).clone()
}

fn close(found: &Array, lengths: &[usize], expected: &[f64]) {
    assert_eq!(found.lengths, lengths);
    assert_eq!(found.data.len(), expected.len());
    for (i, (x, y)) in found.data.iter().zip(expected).enumerate() {
        assert!((f64::from(*x) - y).abs() <= 1e-4 * (1.0 + y.abs()), "element {i}: {x} for {y}");
    }
}

fn at(x: &Array, [n, c, i, j]: [i64; 4]) -> Option<f64> {
    let l: Vec<i64> = x.lengths.iter().map(|l| *l as i64).collect();
    let inside = (0..l[2]).contains(&i) && (0..l[3]).contains(&j);
    inside.then(|| f64::from(x.data[(((n * l[1] + c) * l[2] + i) * l[3] + j) as usize]))
}

fn ints(all: &[i64]) -> Attribute {
    Attribute::Ints(all.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn windows_are_their_definitions(
        seed: u64, n in 1..3usize, groups in 1..3usize, inner in 1..3usize, outer in 1..3usize,
        size in prop::array::uniform2(1..4usize), stride in prop::array::uniform2(1..4i64), pad in prop::array::uniform4(0..3i64),
        dilation in prop::array::uniform2(1..3i64), more in prop::array::uniform2(0..5usize), around: bool,
    ) {
        let reach = [0, 1].map(|k| (size[k] as i64 - 1) * dilation[k] + 1);
        let plane = [0, 1].map(|k| reach[k] as usize + more[k]);
        let x = zoo::sample(&[n, groups * inner, plane[0], plane[1]], seed);
        let mut w = Writer::new("m", seed, &x.lengths);
        let kernels = zoo::sample(&[groups * outer, inner, size[0], size[1]], seed ^ 1);
        let bias = zoo::sample(&[groups * outer], seed ^ 2);
        let names = [w.weights(&kernels.lengths, kernels.data.clone()), w.weights(&bias.lengths, bias.data.clone())];
        let attributes = [
            ("strides", ints(&stride)), ("pads", ints(&pad)), ("dilations", ints(&dilation)), ("group", Attribute::Int(groups as i64)),
        ];
        let y = w.op("Conv", &["input", &names[0], &names[1]], &attributes);
        let found = run(&w.finish(&y), &x);
        let out = |k: usize, reach: i64| (plane[k] as i64 + pad[k] + pad[k + 2] - reach) / stride[k] + 1;
        let mut expected = vec![];
        for image in 0..n as i64 {
            for o in 0..groups * outer {
                for (r, c) in (0..out(0, reach[0])).flat_map(|r| (0..out(1, reach[1])).map(move |c| (r, c))) {
                    let mut sum = f64::from(bias.data[o]);
                    for m in 0..inner {
                        for (i, j) in (0..size[0]).flat_map(|i| (0..size[1]).map(move |j| (i, j))) {
                            let from = [r * stride[0] + i as i64 * dilation[0] - pad[0], c * stride[1] + j as i64 * dilation[1] - pad[1]];
                            let k = kernels.data[((o * inner + m) * size[0] + i) * size[1] + j];
                            sum += f64::from(k) * at(&x, [image, (o / outer * inner + m) as i64, from[0], from[1]]).unwrap_or(0.0);
                        }
                    }
                    expected.push(sum);
                }
            }
        }
        close(&found, &[n, groups * outer, out(0, reach[0]) as usize, out(1, reach[1]) as usize], &expected);

        // Pooling, with padding smaller than the window.
        let pad: Vec<i64> = (0..4).map(|k| pad[k].min(size[k % 2] as i64 - 1)).collect();
        let out = |k: usize| (plane[k] as i64 + pad[k] + pad[k + 2] - size[k] as i64) / stride[k] + 1;
        for op in ["MaxPool", "AveragePool"] {
            let mut w = Writer::new("m", seed, &x.lengths);
            let attributes = [
                ("kernel_shape", ints(&[size[0] as i64, size[1] as i64])), ("strides", ints(&stride)), ("pads", ints(&pad)),
                ("count_include_pad", Attribute::Int(around.into())),
            ];
            // The last operator only computes means.
            let count = if op == "MaxPool" { 3 } else { 4 };
            let y = w.op(op, &["input"], &attributes[..count]);
            let found = run(&w.finish(&y), &x);
            let mut expected = vec![];
            for (image, c) in (0..n).flat_map(|i| (0..groups * inner).map(move |c| (i as i64, c as i64))) {
                for (r, s) in (0..out(0)).flat_map(|r| (0..out(1)).map(move |s| (r, s))) {
                    let places = (0..size[0] as i64).flat_map(|i| (0..size[1] as i64).map(move |j| (i, j)));
                    let all: Vec<f64> = places
                        .filter_map(|(i, j)| at(&x, [image, c, r * stride[0] + i - pad[0], s * stride[1] + j - pad[1]]))
                        .collect();
                    let count = if around { size[0] * size[1] } else { all.len() } as f64;
                    expected.push(match op {
                        "MaxPool" => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                        _ => all.iter().sum::<f64>() / count,
                    });
                }
            }
            close(&found, &[n, groups * inner, out(0) as usize, out(1) as usize], &expected);
        }
    }
}

/// With rounding up, there is one more window if the last one would leave elements out. This is
/// PyTorch's rule, worked out by hand.
#[test]
fn windows_that_round_up() {
    let x = Array::new(&[1, 1, 1, 6], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut w = Writer::new("m", 1, &x.lengths);
    let attributes =
        [("kernel_shape", ints(&[1, 3])), ("strides", ints(&[1, 2])), ("ceil_mode", Attribute::Int(1))];
    let y = w.op("MaxPool", &["input"], &attributes);
    close(&run(&w.finish(&y), &x), &[1, 1, 1, 3], &[3.0, 5.0, 6.0]);
    let mut w = Writer::new("m", 1, &x.lengths);
    let attributes = [
        ("kernel_shape", ints(&[1, 2])),
        ("strides", ints(&[1, 5])),
        ("pads", ints(&[0, 1, 0, 1])),
        ("ceil_mode", Attribute::Int(1)),
    ];
    let y = w.op("MaxPool", &["input"], &attributes);
    close(&run(&w.finish(&y), &x), &[1, 1, 1, 2], &[1.0, 6.0]);
    for (auto, expected) in
        [("SAME_UPPER", [1.0 + 2.0, 3.0 + 4.0, 5.0 + 6.0]), ("SAME_LOWER", [3.0, 7.0, 11.0])]
    {
        let mut w = Writer::new("m", 1, &x.lengths);
        let ones = w.weights(&[1, 1, 1, 2], vec![1.0; 2]);
        let auto = Attribute::Text(auto.into());
        let y = w.op("Conv", &["input", &ones], &[("strides", ints(&[1, 2])), ("auto_pad", auto)]);
        close(&run(&w.finish(&y), &x), &[1, 1, 1, 3], &expected.map(f64::from));
    }
}

#[test]
fn functions_are_their_definitions() {
    let x = Array::new(&[2, 3], vec![-1.0, 0.5, 2.0, 3.0, -0.25, 0.0]);
    let of = |op: &str, attributes: &[(&str, Attribute)]| {
        let mut w = Writer::new("m", 1, &x.lengths);
        let y = w.op(op, &["input"], attributes);
        run(&w.finish(&y), &x)
    };
    let each = |f: &dyn Fn(f64) -> f64| x.data.iter().map(|x| f(f64::from(*x))).collect::<Vec<_>>();
    close(&of("Sigmoid", &[]), &[2, 3], &each(&|x| 1.0 / (1.0 + (-x).exp())));
    close(&of("Tanh", &[]), &[2, 3], &each(&f64::tanh));
    // x Φ(x) from a table of the normal distribution.
    let gelu = [-0.158_655, 0.345_731, 1.954_500, 2.995_950, -0.100_324, 0.0];
    close(&of("Gelu", &[]), &[2, 3], &gelu);
    let near = of("Gelu", &[("approximate", Attribute::Text("tanh".into()))]);
    near.data.iter().zip(gelu).for_each(|(x, y)| assert!((f64::from(*x) - y).abs() < 5e-4));
    let softmax = |axis: i64| of("Softmax", &[("axis", Attribute::Int(axis))]);
    let row: Vec<f64> = [-1.0f64, 0.5, 2.0].map(f64::exp).to_vec();
    let sum: f64 = row.iter().sum();
    close(
        &Array::new(&[3], softmax(1).data[..3].to_vec()),
        &[3],
        &row.iter().map(|x| x / sum).collect::<Vec<_>>(),
    );
    assert!((softmax(0).data[0] - 1.0 / (1.0 + 4f32.exp())).abs() < 1e-6);
    assert_eq!(of("ArgMax", &[("axis", Attribute::Int(1))]), Array::new(&[2, 1], vec![2.0, 0.0]));
    let flat = [("axis", Attribute::Int(-2)), ("keepdims", Attribute::Int(0))];
    assert_eq!(of("ArgMax", &flat), Array::new(&[3], vec![1.0, 0.0, 0.0]));
    let clipped = of("Clip", &[("min", Attribute::Float(-0.5)), ("max", Attribute::Float(1.0))]);
    assert_eq!(clipped.data, [-0.5, 0.5, 1.0, 1.0, -0.25, 0.0]);
    let mut w = Writer::new("m", 1, &x.lengths);
    let [scale, shift] = [vec![2.0, 1.0, 0.5], vec![0.0, 1.0, -1.0]].map(|data| w.weights(&[3], data));
    let y = w.op("LayerNormalization", &["input", &scale, &shift], &[("epsilon", Attribute::Float(0.0))]);
    // The mean of −1, 0.5 and 2 is 0.5 and the variance 1.5.
    let first = run(&w.finish(&y), &x).data;
    let unit = 1.5f32.sqrt();
    for (found, expected) in first.iter().zip([-2.0 * unit, 1.0, 0.5 * unit - 1.0]) {
        assert!((found - expected).abs() < 1e-5, "{first:?}");
    }
}

/// The shapes of a usual export: computations on them are known before the run.
#[test]
fn moves_and_shapes() {
    let x = zoo::sample(&[2, 3, 4, 5], 3);
    let mut w = Writer::new("m", 1, &x.lengths);
    let turned = w.op("Transpose", &["input"], &[("perm", ints(&[0, 2, 3, 1]))]);
    let shape = w.op("Shape", &["input"], &[]);
    let zero = w.op("Constant", &[], &[("value_int", Attribute::Int(0))]);
    let n = w.op("Gather", &[&shape, &zero], &[]);
    let axes = w.op("Constant", &[], &[("value_ints", ints(&[0]))]);
    let n = w.op("Unsqueeze", &[&n, &axes], &[]);
    let rest = w.op("Constant", &[], &[("value_ints", ints(&[-1]))]);
    let target = w.op("Concat", &[&n, &rest], &[("axis", Attribute::Int(0))]);
    let flat = w.op("Reshape", &[&turned, &target], &[]);
    let one = w.op("Unsqueeze", &[&flat, &axes], &[]);
    let y = w.op("Squeeze", &[&one], &[]);
    let found = run(&w.finish(&y), &x);
    assert_eq!(found.lengths, [2, 60]);
    let mut expected = vec![];
    for (n, i, j, c) in
        (0..2).flat_map(|n| (0..20).flat_map(move |p| (0..3).map(move |c| (n, p / 5, p % 5, c))))
    {
        expected.push(f64::from(x.data[((n * 3 + c) * 4 + i) * 5 + j]));
    }
    close(&found, &[2, 60], &expected);
    let mut w = Writer::new("m", 1, &x.lengths);
    let pads = w.op("Constant", &[], &[("value_ints", ints(&[0, 1, 0, 2, 0, 0, 1, 0]))]);
    let y = w.op("Pad", &["input", &pads], &[]);
    let found = run(&w.finish(&y), &x);
    assert_eq!(found.lengths, [2, 4, 5, 7]);
    let inner: f32 = found.data.iter().sum();
    assert!((inner - x.data.iter().sum::<f32>()).abs() < 1e-4);
    assert_eq!(found.data[((4 + 1) * 5) * 7 + 2], x.data[60], "image 1, channel 0 lies behind one of zeros");
}

/// A normalization after a convolution becomes part of its weights, and values stay the same.
#[test]
fn what_is_folded_computes_the_same() {
    let x = zoo::sample(&[1, 3, 6, 6], 4);
    let mut w = Writer::new("m", 5, &x.lengths);
    let y = w.conv("input", [3, 4], 3, 1, 1, true);
    let y = w.batch_norm(&y, 4);
    let y = w.relu(&y);
    let y = w.pool("MaxPool", &y, 2, 2, 0, false);
    let model = w.finish(&y);
    let folded = network(&model, None);
    let names: Vec<&str> = folded.layers.iter().map(|l| l.kind.name()).collect();
    assert_eq!(names, ["Input", "Conv", "MaxPool", "Relu"]);
    // If the value before is an output, too, nothing is folded.
    let mut apart = model.clone();
    for name in ["conv_0", "relu_2"] {
        apart.graph.outputs.push(hushwire_nn::onnx::ValueInfo { name: name.into(), lengths: None });
    }
    let apart = network(&apart, None);
    let names: Vec<&str> = apart.layers.iter().map(|l| l.kind.name()).collect();
    assert_eq!(names, ["Input", "Conv", "BatchNormalization", "Relu", "MaxPool"]);
    let [one, other] = [&folded, &apart]
        .map(|network| Floats::new(network, &x, true).unwrap().value(network.outputs[0].1).clone());
    close(&one, &other.lengths, &other.data.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
}

/// The outputs of a product are along the last axis, and channels are along axis 1. With four axes
/// these differ, even if both have the same length.
#[test]
fn a_normalization_after_a_product_is_one_of_channels() {
    let x = zoo::sample(&[2, 3, 4, 5], 6);
    let build = |apart: bool| {
        let mut w = Writer::new("m", 7, &x.lengths);
        let weights = w.random(&[5, 3], 1.0);
        let product = w.op("MatMul", &["input", &weights], &[]);
        let y = if apart { product } else { w.batch_norm(&product, 3) };
        run(&w.finish(&y), &x)
    };
    let (before, found) = (build(true), build(false));
    // A channel's shift and factor are computed from two of its elements, and must hold for all
    // others.
    for channel in 0..3 {
        let of = |x: &Array, i: usize| f64::from(x.data[((i / 12) * 3 + channel) * 12 + i % 12]);
        let factor = (of(&found, 1) - of(&found, 0)) / (of(&before, 1) - of(&before, 0));
        for i in 2..24 {
            let expected = of(&found, 0) + factor * (of(&before, i) - of(&before, 0));
            assert!((of(&found, i) - expected).abs() < 1e-3, "channel {channel}, element {i}");
        }
    }
}
