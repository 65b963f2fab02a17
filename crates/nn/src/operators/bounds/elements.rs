//! Cases: functions of each element, and of two or three operands element by element.

use super::{Cases, Nd, ints, known, name, nd::sigmoid, parts, weights};
use crate::{import::fold::erf, onnx::Attribute, zoo::Writer};

fn float(name: &'static str, x: f32) -> (&'static str, Attribute) {
    (name, Attribute::Float(x))
}

fn mish(x: f64) -> f64 {
    x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh()
}

fn functions(all: &mut Cases) {
    type Row = (&'static str, [f64; 2], fn(f64) -> f64);
    let rows: &[Row] = &[
        ("Abs", [-20.0, 20.0], f64::abs),
        ("Atan", [-20.0, 20.0], f64::atan),
        ("Ceil", [-20.0, 20.0], f64::ceil),
        ("Cos", [-30.0, 30.0], f64::cos),
        ("Dropout", [-20.0, 20.0], |x| x),
        ("Erf", [-6.0, 6.0], erf),
        ("Exp", [-9.0, 5.0], f64::exp),
        ("Floor", [-20.0, 20.0], f64::floor),
        ("Gelu", [-8.0, 8.0], |x| x / 2.0 * (1.0 + erf(x / 2f64.sqrt()))),
        ("HardSwish", [-20.0, 20.0], |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        ("Identity", [-20.0, 20.0], |x| x),
        ("Log", [0.01, 50.0], f64::ln),
        ("Mish", [-20.0, 20.0], mish),
        ("Neg", [-20.0, 20.0], |x| -x),
        ("Reciprocal", [0.05, 40.0], f64::recip),
        ("Relu", [-20.0, 20.0], |x| x.max(0.0)),
        ("Round", [-20.0, 20.0], f64::round_ties_even),
        ("Sigmoid", [-20.0, 20.0], sigmoid),
        ("Sign", [-2.0, 2.0], |x| if x == 0.0 { 0.0 } else { x.signum() }),
        ("Sin", [-30.0, 30.0], f64::sin),
        ("Softplus", [-30.0, 30.0], |x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        ("Softsign", [-30.0, 30.0], |x| x / (1.0 + x.abs())),
        ("Sqrt", [0.0, 50.0], f64::sqrt),
        ("Swish", [-20.0, 20.0], |x| x * sigmoid(x)),
        ("Tan", [-1.2, 1.2], f64::tan),
        ("Tanh", [-10.0, 10.0], f64::tanh),
    ];
    for (op, over, f) in rows.iter().copied() {
        all.each(op, &[], over, f);
    }
    let a = 0.375f32;
    let alpha = f64::from(a);
    all.each("Elu", &[float("alpha", a)], [-9.0, 9.0], move |x| if x < 0.0 { alpha * x.exp_m1() } else { x });
    all.each("Celu", &[float("alpha", a)], [-9.0, 9.0], move |x| {
        if x < 0.0 { alpha * (x / alpha).exp_m1() } else { x }
    });
    all.each("Selu", &[], [-9.0, 9.0], |x| {
        let [alpha, gamma] = [1.673_263_192_176_818_8, 1.050_701_022_148_132_3];
        gamma * if x < 0.0 { alpha * x.exp_m1() } else { x }
    });
    all.each("HardSigmoid", &[float("alpha", a)], [-9.0, 9.0], move |x| (alpha * x + 0.5).clamp(0.0, 1.0));
    all.each("LeakyRelu", &[float("alpha", a)], [-20.0, 20.0], move |x| if x < 0.0 { alpha * x } else { x });
    all.each(
        "ThresholdedRelu",
        &[float("alpha", a)],
        [-20.0, 20.0],
        move |x| if x > alpha { x } else { 0.0 },
    );
    all.each("Shrink", &[float("lambd", a), float("bias", 0.25)], [-20.0, 20.0], move |x| {
        if x > alpha {
            x - 0.25
        } else if x < -alpha {
            x + 0.25
        } else {
            0.0
        }
    });
    all.add(
        "Clip",
        &[200],
        [-20.0, 20.0],
        1,
        |w| {
            let [low, high] = [-1.3, 2.7].map(|x| w.weights(&[], vec![x]));
            w.op("Clip", &["input", &low, &high], &[])
        },
        |x| x.map(|x| x.clamp(f64::from(-1.3f32), f64::from(2.7f32))).data,
    );
    let kinds = [("Cast", vec![("to", Attribute::Int(7))])];
    for (op, attributes) in kinds {
        all.each(op, &attributes, [-20.0, 20.0], f64::trunc);
    }
    all.add(
        "CastLike",
        &[200],
        [-20.0, 20.0],
        1,
        |w| {
            let like = known(w, &[1]);
            w.op("CastLike", &["input", &like], &[])
        },
        |x| x.map(f64::trunc).data,
    );
    for (exponent, over) in
        [(2.0f32, [-6.0, 6.0]), (3.0, [-4.0, 4.0]), (-1.0, [0.25, 8.0]), (0.5, [0.0, 50.0])]
    {
        power(all, exponent, over);
    }
    for (exponent, over) in [(-0.5, [0.25, 8.0]), (1.5, [0.25, 8.0])] {
        power(all, exponent, over);
    }
    for op in ["IsNaN", "IsInf"] {
        all.add(
            op,
            &[50],
            [-2.0, 2.0],
            1,
            |w| {
                let (is, zero) = (w.op(op, &["input"], &[]), w.weights(&[], vec![0.0]));
                w.op("Where", &[&is, &zero, "input"], &[])
            },
            |x| x.data.clone(),
        );
    }
}

fn power(all: &mut Cases, exponent: f32, over: [f64; 2]) {
    all.add(
        "Pow",
        &[200],
        over,
        1,
        |w| {
            let y = w.weights(&[], vec![exponent]);
            w.op("Pow", &["input", &y], &[])
        },
        move |x| x.map(|x| x.powf(exponent.into())).data,
    );
}

type Two = fn(f64, f64) -> f64;

/// Operators of two values, and of a value and weights.
fn pairs(all: &mut Cases) {
    let truth = |is: bool| f64::from(u8::from(is));
    let values: &[(&str, [f64; 2], Two)] = &[
        ("Add", [-20.0, 20.0], |x, y| x + y),
        ("Sub", [-20.0, 20.0], |x, y| x - y),
        ("Mul", [-6.0, 6.0], |x, y| x * y),
        ("Div", [0.1, 20.0], |x, y| x / y),
        ("Max", [-20.0, 20.0], f64::max),
        ("Min", [-20.0, 20.0], f64::min),
        ("Mean", [-20.0, 20.0], |x, y| f64::midpoint(x, y)),
        ("Sum", [-20.0, 20.0], |x, y| x + y),
        ("PRelu", [-6.0, 6.0], |x, y| if x < 0.0 { x * y } else { x }),
    ];
    for (op, over, f) in values.iter().copied() {
        if op != "PRelu" {
            all.add(
                op,
                &[2, 100],
                over,
                1,
                |w| {
                    let [a, b] = parts(w);
                    w.op(op, &[&a, &b], &[])
                },
                move |x| x.part(0).with(&x.part(1), f).data,
            );
        }
        if ["Mean", "Sum", "Max", "Min"].contains(&op) {
            continue;
        }
        let (by, exact) = weights(7, &[100], 3.0);
        let by: Vec<f32> = by.iter().map(|x| x + 0.1 * x.signum()).collect();
        let exact = Nd::new(&exact.lengths, by.iter().map(|x| f64::from(*x)).collect());
        all.add(
            op,
            &[100],
            over,
            1,
            |w| {
                let by = w.weights(&[100], by.clone());
                w.op(op, &["input", &by], &[])
            },
            move |x| x.with(&exact, f).data,
        );
    }
    for (op, f) in [
        ("Equal", (|x, y| f64::from(u8::from(x == y))) as Two),
        ("Greater", |x, y| f64::from(u8::from(x > y))),
        ("GreaterOrEqual", |x, y| f64::from(u8::from(x >= y))),
        ("Less", |x, y| f64::from(u8::from(x < y))),
        ("LessOrEqual", |x, y| f64::from(u8::from(x <= y))),
    ] {
        all.add(
            op,
            &[2, 100],
            [-0.01, 0.01],
            1,
            |w| {
                let [a, b] = parts(w);
                let is = w.op(op, &[&a, &b], &[]);
                w.op("Cast", &[&is], &[("to", Attribute::Int(1))])
            },
            move |x| x.part(0).with(&x.part(1), f).data,
        );
    }
    let logic: [(&str, Two); 4] =
        [("And", |x, y| x * y), ("Or", f64::max), ("Xor", |x, y| (x - y).abs()), ("Not", |x, _| 1.0 - x)];
    for (op, f) in logic {
        all.add(
            op,
            &[2, 100],
            [-1.0, 1.0],
            1,
            |w| {
                let [a, b] = parts(w);
                let zero = w.weights(&[], vec![0.0]);
                let [a, b] = [a, b].map(|x| w.op("Greater", &[&x, &zero], &[]));
                let is = w.op(op, &if op == "Not" { vec![&a[..]] } else { vec![&a[..], &b] }, &[]);
                w.op("Cast", &[&is], &[("to", Attribute::Int(1))])
            },
            move |x| x.part(0).with(&x.part(1), |x, y| f(truth(x > 0.0), truth(y > 0.0))).data,
        );
    }
    for fmod in [0, 1] {
        let by: Vec<f32> = (0..100).map(|k| (k % 7 + 1) as f32 * 0.375).collect();
        let exact = Nd::new(&[100], by.iter().map(|x| f64::from(*x)).collect());
        if fmod == 1 {
            all.add(
                "Mod",
                &[100],
                [-20.0, 20.0],
                1,
                |w| {
                    let by = w.weights(&[100], by.clone());
                    w.op("Mod", &["input", &by], &[("fmod", Attribute::Int(fmod))])
                },
                move |x| x.with(&exact, |x, y| x % y).data,
            );
        }
    }
    let (by, exact) = weights(9, &[100], 4.0);
    all.add(
        "Where",
        &[2, 100],
        [-20.0, 20.0],
        1,
        |w| {
            let [a, b] = parts(w);
            let (is, by) = (w.op("Greater", &[&a, &b], &[]), w.weights(&[100], by.clone()));
            w.op("Where", &[&is, &a, &by], &[])
        },
        move |x| {
            let (a, b) = (x.part(0), x.part(1));
            (0..100).map(|i| if a.data[i] > b.data[i] { a.data[i] } else { exact.data[i] }).collect()
        },
    );
}

/// Integers of few bits.
fn quantized(all: &mut Cases) {
    let scale = 0.031f32;
    let s = f64::from(scale);
    let to = move |x: f64| (x / s).round_ties_even().clamp(-120.0, 135.0) + 120.0;
    all.add(
        "QuantizeLinear",
        &[200],
        [-5.0, 5.0],
        1,
        |w| {
            let (scale, zero) = (w.weights(&[], vec![scale]), w.integers(2, &[], vec![120]));
            let x = w.op("QuantizeLinear", &["input", &scale, &zero], &[]);
            w.op("Cast", &[&x], &[("to", Attribute::Int(1))])
        },
        move |x| x.map(to).data,
    );
    let whole = |w: &mut Writer| {
        let x = w.op("Cast", &["input"], &[("to", Attribute::Int(2))]);
        let (scale, zero) = (w.weights(&[], vec![scale]), w.integers(2, &[], vec![120]));
        w.op("DequantizeLinear", &[&x, &scale, &zero], &[])
    };
    all.add("DequantizeLinear", &[200], [0.0, 255.0], 1, whole, move |x| {
        x.map(|x| (x.trunc() - 120.0) * s).data
    });
    all.add(
        "DynamicQuantizeLinear",
        &[40],
        [-2.0, 3.0],
        1,
        |w| {
            let y = w.op("DynamicQuantizeLinear", &["input"], &[]);
            w.outputs_of_last(&["scale", "zero"]);
            w.op("Cast", &[&y], &[("to", Attribute::Int(1))])
        },
        |x| {
            let low = x.data.iter().copied().fold(0.0, f64::min);
            let high = x.data.iter().copied().fold(0.0, f64::max);
            let by = (high - low) / 255.0;
            let zero = (-low / by).round_ties_even().clamp(0.0, 255.0);
            x.map(|x| ((x / by).round_ties_even() + zero).clamp(0.0, 255.0)).data
        },
    );
    let numbers = |n: i64| (0..n).map(|i| 98 + i * 37 % 5).collect::<Vec<i64>>();
    let exact = |n: i64| numbers(n).iter().map(|x| *x as f64 - 100.0).collect::<Vec<f64>>();
    let kernels = Nd::new(&[3, 2, 2, 2], exact(24));
    let matrix = Nd::new(&[3, 4], exact(12));
    for linear in [true, false] {
        let operands = move |w: &mut Writer, op: &str, lengths: &[usize], all: Vec<i64>| {
            let x = w.op("Cast", &["input"], &[("to", Attribute::Int(2))]);
            let [zero, middle, of] = [10, 100, 128].map(|n| w.integers(2, &[], vec![n]));
            let weights = w.integers(2, lengths, all);
            let y = if linear {
                let [scale, by, to] = [scale, 0.02, 0.0031].map(|x| w.weights(&[], vec![x]));
                let inputs = [&x, &scale, &zero, &weights, &by, &middle, &to, &of].map(|of| &of[..]);
                w.op(&format!("QLinear{op}"), &inputs, &[])
            } else {
                w.op(&format!("{op}Integer"), &[&x, &weights, &zero, &middle], &[])
            };
            w.op("Cast", &[&y], &[("to", Attribute::Int(1))])
        };
        let told = move |sums: Nd| if linear { sums.map(|x| requantized(x, s)).data } else { sums.data };
        let (kernels, matrix) = (kernels.clone(), matrix.clone());
        all.add(
            if linear { "QLinearConv" } else { "ConvInteger" },
            &[1, 2, 4, 4],
            [0.0, 20.0],
            8,
            |w| operands(w, "Conv", &[3, 2, 2, 2], numbers(24)),
            move |x| {
                told(Nd::made(&[1, 3, 3, 3], |at| {
                    let one = |k: usize| {
                        let (c, i, j) = (k / 4, k / 2 % 2, k % 2);
                        (x.at(&[0, c, at[2] + i, at[3] + j]).trunc() - 10.0) * kernels.at(&[at[1], c, i, j])
                    };
                    (0..8).map(one).sum()
                }))
            },
        );
        all.add(
            if linear { "QLinearMatMul" } else { "MatMulInteger" },
            &[6, 3],
            [0.0, 20.0],
            3,
            |w| operands(w, "MatMul", &[3, 4], numbers(12)),
            move |x| told(x.map(|x| x.trunc() - 10.0).times(&matrix)),
        );
    }
}

fn requantized(x: f64, scale: f64) -> f64 {
    let by = scale * f64::from(0.02f32) / f64::from(0.0031f32);
    ((x * by).round_ties_even() + 128.0).clamp(0.0, 255.0)
}

/// Operators on numbers of the set `ai.onnx.ml`.
fn of_the_other_set(all: &mut Cases) {
    all.each("ai.onnx.ml.Binarizer", &[float("threshold", 0.375)], [-2.0, 2.0], |x| {
        f64::from(u8::from(x > 0.375))
    });
    let (offset, scale) = ([0.3f32, -0.7], [1.3f32, 0.2]);
    let op = "ai.onnx.ml.Scaler";
    let attributes =
        [("offset", Attribute::Floats(offset.to_vec())), ("scale", Attribute::Floats(scale.to_vec()))];
    all.add(
        op,
        &[20, 2],
        [-6.0, 6.0],
        1,
        |w| w.op(name(op), &["input"], &attributes),
        move |x| {
            let one = |i: usize| (x.data[i] - f64::from(offset[i % 2])) * f64::from(scale[i % 2]);
            (0..40).map(one).collect()
        },
    );
    let op = "ai.onnx.ml.Imputer";
    let attributes = [
        ("imputed_value_floats", Attribute::Floats(vec![0.75])),
        ("replaced_value_float", Attribute::Float(0.5)),
    ];
    all.add(
        op,
        &[20, 2],
        [-6.0, 6.0],
        1,
        |w| w.op(name(op), &["input"], &attributes),
        |x| x.map(|x| if x == 0.5 { 0.75 } else { x }).data,
    );
    let op = "ai.onnx.ml.LabelEncoder";
    let attributes = [
        ("keys_floats", Attribute::Floats(vec![-1.0, 0.0, 1.0])),
        ("values_floats", Attribute::Floats(vec![0.25, 2.5, -1.75])),
        ("default_float", Attribute::Float(0.5)),
    ];
    all.add(
        op,
        &[40],
        [-2.0, 2.0],
        1,
        |w| w.op(name(op), &["input"], &attributes),
        |x| {
            let of = |x: f64| match x {
                -1.0 => 0.25,
                0.0 => 2.5,
                1.0 => -1.75,
                _ => 0.5,
            };
            x.map(of).data
        },
    );
    let op = "ai.onnx.ml.OneHotEncoder";
    all.add(
        op,
        &[20, 1],
        [-2.0, 2.0],
        1,
        |w| {
            let sign = w.op("Sign", &["input"], &[]);
            w.op(name(op), &[&sign], &[("cats_int64s", ints(&[-1, 0, 1]))])
        },
        |x| {
            let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
            x.data
                .iter()
                .flat_map(|x| [-1.0, 0.0, 1.0].map(|cat| f64::from(u8::from(sign(*x) == cat))))
                .collect()
        },
    );
}

pub(super) fn add(all: &mut Cases) {
    functions(all);
    pairs(all);
    quantized(all);
    of_the_other_set(all);
}
