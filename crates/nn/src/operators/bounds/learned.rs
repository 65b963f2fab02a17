//! Cases: recurrent networks, attention, and the models of `ai.onnx.ml`.

use super::nd::{sigmoid, softmax};
use super::{Cases, Nd, ints, name, parts, text, weights};
use crate::{
    onnx::{Attribute, Data, Tensor},
    operators::trees::tests::two_trees,
    zoo::Writer,
};

/// The lengths of sequences, rows, inputs and states.
const STEPS: usize = 6;
const ROWS: usize = 3;
const FROM: usize = 4;
const TO: usize = 5;

/// The states of a cell after each step; weights have a row for each gate and state.
fn recurrent(op: &str, x: &Nd, own: &Nd, state: &Nd) -> Vec<f64> {
    let (mut h, mut c) = (vec![0.0; ROWS * TO], vec![0.0; ROWS * TO]);
    let mut made = vec![];
    for step in 0..STEPS {
        let before = h.clone();
        for at in 0..ROWS * TO {
            let (row, k) = (at / TO, at % TO);
            let product = |gate: usize| -> f64 {
                (0..FROM).map(|i| x.at(&[step, row, i]) * own.at(&[0, gate * TO + k, i])).sum()
            };
            let states = |gate: usize, of: &dyn Fn(usize) -> f64| -> f64 {
                (0..TO).map(|i| of(i) * state.at(&[0, gate * TO + k, i])).sum()
            };
            let old = |i: usize| before[row * TO + i];
            let gate = |gate: usize| product(gate) + states(gate, &old);
            h[at] = match op {
                "RNN" => gate(0).tanh(),
                "LSTM" => {
                    let [i, o, f] = [0, 1, 2].map(|k| sigmoid(gate(k)));
                    c[at] = f * c[at] + i * gate(3).tanh();
                    o * c[at].tanh()
                }
                _ => {
                    let z = sigmoid(gate(0));
                    let reset = |i: usize| {
                        let of = |gate: usize| -> f64 {
                            let own: f64 = (0..FROM)
                                .map(|j| x.at(&[step, row, j]) * own.at(&[0, gate * TO + i, j]))
                                .sum();
                            own + (0..TO).map(|j| old(j) * state.at(&[0, gate * TO + i, j])).sum::<f64>()
                        };
                        sigmoid(of(1)) * old(i)
                    };
                    (1.0 - z) * (product(2) + states(2, &reset)).tanh() + z * before[at]
                }
            };
        }
        made.extend_from_slice(&h);
    }
    made
}

fn sequences(all: &mut Cases) {
    for (op, gates) in [("RNN", 1), ("GRU", 3), ("LSTM", 4)] {
        let (own, own_exact) = weights(61, &[1, gates * TO, FROM], 0.5);
        let (state, state_exact) = weights(62, &[1, gates * TO, TO], 0.5);
        all.add(
            op,
            &[STEPS, ROWS, FROM],
            [-3.0, 3.0],
            STEPS * (FROM + TO),
            |w| {
                let own = w.weights(&[1, gates * TO, FROM], own.clone());
                let state = w.weights(&[1, gates * TO, TO], state.clone());
                w.op(op, &["input", &own, &state], &[("hidden_size", Attribute::Int(TO as i64))])
            },
            move |x| recurrent(op, x, &own_exact, &state_exact),
        );
    }
    all.add(
        "Attention",
        &[3, 1, 6, 8],
        [-2.0, 2.0],
        6,
        |w| {
            let [q, k, v] = parts(w);
            let heads = ["q_num_heads", "kv_num_heads"].map(|name| (name, Attribute::Int(2)));
            w.op("Attention", &[&q, &k, &v], &heads)
        },
        |x| {
            let of = |part: usize, row: usize, head: usize, i: usize| x.at(&[part, 0, row, 4 * head + i]);
            Nd::made(&[6, 8], |at| {
                let (row, head, i) = (at[0], at[1] / 4, at[1] % 4);
                let score =
                    |key: usize| (0..4).map(|j| of(0, row, head, j) * of(1, key, head, j)).sum::<f64>() / 2.0;
                let shares = softmax(&(0..6).map(score).collect::<Vec<f64>>());
                (0..6).map(|key| shares[key] * of(2, key, head, i)).sum()
            })
            .data
        },
    );
}

