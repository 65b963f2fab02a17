//! Independent implementations of ONNX as oracles: the reference evaluator of the package `onnx`,
//! and ONNX Runtime if it is installed. Without the first the test is skipped with a message.
//! `HUSHWIRE_PYTHON` names an interpreter other than `python3`.

use super::{made, network};
use hushwire_nn::{
    Array, Floats, Network,
    onnx::{Attribute, Data, Model, Tensor},
    zoo::{self, Random, Writer},
};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    io::Write,
    process::{Command, Stdio},
};

/// Reads lines with a model, and the lengths and elements of its input. Writes a line for each
/// implementation with the lengths and elements of the output.
const PROGRAM: &str = r#"
import sys, numpy as np, onnx
from onnx.reference import ReferenceEvaluator
try:
    import onnxruntime as runtime
    runtime.set_default_logger_severity(4)
except ImportError:
    runtime = None
def reference(model, x):
    return ReferenceEvaluator(model).run(None, {"input": x})[0]
def ort(model, x):
    model.graph.output[0].ClearField("type")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"input": x})[0]
for line in sys.stdin:
    data, lengths, elements = line.rstrip("\n").split("|")
    x = np.frombuffer(bytes.fromhex(elements), dtype="<f4").reshape([int(n) for n in lengths.split()])
    for name, run in ("reference", reference), ("runtime", ort if runtime else None):
        if run is None:
            print(name, "", "absent", sep="|")
            continue
        model = onnx.load_from_string(bytes.fromhex(data))
        try:
            y = np.ascontiguousarray(run(model, x)).astype("<f4")
        except Exception:
            # ONNX Runtime is behind the newest sets.
            if name == "runtime" and model.opset_import[0].version > 22:
                print(name, "", "absent", sep="|")
                continue
            # The reference evaluator of onnx 1.23 repeats no axes of Mean's first operand, and has no
            # groups of transposed convolutions, no two directions, no GlobalLpPool and no Scatter.
            if name == "runtime" or model.graph.node[-1].op_type not in ("ConvTranspose", "GRU", "GlobalLpPool", "LSTM", "Mean", "RNN", "Scatter"):
                raise
            print(name, "", "absent", sep="|")
            continue
        print(name, " ".join(map(str, y.shape)), y.tobytes().hex(), sep="|")
"#;

pub(super) struct Case {
    name: String,
    pub(super) model: Model,
    input: Array,
    /// Whether the output of the reference evaluator of onnx 1.23 has other lengths than the
    /// standard's formula, which ONNX Runtime follows.
    pub(super) is_beyond_reference: bool,
}

pub(super) fn ints(all: &[i64]) -> Attribute {
    Attribute::Ints(all.to_vec())
}

/// A model with one value, in a version of the operator set that has all of its operators.
pub(super) fn case(name: &str, lengths: &[usize], build: impl FnOnce(&mut Writer) -> String) -> Case {
    let mut w = Writer::new("m", 3, lengths);
    let y = build(&mut w);
    let mut model = w.finish(&y);
    let new = model.graph.nodes.iter().any(|node| node.op == "RMSNormalization");
    model.opset = if new { 23 } else { 20 };
    // TopK must name both of its outputs.
    for node in model.graph.nodes.iter_mut().filter(|node| node.op == "TopK") {
        node.outputs.push(format!("{}_places", node.name));
    }
    Case { name: name.into(), model, input: zoo::sample(lengths, 11), is_beyond_reference: false }
}

