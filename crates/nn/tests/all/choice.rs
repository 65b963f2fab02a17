//! The chosen ring, and the warning if results are off.

use super::{network, sample};
use hushwire_compute::evaluate;
use hushwire_nn::{
    Array, Choice, Fault, Floats, INPUT, Members, Network, Numbers, SampleRange, Samples, Secure, Wanted,
    decode, judged,
    onnx::Attribute,
    zoo::{self, Random, Writer},
};

const AUTO: Wanted = Wanted { bits: None, frac: None, cut: None };

fn output(network: &Network, numbers: Numbers, samples: &Samples, input: &Array) -> Result<Array, Fault> {
    let secure = Secure::new(network, numbers, &Members::default())?;
    let mut inputs = secure.weights(network, samples.greatest(network, &secure), samples.headroom())?;
    inputs.insert(INPUT.to_owned(), secure.input(input)?);
    Ok(decode(&evaluate(secure.computation(), &inputs).unwrap()["output"]))
}

fn exact(network: &Network, input: &Array) -> Array {
    Floats::new(network, input, true).unwrap().value(network.outputs[0].1).clone()
}

fn choice(network: &Network, samples: &Samples, wanted: Wanted) -> Choice {
    wanted.chosen(network, samples).unwrap_or_else(|e| panic!("{e}"))
}

/// The greatest error on an input, as a part of the output's range or of its greatest element.
fn error(network: &Network, numbers: Numbers, samples: &Samples, input: &Array) -> f32 {
    let (found, exact) = (output(network, numbers, samples, input).unwrap(), exact(network, input));
    let errors = found.data.iter().zip(&exact.data).map(|(x, y)| (x - y).abs());
    errors.fold(0.0, f32::max) / exact.greatest()
}

/// A weight of 5e-5 for a feature of tens of thousands, beside a weight of 5 for a feature of about
/// one half.
fn raw_feature() -> (Network, Array) {
    let mut w = Writer::new("m", 3, &[3, 2]);
    let weights = w.weights(&[2, 1], vec![5e-5, 5.0]);
    let y = w.op("Gemm", &["input", &weights], &[]);
    let input = Array::new(&[3, 2], vec![8e4, 0.5, 2e4, 0.5, 6e4, 0.1]);
    (network(&w.finish(&y), Some(&[3, 2])), input)
}

#[test]
fn small_weights_get_a_wider_ring() {
    let (network, input) = raw_feature();
    let given = Samples::given(&network, &input).unwrap();
    let ranged = Samples::made_up(&network, "0,80000".parse::<SampleRange>().ok()).unwrap();
    // A wider ring is chosen even without inputs: the weights themselves show that the features
    // differ.
    for samples in [given, Samples::made_up(&network, None).unwrap(), ranged] {
        let chosen = choice(&network, &samples, AUTO);
        assert!(chosen.numbers.bits > 32 && chosen.finding.is_none(), "{chosen:?}");
        assert!(error(&network, chosen.numbers, &samples, &input) < 0.01, "{chosen:?}");
        // The next smaller ring does not suffice.
        let less = Wanted { bits: Some(chosen.numbers.bits - 8), ..AUTO };
        assert!(choice(&network, &samples, less).finding.is_some(), "{chosen:?}");
    }
}

/// Values of hundreds of thousands, such as prices of houses, have no room above 20 fractional
/// bits.
#[test]
fn large_outputs_get_fewer_fractional_bits() {
    let mut w = Writer::new("m", 3, &[4, 4]);
    let weights = w.weights(&[4, 1], vec![150.0, 10_000.0, 300.0, 0.5]);
    let y = w.op("Gemm", &["input", &weights], &[]);
    let rows = [
        [2500.0, 3.0, 1990.0, 90_000.0],
        [600.0, 1.0, 1930.0, 25_000.0],
        [4900.0, 5.0, 2020.0, 180_000.0],
        [1800.0, 2.0, 1975.0, 60_000.0],
    ];
    let input = Array::new(&[4, 4], rows.concat());
    let network = network(&w.finish(&y), Some(&[4, 4]));
    let samples = Samples::given(&network, &input).unwrap();
    let chosen = choice(&network, &samples, AUTO);
    assert!(chosen.numbers.frac < 20 && chosen.finding.is_none(), "{chosen:?}");
    assert!(error(&network, chosen.numbers, &samples, &input) < 0.01, "{chosen:?}");
    // Numbers that are asked for are kept.
    let frac = Wanted { frac: Some(20), ..AUTO };
    assert!(frac.chosen(&network, &samples).is_err_and(|e| e.to_string().contains("--frac")));
}