fn linear(all: &mut Cases) {
    let (by, exact) = weights(71, &[3, 4], 1.0);
    let (terms, bias) = weights(72, &[3], 1.0);
    for op in ["ai.onnx.ml.LinearRegressor", "ai.onnx.ml.LinearClassifier"] {
        let is_regressor = op.ends_with("Regressor");
        let mut attributes = vec![
            ("coefficients", Attribute::Floats(by.clone())),
            ("intercepts", Attribute::Floats(terms.clone())),
        ];
        attributes.push(match is_regressor {
            true => ("targets", Attribute::Int(3)),
            false => ("classlabels_ints", ints(&[0, 1, 2])),
        });
        let (exact, bias) = (exact.clone(), bias.clone());
        all.add(
            op,
            &[20, 4],
            [-6.0, 6.0],
            4,
            |w| {
                let y = w.op(name(op), &["input"], &attributes);
                if is_regressor {
                    return y;
                }
                w.outputs_of_last(&["scores"]);
                "scores".to_owned()
            },
            move |x| {
                let made = x.times(&exact.transposed());
                made.data.iter().enumerate().map(|(i, x)| x + bias.data[i % 3]).collect()
            },
        );
    }
    let op = "ai.onnx.ml.ZipMap";
    all.add(
        op,
        &[4, 3],
        [-6.0, 6.0],
        1,
        |w| w.op(name(op), &["input"], &[("classlabels_int64s", ints(&[0, 1, 2]))]),
        |x| x.data.clone(),
    );
}

type Kernel = fn(f64, f64) -> f64;

fn vectors(all: &mut Cases) {
    let (vectors, exact) = weights(81, &[3, 2], 1.0);
    let by = [1.0f32, -0.5, 2.0];
    let kernels: [(&str, Kernel); 4] = [
        ("LINEAR", |dot, _| dot),
        ("POLY", |dot, _| (0.5 * dot + 0.25).powi(2)),
        ("SIGMOID", |dot, _| (0.5 * dot + 0.25).tanh()),
        ("RBF", |_, square| (-0.5 * square).exp()),
    ];
    let value = move |kernel: Kernel, v: usize, x: &[f64], exact: &Nd| {
        let of = |k: usize| exact.at(&[v, k]);
        let square = (of(0) - x[0]).powi(2) + (of(1) - x[1]).powi(2);
        kernel(of(0) * x[0] + of(1) * x[1], square)
    };
    for (kind, kernel) in kernels {
        let attributes = [
            ("kernel_type", text(kind)),
            ("kernel_params", Attribute::Floats(vec![0.5, 0.25, 2.0])),
            ("support_vectors", Attribute::Floats(vectors.clone())),
            ("n_supports", Attribute::Int(3)),
            ("coefficients", Attribute::Floats(by.to_vec())),
            ("rho", Attribute::Floats(vec![0.125])),
        ];
        let (op, exact) = ("ai.onnx.ml.SVMRegressor", exact.clone());
        all.add(
            op,
            &[20, 2],
            [-2.0, 2.0],
            3,
            |w| w.op(name(op), &["input"], &attributes),
            move |x| {
                let one = |x: &[f64]| {
                    0.125 + (0..3).map(|v| f64::from(by[v]) * value(kernel, v, x, &exact)).sum::<f64>()
                };
                x.data.chunks(2).map(one).collect()
            },
        );
    }
    // Two classes with probabilities.
    let (a, b) = (-1.5f64, 0.25f64);
    let attributes = [
        ("kernel_type", text("RBF")),
        ("kernel_params", Attribute::Floats(vec![0.5, 0.25, 2.0])),
        ("support_vectors", Attribute::Floats(vectors)),
        ("vectors_per_class", ints(&[2, 1])),
        ("classlabels_ints", ints(&[0, 1])),
        ("coefficients", Attribute::Floats(by.to_vec())),
        ("rho", Attribute::Floats(vec![0.125])),
        ("prob_a", Attribute::Floats(vec![a as f32])),
        ("prob_b", Attribute::Floats(vec![b as f32])),
    ];
    let op = "ai.onnx.ml.SVMClassifier";
    all.add(
        op,
        &[20, 2],
        [-2.0, 2.0],
        3,
        |w| {
            w.op(name(op), &["input"], &attributes);
            w.outputs_of_last(&["probabilities"]);
            "probabilities".to_owned()
        },
        move |x| {
            let one = |x: &[f64]| {
                let of = |v: usize| f64::from(by[v]) * value(kernels[3].1, v, x, &exact);
                let score = 0.125 + (0..3).map(of).sum::<f64>();
                let of = sigmoid(-(a * score + b));
                [of, 1.0 - of]
            };
            x.data.chunks(2).flat_map(one).collect()
        },
    );
}

