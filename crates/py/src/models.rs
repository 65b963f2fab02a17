//! Neural networks on sessions: the owner's weights, the client's input, and the network that all
//! parties agree on.

use crate::{compute::Computation, errors::raised, running::aside};
use hushwire::{
    Fault, compute,
    compute::Tensor,
    job::{InputPlace, network_in, samples},
    nn::{Array, INPUT, Members, OUTPUT, Samples, Secure, Wanted, decode, encode_input},
};
use pyo3::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

struct ModelParts {
    network: hushwire::nn::Network,
    secure: Secure,
    samples: Samples,
    computation: Arc<compute::Computation>,
}

/// A model at its owner. All parties know the network, and only the owner knows the weights.
#[pyclass(frozen, module = "hushwire._native")]
#[derive(Clone)]
pub(crate) struct Network(Arc<ModelParts>);

/// Returns an array of floats of 4 bytes.
///
/// # Errors
/// The number of bytes does not match the shape, or an element is not a finite number.
pub(crate) fn array(lengths: Vec<usize>, bytes: &[u8]) -> Result<Array, Fault> {
    let count = lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length));
    if count.and_then(|n| n.checked_mul(4)) != Some(bytes.len()) {
        let cause = "its bytes are not those of its shape";
        return Err(Fault::usage("reading the input", cause, "bring a whole array"));
    }
    let number = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap_or_default());
    let array = Array::new(&lengths, bytes.chunks_exact(4).map(number).collect());
    array.check_finite("the input")?;
    Ok(array)
}

/// Returns the inputs that this process brings to a network's computation.
///
/// # Errors
/// The model is of another network, or the input has another shape than the network takes.
pub(crate) fn inputs(
    network: &compute::Computation,
    model: Option<&Network>,
    input: Option<&Array>,
) -> Result<BTreeMap<String, Tensor>, Fault> {
    let mut all = BTreeMap::new();
    if let Some(Network(parts)) = model {
        if *parts.computation != *network {
            let cause = "the model has another architecture than the network that was agreed on";
            return Err(Fault::usage("reading the model", cause, "bring the model of that network"));
        }
        let greatest = parts.samples.greatest(&parts.network, &parts.secure);
        all = parts.secure.weights(&parts.network, greatest, parts.samples.headroom())?;
    }
    if let Some(input) = input {
        all.insert(INPUT.to_owned(), encode_input(network, INPUT, input)?);
    }
    Ok(all)
}

/// Returns the output, if this process learns it.
pub(crate) fn output(learnt: &BTreeMap<String, Tensor>) -> Option<Array> {
    learnt.get(OUTPUT).map(decode)
}

#[pymethods]
impl Network {
    /// Reads a model for an input of the given shape. Its owner and client are members with these
    /// names.
    #[new]
    fn new(
        py: Python<'_>,
        onnx: Vec<u8>,
        lengths: Option<Vec<usize>>,
        owner: String,
        client: String,
    ) -> PyResult<Self> {
        let read = move || {
            let network = network_in(&InputPlace::memory(onnx), lengths.as_deref())?;
            let samples = samples(&network, None, None)?;
            let numbers = Wanted::default().chosen(&network, &samples)?.numbers;
            let secure = Secure::new(&network, numbers, &Members { owner, client })?;
            let computation = Arc::new(secure.computation().clone());
            Ok(ModelParts { network, secure, samples, computation })
        };
        let parts = aside(py, read)?;
        let count = parts.computation.inputs().filter(|(name, _)| name.starts_with(INPUT)).count();
        if count != 1 {
            let cause = format!("the network takes {count} inputs, and one can be given here");
            let fault = Fault::usage("reading the model", cause, "run it as a job of kind infer");
            return Err(raised(py, &fault));
        }
        Ok(Self(Arc::new(parts)))
    }

    /// The network's computation, without its weights.
    #[getter]
    fn computation(&self) -> Computation {
        Computation(self.0.computation.clone())
    }

    fn __repr__(&self) -> String {
        format!("<hushwire network, {} operations>", self.0.computation.nodes().len())
    }
}
