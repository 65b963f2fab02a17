//! Garbled circuits for two parties: garbling schemes, an engine that runs circuits on them, and
//! Yao's protocol.
//!
//! ```text
//! scheme         Scheme, Format      the seven schemes, and the bytes of their tables
//! gates          GateBackend         one endpoint of a scheme: its wires and gates; each endpoint
//!                                    of each family has a type
//! free           End                 the endpoints of families whose XORs are free, for any
//!                                    kernels of their ANDs
//! half           PRP, MI, MI4, CIRC  half gates with four hashes, one source for all
//! three_halves   ThreeHalves         Rosulek and Roy's scheme, 197 bits for each AND
//! prf            PrfOnly             GLNP15: AES as a pseudorandom function, and no other
//!                                    assumption; XOR is not free
//! privacy_free   PrivacyFree         one ciphertext for each AND; the evaluator knows all values
//! tables         Tables              the source or destination of tables, in the order of gates
//! cursor         Cursor              the order of tables; a run can stop after any piece and
//!                                    continue
//! engine         Engine              runs programs on an endpoint, with gates in batches
//! transfer       Transfer            the OTs that bring the evaluator's inputs to a scheme
//! deferred       DynamicBatcher      runs gates that arrive one at a time, in batches that it
//!                                    gathers on the way
//! yao            YaoParty            the protocol: OTs for inputs, a stream of tables, and outputs
//!                                    to their recipients
//! ```
//!
//! A family of schemes is a pair of [`GateBackend`]s. [`Engine`] handles layers and slots, and no
//! cryptography; [`Tables`] handles bytes, and no circuit. Gates are numbered in the order of their
//! tables, which both endpoints derive from the circuit alone.
//!
//! **Order of tables** (AGREEMENT): stage by stage of a program, strip by strip of its copies
//! ([`cursor::strips`]), layer by layer of the block, XORs before ANDs, gate by gate, copy by copy.
//! Batch width and AES tier are LOCAL.
#![forbid(unsafe_code)]

pub mod cursor;
pub mod deferred;
mod engine;
mod error;
mod free;
mod gates;
pub mod half;
pub mod prf;
pub mod privacy_free;
#[cfg(test)]
mod rig;
mod room;
mod scheme;
mod tables;
pub mod three_halves;
mod transfer;
pub mod yao;

pub use cursor::Cursor;
pub use engine::Engine;
pub use error::GarbleError;
pub use gates::{Active, Batches, Evaluate, Family, Garble, GateBackend, Role, SessionNonce, TruthZero};
pub use scheme::{Format, Scheme};
pub use tables::{Memory, Stretch, Tables};
pub use transfer::{Correlated, Pairs, Transfer};
