//! A network during its lowering to shares, as operators see it.

use super::recipe::{Recipe, Squares, WeightPart};
use crate::{Array, Fault, Numbers, numbers::INPUT, scale::Classes};
use hushwire_compute::{Builder, Comparison, Dim, Member, Scalar, Shape, Tensor, Val};
use hushwire_fault::code;
use std::{collections::BTreeMap, mem::replace, sync::Arc};

/// LOCAL: the largest number of products of matrices of one layer, each of which takes operations
/// of its own.
const ROWS: usize = 4096;

/// A layer's value in the computation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The node of its scale.
    pub(crate) node: usize,
    /// Whether it is larger by a factor of 2^cut.
    pub(crate) wide: bool,
    /// Whether it is half a step too large, so that cutting rounds to the nearest.
    pub(crate) half: bool,
}

/// A value under construction.
#[derive(Clone, Copy)]
pub(crate) struct Held<'b> {
    pub(crate) val: Val<'b>,
    pub(crate) placed: Placed,
    /// The value without its lowest bits, after the first request.
    cut: Option<Val<'b>>,
    /// The truth value, if the value is 1 or 0 for true or false.
    truth: Option<Val<'b>>,
}

impl<'b> Held<'b> {
    /// A value at the scale of a node.
    pub(crate) fn cut_already(val: Val<'b>, node: usize) -> Self {
        Held { val, placed: Placed { node, wide: false, half: false }, cut: Some(val), truth: None }
    }

    /// A value at the nominal scale.
    pub(crate) fn nominal(val: Val<'b>) -> Self {
        Self::cut_already(val, Classes::NOMINAL)
    }

    /// A value at 2^cut times the scale of a node.
    pub(crate) fn wide(val: Val<'b>, node: usize, half: bool) -> Self {
        Held { val, placed: Placed { node, wide: true, half }, cut: None, truth: None }
    }

    /// The result of an operation that keeps the scale.
    pub(crate) fn with(self, val: Val<'b>) -> Self {
        let cut = if self.placed.wide { None } else { Some(val) };
        Held { val, cut, truth: None, ..self }
    }
}

/// A layer: its number, its name, the layers that it reads, and the lengths of its value.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) at: usize,
    pub(crate) name: &'a str,
    pub(crate) reads: &'a [usize],
    pub(crate) lengths: &'a [usize],
}

impl Site<'_> {
    /// Refuses more rows than are supported.
    pub(crate) fn check_rows(&self, op: &str, rows: usize) -> Result<(), Fault> {
        if rows <= ROWS {
            return Ok(());
        }
        let place = format!("layer {} ({op})", self.name);
        Err(Fault::new(
            code::MODEL_FILE,
            place,
            format!("it has {rows} rows"),
            format!("give it at most {ROWS}"),
        ))
    }
}

/// The computation so far, with the scales of its values and the recipes of the owner's inputs.
pub(crate) struct Lower<'b> {
    pub(crate) b: &'b Builder,
    /// The ring of the layer that is being lowered.
    pub(crate) numbers: Numbers,
    pub(crate) classes: Classes,
    pub(super) owner: Member,
    pub(super) client: Member,
    pub(super) recipes: Vec<(String, Recipe)>,
    pub(super) held: Vec<Held<'b>>,
    /// The rings of values so far.
    pub(super) rings: Vec<Numbers>,
    /// Values in the other of two rings.
    pub(super) moved: BTreeMap<usize, Held<'b>>,
    /// Layers whose values lose upper bits in a narrower ring, with its bits.
    pub(super) narrowed: Vec<(usize, u8)>,
    /// The lengths of values so far.
    pub(super) lengths: Vec<Vec<usize>>,
    /// The layers with weights whose values become outputs without being cut.
    pub(super) whole: Vec<usize>,
    /// The nodes of the scale 1.
    pub(super) ones: Vec<usize>,
    /// The layers of inputs, with their names.
    pub(super) inputs: Vec<(usize, String)>,
}

/// A shape with known lengths.
pub(crate) fn shape(lengths: &[usize]) -> Shape {
    Shape(lengths.iter().map(|n| Dim::Known(*n as u64)).collect())
}

/// A value repeated along axes of length 1, and along new first axes.
pub(crate) fn along<'b>(x: Val<'b>, own: &[usize], to: &[usize]) -> Val<'b> {
    if own == to {
        return x;
    }
    let padded = [vec![1; to.len() - own.len()], own.to_vec()].concat();
    x.reshape(shape(&padded)).broadcast(shape(to))
}

impl<'b> Lower<'b> {
    pub(crate) fn fixed(&self, frac: u8) -> Scalar {
        Scalar::Fixed { bits: self.numbers.bits, frac }
    }

    /// The scalar of values at the nominal scale.
    pub(crate) fn nominal(&self) -> Scalar {
        self.fixed(self.numbers.frac)
    }

