//! A network: layers with their weights, each behind those that it reads.

use crate::operators::{Kind, Role};

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name in the file.
    pub name: String,
    /// Its operation.
    pub kind: Kind,
    /// The layers that it reads, all before it.
    pub reads: Vec<usize>,
    /// Lengths of its value.
    pub lengths: Vec<usize>,
}

/// A network of checked shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Layers in order.
    pub layers: Vec<Layer>,
    /// Names and layers of inputs.
    pub inputs: Vec<(String, usize)>,
    /// Names and layers of outputs.
    pub outputs: Vec<(String, usize)>,
}

impl Network {
    /// Weights of all layers.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.layers.iter().map(|layer| layer.kind.weights()).sum()
    }

    /// Products of a layer, with weights or of values.
    #[must_use]
    pub fn products(&self, layer: usize) -> u64 {
        let Layer { kind, reads, lengths, .. } = &self.layers[layer];
        let made = lengths.iter().product::<usize>() as u64;
        let reads: Vec<&[usize]> = reads.iter().map(|read| &self.layers[*read].lengths[..]).collect();
        kind.def().products(made, &reads)
    }

    /// The number of places among which a layer's elements are the first of the greatest, where they come from an ArgMax.
    #[must_use]
    pub fn places(&self, layer: usize) -> Option<usize> {
        let Layer { kind, reads, .. } = &self.layers[layer];
        match kind.def().role() {
            Role::Places(axis) => Some(self.layers[reads[0]].lengths[axis]),
            Role::Moves => self.places(reads[0]),
            _ => None,
        }
    }

    /// The classes that the output is about: those that it is places of, or else the elements of each sample along its first axis.
    /// None of an output of one axis, which says nothing of what is along it.
    #[must_use]
    pub fn classes(&self) -> Option<usize> {
        let (_, at) = self.outputs.first()?;
        let lengths = &self.layers[*at].lengths;
        self.places(*at).or_else(|| (lengths.len() >= 2).then(|| lengths[1..].iter().product()))
    }

    /// How many layers, or outputs, read each layer.
    pub(crate) fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.layers.len()];
        let reads = self.layers.iter().flat_map(|layer| &layer.reads);
        reads.chain(self.outputs.iter().map(|(_, at)| at)).for_each(|at| readers[*at] += 1);
        readers
    }
}
