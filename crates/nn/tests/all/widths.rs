//! Networks whose layers run in two rings.

use super::{fixed::every_operator, network, sample, three, two};
use hushwire_compute::evaluate;
use hushwire_nn::{
    Array, Floats, INPUT, LayerWidth, Members, Network, NetworkReport, Numbers, Samples, Secure, Wanted,
    WideLayers, WideRing, decode,
    onnx::{Attribute, Data, Model},
    zoo::{self, Writer},
};
use hushwire_three::{Cut, Plan};
use hushwire_two::Products;

const LAYERS: [WideLayers; 2] = [WideLayers::Known, WideLayers::Sums];

fn mixed(layers: WideLayers) -> Numbers {
    Numbers::mixed(32, 16, WideRing { bits: 64, layers })
}

/// Convolutions, and a last layer whose results are `by` times as large as usual.
fn classes(seed: u64, by: f32) -> Model {
    let mut w = Writer::new("classes", seed, &[1, 3, 12, 12]);
    let x = w.conv("input", [3, 8], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 2, 2, 0, false);
    let x = w.conv(&x, [8, 16], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let last = w.random(&[16, 5], by);
    let y = w.op("Gemm", &[&x, &last], &[]);
    w.finish(&y)
}

/// As [`classes`], with their likelihoods: a softmax, and a shortcut before it.
fn likelihoods(seed: u64) -> Model {
    let mut w = Writer::new("likelihoods", seed, &[1, 3, 9, 9]);
    let x = w.conv("input", [3, 8], 3, 1, 1, true);
    let a = w.relu(&x);
    let b = w.conv(&a, [8, 8], 3, 1, 1, true);
    let x = w.op("Add", &[&a, &b], &[]);
    let x = w.relu(&x);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [8, 6]);
    let y = w.op("Softmax", &[&x], &[]);
    w.finish(&y)
}

