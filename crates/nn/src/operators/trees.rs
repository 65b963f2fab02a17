//! Ensembles of decision trees.
//!
//! ```text
//! elements x 0/1 matrix      the element that each node compares
//! compared with bounds       a truth value for each node of all trees, at once
//! truths x ±1 matrix         for each leaf, how far the truths follow its path
//! equal to the path's sum    1 for the leaf of each tree that is reached
//! leaves x their values      the sums
//! ```
//!
//! All trees are filled up to the number of nodes of the largest one, rounded up to 2^k − 1. The
//! members learn this number, and the numbers of trees, elements and outputs. The element that a
//! node compares, its bound, its place in the tree and the leaves' values are the owner's secrets.

mod flat;

use super::{ml, prelude::*};
use crate::{
    import::operator::ELEMENTS,
    onnx::{Attribute, Data},
};
use flat::{Child, DEPTH, Forest, Mode, NODES, Node, PART, Tree, parts};
use hushwire_compute::{Comparison, Scalar, Steps};
use std::collections::HashMap;

pub(super) const TREE_ENSEMBLE: Operator = Operator {
    attributes: &[
        "aggregate_function",
        "leaf_targetids",
        "leaf_weights",
        "membership_values",
        "n_targets",
        "nodes_falseleafs",
        "nodes_falsenodeids",
        "nodes_featureids",
        "nodes_hitrates",
        "nodes_missing_value_tracks_true",
        "nodes_modes",
        "nodes_splits",
        "nodes_trueleafs",
        "nodes_truenodeids",
        "post_transform",
        "tree_roots",
    ],
    error: Bound::ROUNDED,
    ..Operator::ml("TreeEnsemble", "The sums of the leaves of decision trees.", ensemble)
};
pub(super) const TREE_ENSEMBLE_REGRESSOR: Operator = Operator {
    attributes: &[
        "aggregate_function",
        "base_values",
        "base_values_as_tensor",
        "n_targets",
        "nodes_falsenodeids",
        "nodes_featureids",
        "nodes_hitrates",
        "nodes_hitrates_as_tensor",
        "nodes_missing_value_tracks_true",
        "nodes_modes",
        "nodes_nodeids",
        "nodes_treeids",
        "nodes_truenodeids",
        "nodes_values",
        "nodes_values_as_tensor",
        "post_transform",
        "target_ids",
        "target_nodeids",
        "target_treeids",
        "target_weights",
        "target_weights_as_tensor",
    ],
    error: Bound::ROUNDED,
    ..Operator::ml("TreeEnsembleRegressor", "The sums of the leaves of decision trees.", regressor)
};
pub(super) const TREE_ENSEMBLE_CLASSIFIER: Operator = Operator {
    set: "ai.onnx.ml",
    outputs: 2,
    attributes: &[
        "base_values",
        "base_values_as_tensor",
        "class_ids",
        "class_nodeids",
        "class_treeids",
        "class_weights",
        "class_weights_as_tensor",
        "classlabels_int64s",
        "classlabels_strings",
        "nodes_falsenodeids",
        "nodes_featureids",
        "nodes_hitrates",
        "nodes_hitrates_as_tensor",
        "nodes_missing_value_tracks_true",
        "nodes_modes",
        "nodes_nodeids",
        "nodes_treeids",
        "nodes_truenodeids",
        "nodes_values",
        "nodes_values_as_tensor",
        "post_transform",
    ],
    error: Bound::ROUNDED,
    ..Operator::several(
        "TreeEnsembleClassifier",
        "The class of the greatest sum of the leaves of decision trees, and the sums.",
        classifier,
    )
};

/// AGREEMENT: the largest number of nodes of a tree that is not split.
const WHOLE: usize = (1 << 13) - 1;
/// A sum along a path that no leaf has.
const NEVER: f32 = 100.0;

