//! ONNX's own tests of operators, from the Python package `onnx`. For each operator the test counts
//! cases that pass, that are refused, and whose result differs from the standard; none may differ.
//! Without the package the test is skipped with a message. `HUSHWIRE_PYTHON` names an interpreter
//! other than `python3`.

use super::oracle::{hex_bytes, parsed, python};
use hushwire_nn::{Array, Floats, Given, Network, NetworkReport, Samples, Wanted, onnx::Model};
use std::{
    collections::BTreeMap,
    fmt::Write,
    process::{Command, Stdio},
};

/// Writes a line for each test: operator, name, model, inputs and outputs. Tensors are their name,
/// the kind of their elements, lengths, and elements as floats.
const PROGRAM: &str = r#"
import sys, os, numpy as np, onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
def tensor(x):
    x = numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)
    kind = x.dtype.kind
    # Numbers of few bits: bfloat16, float8, int4 and others.
    if kind not in "fiub" or (kind == "f" and x.dtype.itemsize < 4):
        name = x.dtype.name
        # Floats of 4 and 8 bits are kinds of their own.
        kind = "e" if "float8" in name or "float4" in name else "c" if "float" in name else "i" if "int" in name else None
        if kind is None:
            raise ValueError(x.dtype)
    with np.errstate(all="ignore"):
        y = x.astype("<f4")
    return "%s;%s;%s" % (kind, " ".join(map(str, x.shape)), y.tobytes().hex())
def stored(case):
    data, sides = os.path.join(case.model_dir, "test_data_set_0"), []
    for side in "input", "output":
        names = sorted(os.listdir(data), key=lambda name: int(name.rstrip(".pb").split("_")[1]))
        paths = [os.path.join(data, name) for name in names if name.startswith(side)]
        sides.append([numpy_helper.to_array(onnx.load_tensor(path)) for path in paths])
    return onnx.load(os.path.join(case.model_dir, "model.onnx")), sides
kinds = "node", "simple", "pytorch-operator", "pytorch-converted"
for kind, case in [(kind, case) for kind in kinds for case in load_model_tests(kind=kind)]:
    op = name = ""
    try:
        # Newer packages make the tests of nodes, and older ones have files.
        model, sides = (case.model, case.data_sets[0]) if case.model else stored(case)
        op = [node for node in model.graph.node if node.op_type != "Constant"][0]
        op = (op.domain + "." if op.domain not in ("", "ai.onnx") else "") + op.op_type
        values = model.graph.input, model.graph.output
        known = {weights.name for weights in model.graph.initializer}
        names = [[value.name for value in all if value.name not in known] for all in values]
        sides = ["@".join(n + ";" + tensor(x) for n, x in zip(*pair)) for pair in zip(names, sides)]
        print(kind, op, case.name, model.SerializeToString().hex(), sides[0], sides[1], sep="|")
    except Exception as e:
        print(kind, op or "?", case.name, "", "", "", sep="|")
"#;

/// The operators that models are expected to have.
#[rustfmt::skip]
const LISTED: &[&str] = &[
    "Abs", "Add", "And", "ArgMax", "ArgMin", "Attention", "AveragePool", "BatchNormalization", "Cast", "Ceil",
    "Celu", "Clip", "Concat", "Conv", "ConvInteger", "ConvTranspose", "Cos", "CumSum", "DepthToSpace",
    "DequantizeLinear", "Div", "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "Flatten", "Floor", "GRU",
    "Gather", "GatherElements", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "Greater",
    "GreaterOrEqual", "GroupNormalization", "HardSigmoid", "HardSwish", "InstanceNormalization", "LRN", "LSTM",
    "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "Log", "LogSoftmax", "LpPool", "MatMul",
    "MatMulInteger", "Max", "MaxPool", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "OneHot", "Or", "PRelu",
    "Pad", "Pow", "QLinearConv", "QLinearMatMul", "QuantizeLinear", "RMSNormalization", "RNN", "Reciprocal",
    "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "Reshape", "Resize", "Round", "ScatterND", "Selu", "Sigmoid", "Sign", "Sin", "Slice",
    "Softmax", "Softplus", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "ThresholdedRelu", "Tile", "TopK",
    "Transpose", "Upsample", "Where", "ai.onnx.ml.ArrayFeatureExtractor", "ai.onnx.ml.Binarizer",
    "ai.onnx.ml.LabelEncoder", "ai.onnx.ml.TreeEnsemble",
];

