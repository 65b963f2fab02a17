//! Networks of published architectures with random weights, as ONNX files, for trials and for
//! timing, which does not depend on weights. `python/export_onnx.py` exports trained networks.
//!
//! ```text
//! squeezenet          1 × 3 × 227 × 227   SqueezeNet 1.1 (F. Iandola et al., arXiv:1602.07360, and
//!                                         its repository)
//! squeezenet-cifar    1 × 3 × 32 × 32     four fire modules, for ten classes
//! resnet50            1 × 3 × 224 × 224   K. He et al., "Deep residual learning for image
//!                                         recognition", 2016, Table 1
//! densenet121         1 × 3 × 224 × 224   G. Huang et al., "Densely connected convolutional
//!                                         networks", 2017, Table 1
//! ```

mod densenet;
mod random;
mod resnet;
mod squeezenet;
mod writer;

use crate::{Array, Fault, onnx::Model};
use hushwire_fault::code;
pub use random::Random;
use std::fmt::Display;
pub use writer::Writer;

/// The names of the networks.
pub const NAMES: [&str; 4] = ["squeezenet", "squeezenet-cifar", "resnet50", "densenet121"];

/// A network by its name, with random weights from a seed.
///
/// # Errors
/// No network has this name.
pub fn make(name: &str, seed: u64) -> Result<Model, Fault> {
    Ok(match name {
        "squeezenet" => squeezenet::imagenet(seed),
        "squeezenet-cifar" => squeezenet::cifar(seed),
        "resnet50" => resnet::fifty(seed),
        "densenet121" => densenet::one_hundred_twenty_one(seed),
        _ => {
            let fields: [(_, &dyn Display); 2] = [("network", &name), ("known", &NAMES.join(", "))];
            return Err(Fault::filled(code::NETWORK_UNKNOWN, &fields));
        }
    })
}

/// An array of normally distributed numbers, similar to normalized images.
#[must_use]
pub fn sample(lengths: &[usize], seed: u64) -> Array {
    let mut random = Random::new(seed);
    let data = (0..lengths.iter().product()).map(|_| random.normal()).collect();
    Array::new(lengths, data)
}
