//! Trees as files describe them, and as lists of comparisons and of leaves with their paths.

use std::collections::HashMap;

/// LOCAL: the greatest depth of a tree: sums along paths have 8 bits.
pub(super) const DEPTH: usize = 60;
/// LOCAL: the largest number of nodes of a tree.
pub(super) const NODES: usize = (1 << 17) - 1;
/// AGREEMENT: the number of nodes of a part of a tree that is split.
pub(super) const PART: usize = (1 << 9) - 1;

/// A comparison: whether an element is at most a bound, or less than it.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub(super) feature: usize,
    pub(super) bound: f32,
    pub(super) is_strict: bool,
}

/// A child of a node: another node, or a leaf with its values.
#[derive(Clone, Copy)]
pub(super) enum Child {
    Node(usize),
    Leaf(usize),
}

/// A node as files describe it.
pub(super) struct Node {
    pub(super) feature: usize,
    pub(super) bound: f32,
    pub(super) mode: Mode,
    pub(super) yes: Child,
    pub(super) no: Child,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    LessOrEqual,
    Less,
    GreaterOrEqual,
    Greater,
    Equal,
    NotEqual,
}

/// The nodes of all trees, and the values of leaves.
pub(super) struct Forest {
    pub(super) roots: Vec<Child>,
    pub(super) nodes: Vec<Node>,
    /// For each leaf: the outputs to which it adds values.
    pub(super) leaves: Vec<Vec<(usize, f32)>>,
}

/// One tree, as comparisons and paths to its leaves.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) cuts: Vec<Cut>,
    /// For each leaf, its path and its index. A path has the nodes, and for each whether the path
    /// continues with a true comparison.
    pub(super) paths: Vec<(Vec<(usize, bool)>, usize)>,
}

impl Tree {
    /// Follows a child along a path. Returns false if the tree is too large.
    pub(super) fn follow(&mut self, forest: &Forest, child: Child, path: &mut Vec<(usize, bool)>) -> bool {
        let node = match child {
            Child::Leaf(leaf) => {
                self.paths.push((path.clone(), leaf));
                return true;
            }
            Child::Node(node) => &forest.nodes[node],
        };
        let (yes, no) = (node.yes, node.no);
        let (is_strict, most, more) = match node.mode {
            Mode::LessOrEqual => (false, (yes, None), no),
            Mode::Less => (true, (yes, None), no),
            Mode::Greater => (false, (no, None), yes),
            Mode::GreaterOrEqual => (true, (no, None), yes),
            // An element that equals the bound is at most the bound, and not less.
            Mode::Equal => (false, (no, Some(yes)), no),
            Mode::NotEqual => (false, (yes, Some(no)), yes),
        };
        self.branch(forest, Cut { feature: node.feature, bound: node.bound, is_strict }, path, most, more)
    }

    /// Adds a node. `less` is the child for an element below the bound, and `more` the child for a
    /// false comparison. `equal` is the child for an equal element if that is another one. Returns
    /// false if the tree is too large.
    fn branch(
        &mut self,
        forest: &Forest,
        cut: Cut,
        path: &mut Vec<(usize, bool)>,
        (less, equal): (Child, Option<Child>),
        more: Child,
    ) -> bool {
        if self.cuts.len() >= NODES || path.len() >= DEPTH {
            return false;
        }
        let at = self.cuts.len();
        self.cuts.push(cut);
        path.push((at, true));
        let fits = match equal {
            Some(equal) => self.branch(forest, Cut { is_strict: true, ..cut }, path, (less, None), equal),
            None => self.follow(forest, less, path),
        };
        path.pop();
        path.push((at, false));
        let fits = fits && self.follow(forest, more, path);
        path.pop();
        fits
    }
}

/// Splits a tree into parts. Each part has consecutive leaves and the nodes on the paths to them.
/// These are the nodes between the leaves, and the nodes on the paths from the root to the first
/// and the last leaf. Each leaf is in exactly one part.
pub(super) fn parts(tree: &Tree, count: usize) -> Vec<Tree> {
    let mut all = vec![];
    for leaves in tree.paths.chunks(PART + 1 - 2 * DEPTH) {
        let mut part = Tree::default();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (path, leaf) in leaves {
            let own = path.iter().map(|(node, truth)| {
                let place = *places.entry(*node).or_insert_with(|| {
                    part.cuts.push(tree.cuts[*node]);
                    part.cuts.len() - 1
                });
                (place, *truth)
            });
            let own = own.collect();
            part.paths.push((own, *leaf));
        }
        all.push(part);
    }
    all.resize_with(count, Tree::default);
    all
}
