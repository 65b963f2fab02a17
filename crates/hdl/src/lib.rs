//! Hardware parties: the engine's end of a device that runs circuits on shares.
//!
//! ```text
//! transport ── Lane ── HdlBatch (Machine) ──┐
//! transport ── Lane ── HdlBatch (Machine) ──┴─ Device ══ Unix socket ══ party-sim
//!                                                        (a Verilated sequencer)
//! ```
//!
//! A [`Device`] is one party's hardware: it holds that party's two session keys, a circuit as
//! microcode, and the shares of the bits that all instances have in common. An [`HdlBatch`] is a
//! batch of instances in one of its contexts. It has the trait of a software party's batch and
//! sends the same bytes, so peers cannot tell the two apart.
//!
//! **Security.** As for `hushwire-rep3`: semi-honest, one corrupted party, F = AES-128 as PRF. The
//! device is part of its party and sees that party's keys and shares. The socket between them must
//! stay on the party's own machine.
//! **Errors.** If the device fails during a step of a batch, the step is an error and nothing is
//! sent after it. The device keeps its first error for all batches on it: [`Device::check`] returns
//! it, and no batch gives an output.
//!
//! [`microcode`] compiles circuits for the device. [`model`] is the other end of the socket in
//! software, with which the simulated hardware is compared.
#![forbid(unsafe_code)]

mod batch;
mod device;
mod error;
mod find;
mod frame;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod inbox;
pub mod microcode;
pub mod model;
mod socket;

pub use batch::HdlBatch;
pub use device::Device;
pub use error::{Cause, HdlError};
pub use find::{ENV, PROGRAM, find};
pub use frame::{Hello, Statistics, VERSION};
pub use microcode::{Instruction, Microcode, MicrocodeError, Scalar};
