//! Layer after layer to operations on shares.

use super::{
    INPUT, Members, Numbers, Placed, Secure,
    recipe::{Part, Recipe},
    value_name,
};
use crate::{Kind, Layer, Network, NnError, Pool, error::shown, scale::Classes};
use hushwire_compute::{Builder, Dim, Member, Op, Reduction, Scalar, Shape, Tensor, Val};

/// A value on its way.
#[derive(Clone, Copy)]
pub(super) struct Held<'b> {
    pub(super) val: Val<'b>,
    placed: Placed,
    /// The value without its lowest bits, once it was asked for.
    cut: Option<Val<'b>>,
}

pub(super) struct Lower<'b, 'n> {
    pub(super) b: &'b Builder,
    network: &'n Network,
    pub(super) numbers: Numbers,
    owner: Member,
    recipes: Vec<(String, Recipe)>,
    classes: Classes,
    held: Vec<Held<'b>>,
    /// The layer with weights whose value is the output without having been cut.
    whole: Option<usize>,
}

/// The layer with weights whose wide value becomes the output: behind it there is nothing that
/// cuts.
fn whole(network: &Network, mut at: usize) -> Option<usize> {
    loop {
        let layer = &network.layers[at];
        match layer.kind {
            Kind::Conv(_) | Kind::Dense(..) | Kind::Affine(..) => return Some(at),
            Kind::Relu | Kind::Clip(..) | Kind::MaxPool(_) | Kind::Reshape | Kind::Transpose(_) => {
                at = layer.reads[0];
            }
            _ => return None,
        }
    }
}

/// A shape of known lengths.
pub(super) fn shape(lengths: &[usize]) -> Shape {
    Shape(lengths.iter().map(|n| Dim::Known(*n as u64)).collect())
}

pub(super) fn lowered(
    network: &Network,
    numbers: Numbers,
    members: &Members,
    probe: bool,
) -> Result<Secure, NnError> {
    numbers.check()?;
    let [(_, result)] = network.outputs[..] else {
        let names: Vec<String> = network.outputs.iter().map(|(name, _)| shown(name)).collect();
        let cause = format!("it has {} outputs: {}", names.len(), names.join(", "));
        return Err(NnError::new("the model", cause, "export it with the one that the client is to learn"));
    };
    let b = Builder::new("network");
    let owner = b.member(&members.owner);
    let client = b.member(&members.client);
    let mut lower = Lower {
        b: &b,
        network,
        numbers,
        owner,
        recipes: vec![],
        classes: Classes::new(),
        held: vec![],
        whole: whole(network, result),
    };
    for (at, layer) in network.layers.iter().enumerate() {
        let held = if layer.kind == Kind::Input {
            let val = b.input(INPUT, lower.nominal(), shape(&layer.lengths), client);
            Held::cut_already(val, Classes::NOMINAL)
        } else {
            lower.layer(at, layer)?
        };
        if layer.kind != Kind::Input {
            b.name(&value_name(at, layer), held.val);
        }
        lower.held.push(held);
    }
    if probe {
        for (at, held) in lower.held.iter().enumerate() {
            b.output(&format!("l{at}"), held.val, &[owner]);
        }
    }
    // Names of the file may be of any kind.
    let held = lower.output(result, network.layers.len());
    b.output("output", held, &[client]);
    let placed = lower.held.iter().map(|held| held.placed).collect();
    let Lower { recipes, classes, .. } = lower;
    Ok(Secure { computation: b.finish()?, numbers, recipes, classes, placed })
}

impl<'b> Held<'b> {
    fn cut_already(val: Val<'b>, node: usize) -> Self {
        Held { val, placed: Placed { node, wide: false, half: false }, cut: Some(val) }
    }

    fn wide(val: Val<'b>, node: usize, half: bool) -> Self {
        Held { val, placed: Placed { node, wide: true, half }, cut: None }
    }

    /// An operation that keeps the scale.
    fn with(self, val: Val<'b>) -> Self {
        let cut = if self.placed.wide { None } else { Some(val) };
        Held { val, cut, ..self }
    }
}