/// Made-up pixels of 8 bits cover their whole range, so that the pixels of an image do not wrap.
#[test]
fn made_up_integers_of_few_bits_have_their_types_range() {
    let mut w = Writer::new("m", 3, &[2, 3]);
    let x = w.op("Cast", &["input"], &[("to", Attribute::Int(1))]);
    let weights = w.weights(&[3, 2], vec![0.01, -0.02, 0.03, 0.01, -0.01, 0.02]);
    let y = w.op("Gemm", &[&x, &weights], &[]);
    let model = w.finish(&y);
    for (kind, least, most) in
        [(2, 0.0, 255.0), (3, -128.0, 127.0), (4, 0.0, 65_535.0), (5, -32_768.0, 32_767.0)]
    {
        let mut model = model.clone();
        model.graph.kinds.insert("input".into(), kind);
        let network = Network::new(model, Some(&[2, 3])).unwrap();
        let samples = Samples::made_up(&network, None).unwrap();
        let first = &samples.first()[0].data;
        assert!(first.iter().all(|x| (least..=most).contains(x)), "{first:?}");
        assert!(first.iter().any(|x| x.abs() > most / 8.0), "{first:?}");
        let input = Array::new(&[2, 3], vec![least, most, most, most, least, most]);
        let chosen = choice(&network, &samples, AUTO);
        assert!(error(&network, chosen.numbers, &samples, &input) < 0.01, "{kind}: {chosen:?}");
    }
}

/// A quantized network is computed in a narrow ring, near floating point with its roundings, and
/// far from a float network's distance between neighbours. Another network keeps its 32 bits.
#[test]
fn quantized_networks_get_a_narrow_ring() {
    let mut w = Writer::new("q", 5, &[1, 3, 12, 12]);
    let mut random = Random::new(3);
    let one = |w: &mut Writer, x: f32| w.weights(&[], vec![x]);
    let (mut scale, mut zero) = (one(&mut w, 0.03), w.integers(3, &[], vec![-3]));
    let mut x = w.op("QuantizeLinear", &["input", &scale, &zero], &[]);
    for (channels, made, of_made) in [(3, 16, 0.016), (16, 24, 0.035)] {
        let all = (0..made * channels * 9).map(|_| random.below(201) as i64 - 100).collect();
        let weights = w.integers(3, &[made, channels, 3, 3], all);
        let (by, none) = (one(&mut w, 0.004), w.integers(3, &[], vec![0]));
        let (to, least) = (one(&mut w, of_made), w.integers(3, &[], vec![-128]));
        let inputs = [&x, &scale, &zero, &weights, &by, &none, &to, &least].map(|of| &of[..]);
        x = w.op("QLinearConv", &inputs, &[("pads", Attribute::Ints(vec![1; 4]))]);
        (scale, zero) = (to, least);
    }
    let y = w.op("DequantizeLinear", &[&x, &scale, &zero], &[]);
    let y = w.op("GlobalAveragePool", &[&y], &[]);
    let y = w.op("Flatten", &[&y], &[]);
    let quantized = network(&w.finish(&y), None);
    let input = sample(&quantized, 4);
    let samples = Samples::given(&quantized, &input).unwrap();
    let chosen = choice(&quantized, &samples, AUTO);
    assert!(chosen.numbers.bits < 32 && chosen.finding.is_none(), "{chosen:?}");
    assert!(error(&quantized, chosen.numbers, &samples, &input) < 0.01, "{chosen:?}");
    // The network's file has the same numbers.
    let secure = Secure::new(&quantized, chosen.numbers, &Members::default()).unwrap();
    assert_eq!(Numbers::of_computation(secure.computation()).unwrap(), chosen.numbers);
    // The same, with layers of floats between numbers that are quantized and dequantized: factors
    // of the quantization are in the layers' weights.
    let mut w = Writer::new("q", 5, &[1, 3, 12, 12]);
    let there_and_back = |w: &mut Writer, x: &str, scale: f32, zero: i64| {
        let (scale, zero) = (w.weights(&[], vec![scale]), w.integers(3, &[], vec![zero]));
        let x = w.op("QuantizeLinear", &[x, &scale, &zero], &[]);
        w.op("DequantizeLinear", &[&x, &scale, &zero], &[])
    };
    let mut x = there_and_back(&mut w, "input", 0.03, -3);
    for (channels, scale) in [([3, 16], 0.016), ([16, 24], 0.035)] {
        x = w.conv(&x, channels, 3, 1, 1, true);
        x = there_and_back(&mut w, &x, scale, -128);
    }
    let y = w.op("GlobalAveragePool", &[&x], &[]);
    let y = w.op("Flatten", &[&y], &[]);
    let apart = network(&w.finish(&y), None);
    let products = apart.layers.iter().filter(|layer| layer.kind.name() == "Mul").count();
    assert_eq!(
        products,
        2,
        "of the input and of the last layer: {:?}",
        apart.layers.iter().map(|l| l.kind.name()).collect::<Vec<_>>()
    );
    let samples = Samples::given(&apart, &input).unwrap();
    let chosen_apart = choice(&apart, &samples, AUTO);
    assert!(chosen_apart.numbers.bits < 32, "{chosen_apart:?}");
    assert!(error(&apart, chosen_apart.numbers, &samples, &input) < 0.01, "{chosen_apart:?}");
    // Bits that are asked for are kept.
    assert_eq!(choice(&quantized, &samples, Wanted { bits: Some(40), ..AUTO }).numbers, Numbers::of(40));
    let mut w = Writer::new("m", 3, &[1, 16]);
    let y = w.gemm("input", [16, 4]);
    let float = network(&w.finish(&y), None);
    let samples = Samples::made_up(&float, None).unwrap();
    assert_eq!(choice(&float, &samples, AUTO).numbers, Numbers::of(32));
}