/// A value of a test.
struct Value {
    name: String,
    is_float: bool,
    /// Whether its elements have 8 digits or fewer.
    is_coarse: bool,
    /// Whether its elements are floats of 4 or 8 bits.
    is_tiny: bool,
    array: Array,
}

fn values(text: &str) -> Vec<Value> {
    let one = |text: &str| {
        let parts: Vec<&str> = text.split(';').collect();
        let [name, kind, lengths, elements] = parts[..] else { panic!("{text}") };
        let (is_float, is_coarse) = (["c", "e", "f"].contains(&kind), kind == "c" || kind == "e");
        let is_tiny = kind == "e";
        Value { name: name.into(), is_float, is_coarse, is_tiny, array: parsed(lengths, elements) }
    };
    text.split('@').filter(|text| !text.is_empty()).map(one).collect()
}

/// The result of a test.
#[derive(Clone, Copy, PartialEq, PartialOrd, Ord, Eq)]
enum Verdict {
    Passed,
    Refused,
    Wrong,
}

/// Whether the difference between arrays is within a part of the range of the expected one.
fn near(found: &Array, expected: &Array, part: f32) -> bool {
    let finite = expected.data.iter().copied().filter(|x| x.is_finite());
    let (low, high) = finite.fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(x), high.max(x)));
    let range = (high - low).max(0.1 * low.abs().max(high.abs())).max(1e-3);
    // A number that only means "less than all others" is −2^15 here.
    let one = |(x, y): (&f32, &f32)| {
        if y.is_finite() { (x - y).abs() <= part * range } else { x * y.signum() > 3e4 }
    };
    found.lengths == expected.lengths && found.data.iter().zip(&expected.data).all(one)
}

/// Runs a model in floating point and in fixed point; inputs that are not `secret` are known to
/// all.
fn run(bytes: &[u8], inputs: &[Value], outputs: &[Value], secret: &[bool]) -> (Verdict, String) {
    let refused = |e: &dyn std::fmt::Display| (Verdict::Refused, e.to_string());
    let model = match Model::read(bytes) {
        Ok(model) => model,
        Err(e) => return refused(&e),
    };
    let mut given = Given::default();
    for (value, secret) in inputs.iter().zip(secret) {
        match secret {
            true => given.shapes.insert(value.name.clone(), value.array.lengths.clone()).map(|_| ()),
            false => given.public.insert(value.name.clone(), value.array.clone()).map(|_| ()),
        };
    }
    let network = match Network::with(model, &given) {
        Ok(network) => network,
        Err(all) => return refused(&all[0]),
    };
    let arrays: Vec<Array> = inputs
        .iter()
        .zip(secret)
        .filter(|(_, secret)| **secret)
        .map(|(value, _)| value.array.clone())
        .collect();
    let floats = match Floats::new(&network, &arrays, true) {
        Ok(floats) => floats,
        Err(e) => return refused(&e),
    };
    let expected = |name: &str| outputs.iter().find(|value| value.name == name).map(|value| &value.array);
    let coarse = inputs.iter().chain(outputs).any(|value| value.is_coarse);
    for (name, at) in &network.outputs {
        let Some(expected) = expected(name) else { continue };
        // If two whole numbers are equally near, either one is right.
        let whole = outputs.iter().any(|value| value.name == *name && !value.is_float);
        let part = if coarse {
            0.02
        } else if whole {
            0.005
        } else {
            1e-3
        };
        if !near(floats.value(*at), expected, part) {
            return (Verdict::Wrong, format!("{:?} for {expected:?}", floats.value(*at)));
        }
    }
    let samples = match Samples::given(&network, &arrays) {
        Ok(samples) => samples,
        Err(e) => return refused(&e),
    };
    let choice = match Wanted::default().chosen(&network, &samples) {
        Ok(choice) => choice,
        Err(e) => return refused(&e),
    };
    if let Some(finding) = choice.finding {
        return refused(&finding);
    }
    let secure = hushwire_nn::Secure::new(&network, choice.numbers, &hushwire_nn::Members::default());
    let secure = secure.expect("it was evaluated");
    let greatest = samples.greatest(&network, &secure);
    let report = NetworkReport::new(&network, choice.numbers, greatest, samples.headroom(), &arrays);
    let report = match report {
        Ok(report) => report,
        Err(e) => return refused(&e),
    };
    for ((name, _), found) in network.outputs.iter().zip(&report.outputs) {
        let Some(expected) = expected(name) else { continue };
        if !near(found, expected, if coarse { 0.04 } else { 0.02 }) {
            return (Verdict::Wrong, format!("in fixed point {found:?} for {expected:?}"));
        }
    }
    (Verdict::Passed, String::new())
}