impl<'b> Lower<'b, '_> {
    pub(super) fn fixed(&self, frac: u8) -> Scalar {
        Scalar::Fixed { bits: self.numbers.bits, frac }
    }

    /// Values of the nominal scale.
    pub(super) fn nominal(&self) -> Scalar {
        self.fixed(self.numbers.frac)
    }

    fn wide_frac(&self) -> u8 {
        self.numbers.frac + self.numbers.cut
    }

    /// An input of the owner.
    fn weights(&mut self, name: &str, recipe: Recipe) -> Val<'b> {
        let (scalar, lengths) = (recipe.scalar(self.numbers), shape(&recipe.lengths));
        let name = format!("{name}{}", recipe.layer);
        self.recipes.push((name.clone(), recipe));
        self.b.input(&name, scalar, lengths, self.owner)
    }

    /// A layer's value at its scale.
    pub(super) fn value(&mut self, at: usize) -> Val<'b> {
        let held = self.held[at];
        if let Some(cut) = held.cut {
            return cut;
        }
        let cut = held.val.rescale(self.numbers.cut);
        self.held[at].cut = Some(cut);
        cut
    }

    fn node(&self, at: usize) -> usize {
        self.held[at].placed.node
    }

    /// A layer's value at `times` the scale of another node, by a factor of the owner's where scales are tied otherwise.
    fn aligned(&mut self, at: usize, to: usize, times: f64, place: usize) -> Val<'b> {
        let (val, node) = (self.value(at), self.node(at));
        if self.classes.tie(node, to, times) {
            return val;
        }
        let from = self.classes.fresh();
        let tied = self.classes.tie(from, to, times);
        assert!(tied, "what is fresh is tied to nothing");
        let recipe = Recipe {
            layer: at,
            part: Part::One,
            lengths: vec![],
            frac: self.numbers.cut,
            to: Some(from),
            from: Some(node),
            shift: self.numbers.cut,
            half: false,
        };
        let factor = self.weights(&format!("align{place}_"), recipe);
        (val * factor).rescale(self.numbers.cut)
    }

    /// A layer's value at the nominal scale.
    pub(super) fn at_nominal(&mut self, at: usize, place: usize) -> Val<'b> {
        self.aligned(at, Classes::NOMINAL, 1.0, place)
    }

    /// A value for the client: at the nominal scale, wide where it is.
    fn output(&mut self, at: usize, place: usize) -> Val<'b> {
        let held = self.held[at];
        if matches!(self.network.layers[at].kind, Kind::ArgMax(_)) {
            return held.val;
        }
        if self.classes.tie(held.placed.node, Classes::NOMINAL, 1.0) {
            return held.val;
        }
        self.at_nominal(at, place)
    }

    fn layer(&mut self, at: usize, layer: &Layer) -> Result<Held<'b>, NnError> {
        let from = layer.reads[0];
        let held = self.held[from];
        let lengths = &layer.lengths;
        Ok(match &layer.kind {
            Kind::Input => held,
            Kind::Conv(conv) => {
                let x = self.value(from);
                let node = self.classes.fresh();
                let w = self.factors(at, conv.weights.lengths.clone(), from, node);
                let bias = self.terms(at, vec![1, lengths[1], 1, 1], node);
                let sums = x.conv2d(w, conv.steps, conv.groups as u32);
                Held::wide(sums + bias.broadcast(shape(lengths)), node, self.halved(at))
            }
            Kind::Dense(weights, bias) => {
                let x = self.value(from);
                let node = self.classes.fresh();
                let w = self.factors(at, weights.lengths.clone(), from, node);
                let bias = self.terms(at, vec![1, bias.len()], node);
                let outputs = weights.lengths[1];
                let rows = lengths.iter().product::<usize>() / outputs;
                let x = x.reshape(shape(&[rows, weights.lengths[0]]));
                let sums = x.matmul(w) + bias.broadcast(shape(&[rows, outputs]));
                Held::wide(sums.reshape(shape(lengths)), node, self.halved(at))
            }
            Kind::Affine(scale, _) => {
                let x = self.value(from);
                let node = self.classes.fresh();
                let mut along = vec![1; lengths.len()];
                along[1] = scale.len();
                let w = self.factors(at, along.clone(), from, node);
                let bias = self.terms(at, along, node);
                Held::wide(
                    x * w.broadcast(shape(lengths)) + bias.broadcast(shape(lengths)),
                    node,
                    self.halved(at),
                )
            }
            // Of its bits: three parties then cut it for nothing, and make one number of what is left.
            Kind::Relu => held.with(held.val.max(self.zero(held.val))),
            Kind::Clip(low, high) => self.clipped(at, held, *low, *high),
            Kind::MaxPool(pool) => {
                let size = pool.size.map(|n| n as u32);
                held.with(held.val.pool(Reduction::Max, size, pool.steps))
            }
            Kind::AveragePool(pool, around) => self.averaged(from, layer, pool, *around),
            Kind::Add => {
                let x = self.value(from);
                let node = self.node(from);
                let y = self.aligned(layer.reads[1], node, 1.0, at);
                Held::cut_already(
                    self.spread(x, from, lengths) + self.spread(y, layer.reads[1], lengths),
                    node,
                )
            }
            Kind::AddWeights(weights) => {
                let x = self.value(from);
                let node = self.node(from);
                let own = weights.lengths.clone();
                let frac = self.numbers.frac;
                let recipe = Recipe { frac, to: Some(node), ..Recipe::of(at, Part::Terms, own.clone()) };
                let y = self.weights("terms", recipe);
                let y = Self::along(y, &own, lengths);
                Held::cut_already(self.spread(x, from, lengths) + y, node)
            }
            Kind::Concat(axis) => {
                let node = self.node(from);
                let first = self.value(from);
                let rest = layer.reads[1..].iter().enumerate();
                let rest =
                    rest.map(|(k, read)| self.aligned(*read, node, 1.0, at * 1000 + k)).collect::<Vec<_>>();
                let parts: Vec<Val<'b>> = std::iter::once(first).chain(rest).collect();
                Held::cut_already(self.b.concat(*axis as u8, &parts), node)
            }
            Kind::Reshape => held.with(held.val.reshape(shape(lengths))),
            Kind::Transpose(axes) => {
                let axes = axes.iter().map(|axis| *axis as u8).collect();
                held.with(self.b.apply(Op::Transpose(axes), &[held.val]))
            }
            Kind::Pad(around) => {
                let x = self.value(from);
                let own = self.network.layers[from].lengths.clone();
                Held::cut_already(self.padded(x, own, around), self.node(from))
            }
            Kind::ArgMax(axis) => {
                let places = held.val.reduce(Reduction::ArgMax, *axis as u8);
                Held::cut_already(places.reshape(shape(lengths)), self.classes.fresh())
            }
            Kind::Sigmoid
            | Kind::Tanh
            | Kind::Gelu(_)
            | Kind::Softmax(_)
            | Kind::LayerNorm(..)
            | Kind::MatMul => Held::cut_already(self.function(at, layer)?, Classes::NOMINAL),
        })
    }

    /// Weights that take the scale of one layer to that of a node, wide.
    fn factors(&mut self, at: usize, lengths: Vec<usize>, from: usize, to: usize) -> Val<'b> {
        let (frac, from) = (self.numbers.cut, Some(self.node(from)));
        let recipe =
            Recipe { frac, to: Some(to), from, shift: frac, ..Recipe::of(at, Part::Factors, lengths) };
        self.weights("weights", recipe)
    }

    /// Whether the wide value of a layer with weights has half a step on top: wherever it is cut.
    fn halved(&self, at: usize) -> bool {
        self.whole != Some(at)
    }

    /// The summand of a wide value.
    fn terms(&mut self, at: usize, lengths: Vec<usize>, to: usize) -> Val<'b> {
        let (frac, shift, half) = (self.wide_frac(), self.numbers.cut, self.halved(at));
        let recipe = Recipe { frac, to: Some(to), shift, half, ..Recipe::of(at, Part::Terms, lengths) };
        self.weights("bias", recipe)
    }

    /// Weights of values of the nominal scale: factors with as many fractional bits as are cut, and terms to match.
    pub(super) fn of_nominal(&mut self, at: usize, lengths: Vec<usize>) -> [Val<'b>; 2] {
        let (cut, nominal) = (self.numbers.cut, Some(Classes::NOMINAL));
        let factors = Recipe { frac: cut, shift: cut, ..Recipe::of(at, Part::Factors, lengths.clone()) };
        let terms = Recipe {
            frac: self.wide_frac(),
            to: nominal,
            shift: cut,
            half: true,
            ..Recipe::of(at, Part::Terms, lengths)
        };
        [self.weights("weights", factors), self.weights("bias", terms)]
    }

    /// The epsilon of a layer normalization, as it is added to sums of squares of another layer's values.
    pub(super) fn least(&mut self, at: usize, from: usize) -> Val<'b> {
        let frac = 2 * self.numbers.frac;
        let recipe = Recipe { frac, from: Some(self.node(from)), ..Recipe::of(at, Part::Least, vec![]) };
        self.weights("least", recipe)
    }

    fn zero(&self, of: Val<'b>) -> Val<'b> {
        let scalar = of.ty().map_or(self.nominal(), |ty| ty.scalar);
        self.b.constant(Tensor::zeros(scalar, &[]))
    }

    fn clipped(&mut self, at: usize, held: Held<'b>, low: Option<f32>, high: Option<f32>) -> Held<'b> {
        let Placed { node, wide, half } = held.placed;
        let mut x = held.val;
        for (part, name, bound) in [(Part::Low, "low", low), (Part::High, "high", high)] {
            if bound.is_none() {
                continue;
            }
            let frac = if wide { self.wide_frac() } else { self.numbers.frac };
            let shift = if wide { self.numbers.cut } else { 0 };
            let recipe = Recipe { frac, to: Some(node), shift, half, ..Recipe::of(at, part, vec![]) };
            let bound = self.weights(name, recipe).broadcast(shape(&self.network.layers[at].lengths));
            x = if part == Part::Low { x.max(bound) } else { x.min(bound) };
        }
        held.with(x)
    }

    /// Sums of windows, shifted by as many bits as their count has; what is left of the division is the scale's.
    fn averaged(&mut self, from: usize, layer: &Layer, pool: &Pool, around: bool) -> Held<'b> {
        let x = self.value(from);
        let size = pool.size.map(|n| n as u32);
        let count = pool.size[0] * pool.size[1];
        if !around && pool.steps.padding != [0; 4] {
            // Windows at an edge have fewer elements.
            let node = self.node(from);
            return Held::cut_already(x.pool(Reduction::Mean, size, pool.steps), node);
        }
        assert_eq!(layer.lengths.len(), 4);
        let bits = count.ilog2() as u16;
        let mut sums = x.pool(Reduction::Sum, size, pool.steps);
        if bits > 0 {
            sums = (sums + self.b.number(self.nominal(), 1 << (bits - 1))) >> bits;
        }
        let node = self.classes.fresh();
        let tied = self.classes.tie(node, self.node(from), count as f64 / f64::from(1u32 << bits));
        assert!(tied, "what is fresh is tied to nothing");
        Held::cut_already(sums, node)
    }

    /// A value repeated along axes of length 1, and along axes before its first.
    fn spread(&self, x: Val<'b>, at: usize, to: &[usize]) -> Val<'b> {
        Self::along(x, &self.network.layers[at].lengths, to)
    }

    fn along(x: Val<'b>, own: &[usize], to: &[usize]) -> Val<'b> {
        if own == to {
            return x;
        }
        let padded = [vec![1; to.len() - own.len()], own.to_vec()].concat();
        x.reshape(shape(&padded)).broadcast(shape(to))
    }

    fn padded(&self, mut x: Val<'b>, mut lengths: Vec<usize>, around: &[[usize; 2]]) -> Val<'b> {
        for (axis, [before, after]) in around.iter().enumerate() {
            let zeros = |n: usize| {
                let lengths: Vec<usize> =
                    lengths.iter().enumerate().map(|(k, own)| if k == axis { n } else { *own }).collect();
                self.zero(x).broadcast(shape(&lengths))
            };
            let mut parts = vec![x];
            if *before > 0 {
                parts.insert(0, zeros(*before));
            }
            if *after > 0 {
                parts.push(zeros(*after));
            }
            if parts.len() > 1 {
                x = self.b.concat(axis as u8, &parts);
                lengths[axis] += before + after;
            }
        }
        x
    }
}

impl Recipe {
    /// Weights as they are.
    fn of(layer: usize, part: Part, lengths: Vec<usize>) -> Self {
        Recipe { layer, part, lengths, frac: 0, to: None, from: None, shift: 0, half: false }
    }
}
