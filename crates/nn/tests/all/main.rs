//! Networks: files, layers, fixed point against floating point, and three and two parties against the plain evaluator.

mod bad;
mod files;
mod fixed;
mod floats;
mod large;
mod oracle;
mod published;
mod secrecy;
mod three;
mod trained;
mod two;

use hushwire_nn::{Array, Network, onnx::Model, zoo};

/// A model's network, by way of its file.
fn network(model: &Model, input: Option<&[usize]>) -> Network {
    let read = Model::read(&model.to_bytes()).unwrap();
    Network::new(read, input).unwrap_or_else(|e| panic!("{e}"))
}

fn sample(network: &Network, seed: u64) -> Array {
    zoo::sample(&network.layers[network.inputs[0].1].lengths, seed)
}

/// The error of a model that is refused.
fn refused(model: &Model) -> String {
    let read = Model::read(&model.to_bytes()).and_then(|model| Network::new(model, None));
    read.expect_err("it is refused").to_string()
}