/// Ensembles of trees with equal numbers of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Trees {
    trees: usize,
    /// The number of nodes of each tree. There is one leaf more.
    nodes: usize,
    /// The element that each node compares; `None` for nodes that only fill a tree up.
    features: Vec<Option<usize>>,
    bounds: Vec<f32>,
    /// 1 for each node whose element must be less than its bound, else 0.
    strict: Vec<f32>,
    /// `[trees, leaves, nodes]`.
    paths: Vec<f32>,
    counts: Vec<f32>,
    /// `[trees × leaves, outputs]`.
    values: Vec<f32>,
    base: Vec<f32>,
    width: usize,
}

impl Trees {
    fn leaves(&self) -> usize {
        self.nodes + 1
    }

    fn outputs(&self) -> usize {
        self.base.len()
    }

    /// The element that each node compares, and its bound.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        let all = self.features.iter().zip(&self.bounds);
        all.filter_map(|(feature, bound)| feature.map(|feature| (feature, *bound)))
    }

    fn select(&self) -> Vec<f32> {
        let count = self.features.len();
        let mut all = vec![0.0; self.width * count];
        for (node, feature) in self.features.iter().enumerate() {
            if let Some(feature) = feature {
                all[feature * count + node] = 1.0;
            }
        }
        all
    }
}

impl Definition for Trees {
    fn name(&self) -> &'static str {
        "TreeEnsemble"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Weights
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        match part {
            WeightPart::Factors => Cow::Borrowed(&self.values),
            WeightPart::Terms => Cow::Borrowed(&self.base),
            WeightPart::Select => Cow::Owned(self.select()),
            WeightPart::Bounds => Cow::Borrowed(&self.bounds),
            WeightPart::Strict => Cow::Borrowed(&self.strict),
            WeightPart::Paths => Cow::Borrowed(&self.paths),
            WeightPart::Counts => Cow::Borrowed(&self.counts),
            _ => Cow::Borrowed(&[]),
        }
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        let each = self.width + self.leaves() + self.outputs();
        made / self.outputs() as u64 * (self.trees * self.nodes * each) as u64
    }

    /// A difference of an element and a bound takes one bit more than an element.
    fn room(&self, room: &Room<'_>) -> f64 {
        let compared = room.reads[0];
        room.own(room.wide()).min(room.left(compared.size, compared.node, 1.0))
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let mut out = Array::zeros(to);
        let leaves = self.leaves();
        for (row, sums) in reads[0].data.chunks(self.width).zip(out.data.chunks_mut(self.outputs())) {
            sums.copy_from_slice(&self.base);
            for tree in 0..self.trees {
                let own = tree * self.nodes..(tree + 1) * self.nodes;
                let truth = |node: usize| {
                    let x = self.features[node].map_or(0.0, |feature| row[feature]);
                    let (bound, is_strict) = (self.bounds[node], self.strict[node] > 0.0);
                    if x < bound || (x == bound && !is_strict) { 1.0 } else { 0.0 }
                };
                let truths: Vec<f32> = own.map(truth).collect();
                for leaf in tree * leaves..(tree + 1) * leaves {
                    let path = &self.paths[leaf * self.nodes..][..self.nodes];
                    let sum: f32 = path.iter().zip(&truths).map(|(path, truth)| path * truth).sum();
                    // Both are whole; an empty sum is −0.
                    if (sum - self.counts[leaf]).abs() < 0.5 {
                        let values = &self.values[leaf * self.outputs()..];
                        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                    }
                }
            }
        }
        out
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from) = (site.at, site.reads[0]);
        let rows = site.lengths[0];
        let (nodes, leaves) = (self.trees * self.nodes, self.trees * self.leaves());
        let x = lower.at_nominal(from, at).reshape(shape(&[rows, self.width]));
        let whole = |part, lengths: &[usize]| Recipe::of(at, part, lengths.to_vec());
        let select = lower.weights("select", whole(WeightPart::Select, &[self.width, nodes]));
        let (frac, nominal) = (lower.numbers.frac, Some(crate::scale::Classes::NOMINAL));
        let bounds = Recipe { frac, to: nominal, ..whole(WeightPart::Bounds, &[1, nodes]) };
        let bounds = lower.weights("bounds", bounds).broadcast(shape(&[rows, nodes]));
        // Bounds take at most half of the ring, so that the sign of a difference is the comparison.
        let below = bounds.wrapping() - x.matmul(select).wrapping();
        let zero = lower.b.number(lower.nominal(), 0);
        // 8 bits hold every sum along a path.
        let small = Scalar::Int { signed: true, bits: 8 };
        let truths = below.compare(Comparison::GreaterOrEqual, zero).cast(small);
        // A convolution whose groups are the trees.
        let paths = lower.weights("paths", whole(WeightPart::Paths, &[leaves, self.nodes, 1, 1]));
        let steps = Steps { strides: [1; 2], padding: [0; 4] };
        let truths = truths.reshape(shape(&[rows, nodes, 1, 1]));
        let sums = truths.conv2d(paths.cast(small), steps, self.trees as u32);
        let counts = lower.weights("counts", whole(WeightPart::Counts, &[1, leaves]));
        let counts = counts.cast(small).broadcast(shape(&[rows, leaves]));
        let sums = sums.reshape(shape(&[rows, leaves]));
        let reached = sums.equals(counts).cast(lower.fixed(0));
        let node = lower.classes.fresh();
        let (frac, shift) = (lower.wide_frac(), lower.numbers.cut);
        let lengths = vec![leaves, self.outputs()];
        let values = Recipe { frac, to: Some(node), shift, ..Recipe::of(at, WeightPart::Factors, lengths) };
        let values = lower.weights("leaves", values);
        let base = lower.terms(at, vec![1, self.outputs()], node).broadcast(shape(site.lengths));
        Ok(Held::wide(reached.matmul(values) + base, node, lower.halved(at)))
    }
}

