//! Neural networks from ONNX files, as computations on fixed-point numbers.
//!
//! ```text
//! ONNX ── Model::read ──► Model ── Network::new ──► Network ─┬─► Floats   floating point: oracle
//!                                                             │
//!          shapes alone ──────────────── Secure::new ◄────────┤
//!                │ Computation: what all members agree on     │
//!                ▼                                            ▼ weights, calibration
//!          evaluate, three parties, …  ◄── inputs ──── Secure::weights   the owner's alone
//! ```
//!
//! **Secrecy.** The [`Computation`](hushwire_compute::Computation) of a network follows from its
//! operators, shapes and [`Numbers`] alone. Weights, biases, bounds of clips and the scales of
//! values are private inputs of the model's owner. Two networks with one architecture have one
//! digest.
//!
//! **Numbers.** Every value has a scale, a positive factor between its number in the ring and its
//! value in the network. Inputs, and operands of functions such as the sigmoid, have the scale
//! 2^frac, which all members know. The owner chooses all other scales by calibration; they are part
//! of the weights and are never revealed. See [`Secure`]. The ring is the smallest in which results
//! are near those in floating point on sample inputs ([`Wanted`]). Only this choice follows from
//! weights, and all members learn it.
#![forbid(unsafe_code)]

mod array;
mod choice;
mod convolved;
mod data;
mod distance;
mod error;
mod float;
mod import;
mod network;
pub mod npy;
mod numbers;
pub mod onnx;
mod operators;
#[cfg(test)]
#[path = "../tests/all/parties.rs"]
mod parties;
mod passes;
mod report;
mod samples;
mod scale;
mod secure;
mod top;
mod windows;
pub mod zoo;

pub use array::Array;
pub use choice::{Choice, Finding, Wanted, judged, judged_by};
pub use data::{DataReport, DataResult};
pub use distance::Distance;
pub use float::{Floats, Inputs};
pub use hushwire_fault::Fault;
pub use import::{Assumed, Given, merged};
pub use network::{Layer, Network};
pub use numbers::{INPUT, Members, Numbers, OUTPUT, WideLayers, WideRing};
pub use operators::{Conv, Kind, Pool, reference};
pub use report::{LayerReport, NetworkReport};
pub use samples::{SampleRange, Samples, ValueSizes};
pub use secure::{Secure, decode, encode, encode_input, widths::LayerWidth};
pub use top::{Labels, Likely};
