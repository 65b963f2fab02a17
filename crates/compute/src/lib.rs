//! Typed computations on numbers, columns and tensors: the interface between front ends and
//! protocols.
//!
//! ```text
//! Builder ─┐
//! text    ─┼─► Draft (checks each node) ─► Computation
//! binary  ─┘     ├─► evaluate   in the clear, the oracle of every back end
//!                ├─► circuits   for every Boolean protocol
//!                ├─► Cut        what each owner does alone, and the rest
//!                ├─► cost       of gates, before anything runs
//!                └─► digest     what parties agree on
//! ```
//!
//! A [`Computation`] is a graph of [operations](Op) on whole vectors: data, not code. Values have a
//! [`Type`]: a [`Scalar`], a [`Shape`] that may contain symbols, and a [`Visibility`]. This crate
//! does no input or output and knows no protocol.
//!
//! **Exactness.** Integers wrap. Every edge case (division by 0, casts, sums of nothing) has one
//! result, which [`Op`] defines. Every back end gives the same bits as [`evaluate`].
#![forbid(unsafe_code)]

pub mod back_end;
pub mod binary;
mod bind;
mod build;
mod by_rows;
pub mod circuits;
pub mod cost;
mod cut;
mod derive;
mod draft;
mod error;
mod eval;
mod evaluation;
mod explain;
mod graph;
mod kinds;
mod netlist;
mod ops;
mod range;
mod record;
mod rectify;
mod remarks;
pub mod sums;
mod tensor;
#[doc(hidden)]
pub mod test_support;
#[cfg(test)]
mod tests;
pub mod text;
mod types;
mod typing;
mod windows;

pub use build::{Builder, Val};
pub use cut::Cut;
pub use derive::Groups;
pub use draft::{MAX_MEMBERS, MAX_NODES};
pub use error::ComputeError;
pub use eval::evaluate;
pub use explain::{Explanation, MembersPart};
pub use graph::{Computation, Node, Output};
pub use hushwire_fault::TextPlace;
pub use kinds::{Comparison, Reduction, Scan};
pub use netlist::Netlist;
pub use ops::{Op, reference};
pub use range::Range;
pub use record::ElementError;
pub use tensor::Tensor;
pub use types::{Dim, MAX_BITS, MAX_STRING, Member, Scalar, Shape, Type, Value, Visibility};
pub use typing::MAX_RANK;
pub use windows::Steps;