/// The layer of a forest with a base value for each output.
fn made(
    op: &Reading<'_>,
    import: &mut Import,
    forest: &Forest,
    base: Vec<f32>,
    by: f32,
) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let lengths = import.lengths(at).to_vec();
    let [rows, width] = match lengths[..] {
        [n] => [1, n],
        [rows, n] => [rows, n],
        _ => {
            return Err(
                op.error(format!("its value has the lengths {lengths:?}"), "give it rows of elements")
            );
        }
    };
    let (mut trees, mut most) = (vec![], 1);
    for root in &forest.roots {
        let mut tree = Tree::default();
        if !tree.follow(forest, *root, &mut vec![]) {
            let cause = format!("a tree has more than {NODES} nodes, or {DEPTH} on a path");
            return Err(op.error(cause, "train smaller trees (max_depth, max_leaf_nodes)"));
        }
        if let Some(odd) = tree.cuts.iter().find(|cut| cut.feature >= width) {
            let cause = format!("it compares element {} of {width}", odd.feature);
            return Err(op.error(cause, "save the model anew"));
        }
        most = most.max(tree.cuts.len());
        trees.push(tree);
    }
    // 2^k − 1 nodes have 2^k leaves.
    let mut nodes = (most + 1).next_power_of_two() - 1;
    let fits = trees.len().checked_mul((nodes + 1) * nodes).is_some_and(|n| n <= ELEMENTS);
    if most > WHOLE || (!fits && nodes > PART) {
        // The number of parts into which trees of this number of nodes may be split.
        let count = (nodes + 1).div_ceil(PART + 1 - 2 * DEPTH);
        trees = trees.iter().flat_map(|tree| parts(tree, count)).collect();
        nodes = PART;
    }
    let (leaves, outputs) = (nodes + 1, base.len());
    let size = trees.len().checked_mul(leaves * nodes).filter(|n| *n <= ELEMENTS);
    if trees.is_empty() || size.is_none() {
        let cause = format!("it has {} trees of up to {most} nodes", trees.len());
        return Err(op.error(cause, "train fewer or smaller trees (n_estimators, max_leaf_nodes)"));
    }
    let mut all = Trees {
        trees: trees.len(),
        nodes,
        features: vec![None; trees.len() * nodes],
        bounds: vec![0.0; trees.len() * nodes],
        strict: vec![0.0; trees.len() * nodes],
        paths: vec![0.0; trees.len() * leaves * nodes],
        counts: vec![NEVER; trees.len() * leaves],
        values: vec![0.0; trees.len() * leaves * outputs],
        base,
        width,
    };
    for (k, tree) in trees.iter().enumerate() {
        for (node, cut) in tree.cuts.iter().enumerate() {
            all.features[k * nodes + node] = Some(cut.feature);
            // Infinite bounds are beyond all numbers.
            all.bounds[k * nodes + node] = cut.bound.clamp(f32::MIN, f32::MAX);
            all.strict[k * nodes + node] = f32::from(u8::from(cut.is_strict));
        }
        for (leaf, (path, values)) in tree.paths.iter().enumerate() {
            let leaf = k * leaves + leaf;
            for (node, truth) in path {
                all.paths[leaf * nodes + node] = if *truth { 1.0 } else { -1.0 };
            }
            all.counts[leaf] = path.iter().filter(|(_, truth)| *truth).count() as f32;
            for (output, value) in &forest.leaves[*values] {
                let sum = all.values.get_mut(leaf * outputs + output).filter(|_| *output < outputs);
                let sum = sum.ok_or_else(|| {
                    op.error(format!("a leaf has output {output} of {outputs}"), "save the model anew")
                })?;
                *sum += value * by;
            }
        }
    }
    if all.values.iter().chain(&all.base).chain(&all.bounds).any(|x| !x.is_finite()) {
        return Err(op.error("its values are not all finite", "train the model again"));
    }
    op.made(import, Kind::Trees(all), vec![at], vec![rows, outputs])
}

