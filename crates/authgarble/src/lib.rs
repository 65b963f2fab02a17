//! Any circuit among n parties, of which all but one may be corrupt and do anything: authenticated
//! garbling.
//!
//! **Functionality.** `instances` runs of a [`Program`](hushwire_circuit::Program) among 2 to 128
//! parties, each with bit planes of its own inputs → bit planes of the outputs to those who learn
//! them, or an abort at every honest party.
//! **Papers.** WRK17b: X. Wang, S. Ranellucci, J. Katz, "Global-scale secure multiparty
//! computation", CCS 2017 (ePrint 2017/189), for n parties; KRRW18: J. Katz, S. Ranellucci, M.
//! Rosulek, X. Wang, "Optimizing authenticated garbling", Crypto 2018 (ePrint 2018/578), for leaky
//! ANDs and, between two, half gates; YWZ20: K. Yang, X. Wang, J. Zhang, "More efficient MPC from
//! improved triple generation and authenticated garbling", CCS 2020 (ePrint 2019/1104), for the
//! idea of half gates and of one check of all ANDs among n ([`Form`]).
//! **Deviations.** Parties' bits and leaky ANDs are checked by one fold over GF(2^128) in place of
//! sums over GF(2) or a block of each; bits are opened with one hash of all their MACs; tables and
//! check of half gates among n are derived, with their proof, in their module (`half`): the
//! evaluator proves Λ of the ANDs with a hash of their labels before a garbler answers, with a
//! weighted sum of its MACs; YWZ20's authenticated bits from a bare extension and its triples are
//! not built, since bits here cost less than there; masks of wires never enter leaky ANDs, but
//! Beaver's products with triples from buckets of fresh bits, which shifts of lists fill in place
//! of a permutation (a bound of its own: `bucket`); broadcasts are compared by a hash sent with the
//! next one; every party gets outputs, from a proof of labels, after a last word of all. The four
//! rows of a gate carry whole blocks, not ρ bits, for the evaluator's check.
//! **Security.** Malicious, n − 1 of n parties, with abort: who cheats may learn its outputs and
//! deny others theirs, and the last word, which says nothing else, can be withheld from some of
//! them. κ = 128; ρ = 40 for each batch of triples and for the check of Δ; AES as an ideal
//! permutation (circular correlation robust hash with tweaks, ePrint 2019/074), BLAKE3 as a random
//! oracle, and what the OTs assume. A failed check may tell Δ. Therefore a set-up serves for one
//! preprocessing, and nothing is garbled before it is done.
//! **Notation.** Δ_i global key of party i, K and M key and MAC of a bit ([`Setup`] pins bit 0 of Δ
//! to 1, of K to 0; bit 1 of Σ Δ_i to 1), λ mask of a wire, Λ = z ⊕ λ, s = λ_α λ_β ⊕ λ_γ.
//!
//! | phase | type | bytes that a party sends for an AND (SoftSpoken4, B: ANDs of a bucket) |
//! |---|---|---|
//! | set-up | [`Setup`] | none; about 30 KB to each peer |
//! | function-independent | [`Stock`] | to each peer 28·B + B/8 + (B − 1)/8 + 4, below |
//! | function-dependent | [`Garbled`] | to each peer 1/4; tables to the evaluator, below |
//! | online | [`Planes`](hushwire_circuit::Planes) | none; with half gates 1/8 to each garbler |
//!
//! To each peer go 12·B bytes for 3·B authenticated bits, 16·B + B/8 for leaky ANDs, (B − 1)/8 for
//! buckets, and 4 for the mask. A garbler's tables have 64 n bytes, or with [`Form::HalfGates`]
//! 16 (3 n − 4), and 1/8 more from garbler 1.
//!
//! B is 5 from 432 triples on, 4 from 4,096 on; a batch has at most 2^18. Exactly: [`setup_cost`],
//! [`preprocess_cost`], [`garble_cost`], [`online_cost`].
//! **Constant time.** Shares, keys, MACs, labels, masks and inputs are secret; Λ at the evaluator,
//! opened bits and all sizes are public.
//!
//! ```text
//! Setup ─ preprocess ─► Stock ─ garble (a circuit) ─► Garbled ─ evaluate (inputs) ─► outputs
//! each step is a Script: a Machine with a slot for every peer
//! a Stock, or what is Garbled, may wait on a Shelf, a directory
//! ```
//!
//! **Threads.** LOCAL: [`AuthgarbleParty::threads`] share a party's own work between two messages:
//! OTs with each peer in each direction, and then lists or parts of lists, which are disjoint. No
//! byte depends on them. One thread evaluates, and one walks the circuit for labels, since layers
//! of most circuits are thin; a party's base OTs take up to four processors of themselves.
//!
//! **Missing.** Memory of the function-dependent phase grows with ANDs and live wires; with half
//! gates the evaluator says Λ of all ANDs at once.
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