#[test]
fn findings_name_layer_cause_and_remedy() {
    let (network, input) = raw_feature();
    let samples = Samples::given(&network, &input).unwrap();
    let chosen = choice(&network, &samples, AUTO).numbers.bits;
    let found = choice(&network, &samples, Wanted { bits: Some(32), ..AUTO });
    assert_eq!(found.numbers, Numbers::of(32), "what is asked for is kept");
    let told = found.finding.expect("it is off");
    assert_eq!(told.layer, "gemm_0");
    assert!(
        told.cause.contains("weights of about 5e-5") && told.cause.contains("steps of numbers of 32 bits"),
        "{told}"
    );
    assert!(told.remedy.contains(&format!("--bits {chosen}")), "{told}");
    let wrong = output(&network, Numbers::of(32), &samples, &input).unwrap();
    let told = judged(&network, Numbers::of(32), &samples, &input, &wrong).unwrap().expect("it is off");
    assert!(told.layer == "gemm_0" && told.remedy.contains("--bits "), "{told}");
    let right = output(&network, Numbers::of(chosen), &samples, &input).unwrap();
    assert_eq!(judged(&network, Numbers::of(chosen), &samples, &input, &right).unwrap(), None);
}

/// Ten features from hundredths to tens of thousands, a hidden layer and a likelihood.
fn credit() -> (Network, Array) {
    let sizes = [5e4f32, 40.0, 0.3, 2.0, 1e4, 700.0, 5.0, 0.1, 8.0, 1.5];
    let mut random = Random::new(7);
    let mut w = Writer::new("credit", 3, &[64, 10]);
    let hidden = (0..160).map(|i| random.normal() / sizes[i / 16]).collect();
    let [hidden, bias, last] = [w.weights(&[10, 16], hidden), w.random(&[16], 2.0), w.random(&[16, 1], 0.4)];
    let x = w.op("Gemm", &["input", &hidden, &bias], &[]);
    let x = w.relu(&x);
    let x = w.op("Gemm", &[&x, &last], &[]);
    let y = w.op("Sigmoid", &[&x], &[]);
    let data = (0..640).map(|i| sizes[i % 10] * random.normal()).collect();
    (network(&w.finish(&y), Some(&[64, 10])), Array::new(&[64, 10], data))
}

