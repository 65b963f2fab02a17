//! Fixed point, compared with floating point: errors stay within the limits of the numbers.

use super::{network, sample};
use hushwire_compute::evaluate;
use hushwire_fault::{Fault, code};
use hushwire_nn::{
    Array, Floats, INPUT, Members, Network, NetworkReport, Numbers, Secure, decode,
    onnx::{Attribute, Model, ValueInfo},
    zoo::{self, Writer},
};

/// Every operator, in a network with a shortcut, branches and all kinds of pooling.
pub(super) fn every_operator(seed: u64) -> Model {
    let mut w = Writer::new("every", seed, &[2, 3, 9, 9]);
    let x = w.conv("input", [3, 8], 3, 1, 1, true);
    let x = w.batch_norm(&x, 8);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 3, 2, 0, true);
    let normal = w.batch_norm(&x, 8);
    let a = w.op("Clip", &[&normal], &[("min", Attribute::Float(-0.5)), ("max", Attribute::Float(1.5))]);
    let b = w.pool("AveragePool", &x, 3, 1, 1, false);
    let c = w.op(
        "AveragePool",
        &[&x],
        &[
            ("kernel_shape", Attribute::Ints(vec![3; 2])),
            ("pads", Attribute::Ints(vec![1; 4])),
            ("count_include_pad", Attribute::Int(1)),
        ],
    );
    let sum = w.op("Add", &[&a, &b], &[]);
    let joined = w.op("Concat", &[&sum, &c], &[("axis", Attribute::Int(1))]);
    let joined = w.op("Dropout", &[&joined], &[]);
    let pads = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![0, 0, 1, 0, 0, 0, 0, 1]))]);
    let x = w.op("Pad", &[&joined, &pads], &[]);
    let kernels = w.random(&[8, 4, 3, 3], 0.2);
    let attributes = [("group", Attribute::Int(4)), ("strides", Attribute::Ints(vec![2, 2]))];
    let x = w.op("Conv", &[&x, &kernels], &attributes);
    let term = w.random(&[8, 1, 1], 0.3);
    let x = w.op("Add", &[&x, &term], &[]);
    let x = w.op("Tanh", &[&x], &[]);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [8, 6]);
    let x = w.op("Identity", &[&x], &[]);
    let [scale, shift] = [1.0, 0.2].map(|by| w.random(&[6], by));
    let x = w.op("LayerNormalization", &[&x, &scale, &shift], &[]);
    let x = w.op("Gelu", &[&x], &[]);
    let turned = w.op("Transpose", &[&x], &[]);
    let x = w.op("MatMul", &[&turned, &x], &[]);
    let x = w.op("Sigmoid", &[&x], &[]);
    let x = w.op("Softmax", &[&x], &[]);
    w.finish(&x)
}

pub(super) fn report(network: &Network, numbers: Numbers, input: &Array) -> NetworkReport {
    let greatest = network.calibrated([input]).unwrap();
    NetworkReport::new(network, numbers, &greatest, 1, input).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn errors_are_steps() {
    for seed in 0..3 {
        let network = network(&every_operator(seed), Some(&[2, 3, 9, 9]));
        let input = sample(&network, seed);
        // The width of numbers, a third of whose bits are fractional, and the allowed deviation,
        // which grows by the rounding of every layer.
        for (bits, allowed) in [(32, 0.03), (41, 0.004), (64, 0.001)] {
            let report = report(&network, Numbers::of(bits), &input);
            for layer in &report.layers {
                let relative = layer.deviation / layer.greatest.max(0.1);
                assert!(relative < allowed, "{bits} bits: {layer:?}");
                assert!(layer.op == "ArgMax" || layer.room > 0.0, "{bits} bits: {layer:?}");
            }
        }
    }
}

#[test]
fn outputs_are_the_reports() {
    let network = network(&every_operator(7), Some(&[2, 3, 9, 9]));
    let input = sample(&network, 8);
    let greatest = network.calibrated([&input]).unwrap();
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).unwrap();
    let mut inputs = secure.weights(&network, &greatest, 1).unwrap();
    inputs.insert(INPUT.to_owned(), secure.input(&input).unwrap());
    let outputs = evaluate(secure.computation(), &inputs).unwrap();
    let found = decode(&outputs["output"]);
    let floats = Floats::new(&network, &input, true).unwrap();
    let expected = floats.value(network.outputs[0].1);
    assert_eq!(found.lengths, expected.lengths);
    for (x, y) in found.data.iter().zip(&expected.data) {
        assert!((x - y).abs() < 0.02, "{x} for {y}");
    }
}

