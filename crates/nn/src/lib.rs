//! Neural networks from ONNX files, as computations on fixed-point numbers.
//!
//! ```text
//! ONNX ── Model::read ──► Model ── Network::new ──► Network ─┬─► Floats     in floating point, the oracle
//!                                                             │
//!          shapes alone ──────────────── Secure::new ◄────────┤
//!                │ Computation: what all members agree on     │
//!                ▼                                            ▼ weights, calibration
//!          evaluate, three parties, …  ◄── inputs ──── Secure::weights   the owner's alone
//! ```
//!
//! **Secrecy.** The [`Computation`](hushwire_compute::Computation) of a network follows from its operators, shapes and the
//! [`Numbers`] alone: weights, biases, bounds of clips and the scales of values are private inputs of the model's owner. Two networks
//! of one architecture have one digest.
//!
//! **Numbers.** Every value has a scale, a positive number by which it is larger in the ring than in the network. Inputs and what
//! functions such as the sigmoid take have the scale 2^frac, which all know; any other scale is the owner's choice from calibration, is
//! part of the weights, and is never told. See [`Secure`]. The ring is the smallest in which results are near those in floating point on
//! sample inputs ([`Wanted`]): that choice alone follows from weights, and all members learn it.
#![forbid(unsafe_code)]

mod array;
mod choice;
mod convolved;
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
pub use choice::{Choice, Finding, Wanted, judged};
pub use distance::Distance;
pub use float::Floats;
pub use hushwire_fault::Fault;
pub use network::{Layer, Network};
pub use numbers::{INPUT, Members, Numbers};
pub use operators::{Conv, Kind, Pool, reference};
pub use report::{LayerReport, Report};
pub use samples::{Range, Samples};
pub use secure::{Secure, decode, encode};
pub use top::{Labels, Likely};