/// Windows of all kinds over images.
fn windows(cases: &mut Vec<Case>) {
    let mut random = Random::new(5);
    for k in 0..60 {
        let mut pick = |n: usize| random.below(n);
        let (n, groups, inner, outer) = (1 + pick(2), 1 + pick(2), 1 + pick(2), 1 + pick(2));
        let size = [1 + pick(3), 1 + pick(3)];
        let strides = [1 + pick(3), 1 + pick(3)];
        let dilations = [1 + pick(2), 1 + pick(2)];
        let plane = [0, 1].map(|k| (size[k] - 1) * dilations[k] + 2 + pick(5));
        let pads: Vec<i64> = (0..4).map(|k| pick(size[k % 2]) as i64).collect();
        let auto = ["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"][pick(5)];
        // In ONNX Runtime, automatic padding is negative if windows leave elements out.
        let strides =
            [0, 1].map(|k| if auto.starts_with("SAME") { strides[k].min(size[k]) } else { strides[k] });
        let strides = ints(&strides.map(|n| n as i64));
        let around = match auto {
            "NOTSET" => ("pads", ints(&pads)),
            _ => ("auto_pad", Attribute::Text(auto.into())),
        };
        let shape = [n, groups * inner, plane[0], plane[1]];
        let (dilated, bias) = ([dilations[0] as i64, dilations[1] as i64], pick(2) == 1);
        // Automatic padding is defined for windows without gaps.
        let dilated = if auto.starts_with("SAME") { [1; 2] } else { dilated };
        cases.push(case(&format!("Conv {k}"), &shape, |w| {
            let kernels = w.random(&[groups * outer, inner, size[0], size[1]], 1.0);
            let mut inputs = vec!["input".to_owned(), kernels];
            if bias {
                inputs.push(w.random(&[groups * outer], 1.0));
            }
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            let group = ("group", Attribute::Int(groups as i64));
            let strides = ("strides", strides.clone());
            w.op("Conv", &inputs, &[group, strides, around.clone(), ("dilations", ints(&dilated))])
        }));
        let (ceil, counted) = (pick(3) == 0, pick(2) as i64);
        let kernel = ("kernel_shape", ints(&[size[0] as i64, size[1] as i64]));
        let ceil = if auto == "NOTSET" && pads.iter().all(|n| *n == 0) { i64::from(ceil) } else { 0 };
        let rest =
            [kernel, ("strides", strides.clone()), around.clone(), ("ceil_mode", Attribute::Int(ceil))];
        let mut pooled = case(&format!("MaxPool {k}"), &shape, |w| w.op("MaxPool", &["input"], &rest));
        // The padding of one side differs from that of another.
        pooled.is_beyond_reference =
            auto == "SAME_LOWER" || (auto == "NOTSET" && pads.iter().any(|n| *n != pads[0]));
        cases.push(pooled);
        let rest = [&rest[..], &[("count_include_pad", Attribute::Int(counted))]].concat();
        cases.push(case(&format!("AveragePool {k}"), &shape, |w| w.op("AveragePool", &["input"], &rest)));
    }
}