/// The values of a wide last layer are rounded no more than its weights are: half a step is
/// subtracted again.
#[test]
fn a_last_layer_is_not_cut() {
    let mut w = Writer::new("m", 3, &[1, 16]);
    let y = w.gemm("input", [16, 4]);
    let network = network(&w.finish(&y), None);
    let input = sample(&network, 1);
    let found = report(&network, Numbers::default(), &input);
    assert!(found.layers[1].error < 0.004, "{found:?}");
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let mut w = Writer::new("m", 3, &[1, 4]);
    let large = w.weights(&[4, 1], vec![1000.0; 4]);
    let y = w.op("Gemm", &["input", &large], &[]);
    let network = network(&w.finish(&y), None);
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).unwrap();
    let input = Array::new(&[1, 4], vec![1.0; 4]);
    let greatest = network.calibrated([&input]).unwrap();
    let has = |error: Fault, code, fields: &[(&str, &str)]| {
        assert_eq!(error.code(), code, "{error}");
        for (name, value) in fields {
            assert_eq!(error.field(name).as_deref(), Some(*value), "{error}");
        }
    };
    let error = secure.weights(&network, &greatest, 1).unwrap_err();
    has(error, code::LAYER_TOO_LARGE, &[("layer", "gemm_0"), ("greatest", "4000.0000")]);
    let error = secure.input(&Array::new(&[1, 4], vec![1e9; 4])).unwrap_err();
    has(error, code::ELEMENT_TOO_LARGE, &[("element", "0")]);
    let error = secure.input(&Array::new(&[4, 1], vec![1.0; 4])).unwrap_err();
    assert!(error.remedy().contains("--shape 4,1"), "{error}");
    has(error, code::SHAPE, &[("found", "[4, 1]"), ("expected", "[1, 4]")]);
    for odd in [f32::NAN, f32::INFINITY] {
        let error = secure.input(&Array::new(&[1, 4], vec![0.0, odd, 1.0, 1.0])).unwrap_err();
        has(error, code::NOT_FINITE, &[("element", "1")]);
    }
}

/// Every bound of the numbers, from both sides, and its message.
#[test]
fn numbers_out_of_bounds_name_the_bound() {
    let mut w = Writer::new("m", 3, &[1, 4]);
    let y = w.gemm("input", [4, 2]);
    let network = network(&w.finish(&y), None);
    let new = |[bits, frac, cut]: [u8; 3]| {
        Secure::new(&network, Numbers { bits, frac, cut, wide: None }, &Members::default())
            .map_err(|e| e.to_string())
    };
    for fit in [[16, 4, 1], [16, 8, 6], [32, 4, 26], [32, 24, 6], [40, 32, 6], [64, 32, 30], [64, 4, 58]] {
        assert!(new(fit).is_ok(), "{fit:?}");
    }
    for (odd, words) in [
        ([15, 4, 1], "15 bits; take 16 to 64 (--bits)"),
        ([65, 4, 1], "65 bits; take 16 to 64 (--bits)"),
        ([32, 2, 13], "2 fractional bits of 32; take 4 to 24 (--frac)"),
        ([32, 25, 1], "25 fractional bits of 32; take 4 to 24 (--frac)"),
        ([64, 33, 1], "33 fractional bits of 64; take 4 to 32 (--frac)"),
        ([32, 10, 0], "0 bits to cut of 32 with 10 fractional ones; take 1 to 20 (--cut)"),
        ([32, 10, 21], "21 bits to cut of 32 with 10 fractional ones; take 1 to 20 (--cut)"),
        ([32, 250, 250], "250 fractional bits of 32; take 4 to 24 (--frac)"),
    ] {
        let error = new(odd).err().unwrap_or_default();
        assert!(error.ends_with(words), "{odd:?}: {error}");
    }
}

/// For any number of fractional bits there are defaults that fit. For the usual number they are the
/// usual ones.
#[test]
fn what_is_cut_follows_fractional_bits() {
    for bits in 16..=64 {
        assert_eq!(Numbers::with_frac(bits, Numbers::of(bits).frac), Numbers::of(bits));
        for frac in 4..=(bits - 8).min(32) {
            assert!(Numbers::with_frac(bits, frac).check().is_ok(), "{bits} {frac}");
        }
    }
    assert_eq!([4, 10, 20, 24].map(|frac| Numbers::with_frac(32, frac).cut), [16, 13, 7, 4]);
}

