//! Seeds, a PRG with domain labels, and the three-party PRSS addressed by word index.
//!
//! ```text
//! OS randomness ── Seed ── derive(label, context) ── Seed ── Prg   one stream, in order
//!                                                        └── Prss  words by address, in any order
//! ```
//!
//! Every label is a domain: seeds derived with different labels or contexts are independent.

#![forbid(unsafe_code)]

mod prg;
mod prss;
mod seed;

pub use prg::Prg;
pub use prss::{Address, Prss, PrssKeys};
pub use seed::Seed;
