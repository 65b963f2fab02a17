//! Relational operators over secret tables.
//!
//! ```text
//! functions  scalar functions of SQL, one definition each; aggregates likewise
//! fixed      roots, logarithms and angles on fixed-point numbers, in the clear and on shares
//! algebra    Table, Expr, Relation: a checked tree of operators, the input of every evaluation
//! plain      rows in the clear, row by row: the reference
//! Query      a relation as a computation: its inputs from rows, its rows from outputs, its
//!            cost and what it reveals
//! ```
//!
//! Row counts are public and everything else is hidden. Each row carries a validity bit, which
//! operators compute like any other column: a filter clears it and drops nothing.
#![forbid(unsafe_code)]

pub mod aggregates;
pub mod algebra;
mod error;
mod explain;
mod fixed;
pub mod functions;
mod incoming;
mod letters;
mod lower;
pub mod plain;
mod promises;
mod query;
mod result;
mod settle;

pub use error::types_differ;
pub use hushwire_fault::Fault;
pub use incoming::{BitSlice, ColumnSlice, ColumnValues, Incoming, TableInput};
pub use query::Query;
pub use result::{ResultColumn, ResultColumns, ResultValues};

#[cfg(test)]
mod tests;