/// The numbers of nodes in an attribute, which must not be negative.
fn numbers(op: &Reading<'_>, name: &str) -> Result<Vec<usize>, Fault> {
    let all = op.ints(name)?.unwrap_or_default();
    let all: Option<Vec<usize>> = all.iter().map(|n| usize::try_from(*n).ok()).collect();
    all.ok_or_else(|| op.error(format!("its {name} are below 0"), "save the model anew"))
}

fn differ(op: &Reading<'_>) -> Fault {
    op.error("its lists are not equally long, or name nodes that do not exist", "save the model anew")
}

/// The trees of sets before 5, in which leaves are nodes. The values of leaves are in other lists.
fn listed(op: &Reading<'_>, leaves: [&str; 4]) -> Result<Forest, Fault> {
    let [of_tree, ids, features, yes, no] =
        ["nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"]
            .map(|name| numbers(op, name));
    let (of_tree, ids, features, yes, no) = (of_tree?, ids?, features?, yes?, no?);
    let (bounds, modes) = (op.floats("nodes_values")?, op.texts("nodes_modes")?);
    let n = ids.len();
    if [of_tree.len(), features.len(), yes.len(), no.len(), bounds.len(), modes.len()].iter().any(|m| *m != n)
    {
        return Err(differ(op));
    }
    let place: HashMap<(usize, usize), usize> =
        of_tree.iter().zip(&ids).enumerate().map(|(at, (tree, id))| ((*tree, *id), at)).collect();
    let mut forest = Forest { roots: vec![], nodes: vec![], leaves: vec![vec![]; n] };
    let child = |at: usize, id: usize| {
        let found = place.get(&(of_tree[at], id)).copied().ok_or_else(|| differ(op))?;
        Ok::<Child, Fault>(if modes[found] == "LEAF" { Child::Leaf(found) } else { Child::Node(found) })
    };
    for at in 0..n {
        // The first node of a tree is its root.
        if at == 0 || of_tree[at] != of_tree[at - 1] {
            forest.roots.push(child(at, ids[at])?);
        }
        let mode = match &modes[at][..] {
            "BRANCH_LEQ" => Mode::LessOrEqual,
            "BRANCH_LT" => Mode::Less,
            "BRANCH_GTE" => Mode::GreaterOrEqual,
            "BRANCH_GT" => Mode::Greater,
            "BRANCH_EQ" => Mode::Equal,
            "BRANCH_NEQ" => Mode::NotEqual,
            "LEAF" => {
                // This node is never read.
                let (mode, leaf) = (Mode::LessOrEqual, Child::Leaf(at));
                forest.nodes.push(Node { feature: 0, bound: 0.0, mode, yes: leaf, no: leaf });
                continue;
            }
            other => {
                return Err(op.error(format!("a node's mode is {}", shown(other)), "save the model anew"));
            }
        };
        let (yes, no) = (child(at, yes[at])?, child(at, no[at])?);
        forest.nodes.push(Node { feature: features[at], bound: bounds[at], mode, yes, no });
    }
    let [trees, nodes, outputs, weights] = leaves;
    let [trees, nodes, outputs] = [trees, nodes, outputs].map(|name| numbers(op, name));
    let (trees, nodes, outputs, weights) = (trees?, nodes?, outputs?, op.floats(weights)?);
    if [nodes.len(), outputs.len(), weights.len()].iter().any(|m| *m != trees.len()) {
        return Err(differ(op));
    }
    for k in 0..trees.len() {
        let at = *place.get(&(trees[k], nodes[k])).ok_or_else(|| differ(op))?;
        forest.leaves[at].push((outputs[k], weights[k]));
    }
    Ok(forest)
}

