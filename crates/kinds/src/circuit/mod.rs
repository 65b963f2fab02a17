//! Circuits on members' values, instance by instance.
//!
//! ```text
//! file     CircuitJob   the keys of a job file of this kind
//! prepare  Prepared     the job with its circuit read
//! plan     Plan         what members agree on, and how the work is cut
//! place, value          values at their owners and recipients
//! part     CircuitPart  the values of one member
//! run                   its part of a run
//! words                 texts for people, fields for programs
//! ```
//!
//! ```text
//! owner      value = x_0 ⊕ x_1 ⊕ x_2 as bit planes, batch by batch; shares go to the parties or
//!            grow from seeds
//! parties    batch by batch on threads × lanes: circuit on shares, one message a layer
//! recipient  hears the share that it lacks; nobody else hears anything
//! ```
//!
//! Two parties give their values to the engines of their protocol, and receive their outputs from
//! them: see `two_party.rs`.
//!
//! **Security.** Semi-honest, one corrupted party, and any clients with it. With three parties, a
//! party's own input costs one message. One of its shares is zero, and one is expanded from a key
//! that it has in common with its left neighbour. The third goes to the right neighbour. A client's
//! input is shared afresh. The outputs that a client hears are first masked with a fresh
//! zero-share, because shares of linear outputs would tell more than their sum.

mod batches;
mod client;
mod file;
mod flow;
mod part;
mod party;
mod place;
mod plan;
mod prepare;
mod run;
mod value;
mod words;

pub(crate) use file::among;
pub use file::{
    BitOrderChoice, CircuitInput, CircuitJob, CircuitOutput, CircuitSource, MOST_INSTANCES, Parameters,
};
pub use part::Outputs;
pub use plan::CircuitPlan;
pub use prepare::{Found, Prepared};
