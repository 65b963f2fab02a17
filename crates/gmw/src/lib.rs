//! Two parties evaluate any circuit on shared bits: GMW with bit triples from oblivious transfer.
//!
//! **Functionality.** Runs `instances` instances of a [`Program`](hushwire_circuit::Program). Each
//! party gives bit planes of its own inputs, and the recipients of the outputs get their bit planes
//! ([`GmwParty::run`]).
//!
//! **Paper.** O. Goldreich, S. Micali, A. Wigderson, "How to play any mental game", STOC 1987;
//! products by the triples of D. Beaver, Crypto 1991; a triple from two random OTs as in G.
//! Asharov, Y. Lindell, T. Schneider, M. Zohner, CCS 2013, section 4.1.
//!
//! **Deviations.** Shares of inputs are derived from a seed that each party sends the other once,
//! so that no input is sent. Triples are made when they are needed, 2^20 at a time.
//!
//! **Security.** Semi-honest, one corrupted party, κ = 128; the assumptions of the OTs, and AES as
//! a PRF for shares of inputs. A party that deviates can make results wrong without detection. A
//! semi-honest party learns nothing but its outputs.
//!
//! **Notation.** Party i holds x_i of x = x_0 ⊕ x_1, and a_i, b_i, c_i of a triple c = a b. All of
//! them are bits.
//!
//! ```text
//! XOR, NOT   each party for itself; party 0 adds the constant 1
//! x y        both send d_i = x_i ⊕ a_i, e_i = y_i ⊕ b_i;  d = d_0 ⊕ d_1, e = e_0 ⊕ e_1
//!            z_i = c_i ⊕ d b_i ⊕ e a_i, and party 0 adds d e
//! ```
//!
//! **Rounds and bytes.** Each party sends two bits for each AND, with one message for each layer,
//! and one message before the first layer and after the last ([`circuit_cost`]). Triples cost 31
//! bits for each AND in each direction with SoftSpoken4 ([`triples_cost`]).
//!
//! **Constant time.** Shares, triples and seeds are secret; the program, its roles and the number
//! of instances are public.
//!
//! ```text
//! GmwParty ─┬─ Supply        triples over OTs in both directions, sent in windows of many chunks
//!           └─ CircuitBatch  a Machine: layers of a program's blocks on shares, as in rep3
//! ```
#![forbid(unsafe_code)]

mod batch;
mod cost;
mod error;
mod party;
mod slots;
mod stock;
mod supply;

pub use batch::{CircuitBatch, CircuitWorkspace};
pub use cost::{circuit_cost, triples, triples_cost};
pub use error::GmwError;
pub use party::GmwParty;
pub use stock::Stock;
pub use supply::{by_windows, open_both_ways};
