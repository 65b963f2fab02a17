//! Runs typed computations between two parties, on additive shares.
//!
//! ```text
//! Computation ── Plan::new ──► steps
//! steps ── ArithmeticParty::run ──► waves: local steps, then all ready steps
//!
//! a value's forms   known   both parties have it           constants, opened values
//!                   words   x_0 + x_1 modulo 2^ℓ, ℓ ≤ 64   sums free, products, comparisons by OT
//!                   bits    shares of bit planes           logic, by circuits
//! ```
//!
//! A value is converted to another form once, when an operation first needs it. A ring has exactly
//! as many bits as the numbers of its scalar. Every result has the bits of
//! [`hushwire_compute::evaluate`].
//!
//! **Functionality.** A [`Computation`](hushwire_compute::Computation) on inputs of both parties →
//! the outputs, each to the parties that learn it. **Papers.** Comparisons, shifts and choices by
//! D. Rathee et al., "CrypTFlow2", CCS 2020; products by N. Gilboa, Crypto 1999; circuits by
//! [`hushwire_gmw`]; [`ArithmeticParty::convolve`] by [`hushwire_bfv`]. **Security.** Semi-honest,
//! with one corrupted party, under the assumptions of the OTs, κ = 128. The steps and the lengths
//! of all messages follow from the computation and its bound lengths alone, except for the number
//! of comparisons in a sort. Values are opened where the computation has `reveal`. Sorts and
//! compactions open orders of rows that were shuffled by a permutation that no party knows.
//! **Rounds and bytes.** [`Plan::costs`]; without OTs, [`Plan::tally`].
#![forbid(unsafe_code)]

mod ahead;
mod apply;
mod blocks;
mod compare;
mod costs;
mod digits;
mod distance;
mod encrypted;
mod error;
mod form;
mod kept;
mod kit;
mod lanes;
mod long;
mod lower;
mod memory;
mod moves;
mod network;
mod ops;
mod order;
mod party;
mod plan;
mod prim;
mod ring;
mod room;
mod run;
mod runtime;
mod shift;
mod strings;
mod supply;
mod talk;
mod tally;
#[cfg(test)]
mod tests;
mod wide;

pub use apply::Operation;
pub use costs::Costs;
pub use distance::Distance;
pub use error::{COEFFICIENTS, TwoError};
pub use hushwire_bfv::{Conv, Linear};
pub use hushwire_plan::Sign;
pub use kept::KeptInputs;

pub use party::ArithmeticParty;
pub use plan::{Plan, Spent};
pub use prim::Products;
pub use tally::Tally;
