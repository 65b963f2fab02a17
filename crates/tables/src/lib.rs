//! Relational operators over tables that nobody sees.
//!
//! ```text
//! algebra   Table, Expr, Relation: a checked tree of operators, the input of every way to run it
//! plain     rows in the open, row by row: the reference
//! ```
//!
//! Row counts are public and everything else is hidden: each row carries a bit of whether it is valid, which operators compute like
//! any other column. A filter clears it and drops nothing.
#![forbid(unsafe_code)]

pub mod algebra;
mod error;
mod plain;

pub use error::TableError;