#[test]
fn raw_features_decide_as_in_floating_point() {
    let (network, input) = credit();
    for samples in [Samples::given(&network, &input).unwrap(), Samples::made_up(&network, None).unwrap()] {
        let chosen = choice(&network, &samples, AUTO);
        assert!(chosen.finding.is_none(), "{chosen:?}");
        let found = output(&network, chosen.numbers, &samples, &input).unwrap();
        for (x, y) in found.data.iter().zip(&exact(&network, &input).data) {
            assert!((x - y).abs() < 0.01, "{x} for {y}: {chosen:?}");
        }
    }
}

/// Inputs of millionths.
#[test]
fn small_inputs_get_fractional_bits() {
    let mut w = Writer::new("m", 3, &[8, 3]);
    let weights = w.random(&[3, 2], 1e3);
    let y = w.op("Gemm", &["input", &weights], &[]);
    let network = network(&w.finish(&y), Some(&[8, 3]));
    let mut input = sample(&network, 4);
    input.data.iter_mut().for_each(|x| *x *= 1e-6);
    let samples = Samples::given(&network, &input).unwrap();
    let chosen = choice(&network, &samples, AUTO);
    assert!(chosen.finding.is_none() && chosen.numbers.frac > 20, "{chosen:?}");
    assert!(error(&network, chosen.numbers, &samples, &input) < 0.01, "{chosen:?}");
    let told = choice(&network, &samples, Wanted { bits: Some(32), ..AUTO }).finding.expect("it is off");
    assert!(told.cause.contains("inputs of about") && told.remedy.contains("--frac"), "{told}");
}

/// Networks that fit do not pay for the needs of others.
#[test]
fn networks_that_fit_keep_32_bits() {
    let mut of = vec![zoo::make("squeezenet-cifar", 1).unwrap(), zoo::make("squeezenet-cifar", 2).unwrap()];
    let mut w = Writer::new("m", 3, &[1, 16]);
    let x = w.gemm("input", [16, 8]);
    let x = w.relu(&x);
    let y = w.gemm(&x, [8, 4]);
    of.push(w.finish(&y));
    for model in of {
        let network = network(&model, None);
        let samples = Samples::made_up(&network, None).unwrap();
        let chosen = choice(&network, &samples, AUTO);
        assert_eq!(chosen.numbers, Numbers::of(32), "{}: {chosen:?}", network.name);
    }
}

/// Among the places that a network finds, a difference counts only if the values are not equal up
/// to rounding.
#[test]
fn places_that_differ_are_told() {
    let mut w = Writer::new("m", 3, &[4, 3]);
    let one = w.weights(&[3, 3], vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let x = w.op("MatMul", &["input", &one], &[]);
    let y = w.op("ArgMax", &[&x], &[("axis", Attribute::Int(1))]);
    let y = w.op("Transpose", &[&y], &[]);
    let network = network(&w.finish(&y), Some(&[4, 3]));
    let input = Array::new(&[4, 3], vec![1.0, 0.0, 0.5, 0.0, 1.0, 0.5, 0.2, 0.3, 1.0, 1.0, 1.0001, 0.0]);
    let samples = Samples::given(&network, &input).unwrap();
    let told = |places: [f32; 4]| {
        let found = Array::new(&[1, 4], places.to_vec());
        judged(&network, Numbers::of(32), &samples, &input, &found).unwrap()
    };
    assert_eq!(told([0.0, 1.0, 2.0, 1.0]), None);
    assert_eq!(told([0.0, 1.0, 2.0, 0.0]), None, "a tie but for rounding");
    for odd in [[1.0, 1.0, 2.0, 1.0], [0.0, 1.0, 1.0, 1.0], [0.0, 1.0, 2.0, 2.0]] {
        let told = told(odd).expect("one of them is wrong");
        assert!(told.cause.contains("1 of 4 classes"), "{told}");
    }
}

#[test]
fn ranges_are_two_numbers() {
    for good in ["0,1", "-1, 1", "-2.5,1e5"] {
        let range: SampleRange = good.parse().unwrap();
        assert_eq!(range.to_string().parse::<SampleRange>(), Ok(range), "{good}");
    }
    for bad in ["", "1", "1,0", "0,0", "0,inf", "a,b", "0,1,2", "-3e38,3e38"] {
        assert!(bad.parse::<SampleRange>().is_err(), "{bad}");
    }
}
