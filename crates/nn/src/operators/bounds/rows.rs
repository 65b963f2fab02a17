//! Cases: operators on rows, such as reductions, softmax, normalizations, and products of matrices.

use super::nd::{greatest, log_sum_exp, normal, softmax};
use super::{Cases, Nd, ints, known, name, parts, text, weights};
use crate::{onnx::Attribute, zoo::Writer};

type Line = fn(&[f64]) -> Vec<f64>;

fn int(name: &'static str, x: i64) -> (&'static str, Attribute) {
    (name, Attribute::Int(x))
}

fn reductions(all: &mut Cases) {
    type Row = (&'static str, [f64; 2], fn(&[f64]) -> f64);
    let rows: &[Row] = &[
        ("ReduceL1", [-6.0, 6.0], |x| x.iter().map(|x| x.abs()).sum()),
        ("ReduceL2", [-6.0, 6.0], |x| x.iter().map(|x| x * x).sum::<f64>().sqrt()),
        ("ReduceLogSum", [0.1, 6.0], |x| x.iter().sum::<f64>().ln()),
        ("ReduceLogSumExp", [-6.0, 6.0], log_sum_exp),
        ("ReduceMax", [-6.0, 6.0], |x| x.iter().copied().fold(f64::MIN, f64::max)),
        ("ReduceMean", [-6.0, 6.0], |x| x.iter().sum::<f64>() / x.len() as f64),
        ("ReduceMin", [-6.0, 6.0], |x| x.iter().copied().fold(f64::MAX, f64::min)),
        ("ReduceProd", [-1.5, 1.5], |x| x.iter().product()),
        ("ReduceSum", [-6.0, 6.0], |x| x.iter().sum()),
        ("ReduceSumSquare", [-3.0, 3.0], |x| x.iter().map(|x| x * x).sum()),
    ];
    for (op, over, f) in rows.iter().copied() {
        for n in [5, 12] {
            all.add(
                op,
                &[12, n],
                over,
                n,
                |w| {
                    let axes = known(w, &[1]);
                    w.op(op, &["input", &axes], &[int("keepdims", 0)])
                },
                move |x| x.lines(1, |line| vec![f(line)]).data,
            );
        }
    }
    let rows: &[(&'static str, [f64; 2], Line)] = &[
        ("Softmax", [-6.0, 6.0], softmax),
        ("LogSoftmax", [-6.0, 6.0], |x| x.iter().map(|y| y - log_sum_exp(x)).collect()),
        ("Hardmax", [-6.0, 6.0], |x| (0..x.len()).map(|i| f64::from(u8::from(i == greatest(x)))).collect()),
    ];
    for (op, over, f) in rows.iter().copied() {
        for n in [5, 40] {
            all.add(
                op,
                &[8, n],
                over,
                n,
                |w| w.op(op, &["input"], &[int("axis", 1)]),
                move |x| x.lines(1, f).data,
            );
        }
    }
    for (op, sign) in [("ArgMax", 1.0), ("ArgMin", -1.0)] {
        all.add(
            op,
            &[8, 5],
            [-6.0, 6.0],
            5,
            |w| w.op(op, &["input"], &[int("axis", 1)]),
            move |x| x.map(|x| sign * x).lines(1, |line| vec![greatest(line) as f64]).data,
        );
    }
    all.add(
        "CumSum",
        &[8, 5],
        [-6.0, 6.0],
        5,
        |w| {
            let axis = w.integers(7, &[], vec![1]);
            w.op("CumSum", &["input", &axis], &[])
        },
        |x| x.lines(1, |line| (0..5).map(|i| line[..=i].iter().sum()).collect()).data,
    );
    all.add(
        "TopK",
        &[8, 5],
        [-6.0, 6.0],
        5,
        |w| {
            let count = known(w, &[3]);
            let y = w.op("TopK", &["input", &count], &[int("axis", 1)]);
            w.outputs_of_last(&["places"]);
            y
        },
        |x| {
            let f = |line: &[f64]| {
                let mut line = line.to_vec();
                line.sort_by(|x, y| y.total_cmp(x));
                line[..3].to_vec()
            };
            x.lines(1, f).data
        },
    );
    all.add(
        "OneHot",
        &[8, 5],
        [-6.0, 6.0],
        1,
        |w| {
            let places = w.op("ArgMax", &["input"], &[int("axis", 1), int("keepdims", 0)]);
            let (depth, values) = (w.integers(7, &[], vec![5]), w.weights(&[2], vec![-1.0, 0.5]));
            w.op("OneHot", &[&places, &depth, &values], &[])
        },
        |x| x.lines(1, |l| (0..5).map(|i| if i == greatest(l) { 0.5 } else { -1.0 }).collect()).data,
    );
}

fn normalizations(all: &mut Cases) {
    let (scale, exact) = weights(5, &[12], 2.0);
    let (shift, terms) = weights(6, &[12], 2.0);
    for (op, is_root) in [("LayerNormalization", false), ("RMSNormalization", true)] {
        let (scale, shift, exact, terms) = (scale.clone(), shift.clone(), exact.clone(), terms.clone());
        all.add(
            op,
            &[16, 12],
            [-6.0, 6.0],
            12,
            |w| {
                let [scale, shift] = [&scale, &shift].map(|x| w.weights(&[12], x.clone()));
                let inputs = ["input", &scale, &shift];
                let inputs = if is_root { &inputs[..2] } else { &inputs };
                w.op(op, inputs, &[int("axis", -1), ("epsilon", Attribute::Float(0.01))])
            },
            move |x| {
                let f = |line: &[f64]| {
                    let square = line.iter().map(|x| x * x).sum::<f64>() / 12.0;
                    let of = |x: &f64| x / (square + f64::from(0.01f32)).sqrt();
                    let made = if is_root {
                        line.iter().map(of).collect()
                    } else {
                        normal(line, f64::from(0.01f32))
                    };
                    let one =
                        |(i, x): (usize, &f64)| x * exact.data[i] + if is_root { 0.0 } else { terms.data[i] };
                    made.iter().enumerate().map(one).collect()
                };
                x.lines(1, f).data
            },
        );
    }
    for (op, channels) in [("InstanceNormalization", 4), ("GroupNormalization", 2)] {
        let (scale, shift) = (scale[..channels].to_vec(), shift[..channels].to_vec());
        let (exact, terms) = (exact.clone(), terms.clone());
        all.add(
            op,
            &[2, 4, 3, 5],
            [-6.0, 6.0],
            15,
            |w| {
                let [scale, shift] = [&scale, &shift].map(|x| w.weights(&[channels], x.clone()));
                let mut attributes = vec![("epsilon", Attribute::Float(0.01))];
                if channels == 2 {
                    attributes.push(int("num_groups", 2));
                }
                w.op(op, &["input", &scale, &shift], &attributes)
            },
            move |x| {
                let each = 60 / channels;
                let groups = Nd::new(&[2 * channels, each], x.data.clone());
                let made = groups.lines(1, |line| normal(line, f64::from(0.01f32)));
                let one = |i: usize| {
                    let channel = i / each % channels;
                    made.data[i] * exact.data[channel] + terms.data[channel]
                };
                (0..120).map(one).collect()
            },
        );
    }
    all.add(
        "MeanVarianceNormalization",
        &[8, 12],
        [-6.0, 6.0],
        12,
        |w| w.op("MeanVarianceNormalization", &["input"], &[("axes", ints(&[1]))]),
        |x| x.lines(1, |line| normal(line, 1e-9)).data,
    );
    for p in [1, 2] {
        let norm = move |line: &[f64]| match p {
            1 => line.iter().map(|x| x.abs()).sum::<f64>(),
            _ => line.iter().map(|x| x * x).sum::<f64>().sqrt(),
        };
        all.add(
            "LpNormalization",
            &[8, 6],
            [-6.0, 6.0],
            6,
            |w| w.op("LpNormalization", &["input"], &[int("axis", 1), int("p", p)]),
            move |x| x.lines(1, |line| line.iter().map(|x| x / norm(line)).collect()).data,
        );
    }
    let op = "ai.onnx.ml.Normalizer";
    for kind in ["L1", "L2", "MAX"] {
        let norm = move |line: &[f64]| match kind {
            "L1" => line.iter().map(|x| x.abs()).sum::<f64>(),
            "L2" => line.iter().map(|x| x * x).sum::<f64>().sqrt(),
            _ => line.iter().map(|x| x.abs()).fold(0.0, f64::max),
        };
        let over = if kind == "MAX" { [0.5, 6.0] } else { [-6.0, 6.0] };
        all.add(
            op,
            &[8, 6],
            over,
            6,
            |w| w.op(name(op), &["input"], &[("norm", text(kind))]),
            move |x| x.lines(1, |line| line.iter().map(|x| x / norm(line)).collect()).data,
        );
    }
    let [size, alpha, beta, bias] = [3.0, f64::from(0.5f32), 0.75, 1.0];
    all.add(
        "LRN",
        &[2, 5, 2, 2],
        [-4.0, 4.0],
        3,
        |w| w.op("LRN", &["input"], &[int("size", 3), ("alpha", Attribute::Float(0.5))]),
        move |x| {
            x.lines(1, |line| {
                let one = |i: usize| {
                    let near = i.saturating_sub(1)..(i + 2).min(5);
                    let sum: f64 = near.map(|k| line[k] * line[k]).sum();
                    line[i] / (bias + alpha / size * sum).powf(beta)
                };
                (0..5).map(one).collect()
            })
            .data
        },
    );
    let made: [Vec<f32>; 4] = std::array::from_fn(|k| {
        let (all, _) = weights(20 + k as u64, &[3], 1.0);
        if k == 3 { all.iter().map(|x| x.abs() + 0.25).collect() } else { all }
    });
    let exact = made.clone();
    all.add(
        "BatchNormalization",
        &[4, 3, 5],
        [-6.0, 6.0],
        1,
        |w| {
            let all = made.clone().map(|x| w.weights(&[3], x));
            w.op("BatchNormalization", &["input", &all[0], &all[1], &all[2], &all[3]], &[])
        },
        move |x| {
            let one = |i: usize| {
                let [scale, shift, mean, variance] = [0, 1, 2, 3].map(|k| f64::from(exact[k][i / 5 % 3]));
                (x.data[i] - mean) / (variance + f64::from(1e-5f32)).sqrt() * scale + shift
            };
            (0..60).map(one).collect()
        },
    );
}

fn products(all: &mut Cases) {
    let (by, exact) = weights(31, &[6, 5], 1.0);
    let (bias, terms) = weights(32, &[5], 1.0);
    let of_values = |w: &mut Writer, op: &str, attributes: &[(&str, Attribute)]| {
        let [a, b] = parts(w);
        let b = w.op("Transpose", &[&b], &[]);
        w.op(op, &[&a, &b], attributes)
    };
    for op in ["Gemm", "MatMul", "Einsum"] {
        let (by, bias, exact, terms) = (by.clone(), bias.clone(), exact.clone(), terms.clone());
        all.add(
            op,
            &[20, 6],
            [-6.0, 6.0],
            6,
            |w| {
                let (by, bias) = (w.weights(&[6, 5], by.clone()), w.weights(&[5], bias.clone()));
                match op {
                    "Gemm" => w.op(op, &["input", &by, &bias], &[]),
                    "MatMul" => w.op(op, &["input", &by], &[]),
                    _ => w.op(op, &["input", &by], &[("equation", text("ij,jk->ik"))]),
                }
            },
            move |x| {
                let mut made = x.times(&exact);
                if op == "Gemm" {
                    made.data.iter_mut().enumerate().for_each(|(i, x)| *x += terms.data[i % 5]);
                }
                made.data
            },
        );
        let equation = [("equation", text("ij,jk->ik"))];
        all.add(
            op,
            &[2, 7, 6],
            [-3.0, 3.0],
            6,
            |w| of_values(w, op, if op == "Einsum" { &equation } else { &[] }),
            |x| x.part(0).times(&x.part(1).transposed()).data,
        );
    }
    // Real and imaginary parts.
    let angle = |k: usize, time: usize, n: usize| std::f64::consts::TAU * (k * time) as f64 / n as f64;
    all.add(
        "DFT",
        &[4, 6, 1],
        [-6.0, 6.0],
        6,
        |w| {
            let axis = w.integers(7, &[], vec![1]);
            w.op("DFT", &["input", "", &axis], &[])
        },
        move |x| {
            let one = |at: &[usize]| {
                let of = |time: usize| match at[2] {
                    0 => angle(at[1], time, 6).cos(),
                    _ => -angle(at[1], time, 6).sin(),
                };
                (0..6).map(|time| x.at(&[at[0], time, 0]) * of(time)).sum()
            };
            Nd::made(&[4, 6, 2], one).data
        },
    );
    let (window, exact) = weights(33, &[4], 1.0);
    all.add(
        "STFT",
        &[2, 8, 1],
        [-6.0, 6.0],
        4,
        |w| {
            let (step, window) = (w.integers(7, &[], vec![2]), w.weights(&[4], window.clone()));
            w.op("STFT", &["input", &step, &window], &[])
        },
        move |x| {
            let one = |at: &[usize]| {
                let of = |time: usize| match at[3] {
                    0 => angle(at[2], time, 4).cos(),
                    _ => -angle(at[2], time, 4).sin(),
                };
                (0..4).map(|time| x.at(&[at[0], 2 * at[1] + time, 0]) * exact.data[time] * of(time)).sum()
            };
            Nd::made(&[2, 3, 3, 2], one).data
        },
    );
}

pub(super) fn add(all: &mut Cases) {
    reductions(all);
    normalizations(all);
    products(all);
}
