//! A network: layers with their weights, each after the layers that it reads.

use crate::{
    numbers::{INPUT, OUTPUT},
    operators::{Kind, ScaleRole},
};

/// A layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name in the file.
    pub name: String,
    /// Its operation.
    pub kind: Kind,
    /// The layers that it reads, all before it.
    pub reads: Vec<usize>,
    /// The lengths of its value.
    pub lengths: Vec<usize>,
}

/// A network whose shapes are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// The layers, in order.
    pub layers: Vec<Layer>,
    /// The names and layers of inputs.
    pub inputs: Vec<(String, usize)>,
    /// The names and layers of outputs.
    pub outputs: Vec<(String, usize)>,
}

impl Network {
    /// The number of weights of all layers.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.layers.iter().map(|layer| layer.kind.weights()).sum()
    }

    /// The number of products of a layer, with weights or of values.
    #[must_use]
    pub fn products(&self, layer: usize) -> u64 {
        let Layer { kind, reads, lengths, .. } = &self.layers[layer];
        let made = lengths.iter().product::<usize>() as u64;
        let reads: Vec<&[usize]> = reads.iter().map(|read| &self.layers[*read].lengths[..]).collect();
        kind.def().products(made, &reads)
    }

    /// For a layer of places: the number of places among which each element names the first of the
    /// greatest. `None` if the layer does not come from an ArgMax.
    #[must_use]
    pub fn places(&self, layer: usize) -> Option<usize> {
        let Layer { kind, reads, .. } = &self.layers[layer];
        match kind.def().role() {
            ScaleRole::Places(axis) => Some(self.layers[reads[0]].lengths[axis]),
            ScaleRole::Moves => self.places(reads[0]),
            _ => None,
        }
    }

    /// The number of classes that the output distinguishes. It is the number of places that its
    /// elements can name or, otherwise, the number of elements of each sample along its first axis.
    /// `None` if the output has one axis, whose meaning is unknown.
    #[must_use]
    pub fn classes(&self) -> Option<usize> {
        let (_, at) = self.outputs.first()?;
        let lengths = &self.layers[*at].lengths;
        self.places(*at).or_else(|| (lengths.len() >= 2).then(|| lengths[1..].iter().product()))
    }

    /// The names of inputs in computations and job files. The first is `input`; the name of another
    /// one is `input` followed by its name in the model.
    #[must_use]
    pub fn input_names(&self) -> Vec<String> {
        plain_names(INPUT, &self.inputs)
    }

    /// The names of outputs in computations and job files. The first is `output`; the name of
    /// another one is `output` followed by its name in the model.
    #[must_use]
    pub fn output_names(&self) -> Vec<String> {
        plain_names(OUTPUT, &self.outputs)
    }

    /// Whether the network rounds sums of products to whole numbers, as quantized models do. This
    /// depends on its operators and not on its weights.
    pub(crate) fn is_quantized(&self) -> bool {
        self.layers.iter().any(|layer| matches!(layer.kind, Kind::Whole(_)))
    }

    /// The number of readers of each layer, counting layers and outputs.
    pub(crate) fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.layers.len()];
        let reads = self.layers.iter().flat_map(|layer| &layer.reads);
        reads.chain(self.outputs.iter().map(|(_, at)| at)).for_each(|at| readers[*at] += 1);
        readers
    }
}

/// Names of letters, digits and underscores; the first one is `first`.
fn plain_names(first: &str, of: &[(String, usize)]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (k, (name, _)) in of.iter().enumerate() {
        if k == 0 {
            names.push(first.to_owned());
            continue;
        }
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut plain = format!("{first}_{}", name.chars().take(48).map(plain).collect::<String>());
        if names.contains(&plain) {
            plain += &format!("_{k}");
        }
        names.push(plain);
    }
    names
}
