//! Rewrites networks without changing their results. The rewrites depend on layers and shapes,
//! never on weights: other members would learn every fact about the owner's weights on which they
//! depend.

use crate::{
    Array, Kind, Layer, Network,
    operators::{Affine, Conv, Dense, Mul},
};
use std::sync::Arc;

/// A network under construction from another one.
struct Rewrite {
    layers: Vec<Layer>,
    /// The new index of each old layer.
    places: Vec<usize>,
}

impl Rewrite {
    fn push(&mut self, layer: Layer) -> usize {
        self.layers.push(layer);
        self.layers.len() - 1
    }

    /// A layer with renumbered operands.
    fn moved(&self, layer: &Layer) -> Layer {
        Layer { reads: layer.reads.iter().map(|at| self.places[*at]).collect(), ..layer.clone() }
    }

    fn finish(self, from: &Network) -> Network {
        let new = |all: &[(String, usize)]| {
            all.iter().map(|(name, at)| (name.clone(), self.places[*at])).collect::<Vec<_>>()
        };
        let (inputs, outputs) = (new(&from.inputs), new(&from.outputs));
        Network { name: from.name.clone(), layers: self.layers, inputs, outputs }
    }
}

/// A layer whose weights absorb a factor and a summand for each output.
fn absorbed(kind: &Kind, scale: &[f32], shift: &[f32]) -> Option<Kind> {
    let bias = |bias: &[f32]| Arc::new((0..bias.len()).map(|o| bias[o] * scale[o] + shift[o]).collect());
    match kind {
        Kind::Conv(conv) => {
            let mut weights = Array::clone(&conv.weights);
            let each = weights.data.len() / scale.len().max(1);
            for (filter, scale) in weights.data.chunks_mut(each.max(1)).zip(scale) {
                filter.iter_mut().for_each(|w| *w *= scale);
            }
            let (weights, bias) = (Arc::new(weights), bias(&conv.bias));
            Some(Kind::Conv(Conv { weights, bias, ..conv.clone() }))
        }
        Kind::Dense(Dense { weights, bias: before }) if before.len() == scale.len() => {
            let mut weights = Array::clone(weights);
            for row in weights.data.chunks_mut(scale.len().max(1)) {
                row.iter_mut().zip(scale).for_each(|(w, scale)| *w *= scale);
            }
            Some(Kind::Dense(Dense { weights: Arc::new(weights), bias: bias(before) }))
        }
        _ => None,
    }
}

/// Folds numbers for channels after a convolution into its weights. It only folds backwards: past a
/// rectifier the sign of a factor would show.
pub(crate) fn folded(network: &Network) -> Network {
    let readers = network.readers();
    let mut new = Rewrite { layers: vec![], places: vec![] };
    for layer in &network.layers {
        if let Kind::Affine(Affine { scale, shift }) = &layer.kind
            && readers[layer.reads[0]] == 1
        {
            let at = new.places[layer.reads[0]];
            // Channels are axis 1. A product of matrices has its outputs along the last axis, which
            // is axis 1 only if there are two.
            let fits = matches!(new.layers[at].kind, Kind::Conv(_)) || layer.lengths.len() == 2;
            if let Some(kind) = absorbed(&new.layers[at].kind, scale, shift).filter(|_| fits) {
                new.layers[at].kind = kind;
                new.places.push(at);
                continue;
            }
        }
        let moved = new.moved(layer);
        let at = new.push(moved);
        new.places.push(at);
    }
    new.finish(network)
}

/// The one number that a layer multiplies its value by.
fn factor(layer: &Layer) -> Option<f32> {
    match &layer.kind {
        Kind::Mul(Mul { weights: Some(weights) }) => match weights.data[..] {
            [factor] => Some(factor),
            _ => None,
        },
        _ => None,
    }
}

/// The outputs of a layer whose weights absorb a factor.
fn absorbs(kind: &Kind) -> Option<usize> {
    match kind {
        Kind::Conv(conv) => Some(conv.bias.len()),
        Kind::Dense(dense) => Some(dense.bias.len()),
        _ => None,
    }
}

