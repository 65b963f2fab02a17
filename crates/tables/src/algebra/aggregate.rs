//! Figures of groups.

use super::{
    expr::Expr,
    types::{Column, ColumnType, MAX_DIGITS, Range, Schema},
    typing::{ExprType, fitted, held},
};
use crate::TableError;
use std::fmt;

/// A figure of a group's rows. Of rows whose argument is NULL nothing counts; of no other row it is NULL, but for counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// How many rows there are; it has no argument.
    CountRows,
    /// How many arguments there are.
    Count,
    /// The sum: of integers BIGINT, of decimals with ten more digits.
    Sum,
    /// The mean towards 0: of integers and decimals with four more digits behind the point.
    Average,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The mean square distance from the mean towards 0, (n Σx² − (Σx)²) / n², in 128 bits; of integers and decimals with four more digits
    /// behind the point than a square has.
    VariancePopulation,
    /// The same over n (n − 1), NULL of one row.
    VarianceSample,
}

/// Its name in SQL.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Function::CountRows | Function::Count => "COUNT",
            Function::Sum => "SUM",
            Function::Average => "AVG",
            Function::Min => "MIN",
            Function::Max => "MAX",
            Function::VariancePopulation => "VAR_POP",
            Function::VarianceSample => "VAR_SAMP",
        })
    }
}

/// A figure, and its column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// The column's name.
    pub name: String,
    /// The figure.
    pub function: Function,
    /// Its argument; none of [`Function::CountRows`].
    pub argument: Option<Expr>,
    /// Whether equal arguments count once.
    pub distinct: bool,
}

impl Aggregate {
    /// A figure of all rows' arguments.
    #[must_use]
    pub fn new(name: &str, function: Function, argument: Expr) -> Self {
        Aggregate { name: name.to_owned(), function, argument: Some(argument), distinct: false }
    }

    /// The count of rows.
    #[must_use]
    pub fn count_rows(name: &str) -> Self {
        Aggregate { name: name.to_owned(), function: Function::CountRows, argument: None, distinct: false }
    }

    /// The same of each different argument once.
    #[must_use]
    pub fn distinct(self) -> Self {
        Aggregate { distinct: true, ..self }
    }

    /// The figure's column for groups of at most so many rows. `grouped` says that no group is empty.
    pub(super) fn check(&self, schema: &Schema, rows: u64, grouped: bool) -> Result<Column, TableError> {
        let wrong =
            |cause: String, remedy: &str| Err(TableError::ty(format!("{}: {cause}", self.function), remedy));
        let Some(argument) = &self.argument else {
            if self.function != Function::CountRows {
                return wrong("no argument".into(), "only COUNT(*) has none");
            }
            let range = Range { low: 0, high: rows.into() };
            return Ok(ExprType { ty: ColumnType::BigInt, nullable: false, range }.column(&self.name));
        };
        let of = argument.check(schema)?;
        let nullable = of.nullable || !grouped;
        let made = match self.function {
            Function::CountRows => {
                return wrong(
                    "an argument".into(),
                    "COUNT(*) has none; COUNT of an argument is another function",
                );
            }
            Function::Count => {
                let range = Range { low: 0, high: rows.into() };
                ExprType { ty: ColumnType::BigInt, nullable: false, range }
            }
            Function::Min | Function::Max if of.ty.is_ordered() => ExprType { nullable, ..of },
            _ if !of.ty.is_numeric() => {
                return wrong(
                    format!("an argument of {}", of.ty),
                    "it takes numbers; MIN and MAX take all that has an order, and COUNT takes anything",
                );
            }
            Function::Sum => {
                let ty = sum_type(of.ty);
                let end = |n: i128| n.checked_mul(rows.into());
                let exact = end(of.range.low.min(0)).zip(end(of.range.high.max(0)));
                let range = fitted(ty, exact.map(|(low, high)| Range { low, high }));
                ExprType { ty, nullable, range }
            }
            Function::Average => {
                let ty = average_type(of.ty);
                let end = |n: i128| super::typing::rescaled(of.ty, Range { low: n, high: n }, ty);
                let exact = end(of.range.low.min(0)).zip(end(of.range.high.max(0)));
                let exact = exact.map(|(low, high)| Range { low: low.low, high: high.high });
                // Where the sum or its digits may wrap, so may the mean.
                let sum = of.range.low.unsigned_abs().max(of.range.high.unsigned_abs());
                let whole = sum.checked_mul(rows.into()).and_then(|n| n.checked_mul(10_000));
                let safe = whole.is_some_and(|n| n <= i128::MAX.unsigned_abs());
                let exact = exact.filter(|_| safe && held(sum_type(of.ty)).holds(of.range));
                ExprType { ty, nullable, range: fitted(ty, exact) }
            }
            Function::VariancePopulation | Function::VarianceSample => {
                let ty = variance_type(of.ty);
                let nullable = nullable || self.function == Function::VarianceSample;
                ExprType { ty, nullable, range: held(ty) }
            }
            Function::Min | Function::Max => {
                return wrong(format!("an argument of {}", of.ty), "digests have no order");
            }
        };
        Ok(made.column(&self.name))
    }
}

/// The type of a sum.
pub(crate) fn sum_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Decimal { precision, scale } => {
            ColumnType::Decimal { precision: (precision + 10).min(MAX_DIGITS), scale }
        }
        ColumnType::Double { .. } => of,
        _ => ColumnType::BigInt,
    }
}

/// The type of a mean.
pub(crate) fn average_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Decimal { precision, scale } => ColumnType::Decimal {
            precision: (precision + 4).min(MAX_DIGITS),
            scale: (scale + 4).min(MAX_DIGITS),
        },
        ColumnType::Double { .. } => of,
        _ => ColumnType::Decimal { precision: 23, scale: 4 },
    }
}

/// The type of a variance.
pub(crate) fn variance_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Double { .. } => of,
        _ => ColumnType::Decimal { precision: MAX_DIGITS, scale: (2 * of.scale() + 4).min(MAX_DIGITS) },
    }
}
