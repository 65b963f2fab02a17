//! Private set intersection of two parties' keys: which are in both sets, or how many, and nothing else.
//!
//! ```text
//! strict   Rows        CSV files, strictly
//! column   Column      a CSV file's column as a set of keys
//! salt     Salt        keys as values of 40 + log a + log b bits, values as bins
//! tables   cuckoo, …   values in A's cuckoo table, in B's simple table
//! plan     Terms, Plan what both agree on, what follows from the sets' sizes
//! session  intersect   one party's side of a run
//!
//! plain    Receiver, …  intersection of digests by an oblivious PRF: the method that scales
//! circuit  receive, …   its size, or sums over it, by a programmable oblivious PRF and GMW
//! okvs     Encoder, …   the stores below both
//! ```
//!
//! **What is learned** is what [`Reveal`] says. Public are the number of different keys of both sets, the terms, and how
//! many salts were tried. The time that a party takes to fill its tables and to sort depends on its values.
//!
//! **Security**: semi-honest parties, as [`hushwire_garble::yao`] says. Neither party can check that the other one brings
//! the set that it has.
#![forbid(unsafe_code)]

pub mod circuit;
mod column;
mod engine;
mod error;
mod okvs;
pub mod plain;
mod plan;
mod salt;
mod session;
mod strict;
mod tables;
mod write;

pub use column::Column;
pub use error::{Place, PsiError};
pub use plan::{Method, Protocol, Reveal, Side, Terms};
pub use salt::value_width;
pub use session::{Found, Observer, Outcome, intersect};
pub use strict::Rows;
pub use write::{write_flags, write_flags_of, write_items};