fn secure(network: &Network, numbers: Numbers) -> Secure {
    Secure::new(network, numbers, &Members::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// The bytes that the busiest of three parties sends.
fn bytes(network: &Network, numbers: Numbers) -> u64 {
    let plan = Plan::new(secure(network, numbers).computation()).unwrap();
    (0..3).map(|party| plan.cost(party, Cut::whole()).unwrap().cost.bytes_sent).max().unwrap()
}

fn bits_of(network: &Network, numbers: Numbers, op: &str) -> Vec<u8> {
    let secure = secure(network, numbers);
    let layers = network.layers.iter().zip(secure.widths());
    layers.filter(|(layer, _)| layer.kind.name() == op).map(|(_, width)| width.bits).collect()
}

/// The greatest error of the output, in parts of its range.
fn error(network: &Network, numbers: Numbers, samples: &Samples, input: &Array) -> f64 {
    let secure = secure(network, numbers);
    let mut inputs = secure.weights(network, samples.greatest(network, &secure), samples.headroom()).unwrap();
    inputs.insert(INPUT.to_owned(), secure.input(input).unwrap());
    let found = decode(&evaluate(secure.computation(), &inputs).unwrap()["output"]);
    let floats = Floats::new(network, input, true).unwrap();
    let exact = floats.value(network.outputs[0].1);
    let ends = |pick: fn(f32, f32) -> f32| exact.data.iter().copied().reduce(pick).unwrap();
    let range = f64::from(ends(f32::max)) - f64::from(ends(f32::min));
    let errors = found.data.iter().zip(&exact.data).map(|(x, y)| f64::from((x - y).abs()));
    errors.fold(0.0, f64::max) / range
}

/// The last layer alone overflows 32 bits: it runs in 64, and the convolutions in 32.
#[test]
fn one_layer_that_overflows_does_not_widen_the_others() {
    let network = network(&classes(1, 4e4), None);
    let samples = Samples::made_up(&network, None).unwrap();
    let chosen = Wanted::default().chosen(&network, &samples).unwrap();
    assert!(chosen.finding.is_none(), "{chosen:?}");
    assert_eq!(chosen.numbers, mixed(WideLayers::Known));
    assert_eq!(bits_of(&network, chosen.numbers, "Conv"), [32, 32]);
    assert_eq!(bits_of(&network, chosen.numbers, "Gemm"), [64]);
    let last = secure(&network, chosen.numbers).widths()[network.outputs[0].1];
    assert_eq!(last, LayerWidth { bits: 64, why: "all members know its scale" });
    let told = Wanted { bits: Some(32), ..Wanted::default() }.chosen(&network, &samples).unwrap();
    assert!(told.distance.is_none() && told.finding.is_some_and(|f| f.layer.starts_with("gemm")), "32 wrap");
    for seed in 3..6 {
        assert!(error(&network, chosen.numbers, &samples, &sample(&network, seed)) < 0.01);
    }
    // Cheaper than all other rings in which the result is right.
    let own = bytes(&network, chosen.numbers);
    for bits in [40, 48, 56, 64] {
        assert!(own < bytes(&network, Numbers::of(bits)), "{bits} bits");
    }
    assert!(3 * own < 2 * bytes(&network, Numbers::of(64)), "{own}");
    // The network's file has the same numbers.
    let file = secure(&network, chosen.numbers).computation().to_string();
    assert_eq!(Numbers::of_computation(&file.parse().unwrap()).unwrap(), chosen.numbers);
}

/// A network that fits one ring of 32 bits stays there. A network that would be wide in nearly all
/// layers has one wide ring.
#[test]
fn one_ring_stays_where_two_save_nothing() {
    let fits = network(&classes(1, 0.3), None);
    let samples = Samples::made_up(&fits, None).unwrap();
    assert_eq!(Wanted::default().chosen(&fits, &samples).unwrap().numbers, Numbers::of(32));
    let mut w = Writer::new("m", 3, &[1, 16]);
    let x = w.gemm("input", [16, 8]);
    let x = w.op("Sigmoid", &[&x], &[]);
    let y = w.gemm(&x, [8, 4]);
    let wide = network(&w.finish(&y), None);
    assert!(Wanted::default().mixed(&wide).unwrap().is_empty(), "a function and what it reads");
    let asked = Wanted { bits: Some(40), ..Wanted::default() };
    assert!(asked.mixed(&network(&classes(1, 4e4), None)).unwrap().is_empty(), "bits that are asked for");
}

/// Results near floating point, layer by layer, and no value wraps.
#[test]
fn errors_are_as_in_a_wide_ring() {
    let all = [classes(2, 4e4), likelihoods(2), every_operator(2)];
    for (model, lengths) in all.iter().zip([None, None, Some(&[2, 3, 9, 9][..])]) {
        let network = network(model, lengths);
        for layers in LAYERS {
            let input = sample(&network, 5);
            let greatest = network.calibrated([&input]).unwrap();
            let report = NetworkReport::new(&network, mixed(layers), &greatest, 1, &input).unwrap();
            for layer in &report.layers {
                let relative = layer.deviation / layer.greatest.max(0.1);
                assert!(relative < 0.004, "{layers:?}: {layer:?}");
                assert!(layer.room > 0.0, "{layers:?}: {layer:?}");
            }
        }
    }
}

/// A value that leaves a wide layer for a narrow one has room there as well, and the first layer of
/// raw features is wide if sums are.
#[test]
fn sums_of_raw_features_are_wide() {
    let mut w = Writer::new("features", 3, &[16, 6]);
    let sizes = [6e4f32, 0.5, 3e-2, 900.0, 1.0, 25.0];
    let mut random = zoo::Random::new(5);
    let first = (0..6 * 24).map(|i| random.normal() / sizes[i / 24]).collect();
    let first = w.weights(&[6, 24], first);
    let mut x = w.op("Gemm", &["input", &first], &[]);
    for (from, to) in [(24, 512), (512, 256), (256, 64)] {
        x = w.relu(&x);
        x = w.gemm(&x, [from, to]);
    }
    let x = w.relu(&x);
    let y = w.gemm(&x, [64, 2]);
    let network = network(&w.finish(&y), Some(&[16, 6]));
    let data = (0..96).map(|i| sizes[i % 6] * (1.0 + 0.3 * random.normal())).collect();
    let input = Array::new(&[16, 6], data);
    let numbers = Numbers::mixed(32, 12, WideRing { bits: 64, layers: WideLayers::Sums });
    assert_eq!(bits_of(&network, numbers, "Gemm"), [64, 32, 32, 32, 64]);
    let secure = secure(&network, numbers);
    assert_eq!(secure.widths()[0], LayerWidth { bits: 64, why: "all that reads it is wide" });
    let samples = Samples::given(&network, &input).unwrap();
    let greatest = samples.greatest(&network, &secure);
    let floats = Floats::new(&network, &input, true).unwrap();
    let rooms = secure.rooms(&network, greatest, samples.headroom(), &floats).unwrap();
    assert!(rooms.iter().all(|room| *room > 0.0), "{rooms:?}");
    let narrow = Wanted { bits: Some(32), frac: Some(12), cut: None }.chosen(&network, &samples).unwrap();
    assert!(error(&network, numbers, &samples, &input) < 0.01);
    assert!(narrow.finding.is_some(), "{narrow:?}");
    let own = bytes(&network, numbers);
    assert!(own < bytes(&network, Numbers::of(64)), "{own}");
}

/// Three parties and two compute what the evaluator computes, bit by bit, and messages are as long
/// for other weights and inputs.
#[test]
fn parties_agree_with_the_evaluator() {
    for layers in LAYERS {
        let said = [1, 2].map(|seed| {
            let network = network(&every_operator(seed), Some(&[1, 3, 9, 9]));
            three::check(&network, mixed(layers), seed)
        });
        assert_eq!(said[0], said[1], "{layers:?}");
        three::check(&network(&likelihoods(1), None), mixed(layers), 3);
    }
    for products in [Products::He, Products::Ot] {
        let said = [1, 2].map(|seed| {
            let network = network(&classes(seed, 4e4), None);
            two::check(&network, mixed(WideLayers::Known), seed, products)
        });
        assert_eq!(said[0], said[1], "{products:?}");
    }
}

#[test]
fn every_operator_of_two_rings_between_two_parties() {
    let network = network(&every_operator(1), Some(&[1, 3, 9, 9]));
    two::check(&network, mixed(WideLayers::Known), 2, Products::He);
}

/// Whatever weights are, the layers in each ring are the same: otherwise the agreed network would
/// tell of them.
#[test]
fn weights_decide_no_width() {
    for layers in LAYERS {
        for model in [every_operator(1), likelihoods(1), classes(1, 1.0)] {
            let bytes = |model: &Model| secure(&network(model, None), mixed(layers)).computation().to_bytes();
            let expected = bytes(&model);
            for change in [|_: f32| 0.0, |x: f32| -x.abs() - 0.1, |x: f32| x * 1e-20, |x: f32| x * 1e6] {
                let mut other = model.clone();
                for (k, weights) in other.graph.weights.iter_mut().enumerate() {
                    // Variances are above 0.
                    if let (Data::Floats(all), false) = (&mut weights.data, k == 5 || k == 9) {
                        all.iter_mut().for_each(|x| *x = change(*x));
                    }
                }
                assert_eq!(bytes(&other), expected, "{layers:?}");
            }
        }
    }
}

/// Members read the rings of a network's file, and refuse such as no network has.
#[test]
fn rings_of_files_are_checked() {
    let network = network(&classes(1, 4e4), None);
    for layers in LAYERS {
        let file = secure(&network, mixed(layers)).computation().to_string();
        let name = file.lines().find_map(|line| line.strip_prefix("computation ")).unwrap().to_owned();
        assert_eq!(Numbers::of_computation(&file.parse().unwrap()).unwrap(), mixed(layers));
        for odd in ["32_16", "32_99", "64_64", "9_64"] {
            let other = name.replace("32_64", odd);
            assert_ne!(other, name);
            let told = Numbers::of_computation(&file.replacen(&name, &other, 1).parse().unwrap());
            assert!(told.is_err(), "{odd}: {told:?}");
        }
    }
    let clip = [("min", Attribute::Float(0.0)), ("max", Attribute::Float(1.0))];
    let mut w = Writer::new("m", 3, &[1, 4]);
    let y = w.op("Clip", &["input"], &clip);
    let one = super::network(&w.finish(&y), None);
    assert!(
        !secure(&one, mixed(WideLayers::Known)).is_mixed(),
        "an input that only wide layers read is wide"
    );
}
