//! Three-party replicated secret sharing (Araki et al.) and AES on shares.
//!
//! **Functionality.** Three parties hold a value as `v = x_0 ⊕ x_1 ⊕ x_2`; party `i` holds `(x_i,
//! x_{i+1})`. Sums and linear maps are local. For a product, each party sends one element to its
//! left neighbour.
//! **Paper.** T. Araki, J. Furukawa, Y. Lindell, A. Nof, K. Ohara, "High-Throughput Semi-Honest
//! Secure Three-Party Computation with an Honest Majority", CCS 2016, in the replicated form:
//! `z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + α_i`, `α_i = F_{k_i}(ctr) + F_{k_{i-1}}(ctr)`.
//! **Deviations.** Shares are the replicated pairs themselves, not the paper's `(x, a)`, which are
//! linearly equivalent. Products are over GF(2), GF(2^4) and GF(2^8) alike.
//! **Security.** Semi-honest adversary, one corrupted party, F = AES-128 as PRF, κ = 128. A party
//! that deviates can change results unnoticed, and can learn inputs from wrong results. A party
//! that follows the protocol learns nothing but its outputs. Shares from owners outside the parties
//! are compared before anything that depends on them is opened ([`Comparison`]).
//! **Notation.** `own` = x_i, `next` = x_{i+1}, `left` = party i-1, `right` = party i+1.
//! **Rounds and bytes.** See [`cost`]. **Constant time.** Shares and keys are secret; lengths,
//! counters and places are public.
//!
//! Protocol steps do no input or output ([`hushwire_machine::drive::Machine`]); a [`Rep3Party`]
//! hands out their randomness.
#![forbid(unsafe_code)]

mod addition;
mod aes;
mod boolean;
mod circuit;
mod consistency;
mod context;
mod field;
mod kept;
mod kernels;
mod keys;
mod layers;
mod machine;
mod mover;
mod multiply;
mod owner;
mod party;
pub mod pool;
mod record;
pub mod ring;
mod role;
mod sbox;
mod session;
mod share;
mod slots;
mod steps;
pub mod stored;
#[doc(hidden)]
pub mod test_support;
mod workspace;

pub use addition::Addition;
pub use aes::{AesBlocks, cost, expansion_cost, padded, zero_words};
pub use circuit::{CircuitBatch, circuit_cost, circuit_zero_words};
pub use consistency::{Comparison, Inconsistent, Tagging, Tags};
pub use context::Context;
pub use keys::{EXPANDED_BYTES, ExpandedKeys, KeyExpansion, KeySize};
pub use machine::Workspace;
pub use mover::{MemoryMover, Mover, gone, in_memory, ranges};
pub use multiply::{Field, Multiply};
pub use owner::{Owner, OwnerInputs, OwnerSeeds};
pub use party::{Batch, Rep3Error, Rep3Party, ThreeParty};
pub use record::{Place, Record, Unit};
pub use role::Role;
pub use sbox::Sbox;
pub use share::{Rep3, ShareError, Shares, open, share, xor_into};
pub use steps::{Input, Output, Reveal, Sharing};
pub use workspace::CircuitWorkspace;
