//! Authenticated garbling: secure evaluation of any circuit among n parties, of which all but one
//! may be corrupted.
//!
//! **Functionality.** Runs `instances` instances of a [`Program`](hushwire_circuit::Program) among
//! 2 to 128 parties. Each party gives bit planes of its inputs; the recipients of an output get its
//! bit planes, or every honest party aborts.
//!
//! **Papers.**
//! - WRK17b: X. Wang, S. Ranellucci, J. Katz, "Global-scale secure multiparty computation", CCS
//!   2017 (ePrint 2017/189), for n parties.
//! - KRRW18: J. Katz, S. Ranellucci, M. Rosulek, X. Wang, "Optimizing authenticated garbling",
//!   Crypto 2018 (ePrint 2018/578), for leaky ANDs and, between two parties, half gates.
//! - YWZ20: K. Yang, X. Wang, J. Zhang, "More efficient MPC from improved triple generation and
//!   authenticated garbling", CCS 2020 (ePrint 2019/1104), for the idea of half gates and of a
//!   single check of all ANDs among n parties ([`Form`]).
//!
//! **Deviations from the papers.**
//! - Parties' bits and leaky ANDs are checked by one fold over GF(2^128), in place of sums over
//!   GF(2) or of a block for each.
//! - Bits are opened with one hash of all their MACs.
//! - The tables and the check of half gates among n parties are derived, with their proof, in their
//!   module (`half`). The evaluator proves Λ of the ANDs with a hash of their labels, before a
//!   garbler answers with a weighted sum of its MACs.
//! - YWZ20's authenticated bits from a bare extension and its triples are not built, since bits
//!   cost less here than there.
//! - Masks of wires never enter leaky ANDs. They enter Beaver's products, with triples from buckets
//!   of fresh bits. Shifts of lists fill the buckets in place of a permutation, with a bound of
//!   their own (`bucket`).
//! - Broadcasts are compared by a hash that is sent with the next one.
//! - Every party may get outputs, after a proof of labels and a last message of all parties.
//! - The four rows of a gate carry whole blocks, not ρ bits, for the evaluator's check.
//!
//! **Security.** Malicious adversary, n − 1 of n parties, with abort. A corrupted party may learn
//! its outputs and deny others theirs. It can also withhold the last message, which carries nothing
//! but success, from some parties. κ = 128; ρ = 40 for each batch of triples and for the check of
//! Δ. The assumptions are AES as an ideal permutation (circular correlation robust hash with
//! tweaks, ePrint 2019/074), BLAKE3 as a random oracle, and those of the OTs. A failed check may
//! reveal Δ. Therefore a set-up serves for one preprocessing, and nothing is garbled before the
//! preprocessing is finished.
//!
//! **Notation.** Δ_i is the global key of party i. K and M are the key and the MAC of a bit.
//! [`Setup`] fixes bit 0 of every Δ to 1, bit 0 of every K to 0, and bit 1 of Σ Δ_i to 1. λ is the
//! mask of a wire, Λ = z ⊕ λ, and s = λ_α λ_β ⊕ λ_γ.
//!
//! | phase | type | bytes that a party sends for an AND (SoftSpoken4, B: ANDs of a bucket) |
//! |---|---|---|
//! | set-up | [`Setup`] | none; about 30 KB to each peer |
//! | function-independent | [`Stock`] | to each peer 28·B + B/8 + (B − 1)/8 + 4, below |
//! | function-dependent | [`Garbled`] | to each peer 1/4; tables to the evaluator, below |
//! | online | [`Planes`](hushwire_circuit::Planes) | none; with half gates 1/8 to each garbler |
//!
//! The bytes to each peer are 12·B for 3·B authenticated bits, 16·B + B/8 for leaky ANDs, (B − 1)/8
//! for buckets, and 4 for the mask. A garbler's tables have 64 n bytes for each AND. With
//! [`Form::HalfGates`] they have 16 (3 n − 4) bytes, and 1/8 more from garbler 1.
//!
//! B is 5 from 432 triples on, and 4 from 4,096 on; a batch has at most 2^18. The exact costs are
//! [`setup_cost`], [`preprocess_cost`], [`garble_cost`] and [`online_cost`].
//!
//! **Constant time.** Shares, keys, MACs, labels, masks and inputs are secret. Λ at the evaluator,
//! opened bits and all sizes are public.
//!
//! ```text
//! Setup ─ preprocess ─► Stock ─ garble (a circuit) ─► Garbled ─ evaluate (inputs) ─► outputs
//! each step is a Script: a Machine with a slot for every peer
//! a Stock, or what is Garbled, may wait on a Shelf, a directory
//! ```
//!
//! **Threads.** LOCAL: [`AuthgarbleParty::threads`] threads share a party's own work between two
//! messages: first the OTs with each peer in each direction, then lists or disjoint parts of lists.
//! The bytes do not depend on them. One thread evaluates, and one walks the circuit for labels,
//! since the layers of most circuits are thin. A party's base OTs use up to four processors by
//! themselves.
//!
//! **Limits.** The memory of the function-dependent phase grows with the number of ANDs and live
//! wires. With half gates, the evaluator sends Λ of all ANDs at once.
#![forbid(unsafe_code)]

#[cfg(test)]
mod attacks;
mod bits;
mod bucket;
mod cost;
mod error;
mod garble;
mod half;
mod hash;
mod leaky;
mod masks;
mod online;
mod params;
mod party;
#[cfg(test)]
mod pinned;
mod preprocess;
#[cfg(test)]
mod rig;
mod roles;
mod room;
mod rows;
mod script;
mod sealed;
mod sealed_garbled;
mod sealed_stock;
mod setup;
mod shares;
mod shelf;
mod stock;
mod tables;
mod task;
#[cfg(test)]
mod tests;
mod wrk;

pub use bucket::bucket_size;
pub use cost::{
    garble as garble_cost, online as online_cost, preprocess as preprocess_cost, setup as setup_cost,
};
pub use error::{AuthError, Check};
pub use garble::Garbled;
pub use party::AuthgarbleParty;
pub use roles::Roles;
pub use script::Script;
pub use setup::Setup;
pub use shelf::{Shelf, ShelfError};
pub use stock::{Need, Stock};
pub use task::{Form, Task};