/// No number within a Gelu is larger than its operand: none wraps if the operand fits.
#[test]
fn a_gelu_has_room_where_its_operand_has() {
    let mut w = Writer::new("m", 3, &[1, 2]);
    let y = w.op("Gelu", &["input"], &[]);
    let gelu = network(&w.finish(&y), None);
    let room = |bits, x: f32| {
        let input = Array::new(&[1, 2], vec![x, -x]);
        let greatest = gelu.calibrated([&input]).unwrap();
        let report = NetworkReport::new(&gelu, Numbers::of(bits), &greatest, 1, &input).unwrap();
        let layer = report.layers.last().unwrap().clone();
        (layer.room, layer.error)
    };
    // 5 fractional bits leave 2^10 for the operand.
    for (bits, x) in [(16, 4.0), (16, 6.0), (16, 1000.0), (32, 1000.0), (32, 1e6)] {
        let (left, error) = room(bits, x);
        assert!(left >= 0.0 && error < 0.1, "{x} in {bits} bits: {left}, {error}");
    }
}

/// Evaluates a network on an input times powers of two, with scales from the input itself. If a
/// value is wrong, the room must be negative in the first layer with a wrong value or in one before
/// it. If no value is wrong, no room may be negative. Both cases must occur.
fn wraps_where_it_says(network: &Network, input: &Array, most: u32) {
    let greatest = network.calibrated([input]).unwrap();
    let mut seen = [false; 2];
    for times in 0..=most {
        let data = input.data.iter().map(|x| x * (1u32 << times) as f32).collect();
        let large = Array::new(&input.lengths, data);
        let report = NetworkReport::new(network, Numbers::default(), &greatest, 1, &large).unwrap();
        let wrong = report.layers.iter().position(|layer| layer.error > 0.3 * layer.greatest.max(0.1));
        let said = report.layers.iter().position(|layer| layer.room < 0.0);
        assert_eq!(said.is_some(), wrong.is_some(), "{said:?}, {wrong:?}, 2^{times}: {report:?}");
        assert!(said <= wrong, "{said:?}, {wrong:?}, 2^{times}: {report:?}");
        seen[usize::from(wrong.is_some())] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn room_is_below_zero_where_values_wrap() {
    let every = network(&every_operator(1), Some(&[2, 3, 9, 9]));
    wraps_where_it_says(&every, &sample(&every, 1), 8);
    let mut w = Writer::new("m", 3, &[1, 8, 8]);
    let y = w.op("MatMul", &["input", "input"], &[]);
    let products = network(&w.finish(&y), None);
    wraps_where_it_says(&products, &sample(&products, 2), 12);
    let mut w = Writer::new("m", 3, &[4, 48]);
    let [scale, shift] = [1.0, 0.0].map(|x| w.weights(&[48], vec![x; 48]));
    let y = w.op("LayerNormalization", &["input", &scale, &shift], &[]);
    let normalized = network(&w.finish(&y), Some(&[4, 48]));
    wraps_where_it_says(&normalized, &sample(&normalized, 3), 17);
    let mut w = Writer::new("m", 3, &[1, 1, 8, 8]);
    let y = w.op("GlobalAveragePool", &["input"], &[]);
    let mean = network(&w.finish(&y), None);
    wraps_where_it_says(&mean, &Array::new(&[1, 1, 8, 8], vec![1.1; 64]), 17);
    let aligned = aligned();
    wraps_where_it_says(&aligned, &sample(&aligned, 5), 12);
}

/// A sum of values whose scales differ by the rest of a pooling's division.
fn aligned() -> Network {
    let mut w = Writer::new("m", 3, &[1, 2, 6, 6]);
    let x = w.conv("input", [2, 4], 3, 1, 1, true);
    let pooled = w.pool("AveragePool", &x, 3, 1, 1, false);
    let whole = w.op(
        "AveragePool",
        &[&x],
        &[("kernel_shape", Attribute::Ints(vec![3; 2])), ("strides", Attribute::Ints(vec![1; 2]))],
    );
    let pads = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![0, 0, 1, 1, 0, 0, 1, 1]))]);
    let whole = w.op("Pad", &[&whole, &pads], &[]);
    let sum = w.op("Add", &[&x, &whole], &[]);
    let y = w.op("Concat", &[&sum, &pooled, &whole], &[("axis", Attribute::Int(1))]);
    network(&w.finish(&y), None)
}

