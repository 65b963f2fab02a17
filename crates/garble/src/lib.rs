//! Garbled circuits for two parties.
//!
//! ```text
//! scheme    Scheme, Format      the seven garblings, and the bytes of their tables
//! gates     GateBackend         one end's half of a scheme: its wires and gates; a type for each
//!                               end of each family
//! free      End                 the ends of families whose XORs are free, for any kernels of their
//!                               ANDs
//! half      PRP, MI, MI4, CIRC  half gates under three hash assumptions, one source for all
//! three_halves                  Rosulek and Roy's 197 bits an AND
//! prf       PrfOnly              GLNP15: AES as a pseudorandom function and nothing else, XOR is
//!                                not free
//! privacy_free                  one ciphertext an AND, where the evaluator knows all values
//! tables    Tables              where tables go to or come from, in the order of gates
//! cursor    Cursor              the order of tables; a run that stops after some of them and goes
//!                               on
//! engine    Engine              runs programs on an end, gates in batches
//! transfer  Transfer            the OTs that bring the evaluator's inputs to a scheme
//! deferred  DynamicBatcher      runs gates that arrive one at a time, in batches that gather on
//!                               the way
//! yao       YaoParty               the protocol: OTs for inputs, tables in a stream, outputs to
//!                                  whom
//!                               they are due
//! ```
//!
//! A family of schemes is two [`GateBackend`]s; [`Engine`] knows layers and slots, and no
//! cryptography; [`Tables`] is bytes, and knows no circuit. Gates are numbered in the order of
//! their tables, which both ends know from the circuit alone.
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