/// Folds the factors of quantized layers into the weights of neighbouring layers. These factors
/// convert values to whole numbers and back. A factor is folded backwards if no other layer reads
/// the layer before, and forwards if only layers with weights read the product. There is no
/// rectifier in between, so that no sign shows.
pub(crate) fn unscaled(network: &Network) -> Network {
    if !network.is_quantized() {
        return network.clone();
    }
    let mut readers = vec![vec![]; network.layers.len()];
    for (at, layer) in network.layers.iter().enumerate() {
        layer.reads.iter().for_each(|read| readers[*read].push(at));
    }
    let is_output = |at: usize| network.outputs.iter().any(|(_, output)| *output == at);
    let forwards = |at: usize| {
        let (layer, factor) = (&network.layers[at], factor(&network.layers[at])?);
        let mut layers = readers[at].iter().map(|reader| &network.layers[*reader]);
        let same = network.layers[layer.reads[0]].lengths == layer.lengths;
        let all = layers.all(|layer| layer.reads.len() == 1 && absorbs(&layer.kind).is_some());
        (same && all && !is_output(at) && !readers[at].is_empty()).then_some(factor)
    };
    let mut new = Rewrite { layers: vec![], places: vec![] };
    for (at, layer) in network.layers.iter().enumerate() {
        if forwards(at).is_some() {
            new.places.push(new.places[layer.reads[0]]);
            continue;
        }
        let mut moved = new.moved(layer);
        if let (Some(_), [from]) = (absorbs(&layer.kind), &layer.reads[..])
            && let Some(factor) = forwards(*from)
        {
            moved.kind = multiplied(&layer.kind, factor);
        }
        if let (Some(factor), [from]) = (factor(layer), &layer.reads[..])
            && readers[*from].len() == 1
            && !is_output(*from)
            && network.layers[*from].lengths == layer.lengths
        {
            let place = new.places[*from];
            if let Some(outputs) = absorbs(&new.layers[place].kind)
                && let Some(kind) =
                    absorbed(&new.layers[place].kind, &vec![factor; outputs], &vec![0.0; outputs])
            {
                new.layers[place].kind = kind;
                new.places.push(place);
                continue;
            }
        }
        let at = new.push(moved);
        new.places.push(at);
    }
    new.finish(network)
}

/// A layer that multiplies its value by a factor first.
fn multiplied(kind: &Kind, factor: f32) -> Kind {
    let times = |weights: &Array| Arc::new(weights.each(|w| w * factor));
    match kind {
        Kind::Conv(conv) => Kind::Conv(Conv { weights: times(&conv.weights), ..conv.clone() }),
        Kind::Dense(dense) => Kind::Dense(Dense { weights: times(&dense.weights), bias: dense.bias.clone() }),
        other => other.clone(),
    }
}

/// Moves rectifiers behind a maximum. The greatest of rectified elements is the rectified greatest
/// one, and there are fewer of those.
pub(crate) fn rectified_last(network: &Network) -> Network {
    let readers = network.readers();
    let mut new = Rewrite { layers: vec![], places: vec![] };
    // Rectifiers that are moved to the pooling layer that is their only reader.
    let mut waits = vec![false; network.layers.len()];
    for layer in &network.layers {
        if let (Kind::MaxPool(_), [from]) = (&layer.kind, &layer.reads[..])
            && matches!(network.layers[*from].kind, Kind::Relu(_))
            && readers[*from] == 1
        {
            waits[*from] = true;
        }
    }
    for (at, layer) in network.layers.iter().enumerate() {
        let moved = new.moved(layer);
        let place = match layer.reads[..] {
            _ if waits[at] => moved.reads[0],
            [from] if waits[from] => {
                let relu = &network.layers[from];
                let pooled = new.push(moved);
                new.push(Layer { reads: vec![pooled], lengths: layer.lengths.clone(), ..relu.clone() })
            }
            _ => new.push(moved),
        };
        new.places.push(place);
    }
    new.finish(network)
}
