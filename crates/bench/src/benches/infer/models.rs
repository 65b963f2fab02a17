//! Models other than networks for images: trees, a logistic regression, and a small transformer.

use hushwire_nn::{
    onnx::{Attribute, Model},
    zoo::{self, Random, Writer},
};

/// The number of trees, their depth, rows and features.
const TREES: usize = 100;
const DEPTH: u32 = 6;
const TREE_ROWS: usize = 1000;
const FEATURES: usize = 16;
/// The rows and features of the logistic regression.
const LOGISTIC: [usize; 2] = [1_000_000, 20];
/// The transformer's tokens, their width, its heads and its layers. They are those of BERT-tiny (I.
/// Turc et al., arXiv:1908.08962), after its embedding.
const TOKENS: usize = 128;
const WIDTH: usize = 128;
const HEADS: usize = 2;
const LAYERS: usize = 2;

/// The model with this name, with the lengths of its input; `None` if there is no such model.
pub(super) fn made(name: &str) -> Option<(Model, Vec<usize>)> {
    match name {
        "trees" => Some((trees(), vec![TREE_ROWS, FEATURES])),
        "logistic" => Some((logistic(), LOGISTIC.to_vec())),
        "bert-tiny" => Some((transformer(), vec![TOKENS, WIDTH])),
        "squeezenet-cifar-8" => {
            zoo::make("squeezenet-cifar", 1).ok().map(|model| (model, vec![8, 3, 32, 32]))
        }
        _ => None,
    }
}

/// Complete trees with random bounds and leaves.
fn trees() -> Model {
    let mut random = Random::new(3);
    let inner = (1i64 << DEPTH) - 1;
    let each = 2 * inner + 1;
    let mut ints: [Vec<i64>; 8] = Default::default();
    let (mut bounds, mut modes, mut leaves) = (vec![], vec![], vec![]);
    for tree in 0..TREES as i64 {
        for node in 0..each {
            let is_inner = node < inner;
            let feature = (random.unit() * FEATURES as f32) as i64;
            let [yes, no] = [1, 2].map(|side| if is_inner { 2 * node + side } else { 0 });
            let parts = [tree, node, feature.min(FEATURES as i64 - 1), yes, no];
            ints.iter_mut().zip(parts).for_each(|(all, part)| all.push(part));
            bounds.push(if is_inner { random.normal() } else { 0.0 });
            modes.push(if is_inner { "BRANCH_LEQ" } else { "LEAF" }.to_owned());
            if !is_inner {
                ints[5..].iter_mut().zip([tree, node, 0]).for_each(|(all, part)| all.push(part));
                leaves.push(random.normal());
            }
        }
    }
    let [trees, nodes, features, yes, no, of_trees, of_nodes, targets] = ints.map(Attribute::Ints);
    let attributes = [
        ("nodes_treeids", trees),
        ("nodes_nodeids", nodes),
        ("nodes_featureids", features),
        ("nodes_truenodeids", yes),
        ("nodes_falsenodeids", no),
        ("nodes_values", Attribute::Floats(bounds)),
        ("nodes_modes", Attribute::Texts(modes)),
        ("target_treeids", of_trees),
        ("target_nodeids", of_nodes),
        ("target_ids", targets),
        ("target_weights", Attribute::Floats(leaves)),
        ("n_targets", Attribute::Int(1)),
    ];
    let mut w = Writer::new("trees", 1, &[TREE_ROWS, FEATURES]);
    let y = w.op("TreeEnsembleRegressor", &["input"], &attributes);
    let mut model = w.finish(&y);
    // The operator belongs to another operator set.
    model.ml = 3;
    model.graph.nodes.iter_mut().for_each(|node| node.domain = "ai.onnx.ml".to_owned());
    model
}

fn logistic() -> Model {
    let mut w = Writer::new("logistic", 1, &LOGISTIC);
    let x = w.gemm("input", [LOGISTIC[1], 1]);
    let y = w.op("Sigmoid", &[&x], &[]);
    w.finish(&y)
}

/// Layers of attention and two products each, with residuals and normalizations.
fn transformer() -> Model {
    let mut w = Writer::new("bert-tiny", 1, &[TOKENS, WIDTH]);
    let mut x = "input".to_owned();
    let each = WIDTH / HEADS;
    for _ in 0..LAYERS {
        let mut heads = vec![];
        for _ in 0..HEADS {
            let [q, k, v] = [(); 3].map(|()| w.gemm(&x, [WIDTH, each]));
            let turned = w.op("Transpose", &[&k], &[("perm", Attribute::Ints(vec![1, 0]))]);
            let scores = w.op("MatMul", &[&q, &turned], &[]);
            let root = w.weights(&[1], vec![(each as f32).sqrt().recip()]);
            let scores = w.op("Mul", &[&scores, &root], &[]);
            let likely = w.op("Softmax", &[&scores], &[("axis", Attribute::Int(-1))]);
            heads.push(w.op("MatMul", &[&likely, &v], &[]));
        }
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let all = w.op("Concat", &heads, &[("axis", Attribute::Int(1))]);
        let all = w.gemm(&all, [WIDTH, WIDTH]);
        x = normalized(&mut w, &x, &all);
        let inner = w.gemm(&x, [WIDTH, 4 * WIDTH]);
        let inner = w.op("Gelu", &[&inner], &[]);
        let outer = w.gemm(&inner, [4 * WIDTH, WIDTH]);
        x = normalized(&mut w, &x, &outer);
    }
    w.finish(&x)
}

/// The normalized sum of two values.
fn normalized(w: &mut Writer, x: &str, y: &str) -> String {
    let sum = w.op("Add", &[x, y], &[]);
    let [scale, shift] = [1.0, 0.0].map(|number| w.weights(&[WIDTH], vec![number; WIDTH]));
    w.op("LayerNormalization", &[&sum, &scale, &shift], &[("epsilon", Attribute::Float(1e-5))])
}