/// Layers with weights that are not windows, and functions.
fn layers(cases: &mut Vec<Case>) {
    let mut add = |name: &str, lengths: &[usize], build: &dyn Fn(&mut Writer) -> String| {
        cases.push(case(name, lengths, build));
    };
    for (op, attributes) in [
        ("Relu", vec![]),
        ("Sigmoid", vec![]),
        ("Tanh", vec![]),
        ("Gelu", vec![]),
        ("Gelu", vec![("approximate", Attribute::Text("tanh".into()))]),
        ("Identity", vec![]),
        ("Dropout", vec![]),
        ("GlobalAveragePool", vec![]),
        ("Softmax", vec![]),
        ("Softmax", vec![("axis", Attribute::Int(1))]),
        ("ArgMax", vec![("axis", Attribute::Int(2))]),
        ("ArgMax", vec![("axis", Attribute::Int(-1)), ("keepdims", Attribute::Int(0))]),
        ("ArgMin", vec![("axis", Attribute::Int(1)), ("select_last_index", Attribute::Int(1))]),
        ("Flatten", vec![]),
        ("Flatten", vec![("axis", Attribute::Int(0))]),
        ("Flatten", vec![("axis", Attribute::Int(-1))]),
        ("Transpose", vec![]),
        ("Transpose", vec![("perm", ints(&[0, 2, 3, 1]))]),
    ] {
        add(&format!("{op} {attributes:?}"), &[2, 3, 4, 5], &|w| w.op(op, &["input"], &attributes));
    }
    for (low, high) in [(Some(-0.5), Some(0.75)), (None, Some(0.1)), (Some(0.1), None)] {
        add(&format!("Clip {low:?} {high:?}"), &[2, 7], &|w| {
            let mut bound = |x: Option<f32>| x.map_or(String::new(), |x| w.weights(&[], vec![x]));
            let [low, high] = [bound(low), bound(high)];
            w.op("Clip", &["input", &low, &high], &[])
        });
    }
    add("BatchNormalization", &[2, 3, 4, 5], &|w| w.batch_norm("input", 3));
    add("BatchNormalization of a product", &[2, 3, 4, 5], &|w| {
        let weights = w.random(&[5, 3], 1.0);
        let product = w.op("MatMul", &["input", &weights], &[]);
        w.batch_norm(&product, 3)
    });
    for axis in [-1, 1] {
        let of: &[usize] = if axis == 1 { &[3, 4] } else { &[4] };
        add(&format!("LayerNormalization {axis}"), &[2, 3, 4], &|w| {
            let [scale, shift] = [w.random(of, 1.0), w.random(of, 1.0)];
            let attributes = [("axis", Attribute::Int(axis)), ("epsilon", Attribute::Float(0.01))];
            w.op("LayerNormalization", &["input", &scale, &shift], &attributes)
        });
    }
    for (turned, alpha, beta) in [(0, 1.0, 1.0), (1, 0.5, 2.0)] {
        add(&format!("Gemm {turned}"), &[3, 4], &|w| {
            let b = w.random(if turned == 1 { &[5, 4] } else { &[4, 5] }, 1.0);
            let c = w.random(&[5], 1.0);
            let [alpha, beta] = [alpha, beta].map(Attribute::Float);
            w.op(
                "Gemm",
                &["input", &b, &c],
                &[("transB", Attribute::Int(turned)), ("alpha", alpha), ("beta", beta)],
            )
        });
    }
    add("MatMul by weights", &[2, 3, 4], &|w| {
        let b = w.random(&[4, 5], 1.0);
        w.op("MatMul", &["input", &b], &[])
    });
    add("MatMul of values", &[2, 3, 4], &|w| {
        let turned = w.op("Transpose", &["input"], &[("perm", ints(&[0, 2, 1]))]);
        w.op("MatMul", &["input", &turned], &[])
    });
    for (lengths, left) in [(&[3][..], true), (&[4], false), (&[5, 3], true), (&[1, 4, 2], false)] {
        add(&format!("MatMul by weights {lengths:?}"), &[2, 3, 4], &|w| {
            let b = w.random(lengths, 1.0);
            w.op("MatMul", &if left { [&b, "input"] } else { ["input", &b] }, &[])
        });
    }
    add("MatMul of values with more axes", &[2, 3, 4, 5], &|w| {
        let mean = w.op("GlobalAveragePool", &["input"], &[]);
        let axes = w.op("Constant", &[], &[("value_ints", ints(&[0, 1]))]);
        let sums = w.op("ReduceSum", &["input", &axes], &[("keepdims", Attribute::Int(0))]);
        let turned = w.op("Transpose", &[&sums], &[]);
        let x = w.op("Add", &["input", &mean], &[]);
        w.op("MatMul", &[&x, &turned], &[])
    });
    for (turned, biased) in [(0, "rows"), (1, "value"), (1, "none")] {
        add(&format!("Gemm of values {turned} {biased}"), &[4, 4], &|w| {
            let row = w.random(&[4, 1], 1.0);
            let mut inputs = vec!["input", "input"];
            inputs.extend(match biased {
                "rows" => Some(&row[..]),
                "value" => Some("input"),
                _ => None,
            });
            let flags = [("transA", Attribute::Int(turned)), ("transB", Attribute::Int(1 - turned))];
            let [alpha, beta] = [0.5, 2.0].map(Attribute::Float);
            w.op("Gemm", &inputs, &[&flags[..], &[("alpha", alpha), ("beta", beta)]].concat())
        });
    }
    for lengths in [&[3, 1, 1][..], &[5], &[2, 3, 4, 5], &[1]] {
        add(&format!("Add {lengths:?}"), &[2, 3, 4, 5], &|w| {
            let b = w.random(lengths, 1.0);
            w.op("Add", &[&b, "input"], &[])
        });
    }
    add("Add of values", &[2, 3, 4, 5], &|w| {
        let mean = w.op("GlobalAveragePool", &["input"], &[]);
        w.op("Add", &["input", &mean], &[])
    });
}

