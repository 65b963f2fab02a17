//! Runs typed computations between three parties, on the shares of [`hushwire_rep3`].
//!
//! ```text
//! Computation ── Plan::new ──► steps ── run ──► waves: local steps, then all ready steps together
//!
//! a value's forms     known   all parties have it          constants, opened values
//!                     words   shares in Z_2^8 … Z_2^64     sums and products are cheap
//!                     bits    shares of bit planes         comparisons and logic are cheap
//!                     order   a permutation of rows        the result of a sort, used to permute
//! ```
//!
//! A value is converted to another form once, when an operation first needs it. Every result has
//! the bits of [`hushwire_compute::evaluate`].
//!
//! **Security.** As in [`hushwire_rep3`]: semi-honest, with one corrupted party. The steps and
//! their sizes follow from the computation and its bound lengths alone. Values are opened where the
//! computation has `reveal`, and in a sort as [`hushwire_rep3::ring`] describes. **Rounds and
//! bytes.** [`Plan::cost`].
#![forbid(unsafe_code)]

mod cost;
mod course;
mod cut;
mod doors;
mod error;
mod form;
mod kept;
mod lanes;
mod lower;
mod machines;
mod memory;
mod plan;
mod prim;
mod run;
mod runtime;
mod sharded;
#[doc(hidden)]
pub mod test_support;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod window_tests;
mod windows;

pub use cost::PlanCost;
pub use course::Leg;
pub use cut::Cut;
pub use doors::Door;
pub use error::ThreeError;
pub use kept::KeptInputs;
pub use plan::Plan;
pub use run::{run, run_kept};
pub use sharded::{ShardCost, ShardMemory, run_sharded};
