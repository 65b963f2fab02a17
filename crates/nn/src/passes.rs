//! Rewrites networks without changing what they compute. The rewrites depend on layers and shapes,
//! never on weights, since others would learn whatever they decided by the owner's weights.

use crate::{
    Array, Kind, Layer, Network,
    operators::{Affine, Conv, Dense},
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

/// Folds numbers of a channel that follow a convolution into its weights. Only backwards: past a
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

/// Moves rectifiers behind a maximum: the greatest of rectified elements is the rectified greatest,
/// and there are fewer of those.
pub(crate) fn rectified_last(network: &Network) -> Network {
    let readers = network.readers();
    let mut new = Rewrite { layers: vec![], places: vec![] };
    // Rectifiers that wait for the pooling layer that is their only reader.
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