/// Functions of numbers above 0, reductions, truth values, and operators composed of these.
fn functions(cases: &mut Vec<Case>) {
    let mut add = |name: &str, build: &dyn Fn(&mut Writer, &str) -> String| {
        cases.push(case(name, &[2, 3, 4, 5], |w| {
            let x = w.op("Abs", &["input"], &[]);
            let least = w.weights(&[1], vec![0.125]);
            let x = w.op("Add", &[&x, &least], &[]);
            build(w, &x)
        }));
    };
    for op in ["Log", "Sqrt", "Reciprocal"] {
        add(op, &|w, x| w.op(op, &[x], &[]));
    }
    add("Div of values", &|w, x| w.op("Div", &["input", x], &[]));
    for exponent in [2.0, 3.0, -1.0, 0.5, -0.5, 1.5] {
        add(&format!("Pow {exponent}"), &|w, x| {
            let y = w.weights(&[], vec![exponent]);
            w.op("Pow", &[x, &y], &[])
        });
    }
    add("Pow of values", &|w, x| w.op("Pow", &[x, "input"], &[]));
    for (lengths, fmod) in [(&[5][..], 1), (&[3, 1, 1], 1)] {
        add("Mod", &|w, x| {
            let by = w.weights(lengths, (1..=lengths.iter().product()).map(|k| 0.3 * k as f32).collect());
            w.op("Mod", &[x, &by], &[("fmod", Attribute::Int(fmod))])
        });
    }
    let reductions = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"];
    for reduction in reductions {
        for (axes, keep) in [(None, 1), (Some(&[1, -1][..]), 0), (Some(&[2]), 1), (Some(&[]), 1)] {
            add(&format!("Reduce{reduction} {axes:?}"), &|w, x| {
                let axes = axes.map(|axes| w.op("Constant", &[], &[("value_ints", ints(axes))]));
                let inputs: Vec<&str> = [Some(x), axes.as_deref()].into_iter().flatten().collect();
                let noop = i64::from(axes.is_none());
                let attributes =
                    [("keepdims", Attribute::Int(keep)), ("noop_with_empty_axes", Attribute::Int(noop))];
                w.op(&format!("Reduce{reduction}"), &inputs, &attributes)
            });
        }
    }
    for op in ["And", "Or", "Xor", "Not"] {
        add(op, &|w, x| {
            let [low, high] = [-0.5, 0.25].map(|x| w.weights(&[1], vec![x]));
            let above = w.op("Greater", &["input", &low], &[]);
            let below = w.op("LessOrEqual", &[x, &high], &[]);
            w.op(op, &if op == "Not" { vec![&above[..]] } else { vec![&above[..], &below] }, &[])
        });
    }
    for to in [1, 6, 9] {
        add(&format!("Cast {to}"), &|w, _| {
            let four = w.weights(&[1], vec![4.0]);
            let x = w.op("Mul", &["input", &four], &[]);
            w.op("Cast", &[&x], &[("to", Attribute::Int(to))])
        });
    }
    add("Where", &|w, x| {
        let above = w.op("Less", &[x, "input"], &[]);
        let weights = w.random(&[3, 1, 1], 1.0);
        w.op("Where", &[&above, "input", &weights], &[])
    });
    for (axis, without, reverse) in [(1, 0, 0), (-1, 1, 0), (2, 0, 1), (0, 1, 1)] {
        add("CumSum", &|w, x| {
            let axis = w.op("Constant", &[], &[("value_int", Attribute::Int(axis))]);
            let attributes = [("exclusive", Attribute::Int(without)), ("reverse", Attribute::Int(reverse))];
            w.op("CumSum", &[x, &axis], &attributes)
        });
    }
    for axis in [-1, 0, 2] {
        add("OneHot", &|w, x| {
            let places =
                w.op("ArgMax", &[x], &[("axis", Attribute::Int(3)), ("keepdims", Attribute::Int(0))]);
            let depth = w.op("Constant", &[], &[("value_int", Attribute::Int(5))]);
            let values = w.weights(&[2], vec![-1.0, 0.5]);
            w.op("OneHot", &[&places, &depth, &values], &[("axis", Attribute::Int(axis))])
        });
    }
    for (axis, largest) in [(-1, 1), (1, 0)] {
        add("TopK", &|w, x| {
            let count = w.op("Constant", &[], &[("value_ints", ints(&[3]))]);
            w.op(
                "TopK",
                &[x, &count],
                &[("axis", Attribute::Int(axis)), ("largest", Attribute::Int(largest))],
            )
        });
    }
    for axis in [-1, 1] {
        add("LogSoftmax", &|w, x| w.op("LogSoftmax", &[x], &[("axis", Attribute::Int(axis))]));
    }
    for (op, attribute) in
        [("Elu", "alpha"), ("Celu", "alpha"), ("ThresholdedRelu", "alpha"), ("HardSigmoid", "beta")]
    {
        add(op, &|w, _| w.op(op, &["input"], &[(attribute, Attribute::Float(0.375))]));
    }
}

