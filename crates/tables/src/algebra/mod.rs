//! The algebra of relations: typed columns, expressions, and a tree of operators that is checked as
//! it grows.
//!
//! ```text
//! Table ── Relation::scan ──► Relation ── filter, project, join, aggregate, … ──► Relation
//!                              schema()  its columns' types, NULLs and public ranges
//!                              rows()    the number of its rows, valid or not: a public bound
//!                              unique()  columns of which no two valid rows are equal
//! ```
//!
//! Columns are referred to by index; their names are for messages. The types of an expression's
//! operands are unified by [`common_type`]; all other conversions are explicit.

mod aggregate;
mod arithmetic;
mod bounds;
mod check;
mod expr;
mod join;
mod operators;
mod pattern;
mod relation;
mod types;
mod typing;
mod window;

pub use aggregate::Aggregate;
pub use arithmetic::Arithmetic;
pub use expr::{Call, CallPlace, Expr, counted, when, whole};
pub use join::Pairing;
pub use operators::distinct;
pub use relation::{JoinKind, MAX_ROWS, Operator, Relation, SetOperation, SortKey, Table, TablePart};
pub use types::{Column, ColumnType, MAX_DIGITS, MAX_TEXT, Range, Schema, Value};
pub use typing::{ExprType, castable, common_type};
pub use window::{Frame, Window, WindowFunction};

pub(crate) use {
    aggregate::sum_type,
    bounds::{Mean, NUMBERS, Quotient, UPPER, Variance, greatest, sum_range},
    join::{by_extremes, is_partnership, pairing},
    pattern::{Token, continues, tokens},
    types::DAY,
    typing::{castable_part, fitted, has_range, keep_values, rescaled, told, united},
};
