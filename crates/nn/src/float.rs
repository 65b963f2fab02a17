//! Networks in floating point: the oracle for results on shares, and the source of scales.

use crate::error::{shape, shown};
use crate::{Array, Fault, Kind, Network, operators::Input};
use hushwire_fault::code;
use std::sync::Arc;

/// A network's values in floating point.
#[derive(Clone)]
pub struct Floats {
    /// The value of each layer; empty if it was not kept.
    values: Vec<Arc<Array>>,
    /// The greatest absolute value of an element, for each layer. Layers that are no outputs may
    /// have elements that are not finite, which are left out.
    greatest: Vec<f32>,
    /// See [`Floats::root`].
    roots: Vec<f32>,
}

/// The arrays of a network's inputs, in the network's order: a single one for most networks.
pub trait Inputs {
    /// The arrays.
    fn arrays(&self) -> &[Array];
}

impl Inputs for Array {
    fn arrays(&self) -> &[Array] {
        std::slice::from_ref(self)
    }
}

impl Inputs for [Array] {
    fn arrays(&self) -> &[Array] {
        self
    }
}

impl Inputs for Vec<Array> {
    fn arrays(&self) -> &[Array] {
        self
    }
}

impl Floats {
    /// Evaluates a network. If `keep` is true, the values of all layers are kept, otherwise only
    /// the values of outputs.
    ///
    /// # Errors
    /// There are more or fewer arrays than inputs, an array has another shape than its input, or an
    /// element is not finite, or no integer where the network takes integers.
    pub fn new(network: &Network, inputs: &(impl Inputs + ?Sized), keep: bool) -> Result<Self, Fault> {
        Self::limited(network, inputs, keep, f32::INFINITY)
    }

    /// Evaluates a network in which no power of e is above `most`.
    pub(crate) fn limited(
        network: &Network,
        inputs: &(impl Inputs + ?Sized),
        keep: bool,
        most: f32,
    ) -> Result<Self, Fault> {
        let inputs = inputs.arrays();
        check(network, inputs)?;
        // Layers of inputs are in the order of the network's inputs.
        let mut next = inputs.iter();
        let mut readers = network.readers();
        let mut values: Vec<Arc<Array>> = Vec::with_capacity(network.layers.len());
        let (mut greatest, mut roots) = (vec![], vec![]);
        for (at, layer) in network.layers.iter().enumerate() {
            let reads: Vec<Arc<Array>> = layer.reads.iter().map(|at| values[*at].clone()).collect();
            let def = layer.kind.def();
            let made = match layer.kind {
                Kind::Input(_) => next.next().cloned().unwrap_or_default(),
                Kind::Unary(function) if function.is_exp() => {
                    def.value(&reads, &layer.lengths).each(|x| x.min(most))
                }
                _ => def.value(&reads, &layer.lengths),
            };
            let is_output = network.outputs.iter().any(|(_, output)| *output == at);
            greatest.push(if is_output { made.greatest() } else { made.greatest_finite() });
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

    /// The value of a layer. It is an empty array if it was not kept.
    #[must_use]
    pub fn value(&self, layer: usize) -> &Array {
        &self.values[layer]
    }

    /// The greatest absolute value of an element, for each layer.
    #[must_use]
    pub fn greatest(&self) -> &[f32] {
        &self.greatest
    }

    /// For a layer normalization, the greatest root of a row's sum of squared distances from its
    /// mean; 0 for other layers.
    pub(crate) fn root(&self, layer: usize) -> f32 {
        self.roots[layer]
    }
}

/// Checks that there is an array for each input of a network.
pub(crate) fn check_count(network: &Network, inputs: &[Array]) -> Result<(), Fault> {
    if inputs.len() == network.inputs.len() {
        return Ok(());
    }
    let names: Vec<String> = network.inputs.iter().map(|(name, _)| shown(name)).collect();
    let cause = format!("there are {} arrays for {} inputs", inputs.len(), names.len());
    let remedy = format!("bring one for each of {}", names.join(", "));
    Err(Fault::new(code::MODEL_FILE, "the inputs", cause, remedy))
}

/// Checks that arrays are the inputs of a network.
fn check(network: &Network, inputs: &[Array]) -> Result<(), Fault> {
    check_count(network, inputs)?;
    for ((name, at), input) in network.inputs.iter().zip(inputs) {
        let wanted = &network.layers[*at].lengths;
        let place = format!("input {name}");
        if *wanted != input.lengths {
            let shapes = (format!("{:?}", input.lengths), format!("{wanted:?}"));
            return Err(shape(shapes, "bring an array of that shape").at(place));
        }
        input.check_finite(&place)?;
        if let Kind::Input(Input { whole: true, .. }) = network.layers[*at].kind
            && let Some(i) = input.data.iter().position(|x| x.fract() != 0.0)
        {
            let (cause, remedy) =
                (format!("element {i} is no integer"), "bring integers, as the model takes them");
            return Err(Fault::new(code::MODEL_FILE, place, cause, remedy));
        }
    }
    Ok(())
}
