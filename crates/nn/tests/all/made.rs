//! Cases of operators that are composed of others, for comparison with other implementations.

use super::oracle::{Case, case, ints};
use hushwire_nn::{onnx::Attribute, zoo::Writer};

/// A case for another version of the operator set.
fn case_of(opset: i64, name: &str, lengths: &[usize], build: impl FnOnce(&mut Writer) -> String) -> Case {
    let mut case = case(name, lengths, build);
    case.model.opset = opset;
    case
}

/// Operators on integers of few bits.
pub(super) fn quantized(cases: &mut Vec<Case>) {
    let one = |w: &mut Writer, x: f32| w.weights(&[], vec![x]);
    let quantized = |w: &mut Writer| {
        let (scale, zero) = (one(w, 0.031), w.integers(2, &[], vec![120]));
        (w.op("QuantizeLinear", &["input", &scale, &zero], &[]), scale, zero)
    };
    cases.push(case("quantized and back", &[2, 3, 4], |w| {
        let (x, scale, zero) = quantized(w);
        w.op("DequantizeLinear", &[&x, &scale, &zero], &[])
    }));
    cases.push(case("DynamicQuantizeLinear", &[2, 3, 4], |w| {
        let y = w.op("DynamicQuantizeLinear", &["input"], &[]);
        w.outputs_of_last(&["scale", "zero"]);
        y
    }));
    for linear in [true, false] {
        cases.push(case(&format!("quantized Conv {linear}"), &[1, 2, 4, 4], |w| {
            let (x, scale, zero) = quantized(w);
            let weights = w.integers(2, &[3, 2, 2, 2], (0..24).map(|i| i * 37 % 200).collect());
            let of_weights = w.integers(2, &[], vec![100]);
            if !linear {
                return w.op("ConvInteger", &[&x, &weights, &zero, &of_weights], &[]);
            }
            let (by, to, of_result) = (one(w, 0.02), one(w, 0.11), w.integers(2, &[], vec![128]));
            let inputs = [&x, &scale, &zero, &weights, &by, &of_weights, &to, &of_result].map(|of| &of[..]);
            w.op("QLinearConv", &inputs, &[])
        }));
        cases.push(case(&format!("quantized MatMul {linear}"), &[2, 3], |w| {
            let (x, scale, zero) = quantized(w);
            let weights = w.integers(2, &[3, 4], (0..12).map(|i| i * 37 % 200).collect());
            let of_weights = w.integers(2, &[], vec![100]);
            if !linear {
                return w.op("MatMulInteger", &[&x, &weights, &zero, &of_weights], &[]);
            }
            let (by, to, of_result) = (one(w, 0.02), one(w, 0.11), w.integers(2, &[], vec![128]));
            let inputs = [&x, &scale, &zero, &weights, &by, &of_weights, &to, &of_result].map(|of| &of[..]);
            w.op("QLinearMatMul", &inputs, &[])
        }));
    }
}