    /// The fractional bits of wide values.
    pub(crate) fn wide_frac(&self) -> u8 {
        self.numbers.frac + self.numbers.cut
    }

    /// The client's input of a layer.
    pub(crate) fn input(&mut self, at: usize, lengths: &[usize]) -> Held<'b> {
        let name = self.inputs.iter().find(|(layer, _)| *layer == at).map_or(INPUT, |(_, name)| name);
        Held::nominal(self.b.input(name, self.nominal(), shape(lengths), self.client))
    }

    /// An input of the owner.
    pub(crate) fn weights(&mut self, name: &str, recipe: Recipe) -> Val<'b> {
        let recipe = Recipe { numbers: self.numbers, ..recipe };
        let (scalar, lengths) = (recipe.scalar(), shape(&recipe.lengths));
        let name = format!("{name}{}", recipe.layer);
        self.recipes.push((name.clone(), recipe));
        self.b.input(&name, scalar, lengths, self.owner)
    }

    /// Begins a layer in a ring: what it reads comes in that ring. Returns the values that were
    /// there instead, for [`Self::leave`].
    pub(super) fn enter(&mut self, numbers: Numbers, reads: &[usize]) -> Vec<(usize, Held<'b>)> {
        let mut own: Vec<(usize, Held<'b>)> = vec![];
        for at in reads {
            if self.rings[*at] == numbers || own.iter().any(|(other, _)| other == at) {
                continue;
            }
            let moved = match self.moved.get(at) {
                Some(held) => *held,
                None => self.in_ring(*at, numbers),
            };
            own.push((*at, replace(&mut self.held[*at], moved)));
        }
        self.numbers = numbers;
        own
    }

    /// Ends a layer that has begun with [`Self::enter`].
    pub(super) fn leave(&mut self, own: Vec<(usize, Held<'b>)>) {
        for (at, held) in own {
            let moved = replace(&mut self.held[at], held);
            self.moved.insert(at, moved);
        }
    }

    /// A layer's value in another ring: the same number at the same scale, and cut in its own ring.
    fn in_ring(&mut self, at: usize, numbers: Numbers) -> Held<'b> {
        let held = self.held[at];
        if let Some(truth) = held.truth {
            self.numbers = numbers;
            return self.of_truth(truth);
        }
        self.numbers = self.rings[at];
        let (val, node) = (self.value(at), self.node(at));
        let Some(Scalar::Fixed { frac, .. }) = val.ty().map(|ty| ty.scalar) else { return held };
        if numbers.bits < self.numbers.bits {
            self.narrowed.push((at, numbers.bits));
        }
        Held::cut_already(val.cast(Scalar::Fixed { bits: numbers.bits, frac }), node)
    }

    /// A layer's value, wide or not.
    pub(crate) fn held(&self, at: usize) -> Held<'b> {
        self.held[at]
    }

    /// The lengths of a layer's value.
    pub(crate) fn lengths(&self, at: usize) -> &[usize] {
        &self.lengths[at]
    }

    /// A layer's value at its scale.
    pub(crate) fn value(&mut self, at: usize) -> Val<'b> {
        let held = self.held[at];
        if let Some(cut) = held.cut {
            return cut;
        }
        let cut = held.val.rescale(self.numbers.cut);
        self.held[at].cut = Some(cut);
        cut
    }

    /// A truth value as a value: 1 or 0 at the nominal scale.
    pub(crate) fn of_truth(&self, truth: Val<'b>) -> Held<'b> {
        Held { truth: Some(truth), ..Held::nominal(truth.cast(self.nominal())) }
    }

    /// Whether the elements of a layer are 1 rather than 0.
    pub(crate) fn truth(&mut self, at: usize) -> Val<'b> {
        if let Some(truth) = self.held[at].truth {
            return truth;
        }
        let half = self.b.number(self.nominal(), 1 << (self.numbers.frac - 1));
        let x = self.at_nominal(at, 2_000_000 + at);
        x.compare(Comparison::GreaterOrEqual, half)
    }

    /// Truth values that all members know: whether elements are not 0.
    pub(crate) fn known_truth(&self, of: &Array) -> Val<'b> {
        let words = of.data.iter().map(|x| u128::from(*x != 0.0));
        self.b.constant(Tensor::from_words(Scalar::Bool, &of.lengths, words))
    }

    /// The node of a layer's scale.
    pub(crate) fn node(&self, at: usize) -> usize {
        self.held[at].placed.node
    }

    /// A layer's value at `times` the scale of another node. If scales are tied otherwise, it is
    /// multiplied by a factor of the owner's.
    pub(crate) fn aligned(&mut self, at: usize, to: usize, times: f64, place: usize) -> Val<'b> {
        let (val, node) = (self.value(at), self.node(at));
        if to == Classes::NOMINAL && times == 1.0 && self.ones.contains(&node) {
            return val << u16::from(self.numbers.frac);
        }
        if self.classes.tie(node, to, times) {
            return val;
        }
        let from = self.classes.fresh();
        let tied = self.classes.tie(from, to, times);
        assert!(tied, "what is fresh is tied to nothing");
        let recipe = Recipe {
            frac: self.numbers.cut,
            to: Some(from),
            from: Some(node),
            shift: self.numbers.cut,
            ..Recipe::of(at, WeightPart::One, vec![])
        };
        let mut name = format!("align{place}_");
        // Operators with several operands may use the same places as other operators.
        while self.recipes.iter().any(|(own, _)| *own == format!("{name}{at}")) {
            name.push('_');
        }
        let factor = self.weights(&name, recipe);
        (val * factor).rescale(self.numbers.cut)
    }

    /// Ties the scale of a node to 1; false if it is tied otherwise.
    pub(crate) fn tie_to_one(&mut self, node: usize) -> bool {
        let tied = self.classes.tie(node, Classes::NOMINAL, 2f64.powi(-i32::from(self.numbers.frac)));
        if tied {
            self.ones.push(node);
        }
        tied
    }

    /// A layer's value at the nominal scale.
    pub(crate) fn at_nominal(&mut self, at: usize, place: usize) -> Val<'b> {
        self.aligned(at, Classes::NOMINAL, 1.0, place)
    }

    /// An operand at the nominal scale, along the result's axes: weights of the layer, or else the
    /// value of `read`. `place` is as in [`Self::aligned`].
    pub(crate) fn operand(
        &mut self,
        site: &Site<'_>,
        weights: &Option<Arc<Array>>,
        read: usize,
        place: usize,
    ) -> Val<'b> {
        let Some(weights) = weights else {
            let val = self.at_nominal(read, place);
            return self.spread(val, read, site.lengths);
        };
        let (frac, own) = (self.numbers.frac, weights.lengths.clone());
        let nominal = Some(Classes::NOMINAL);
        let recipe = Recipe { frac, to: nominal, ..Recipe::of(site.at, WeightPart::Terms, own.clone()) };
        along(self.weights("terms", recipe), &own, site.lengths)
    }

    /// Weights that convert the scale of one layer to that of a node, wide.
    pub(crate) fn factors(&mut self, at: usize, lengths: Vec<usize>, from: usize, to: usize) -> Val<'b> {
        let (frac, from) = (self.numbers.cut, Some(self.node(from)));
        let recipe =
            Recipe { frac, to: Some(to), from, shift: frac, ..Recipe::of(at, WeightPart::Factors, lengths) };
        self.weights("weights", recipe)
    }

    /// Whether half a step is added to the wide value of a layer with weights: always, if the value
    /// is cut.
    pub(crate) fn halved(&self, at: usize) -> bool {
        !self.whole.contains(&at)
    }

    /// The summand of a wide value.
    pub(crate) fn terms(&mut self, at: usize, lengths: Vec<usize>, to: usize) -> Val<'b> {
        let (frac, shift, half) = (self.wide_frac(), self.numbers.cut, self.halved(at));
        let recipe = Recipe { frac, to: Some(to), shift, half, ..Recipe::of(at, WeightPart::Terms, lengths) };
        self.weights("bias", recipe)
    }

    /// Weights for values at the nominal scale: factors with as many fractional bits as are cut,
    /// and matching terms.
    pub(crate) fn of_nominal(&mut self, at: usize, lengths: Vec<usize>) -> [Val<'b>; 2] {
        let (cut, nominal) = (self.numbers.cut, Some(Classes::NOMINAL));
        let factors =
            Recipe { frac: cut, shift: cut, ..Recipe::of(at, WeightPart::Factors, lengths.clone()) };
        let terms = Recipe {
            frac: self.wide_frac(),
            to: nominal,
            shift: cut,
            half: true,
            ..Recipe::of(at, WeightPart::Terms, lengths)
        };
        [self.weights("weights", factors), self.weights("bias", terms)]
    }

    /// The epsilon of a layer normalization, in the form in which it is added to sums of squares of
    /// another layer's values.
    pub(crate) fn least(&mut self, at: usize, from: usize, squares: Squares) -> Val<'b> {
        let (frac, from) = (2 * self.numbers.frac, Some(self.node(from)));
        let recipe =
            Recipe { frac, from, squares: Some(squares), ..Recipe::of(at, WeightPart::Least, vec![]) };
        self.weights("least", recipe)
    }

    /// A zero of a value's type.
    pub(crate) fn zero(&self, of: Val<'b>) -> Val<'b> {
        let scalar = of.ty().map_or(self.nominal(), |ty| ty.scalar);
        self.b.constant(Tensor::zeros(scalar, &[]))
    }

    /// A layer's value repeated along axes of length 1, and along new first axes.
    pub(crate) fn spread(&self, x: Val<'b>, at: usize, to: &[usize]) -> Val<'b> {
        along(x, self.lengths(at), to)
    }
}