/// The factor of leaves' values that follows from their aggregation.
fn factor(op: &Reading<'_>, is_mean: bool, is_sum: bool, trees: usize) -> Result<f32, Fault> {
    match (is_mean, is_sum) {
        (true, _) => Ok(1.0 / trees.max(1) as f32),
        (_, true) => Ok(1.0),
        _ => Err(op.error("it takes the least or the greatest of its trees", "train with sums or means")),
    }
}

/// A base value for each of `n` outputs.
fn base_of(op: &Reading<'_>, n: usize) -> Result<Vec<f32>, Fault> {
    let base = op.floats("base_values")?;
    match base.len() {
        0 => Ok(vec![0.0; n]),
        m if m == n => Ok(base),
        1 => Ok(vec![base[0]; n]),
        m => Err(op.error(format!("it has {m} base values for {n} outputs"), "save the model anew")),
    }
}

fn regressor(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let forest = listed(op, ["target_treeids", "target_nodeids", "target_ids", "target_weights"])?;
    let outputs = usize::try_from(op.int("n_targets", 1)?).ok().filter(|n| (1..1 << 16).contains(n));
    let outputs = outputs.ok_or_else(|| op.error("it has no targets", "save the model anew"))?;
    let aggregate = op.text("aggregate_function", "SUM")?;
    let by = factor(op, aggregate == "AVERAGE", aggregate == "SUM", forest.roots.len())?;
    let scores = made(op, import, &forest, base_of(op, outputs)?, by)?;
    ml::transformed(op, import, &scores)
}

/// The scores of a classifier. If only one of two classes has values, the score of the other one is
/// the difference to 1. If some values are below 0, it is the negative of the sum. The members do
/// not learn which.
fn classifier(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let labels = ml::labels(op, "classlabels_int64s", "classlabels_strings")?;
    let mut forest = listed(op, ["class_treeids", "class_nodeids", "class_ids", "class_weights"])?;
    let classes = labels.len();
    let first = forest.leaves.iter().flatten().next().map_or(0, |(class, _)| *class);
    let single = classes == 2 && forest.leaves.iter().flatten().all(|(class, _)| *class == first);
    let post = op.text("post_transform", "NONE")?;
    let mut base = op.floats("base_values")?;
    let scores = if single {
        let positive = forest.leaves.iter().flatten().all(|(_, value)| *value >= 0.0);
        if positive && post == "LOGISTIC" {
            let cause = "its values are none below 0, and are to be transformed";
            return Err(op.error(cause, "export the model with post_transform NONE"));
        }
        let own = base.pop().unwrap_or(0.0);
        base = vec![if positive { 1.0 - own } else { -own }, own];
        for leaf in &mut forest.leaves {
            *leaf = leaf.iter().flat_map(|(_, value)| [(0, -value), (1, *value)]).collect();
        }
        made(op, import, &forest, base, 1.0)?
    } else if classes == 2 && post != "NONE" && !base.is_empty() {
        // Runtimes and the standard differ in what base values mean here.
        let cause = "both of its two classes have values, and it has base values";
        return Err(op.error(cause, "export the model with post_transform NONE"));
    } else {
        made(op, import, &forest, base_of(op, classes)?, 1.0)?
    };
    let label = ml::greatest(op, import, &scores, labels)?;
    let scores = if single && post == "SOFTMAX" { scores } else { ml::transformed(op, import, &scores)? };
    Ok(vec![label, scores])
}