#[test]
fn scales_that_do_not_agree_are_aligned() {
    let network = aligned();
    let report = report(&network, Numbers::default(), &sample(&network, 5));
    assert!(report.layers.iter().all(|layer| layer.deviation < 0.005), "{report:?}");
}

/// Rows of small and of large variance, far from 0 and near it, next to each other. Their elements
/// are whole steps, so that only the normalization rounds.
#[test]
fn normalizations_of_rows_of_any_variance() {
    let n = 48;
    let spreads = [0.004f32, 0.016, 0.06, 0.5, 3.0, 12.0];
    let random = zoo::sample(&[spreads.len(), n], 5);
    let row = |(k, x): (usize, &f32)| {
        let mean = if k / n % 2 == 0 { 5.0 } else { -0.25 };
        ((x * spreads[k / n] + mean) * 1024.0).round() / 1024.0
    };
    let elements = random.data.iter().enumerate().map(row).collect();
    let input = Array::new(&[spreads.len(), n], elements);
    let normalized = |before: bool, epsilon: f32| {
        let mut w = Writer::new("m", 3, &input.lengths);
        let of = |k: usize, to: f32| (0..k).map(|i| to * (i as f32 % 3.0 - 1.0)).collect::<Vec<_>>();
        let x = if before {
            // An identity, after which the scale is free.
            let one = (0..n * n).map(|i| f32::from(i % (n + 1) == 0)).collect();
            let one = w.weights(&[n, n], one);
            w.op("MatMul", &["input", &one], &[])
        } else {
            "input".to_owned()
        };
        let [scale, shift] = [vec![1.0; n], of(n, 0.5)].map(|data| w.weights(&[n], data));
        let y = w.op("LayerNormalization", &[&x, &scale, &shift], &[("epsilon", Attribute::Float(epsilon))]);
        network(&w.finish(&y), Some(&input.lengths))
    };
    for (bits, frac, allowed) in [(32, 10, 0.02), (41, 13, 0.003), (64, 20, 0.0001)] {
        for (before, epsilon) in [(false, 1e-5), (true, 1e-5), (true, 0.25)] {
            let report = report(&normalized(before, epsilon), Numbers { frac, ..Numbers::of(bits) }, &input);
            let last = report.layers.last().unwrap();
            assert!(last.error < allowed, "{bits} bits, {before}, {epsilon}: {last:?}");
        }
    }
}

/// All places that a network finds are compared, and nothing if samples have one output.
#[test]
fn all_places_are_compared() {
    let of = |network: &Network| report(network, Numbers::default(), &sample(network, 5)).places;
    let mut w = Writer::new("m", 3, &[2, 3, 4, 4]);
    let y = w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))]);
    let y = w.op("Flatten", &[&y], &[]);
    let maps = network(&w.finish(&y), Some(&[2, 3, 4, 4]));
    assert_eq!((of(&maps), maps.classes()), (32, Some(3)));
    let two = |outputs: usize| {
        let mut w = Writer::new("m", 3, &[2, 4]);
        let y = w.gemm("input", [4, outputs]);
        network(&w.finish(&y), Some(&[2, 4]))
    };
    assert_eq!((of(&two(3)), of(&two(1))), (2, 0));
}

/// The second output is the input of the first one's layer, and has a name of its own.
#[test]
fn several_outputs_are_computed() {
    let mut w = Writer::new("m", 3, &[1, 4]);
    let x = w.gemm("input", [4, 3]);
    let y = w.relu(&x);
    let mut model = w.finish(&y);
    model.graph.outputs.push(ValueInfo { name: x, lengths: None });
    let network = network(&model, None);
    let input = sample(&network, 5);
    let report = report(&network, Numbers::default(), &input);
    let floats = Floats::new(&network, &input, true).unwrap();
    assert_eq!(report.outputs.len(), 2);
    for ((_, at), found) in network.outputs.iter().zip(&report.outputs) {
        let off = found.data.iter().zip(&floats.value(*at).data).map(|(x, y)| (x - y).abs());
        assert!(off.fold(0.0, f32::max) < 0.01, "{found:?}");
    }
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).unwrap();
    let names: Vec<&str> = secure.computation().outputs().iter().map(|output| &output.name[..]).collect();
    assert_eq!(names, ["output", "output_gemm_0"]);
}
