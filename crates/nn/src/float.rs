//! Networks in floating point: the oracle for results on shares, and the source of scales.

use crate::error::shape;
use crate::{Array, Fault, Kind, Network};
use std::sync::Arc;

/// A network's values in floating point.
pub struct Floats {
    /// The value of each layer; empty if it was not kept.
    values: Vec<Arc<Array>>,
    /// The greatest absolute value of an element, for each layer.
    greatest: Vec<f32>,
    /// For each layer normalization: the greatest root of a row's sum of squared distances from its
    /// mean.
    roots: Vec<f32>,
}

impl Floats {
    /// Evaluates a network. `keep` says whether the values of all layers are kept, or only those of
    /// outputs.
    ///
    /// # Errors
    /// The input has other lengths than the network's, or an element that is not finite.
    pub fn new(network: &Network, input: &Array, keep: bool) -> Result<Self, Fault> {
        check(network, input)?;
        let mut readers = network.readers();
        let mut values: Vec<Arc<Array>> = Vec::with_capacity(network.layers.len());
        let (mut greatest, mut roots) = (vec![], vec![]);
        for layer in &network.layers {
            let reads: Vec<Arc<Array>> = layer.reads.iter().map(|at| values[*at].clone()).collect();
            let def = layer.kind.def();
            let made = match layer.kind {
                Kind::Input(_) => input.clone(),
                _ => def.value(&reads, &layer.lengths),
            };
            greatest.push(made.greatest());
            roots.push(reads.first().map_or(0.0, |x| def.root(x)));
            values.push(Arc::new(made));
            for at in layer.reads.iter().filter(|_| !keep) {
                readers[*at] -= 1;
                if readers[*at] == 0 {
                    values[*at] = Arc::default();
                }
            }
        }
        Ok(Floats { values, greatest, roots })
    }

    /// The value of a layer that was kept.
    #[must_use]
    pub fn value(&self, layer: usize) -> &Array {
        &self.values[layer]
    }

    /// The greatest absolute value of an element, for each layer.
    #[must_use]
    pub fn greatest(&self) -> &[f32] {
        &self.greatest
    }

    pub(crate) fn root(&self, layer: usize) -> f32 {
        self.roots[layer]
    }
}

/// Checks that an array is an input of a network.
pub(crate) fn check(network: &Network, input: &Array) -> Result<(), Fault> {
    let (name, at) = &network.inputs[0];
    let wanted = &network.layers[*at].lengths;
    if *wanted != input.lengths {
        let shapes = (format!("{:?}", input.lengths), format!("{wanted:?}"));
        return Err(shape(shapes, "bring an array of that shape").at(format_args!("input {name}")));
    }
    input.check_finite(&format!("input {name}"))
}