/// Networks with a state, and normalizations of channels.
fn layers_of_layers(cases: &mut Vec<Case>) {
    for (op, gates) in [("RNN", 1), ("GRU", 3), ("LSTM", 4)] {
        cases.push(case(op, &[3, 2, 4], |w| {
            let [x, h] = [w.random(&[1, gates * 3, 4], 0.5), w.random(&[1, gates * 3, 3], 0.5)];
            w.op(op, &["input", &x, &h], &[("hidden_size", Attribute::Int(3))])
        }));
    }
    for (op, scales) in [("InstanceNormalization", 4), ("GroupNormalization", 2)] {
        cases.push(case(op, &[2, 4, 3, 5], |w| {
            let [scale, shift] = [w.random(&[scales], 1.0), w.random(&[scales], 1.0)];
            let groups = [("num_groups", Attribute::Int(2))];
            w.op(op, &["input", &scale, &shift], if scales == 2 { &groups } else { &[] })
        }));
    }
}

/// Operators that move elements, and computations on shapes.
fn moves(cases: &mut Vec<Case>) {
    let constant = |w: &mut Writer, all: &[i64]| w.op("Constant", &[], &[("value_ints", ints(all))]);
    cases.push(case("Pad", &[2, 3, 4, 5], |w| {
        let pads = constant(w, &[0, 1, 2, 0, 0, 0, 1, 3]);
        w.op("Pad", &["input", &pads], &[])
    }));
    cases.push(case("Pad of some axes", &[2, 3, 4, 5], |w| {
        let [pads, axes] = [&[1, 2, 0, 1][..], &[-1, 1]].map(|all| constant(w, all));
        w.op("Pad", &["input", &pads, "", &axes], &[])
    }));
    for axis in [1, -1] {
        cases.push(case("Concat", &[2, 3, 4, 5], |w| {
            let other = w.op("Relu", &["input"], &[]);
            w.op("Concat", &["input", &other, "input"], &[("axis", Attribute::Int(axis))])
        }));
    }
    cases.push(case("Squeeze", &[2, 1, 4, 1], |w| {
        let axes = constant(w, &[-1]);
        let x = w.op("Squeeze", &["input", &axes], &[]);
        let axes = constant(w, &[0, 2]);
        w.op("Unsqueeze", &[&x, &axes], &[])
    }));
    cases.push(case("Squeeze all", &[2, 1, 4, 1], |w| w.op("Squeeze", &["input"], &[])));
    cases.push(case("Reshape", &[2, 3, 4, 5], |w| {
        let to = constant(w, &[0, -1, 6]);
        w.op("Reshape", &["input", &to], &[])
    }));
    // A flattening as exporters write it: the lengths of the value, the first of them, and the rest
    // as one axis.
    cases.push(case("shapes", &[2, 3, 4, 5], |w| {
        let shape = w.op("Shape", &["input"], &[]);
        let first = w.op("Constant", &[], &[("value_int", Attribute::Int(0))]);
        let n = w.op("Gather", &[&shape, &first], &[]);
        let axes = constant(w, &[0]);
        let n = w.op("Unsqueeze", &[&n, &axes], &[]);
        let rest = w.op(
            "Constant",
            &[],
            &[(
                "value",
                Attribute::Tensor(Tensor {
                    name: "v".into(),
                    lengths: vec![1],
                    data: Data::Floats(vec![-1.0]),
                    kind: 0,
                }),
            )],
        );
        let rest = w.op("Cast", &[&rest], &[("to", Attribute::Int(7))]);
        let to = w.op("Concat", &[&n, &rest], &[("axis", Attribute::Int(0))]);
        w.op("Reshape", &["input", &to], &[])
    }));
}