/// The trees of set 5, whose leaves have lists of their own.
fn ensemble(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let tensor = |name: &str| match op.node.attributes.get(name) {
        Some(Attribute::Tensor(tensor)) => Ok(match &tensor.data {
            Data::Floats(all) => all.clone(),
            Data::Ints(all) => all.iter().map(|n| *n as f32).collect(),
        }),
        _ => Err(op.error(format!("it has no {name}"), "save the model anew")),
    };
    let (bounds, modes, values) = (tensor("nodes_splits")?, tensor("nodes_modes")?, tensor("leaf_weights")?);
    let [features, yes, yes_leaf, no, no_leaf, roots, outputs] = [
        "nodes_featureids",
        "nodes_truenodeids",
        "nodes_trueleafs",
        "nodes_falsenodeids",
        "nodes_falseleafs",
        "tree_roots",
        "leaf_targetids",
    ]
    .map(|name| numbers(op, name));
    let (features, yes, yes_leaf, no, no_leaf) = (features?, yes?, yes_leaf?, no?, no_leaf?);
    let (roots, outputs) = (roots?, outputs?);
    let n = features.len();
    let alike = [yes.len(), yes_leaf.len(), no.len(), no_leaf.len(), bounds.len(), modes.len()];
    if alike.iter().any(|m| *m != n) || values.len() != outputs.len() {
        return Err(differ(op));
    }
    let child = |at: usize, leaf: usize| match leaf {
        0 if at < n => Ok(Child::Node(at)),
        1.. if at < values.len() => Ok(Child::Leaf(at)),
        _ => Err(differ(op)),
    };
    let mut nodes = vec![];
    for at in 0..n {
        let mode = match modes[at] as i64 {
            0 => Mode::LessOrEqual,
            1 => Mode::Less,
            2 => Mode::GreaterOrEqual,
            3 => Mode::Greater,
            4 => Mode::Equal,
            5 => Mode::NotEqual,
            _ => return Err(op.error("a node compares with a set", "train the model without categories")),
        };
        let (yes, no) = (child(yes[at], yes_leaf[at])?, child(no[at], no_leaf[at])?);
        nodes.push(Node { feature: features[at], bound: bounds[at], mode, yes, no });
    }
    // A tree that is a single leaf gets a node whose children are both this leaf.
    let roots = roots.iter().map(|root| child(*root, 0)).collect::<Result<Vec<_>, _>>()?;
    let leaves = outputs.iter().zip(&values).map(|(output, value)| vec![(*output, *value)]).collect();
    let forest = Forest { roots, nodes, leaves };
    let count = usize::try_from(op.int("n_targets", 1)?).ok().filter(|n| (1..1 << 16).contains(n));
    let count = count.ok_or_else(|| op.error("it has no targets", "save the model anew"))?;
    let aggregate = op.int("aggregate_function", 1)?;
    let by = factor(op, aggregate == 0, aggregate == 1, forest.roots.len())?;
    let scores = made(op, import, &forest, vec![0.0; count], by)?;
    match op.int("post_transform", 0)? {
        0 => Ok(scores),
        1 => op.call(import, "Softmax", &[&scores], &[("axis", Attribute::Int(-1))]),
        2 => op.call(import, "Sigmoid", &[&scores], &[]),
        _ => Err(op.error("its post_transform is another", "take NONE, SOFTMAX or LOGISTIC")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::checks::check_ml;
    use crate::{onnx::Attribute, zoo::Writer};

    fn ints(all: &[i64]) -> Attribute {
        Attribute::Ints(all.to_vec())
    }

    /// The nodes of two trees: x0 ≤ 0 ? (x1 < 0.5 ? 2 : 3) : 4, and a comparison of x2 with 1.
    pub(in crate::operators) fn two_trees(last: &str) -> Vec<(&'static str, Attribute)> {
        let modes = ["BRANCH_LEQ", "BRANCH_LT", "LEAF", "LEAF", "LEAF", last, "LEAF", "LEAF"];
        vec![
            ("nodes_treeids", ints(&[0, 0, 0, 0, 0, 1, 1, 1])),
            ("nodes_nodeids", ints(&[0, 1, 2, 3, 4, 0, 1, 2])),
            ("nodes_featureids", ints(&[0, 1, 0, 0, 0, 2, 0, 0])),
            ("nodes_truenodeids", ints(&[1, 2, 0, 0, 0, 1, 0, 0])),
            ("nodes_falsenodeids", ints(&[4, 3, 0, 0, 0, 2, 0, 0])),
            ("nodes_values", Attribute::Floats(vec![0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0])),
            ("nodes_modes", Attribute::Texts(modes.map(str::to_owned).to_vec())),
        ]
    }

    /// x0 ≤ 0 ? (x1 < 0.5 ? 1 : 2) : −3, and x2 == 1 ? 0.5 : 0.25, with two targets.
    fn forest(w: &mut Writer) -> String {
        let targets = [
            ("target_treeids", ints(&[0, 0, 0, 1, 1])),
            ("target_nodeids", ints(&[2, 3, 4, 1, 2])),
            ("target_ids", ints(&[0, 0, 1, 0, 0])),
            ("target_weights", Attribute::Floats(vec![1.0, 2.0, -3.0, 0.5, 0.25])),
            ("base_values", Attribute::Floats(vec![0.125, 0.0])),
            ("n_targets", Attribute::Int(2)),
        ];
        let attributes = [two_trees("BRANCH_EQ"), targets.to_vec()].concat();
        w.op("TreeEnsembleRegressor", &["input"], &attributes)
    }

    #[test]
    fn leaves_are_summed() {
        let mut w = Writer::new("trees", 1, &[1, 3]);
        let y = forest(&mut w);
        check_ml(w.finish(&y), 1.0, |x| {
            let x = &x.data;
            let (mut a, mut b) = (0.125, 0.0);
            match x[0] <= 0.0 {
                true => a += if x[1] < 0.5 { 1.0 } else { 2.0 },
                false => b -= 3.0,
            }
            a += if x[2] == 1.0 { 0.5 } else { 0.25 };
            vec![a, b]
        });
    }

    /// A tree of one node: the leaf behind a false comparison adds nothing.
    #[test]
    fn a_single_comparison() {
        let mut w = Writer::new("trees", 1, &[6, 1]);
        let attributes = [
            ("nodes_treeids", ints(&[0, 0, 0])),
            ("nodes_nodeids", ints(&[0, 1, 2])),
            ("nodes_featureids", ints(&[0, 0, 0])),
            ("nodes_truenodeids", ints(&[1, 0, 0])),
            ("nodes_falsenodeids", ints(&[2, 0, 0])),
            ("nodes_values", Attribute::Floats(vec![0.0; 3])),
            ("nodes_modes", Attribute::Texts(["BRANCH_LEQ", "LEAF", "LEAF"].map(str::to_owned).to_vec())),
            ("target_treeids", ints(&[0, 0])),
            ("target_nodeids", ints(&[1, 2])),
            ("target_ids", ints(&[0, 0])),
            ("target_weights", Attribute::Floats(vec![1.5, -0.5])),
            ("n_targets", Attribute::Int(1)),
        ];
        let y = w.op("TreeEnsembleRegressor", &["input"], &attributes);
        check_ml(w.finish(&y), 1.0, |x| {
            assert!(x.data.iter().any(|x| *x > 0.0), "both leaves are reached");
            x.data.iter().map(|x| if *x <= 0.0 { 1.5 } else { -0.5 }).collect()
        });
    }

    /// Leaves with a value for each of two classes, as CatBoost writes them: each score is
    /// transformed, or both are together.
    #[test]
    fn both_of_two_classes_have_values() {
        let logistic = |x: f32| 1.0 / (1.0 + (-x).exp());
        for (post, first, second) in
            [("LOGISTIC", logistic(-1.5), logistic(1.5)), ("SOFTMAX", logistic(-3.0), logistic(3.0))]
        {
            let mut w = Writer::new("trees", 1, &[6, 1]);
            let attributes = [
                ("nodes_treeids", ints(&[0, 0, 0])),
                ("nodes_nodeids", ints(&[0, 1, 2])),
                ("nodes_featureids", ints(&[0, 0, 0])),
                ("nodes_truenodeids", ints(&[1, 0, 0])),
                ("nodes_falsenodeids", ints(&[2, 0, 0])),
                ("nodes_values", Attribute::Floats(vec![0.0; 3])),
                ("nodes_modes", Attribute::Texts(["BRANCH_GT", "LEAF", "LEAF"].map(str::to_owned).to_vec())),
                ("class_treeids", ints(&[0; 4])),
                ("class_nodeids", ints(&[1, 1, 2, 2])),
                ("class_ids", ints(&[0, 1, 0, 1])),
                ("class_weights", Attribute::Floats(vec![-1.5, 1.5, 1.5, -1.5])),
                ("classlabels_int64s", ints(&[0, 1])),
                ("post_transform", Attribute::Text(post.to_owned())),
            ];
            w.op("TreeEnsembleClassifier", &["input"], &attributes);
            w.outputs_of_last(&["scores"]);
            check_ml(w.finish("scores"), 3.0, |x| {
                let of = |x: &f32| if *x > 0.0 { [first, second] } else { [second, first] };
                x.data.iter().flat_map(of).collect()
            });
        }
    }

    /// An element that equals its bound is decided as in floating point in each mode, even if no
    /// number of fractional bits represents the bound exactly.
    #[test]
    fn elements_at_their_bounds() {
        let modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"];
        let x = crate::zoo::sample(&[1, 8], 7).data;
        let trees = || 0..8i64;
        for (mode, holds) in modes.into_iter().zip([true, false, true, false, true, false]) {
            let lists = |each: fn(i64) -> [i64; 3]| Attribute::Ints(trees().flat_map(each).collect());
            let attributes = [
                ("nodes_treeids", lists(|tree| [tree; 3])),
                ("nodes_nodeids", lists(|_| [0, 1, 2])),
                ("nodes_featureids", lists(|tree| [tree, 0, 0])),
                ("nodes_truenodeids", lists(|_| [1, 0, 0])),
                ("nodes_falsenodeids", lists(|_| [2, 0, 0])),
                ("nodes_values", Attribute::Floats(x.iter().flat_map(|x| [*x, 0.0, 0.0]).collect())),
                (
                    "nodes_modes",
                    Attribute::Texts(
                        [mode, "LEAF", "LEAF"].repeat(8).into_iter().map(str::to_owned).collect(),
                    ),
                ),
                ("target_treeids", Attribute::Ints(trees().flat_map(|tree| [tree; 2]).collect())),
                ("target_nodeids", Attribute::Ints([1, 2].repeat(8))),
                ("target_ids", Attribute::Ints(trees().flat_map(|tree| [tree; 2]).collect())),
                ("target_weights", Attribute::Floats([1.0, -1.0].repeat(8))),
                ("n_targets", Attribute::Int(8)),
            ];
            let mut w = Writer::new("trees", 1, &[1, 8]);
            let y = w.op("TreeEnsembleRegressor", &["input"], &attributes);
            check_ml(w.finish(&y), 1.0, |_| vec![if holds { 1.0 } else { -1.0 }; 8]);
        }
    }
}
