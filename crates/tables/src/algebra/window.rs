//! Window functions: columns that are computed from neighbours in an order.

use super::{
    aggregate::sum_type,
    bounds::sum_range,
    expr::Expr,
    relation::SortKey,
    types::{Column, ColumnType, Range, Schema},
    typing::ExprType,
};
use crate::{Fault, error::Refused};

/// The rows up to a row that a function uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// All rows up to the row itself; equal rows come in any order.
    Rows,
    /// All rows up to the last one that is equal in the order: SQL's default.
    Peers,
}

/// A function of a row and its neighbours of the same partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WindowFunction {
    /// The row's place, counted from 1; equal rows come in any order.
    RowNumber,
    /// A number that no other row has. It may depend on an order that nobody may learn, so no
    /// result may depend on which number a row has. A plan uses it only to bring parts of a row
    /// together. The window has no partition and no order.
    RowId,
    /// One plus the number of rows before it that are not equal to it.
    Rank,
    /// One plus the number of different values of the order before the row's own.
    DenseRank,
    /// The least or the greatest value up to the row that is not NULL; NULL if there is none.
    Extreme {
        /// The argument; a string has at most 16 bytes.
        of: Expr,
        /// Whether it is the greatest.
        greatest: bool,
        /// The rows that count.
        frame: Frame,
    },
    /// The sum of the values up to the row that are not NULL. It is NULL if there are none, or if
    /// [`SUM`](crate::aggregates::SUM) would be NULL because of its size.
    RunningSum(Expr, Frame),
    /// The first or the last value of the rows up to the row; NULL if there is none.
    Held {
        /// The argument.
        of: Expr,
        /// Whether it is the first.
        first: bool,
        /// Whether NULLs count as values.
        nulls: bool,
        /// The rows that count.
        frame: Frame,
    },
    /// The value of the row this many rows before; NULL if there is none.
    Lag(Expr, u64),
    /// The value of the row this many rows after; NULL if there is none.
    Lead(Expr, u64),
}

/// Functions over one order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Rows with the same values form a partition; if empty, all rows form one.
    pub partition: Vec<Expr>,
    /// The order within a partition.
    pub order: Vec<SortKey>,
    /// The functions, with the names of their columns.
    pub functions: Vec<(String, WindowFunction)>,
}

impl WindowFunction {
    /// The function's argument.
    #[must_use]
    pub const fn argument(&self) -> Option<&Expr> {
        match self {
            WindowFunction::RowNumber
            | WindowFunction::RowId
            | WindowFunction::Rank
            | WindowFunction::DenseRank => None,
            WindowFunction::Extreme { of, .. }
            | WindowFunction::Held { of, .. }
            | WindowFunction::RunningSum(of, _)
            | WindowFunction::Lag(of, _)
            | WindowFunction::Lead(of, _) => Some(of),
        }
    }

    /// The function with another argument, if it has one.
    ///
    /// # Errors
    /// The error of `to`.
    pub fn of<E>(&self, to: impl FnOnce(&Expr) -> Result<Expr, E>) -> Result<WindowFunction, E> {
        Ok(match self {
            WindowFunction::RowNumber
            | WindowFunction::RowId
            | WindowFunction::Rank
            | WindowFunction::DenseRank => self.clone(),
            WindowFunction::Extreme { of, greatest, frame } => {
                WindowFunction::Extreme { of: to(of)?, greatest: *greatest, frame: *frame }
            }
            WindowFunction::Held { of, first, nulls, frame } => {
                WindowFunction::Held { of: to(of)?, first: *first, nulls: *nulls, frame: *frame }
            }
            WindowFunction::RunningSum(of, frame) => WindowFunction::RunningSum(to(of)?, *frame),
            WindowFunction::Lag(of, by) => WindowFunction::Lag(to(of)?, *by),
            WindowFunction::Lead(of, by) => WindowFunction::Lead(to(of)?, *by),
        })
    }
}

impl Window {
    /// The columns of the functions, for up to `rows` rows.
    pub(super) fn check(&self, schema: &Schema, rows: u64) -> Result<Vec<Column>, Fault> {
        for key in &self.partition {
            key.check(schema)?;
        }
        check_order(&self.order, schema)?;
        let count = Range { low: 1, high: i128::from(rows).max(1) };
        let column = |(name, function): &(String, WindowFunction)| {
            Ok(match function {
                WindowFunction::RowNumber
                | WindowFunction::RowId
                | WindowFunction::Rank
                | WindowFunction::DenseRank => {
                    ExprType { ty: ColumnType::BigInt, nullable: false, range: count }
                }
                WindowFunction::Extreme { of: expr, .. } => {
                    let of = expr.check(schema)?;
                    let wide = matches!(of.ty, ColumnType::Varchar(17..));
                    if wide || !of.ty.is_ordered() {
                        let operation = format!("the least or the greatest of {}", expr.shown(schema));
                        let remedy = "over a window give it values with an order, and strings of at most 16 bytes: CAST it to VARCHAR(16), or group in a derived table and join";
                        return Err(Refused::operands(&[of], remedy).of(operation));
                    }
                    of
                }
                WindowFunction::RunningSum(expr, _) => {
                    let of = expr.check(schema)?;
                    if !of.ty.is_numeric() {
                        let operation = format!("a running sum of {}", expr.shown(schema));
                        return Err(Refused::operands(&[of], "give it numbers").of(operation));
                    }
                    let (range, leaves) = sum_range(of.range, rows);
                    ExprType { ty: sum_type(of.ty), nullable: of.nullable || leaves, range }
                }
                WindowFunction::Held { of, .. } => of.check(schema)?,
                WindowFunction::Lag(expr, _) | WindowFunction::Lead(expr, _) => {
                    ExprType { nullable: true, ..expr.check(schema)? }
                }
            }
            .column(name))
        };
        self.functions.iter().map(column).collect()
    }
}

/// Checks that all keys have an order.
pub(super) fn check_order(keys: &[SortKey], schema: &Schema) -> Result<(), Fault> {
    for SortKey { expr, .. } in keys {
        let of = expr.check(schema)?;
        if !of.ty.is_ordered() {
            return Err(Refused::no_order(&[of]).of(format_args!("an order by {}", expr.shown(schema))));
        }
    }
    Ok(())
}