/// Operators that move elements to known places.
fn picks(cases: &mut Vec<Case>) {
    let constant = |w: &mut Writer, all: &[i64]| w.op("Constant", &[], &[("value_ints", ints(all))]);
    let of = |w: &mut Writer, lengths: &[usize], all: &[i64]| {
        let tensor =
            Tensor { name: "v".into(), lengths: lengths.to_vec(), data: Data::Ints(all.to_vec()), kind: 0 };
        w.op("Constant", &[], &[("value", Attribute::Tensor(tensor))])
    };
    cases.push(case("Slice", &[2, 3, 4, 5], |w| {
        let [starts, ends, axes, by] =
            [&[1, -1][..], &[9, -9], &[1, 3], &[1, -2]].map(|all| constant(w, all));
        w.op("Slice", &["input", &starts, &ends, &axes, &by], &[])
    }));
    cases.push(case("Tile", &[2, 3, 4], |w| {
        let times = constant(w, &[1, 3, 2]);
        w.op("Tile", &["input", &times], &[])
    }));
    cases.push(case("Expand", &[2, 1, 4], |w| {
        let to = constant(w, &[3, 1, 5, 1]);
        w.op("Expand", &["input", &to], &[])
    }));
    for mode in ["DCR", "CRD"] {
        cases.push(case("DepthToSpace", &[2, 8, 2, 3], |w| {
            let mode = ("mode", Attribute::Text(mode.into()));
            w.op("DepthToSpace", &["input"], &[("blocksize", Attribute::Int(2)), mode])
        }));
    }
    cases.push(case("SpaceToDepth", &[2, 2, 4, 6], |w| {
        w.op("SpaceToDepth", &["input"], &[("blocksize", Attribute::Int(2))])
    }));
    cases.push(case("GatherElements", &[2, 3], |w| {
        let places = of(w, &[2, 2], &[0, 2, -1, 1]);
        w.op("GatherElements", &["input", &places], &[("axis", Attribute::Int(1))])
    }));
    for axis in [None, Some(1)] {
        cases.push(case("Compress", &[2, 3, 4], |w| {
            let truths = w.integers(9, &[3], vec![1, 0, 1]);
            let axis = axis.map(|axis| ("axis", Attribute::Int(axis)));
            w.op("Compress", &["input", &truths], axis.as_slice())
        }));
    }
    cases.push(case("GatherND", &[2, 3, 4], |w| {
        let places = of(w, &[3, 2], &[0, 2, 1, 1, 0, 0]);
        w.op("GatherND", &["input", &places], &[])
    }));
    cases.push(case("ReverseSequence", &[4, 2, 3], |w| {
        let counts = constant(w, &[3, 4]);
        w.op("ReverseSequence", &["input", &counts], &[])
    }));
    for (coordinates, rounding) in [
        ("asymmetric", "floor"),
        ("half_pixel", "round_prefer_floor"),
        ("align_corners", "round_prefer_ceil"),
    ] {
        cases.push(case(&format!("Resize {coordinates}"), &[2, 1, 4, 5], |w| {
            let sizes = constant(w, &[2, 1, 7, 3]);
            let text = |text: &str| Attribute::Text(text.into());
            let attributes = [
                ("coordinate_transformation_mode", text(coordinates)),
                ("nearest_mode", text(rounding)),
                ("mode", text("nearest")),
            ];
            w.op("Resize", &["input", "", "", &sizes], &attributes)
        }));
    }
    let mut old = case("Upsample", &[2, 1, 4, 5], |w| {
        let scales = w.weights(&[4], vec![1.0, 1.0, 2.0, 3.0]);
        w.op("Upsample", &["input", &scales], &[("mode", Attribute::Text("nearest".into()))])
    });
    old.model.opset = 9;
    cases.push(old);
    for (k, (pads, more)) in [([0, 1, 1, 0], [0, 0]), ([1, 2, 2, 1], [1, 0])].into_iter().enumerate() {
        cases.push(case(&format!("ConvTranspose {k}"), &[2, 4, 3, 5], |w| {
            let [weights, bias] = [w.random(&[4, 3, 3, 2], 1.0), w.random(&[6], 1.0)];
            let attributes = [
                ("strides", ints(&[2, 3])),
                ("pads", ints(&pads)),
                ("output_padding", ints(&more)),
                ("group", Attribute::Int(2)),
            ];
            w.op("ConvTranspose", &["input", &weights, &bias], &attributes)
        }));
    }
    for op in ["MaxPool", "AveragePool"] {
        cases.push(case(&format!("{op} of lines"), &[2, 3, 9], |w| {
            let attributes = [("kernel_shape", ints(&[3])), ("strides", ints(&[2])), ("pads", ints(&[1, 0]))];
            w.op(op, &["input"], &attributes)
        }));
    }
    for (op, gates, direction) in
        [("LSTM", 4, "bidirectional"), ("GRU", 3, "forward"), ("GRU", 3, "reverse"), ("RNN", 1, "forward")]
    {
        cases.push(case(&format!("{op} {direction}"), &[3, 2, 4], |w| {
            let count = if direction == "bidirectional" { 2 } else { 1 };
            let lengths = [vec![count, gates * 5, 4], vec![count, gates * 5, 5], vec![count, gates * 10]];
            let all = lengths.map(|lengths| w.random(&lengths, 0.5));
            let inputs = ["input", &all[0], &all[1], &all[2]];
            let mut attributes =
                vec![("hidden_size", Attribute::Int(5)), ("direction", Attribute::Text(direction.into()))];
            if op == "GRU" && direction == "forward" {
                attributes.push(("linear_before_reset", Attribute::Int(1)));
            }
            w.op(op, &inputs, &attributes)
        }));
    }
    for (coupled, direction) in [(0, "forward"), (1, "reverse")] {
        let mut seeing = case(&format!("LSTM with peepholes {direction}"), &[3, 2, 4], |w| {
            let lengths = [vec![1, 20, 4], vec![1, 20, 5], vec![1, 40], vec![1, 15]];
            let all = lengths.map(|lengths| w.random(&lengths, 0.5));
            let inputs = ["input", &all[0], &all[1], &all[2], "", "", "", &all[3]];
            let attributes = [
                ("hidden_size", Attribute::Int(5)),
                ("direction", Attribute::Text(direction.into())),
                ("input_forget", Attribute::Int(coupled)),
            ];
            w.op("LSTM", &inputs, &attributes)
        });
        // The reference has no coupled gates.
        seeing.is_beyond_reference = coupled == 1;
        cases.push(seeing);
    }
    cases.push(case("InstanceNormalization", &[2, 3, 4, 5], |w| {
        let [scale, shift] = [(); 2].map(|()| w.random(&[3], 1.0));
        w.op("InstanceNormalization", &["input", &scale, &shift], &[])
    }));
    let mut groups = case("GroupNormalization", &[2, 4, 3, 5], |w| {
        let [scale, shift] = [(); 2].map(|()| w.random(&[4], 1.0));
        w.op("GroupNormalization", &["input", &scale, &shift], &[("num_groups", Attribute::Int(2))])
    });
    groups.model.opset = 21;
    cases.push(groups);
    cases.push(case("Conv of lines", &[2, 4, 9], |w| {
        let [weights, bias] = [w.random(&[6, 2, 3], 1.0), w.random(&[6], 1.0)];
        let attributes = [("strides", ints(&[2])), ("pads", ints(&[1, 0])), ("group", Attribute::Int(2))];
        w.op("Conv", &["input", &weights, &bias], &attributes)
    }));
}