/// Operators that are composed of others.
pub(super) fn of_others(cases: &mut Vec<Case>) {
    let text = |of: &str| Attribute::Text(of.into());
    for equation in ["bij,jk->bik", "bij,bkj->ikb", "bii->bi", "bij->j"] {
        let square = if equation.starts_with("bii") { [2, 3, 3] } else { [2, 3, 4] };
        cases.push(case(&format!("Einsum {equation}"), &square, |w| {
            let by = match equation.split(',').nth(1).map(|of| of.starts_with('j')) {
                Some(true) => Some(w.random(&[4, 5], 1.0)),
                Some(false) => Some(w.random(&[2, 5, 4], 1.0)),
                None => None,
            };
            let inputs: Vec<&str> = std::iter::once("input").chain(by.as_deref()).collect();
            w.op("Einsum", &inputs, &[("equation", text(equation))])
        }));
    }
    let heads = ["q_num_heads", "kv_num_heads"].map(|name| (name, Attribute::Int(2)));
    let causal = [&heads[..], &[("is_causal", Attribute::Int(1))]].concat();
    cases.push(case_of(23, "Attention", &[2, 3, 4], |w| w.op("Attention", &["input"; 3], &causal)));
    cases.push(case_of(24, "Swish", &[2, 3], |w| w.op("Swish", &["input"], &[])));
    cases.push(case("MatMul of each", &[2, 3, 4, 5], |w| {
        let by = w.random(&[3, 5, 2], 1.0);
        w.op("MatMul", &["input", &by], &[])
    }));
    let kernel = ("kernel_shape", ints(&[2, 3]));
    let rest = [kernel, ("pads", ints(&[1, 0, 0, 1])), ("p", Attribute::Int(2))];
    cases.push(case("LpPool", &[1, 2, 4, 5], |w| w.op("LpPool", &["input"], &rest)));
    cases.push(case("GlobalLpPool", &[1, 2, 4, 5], |w| w.op("GlobalLpPool", &["input"], &[])));
    let mut local = case("LRN", &[1, 5, 2, 2], |w| w.op("LRN", &["input"], &[("size", Attribute::Int(3))]));
    // The reference sums squares of as many channels as there are images.
    local.is_beyond_reference = true;
    cases.push(local);
    for op in ["Conv", "MaxPool", "AveragePool"] {
        cases.push(case(&format!("{op} of volumes"), &[1, 2, 4, 5, 4], |w| {
            let strides = ("strides", ints(&[1, 2, 1]));
            if op == "Conv" {
                let kernel = w.random(&[3, 2, 2, 3, 2], 1.0);
                return w.op(op, &["input", &kernel], &[strides, ("pads", ints(&[1, 0, 0, 0, 1, 0]))]);
            }
            w.op(op, &["input"], &[strides, ("kernel_shape", ints(&[2, 3, 2]))])
        }));
    }
    for (op, axis) in [("ScatterElements", 1), ("ScatterElements", 0), ("Scatter", 1)] {
        cases.push(case_of(if op == "Scatter" { 10 } else { 20 }, &format!("{op} {axis}"), &[3, 4], |w| {
            let places = w.integers(7, &[2, 2], vec![0, 2, 1, 1]);
            let by = w.random(&[2, 2], 1.0);
            w.op(op, &["input", &places, &by], &[("axis", Attribute::Int(axis))])
        }));
    }
    for reduction in ["none", "add", "mul", "max", "min"] {
        cases.push(case(&format!("ScatterND {reduction}"), &[3, 4], |w| {
            let places = w.integers(7, &[3, 1], vec![2, 0, if reduction == "none" { 1 } else { 2 }]);
            let by = w.random(&[3, 4], 1.0);
            w.op("ScatterND", &["input", &places, &by], &[("reduction", text(reduction))])
        }));
    }
    for mode in ["linear", "cubic"] {
        for coordinates in ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"] {
            cases.push(case(&format!("Resize {mode} {coordinates}"), &[1, 2, 4, 6], |w| {
                let sizes = w.integers(7, &[4], vec![1, 2, 7, 3]);
                let attributes =
                    [("mode", text(mode)), ("coordinate_transformation_mode", text(coordinates))];
                w.op("Resize", &["input", "", "", &sizes], &attributes)
            }));
        }
    }
    cases.push(case("DFT", &[1, 6, 1], |w| {
        let axis = w.integers(7, &[], vec![1]);
        w.op("DFT", &["input", "", &axis], &[])
    }));
    cases.push(case("STFT", &[1, 8, 1], |w| {
        let (step, window) = (w.integers(7, &[], vec![2]), w.random(&[4], 1.0));
        w.op("STFT", &["input", &step, &window], &[])
    }));
    for op in ["IsNaN", "IsInf"] {
        cases.push(case(op, &[2, 3], |w| {
            let (is, zero) = (w.op(op, &["input"], &[]), w.weights(&[], vec![0.0]));
            w.op("Where", &[&is, &zero, "input"], &[])
        }));
    }
    cases.push(case("Size", &[2, 3], |w| {
        let size = w.op("Size", &["input"], &[]);
        let size = w.op("Cast", &[&size], &[("to", Attribute::Int(1))]);
        w.op("Mul", &["input", &size], &[])
    }));
}