/// Whether a test has values that a secret value cannot have.
fn is_beyond(inputs: &[Value], outputs: &[Value]) -> bool {
    let odd = |value: &Value| {
        value.is_tiny || value.array.data.is_empty() || value.array.data.iter().any(|x| !x.is_finite())
    };
    // If there are no values, the kinds of their elements are not numbers.
    outputs.is_empty() || inputs.iter().any(odd) || outputs.iter().any(odd)
}

#[test]
#[ignore = "minutes at this level"]
fn tests_of_onnx() {
    let Some(python) = python() else { return };
    let out = Command::new(&python).args(["-c", PROGRAM]).stderr(Stdio::null()).output().unwrap();
    let told = String::from_utf8(out.stdout).unwrap();
    let mut table: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut listed = [0; 3];
    let (mut wrong, mut reasons) = (String::new(), String::new());
    for line in told.lines() {
        let parts: Vec<&str> = line.split('|').collect();
        let [kind, op, name, model, inputs, outputs] = parts[..] else { panic!("{line}") };
        let (bytes, inputs, outputs) = (hex_bytes(model), values(inputs), values(outputs));
        // Either all floats are secret, or only the first input is, and the others are part of the
        // model.
        let floats: Vec<bool> = inputs.iter().map(|value| value.is_float).collect();
        let first: Vec<bool> = (0..inputs.len()).map(|k| k == 0).collect();
        let mut verdict = (Verdict::Refused, "elements of this kind".to_owned());
        for secret in [floats, first] {
            if !bytes.is_empty() && verdict.0 == Verdict::Refused && secret.contains(&true) {
                verdict = run(&bytes, &inputs, &outputs, &secret);
            }
        }
        table.entry(op.to_owned()).or_default()[verdict.0 as usize] += 1;
        // Tests of operators, and of the functions that define other operators.
        if kind == "node" && LISTED.contains(&op) && !name.ends_with("_expanded") {
            let of = match verdict.0 {
                Verdict::Passed => 0,
                _ if is_beyond(&inputs, &outputs) => 2,
                _ => 1,
            };
            listed[of] += 1;
        }
        match verdict {
            (Verdict::Wrong, why) => writeln!(wrong, "{name}: {why}").unwrap(),
            (Verdict::Refused, why) => writeln!(reasons, "{op} {name}: {why}").unwrap(),
            _ => {}
        }
    }
    let mut sum = [0; 3];
    println!("{:<40} {:>7} {:>7} {:>7}", "operator", "passed", "refused", "wrong");
    for (op, counts) in &table {
        println!("{op:<40} {:>7} {:>7} {:>7}", counts[0], counts[1], counts[2]);
        (0..3).for_each(|k| sum[k] += counts[k]);
    }
    println!("{:<40} {:>7} {:>7} {:>7}", "all", sum[0], sum[1], sum[2]);
    let [passed, rest, beyond] = listed;
    let all = passed + rest;
    println!("of the tests of operators that models are expected to have: {passed} of {all}");
    println!("and {beyond} with what no secret value is: texts, no elements, not finite, floats of 8 bits");
    assert!(passed * 100 >= all * 95, "at least 95 %");
    println!("\nrefused:\n{reasons}");
    assert!(sum[0] > 0, "tests are there");
    assert!(wrong.is_empty(), "wrong:\n{wrong}");
}