/// Operators without a case of their own, on values and weights that they take.
fn others(cases: &mut Vec<Case>) {
    let has = |op: &String| cases.iter().any(|case| case.model.graph.nodes.iter().any(|node| node.op == *op));
    let others: Vec<String> = supported().into_iter().filter(|op| !has(op)).collect();
    for op in others {
        let values = [&["input"][..], &["input"; 2]]
            .map(|inputs| case(&format!("{op} {inputs:?}"), &[2, 3, 4, 5], |w| w.op(&op, inputs, &[])));
        let lengths = [&[3, 1, 1][..], &[5], &[2, 3, 4, 5], &[1], &[]];
        let weights = lengths.into_iter().flat_map(|lengths| [(lengths, false), (lengths, true)]).map(
            |(of, turned)| {
                case(&format!("{op} {of:?} {turned}"), &[2, 3, 4, 5], |w| {
                    let by = w.random(of, 1.0);
                    w.op(&op, &if turned { [&by, "input"] } else { ["input", &by] }, &[])
                })
            },
        );
        let taken = |case: &Case| Network::new(case.model.clone(), Some(&case.input.lengths)).is_ok();
        cases.extend(values.into_iter().chain(weights).filter(taken));
    }
}

/// The operators that this crate reads, from the error that lists them.
fn supported() -> BTreeSet<String> {
    let mut w = Writer::new("m", 1, &[1, 1]);
    let y = w.op("Nonsense", &["input"], &[]);
    let error = Network::new(w.finish(&y), None).expect_err("there is no such operator").to_string();
    let list = error.rsplit("write it with ").next().expect("a remedy");
    list.split([',', ' ']).filter(|name| name.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

fn hex(bytes: impl Iterator<Item = u8>) -> String {
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes from their hexadecimal digits.
pub(super) fn hex_bytes(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).unwrap()).collect()
}

pub(super) fn parsed(lengths: &str, elements: &str) -> Array {
    let lengths: Vec<usize> = lengths.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let data = hex_bytes(elements).as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
    Array::new(&lengths, data)
}

/// The interpreter with the package `onnx`; prints a message if there is none.
pub(super) fn python() -> Option<OsString> {
    python_with("onnx, numpy")
}

/// The interpreter with some modules; prints a message if there is none.
pub(super) fn python_with(modules: &str) -> Option<OsString> {
    let python = std::env::var_os("HUSHWIRE_PYTHON").unwrap_or_else(|| "python3".into());
    let import = format!("import {modules}");
    let there = Command::new(&python).args(["-c", &import]).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    let shown = python.display();
    eprintln!("skipped: {shown} lacks one of {modules}; install it, or name another in HUSHWIRE_PYTHON");
    None
}

#[test]
fn other_implementations_compute_the_same() {
    let Some(python) = python() else { return };
    let mut cases = vec![];
    windows(&mut cases);
    layers(&mut cases);
    moves(&mut cases);
    picks(&mut cases);
    functions(&mut cases);
    layers_of_layers(&mut cases);
    made::quantized(&mut cases);
    made::of_others(&mut cases);
    others(&mut cases);
    cases.push(Case {
        name: "squeezenet-cifar".into(),
        model: zoo::make("squeezenet-cifar", 3).unwrap(),
        input: zoo::sample(&[2, 3, 32, 32], 4),
        is_beyond_reference: false,
    });
    let nodes = cases.iter().flat_map(|case| &case.model.graph.nodes);
    assert_eq!(nodes.map(|node| node.op.clone()).collect::<BTreeSet<_>>(), supported(), "every operator");
    let asked: String = cases
        .iter()
        .map(|case| {
            let lengths: Vec<String> = case.input.lengths.iter().map(usize::to_string).collect();
            let elements = hex(case.input.data.iter().flat_map(|x| x.to_le_bytes()));
            format!("{}|{}|{elements}\n", hex(case.model.to_bytes().into_iter()), lengths.join(" "))
        })
        .collect();
    let mut child = Command::new(&python);
    let child = child.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()));
    let out = child.wait_with_output().unwrap();
    writer.join().expect("the writer ends").expect("Python reads all cases");
    let told = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2 * cases.len(), "two answers to every case");
    for (case, answers) in cases.iter().zip(lines.chunks(2)) {
        let network = network(&case.model, Some(&case.input.lengths));
        let floats = Floats::new(&network, &case.input, true).unwrap();
        let found = floats.value(network.outputs[0].1);
        for answer in answers {
            let parts: Vec<&str> = answer.split('|').collect();
            if parts[2] == "absent" || (case.is_beyond_reference && parts[0] == "reference") {
                continue;
            }
            let expected = parsed(parts[1], parts[2]);
            assert_eq!(found.lengths, expected.lengths, "{} by {}", case.name, parts[0]);
            for (i, (x, y)) in found.data.iter().zip(&expected.data).enumerate() {
                let near = (x - y).abs() <= 1e-4 * (1.0 + y.abs());
                assert!(near, "{} by {}, element {i}: {x} for {y}", case.name, parts[0]);
            }
        }
    }
}
