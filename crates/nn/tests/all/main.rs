//! Networks: files, layers, fixed point compared with floating point, and runs of three and two
//! parties compared with the plain evaluator.

mod bad;
mod choice;
mod conformance;
mod files;
mod fixed;
mod floats;
mod large;
mod made;
mod oracle;
mod parties;
mod pipelines;
mod published;
mod secrecy;
mod signs;
mod three;
mod trained;
mod two;
mod widths;

use hushwire_nn::{
    Array, Network,
    onnx::{self, Model},
    zoo,
};

/// A model's network, after writing and reading its file.
fn network(model: &Model, input: Option<&[usize]>) -> Network {
    let read = Model::read(&model.to_bytes()).unwrap();
    Network::new(read, input).unwrap_or_else(|e| panic!("{e}"))
}

/// The larger published architectures for small images, which leave one pixel to the last
/// convolutions.
fn larger() -> impl Iterator<Item = Network> {
    ["resnet50", "densenet121"].into_iter().map(|name| {
        let mut model = zoo::make(name, 1).unwrap();
        model.graph.inputs[0].lengths = Some([1, 3, 32, 32].map(onnx::Dim::Known).to_vec());
        network(&model, None)
    })
}

fn sample(network: &Network, seed: u64) -> Array {
    zoo::sample(&network.layers[network.inputs[0].1].lengths, seed)
}

/// The error of a model that is refused.
fn refused(model: &Model) -> String {
    let read = Model::read(&model.to_bytes()).and_then(|model| Network::new(model, None));
    read.expect_err("it is refused").to_string()
}