/// x0 ≤ 0 ? (x1 < 0.5 ? 1.3 : 2.1) : −3.7, and x2 ≥ 1 ? 0.55 : 0.27.
fn leaves(x: &[f64]) -> f64 {
    let first = match (x[0] <= 0.0, x[1] < 0.5) {
        (true, true) => 1.3f32,
        (true, false) => 2.1,
        (false, _) => -3.7,
    };
    f64::from(first) + f64::from(if x[2] >= 1.0 { 0.55f32 } else { 0.27 })
}

/// Adds trees whose value is the sum of [`leaves`].
fn summed(all: &mut Cases, op: &'static str, attributes: &[(&str, Attribute)]) {
    let build = |w: &mut Writer| w.op(name(op), &["input"], attributes);
    all.add(op, &[40, 3], [-2.0, 2.0], 2, build, |x| x.data.chunks(3).map(leaves).collect());
}

fn trees(all: &mut Cases) {
    let common = two_trees("BRANCH_GTE");
    let sums = Attribute::Floats(vec![1.3, 2.1, -3.7, 0.55, 0.27]);
    let regressor = [
        ("target_treeids", ints(&[0, 0, 0, 1, 1])),
        ("target_nodeids", ints(&[2, 3, 4, 1, 2])),
        ("target_ids", ints(&[0; 5])),
        ("target_weights", sums.clone()),
        ("n_targets", Attribute::Int(1)),
    ];
    let classifier = [
        ("class_treeids", ints(&[0, 0, 0, 1, 1])),
        ("class_nodeids", ints(&[2, 3, 4, 1, 2])),
        ("class_ids", ints(&[0, 1, 2, 0, 0])),
        ("class_weights", sums),
        ("classlabels_int64s", ints(&[0, 1, 2])),
    ];
    let op = "ai.onnx.ml.TreeEnsembleRegressor";
    let attributes = [&common[..], &regressor].concat();
    summed(all, op, &attributes);
    let op = "ai.onnx.ml.TreeEnsembleClassifier";
    let attributes = [&common[..], &classifier].concat();
    let scores = |w: &mut Writer| {
        w.op(name(op), &["input"], &attributes);
        w.outputs_of_last(&["scores"]);
        "scores".to_owned()
    };
    all.add(op, &[40, 3], [-2.0, 2.0], 2, scores, |x| {
        let one = |x: &[f64]| {
            let class = if x[0] > 0.0 { 2 } else { usize::from(x[1] >= 0.5) };
            let second = f64::from(if x[2] >= 1.0 { 0.55f32 } else { 0.27 });
            let mut all = [second, 0.0, 0.0];
            all[class] += leaves(x) - second;
            all
        };
        x.data.chunks(3).flat_map(one).collect()
    });
    let op = "ai.onnx.ml.TreeEnsemble";
    let tensor = |lengths: usize, data: Data, kind: i64| {
        Attribute::Tensor(Tensor { name: "t".into(), lengths: vec![lengths], data, kind })
    };
    let floats = |all: Vec<f32>| tensor(all.len(), Data::Floats(all), 1);
    let modes = tensor(3, Data::Ints(vec![0, 1, 2]), 2);
    let attributes = [
        ("tree_roots", ints(&[0, 2])),
        ("nodes_featureids", ints(&[0, 1, 2])),
        ("nodes_splits", floats(vec![0.0, 0.5, 1.0])),
        ("nodes_modes", modes),
        ("nodes_truenodeids", ints(&[1, 0, 3])),
        ("nodes_trueleafs", ints(&[0, 1, 1])),
        ("nodes_falsenodeids", ints(&[2, 1, 4])),
        ("nodes_falseleafs", ints(&[1, 1, 1])),
        ("leaf_targetids", ints(&[0; 5])),
        ("leaf_weights", floats(vec![1.3, 2.1, -3.7, 0.55, 0.27])),
        ("n_targets", Attribute::Int(1)),
    ];
    summed(all, op, &attributes);
}

pub(super) fn add(all: &mut Cases) {
    sequences(all);
    linear(all);
    vectors(all);
    trees(all);
}
