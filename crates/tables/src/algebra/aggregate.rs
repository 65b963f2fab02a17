//! Figures of groups.

use super::{
    bounds::{Mean, Variance, sum_range},
    expr::Expr,
    types::{Column, ColumnType, MAX_DIGITS, Range, Schema},
    typing::ExprType,
};
use crate::{
    Fault,
    error::{Refused, refused},
};
use std::fmt;

/// A figure of a group's rows. Rows whose argument is NULL do not count; a figure without any row
/// that counts is NULL, unless it is a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// How many rows there are; it has no argument.
    CountRows,
    /// How many arguments there are.
    Count,
    /// The sum: of integers BIGINT, of decimals with ten more digits. NULL from about 8.5 · 10^37
    /// of the last digit on.
    Sum,
    /// The mean towards 0: of integers and decimals with four more digits behind the point.
    Average,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The mean square distance from the mean towards 0, (n Σx² − (Σx)²) / n², in 128 bits; of
    /// integers and decimals with four more digits behind the point than a square has; NULL where
    /// that is not enough.
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

    /// The same figure over distinct arguments.
    #[must_use]
    pub fn distinct(self) -> Self {
        Aggregate { distinct: true, ..self }
    }

    /// The figure's column for groups of at most `rows` rows. `grouped` says that no group is
    /// empty.
    pub(super) fn check(&self, schema: &Schema, rows: u64, grouped: bool) -> Result<Column, Fault> {
        let Some(argument) = &self.argument else {
            if self.function != Function::CountRows {
                let cause = format!("{} without an argument", self.function);
                return Err(refused(cause, "give it one: only COUNT(*) has none"));
            }
            let range = Range { low: 0, high: rows.into() };
            return Ok(ExprType { ty: ColumnType::BigInt, nullable: false, range }.column(&self.name));
        };
        let of = argument.check(schema)?;
        let nullable = of.nullable || !grouped;
        let made = match self.function {
            Function::CountRows => {
                let remedy = "leave it out, or take COUNT of the argument, which is another function";
                return Err(refused("COUNT(*) of an argument", remedy));
            }
            Function::Count => {
                let range = Range { low: 0, high: rows.into() };
                ExprType { ty: ColumnType::BigInt, nullable: false, range }
            }
            Function::Min | Function::Max if !of.ty.is_ordered() => {
                return Err(Refused::no_order(&[of]).of(self.function));
            }
            Function::Min | Function::Max => ExprType { nullable, ..of },
            _ if !of.ty.is_numeric() => {
                let remedy =
                    "give it numbers, or take MIN or MAX of values with an order, or COUNT of any values";
                return Err(Refused::operands(&[of], remedy).of(self.function));
            }
            Function::Sum => {
                let (range, leaves) = sum_range(of.range, rows);
                ExprType { ty: sum_type(of.ty), nullable: nullable || leaves, range }
            }
            Function::Average => {
                let (mean, leaves) = average_mean(of, rows);
                let nullable = nullable || leaves || mean.most.is_some();
                ExprType { ty: average_type(of.ty), nullable, range: mean.range }
            }
            Function::VariancePopulation | Function::VarianceSample => {
                let Some(variance) = variance_of(of, rows) else {
                    return Err(Refused::digits(&[of], "squares").of(self.function));
                };
                let nullable = nullable || variance.may_leave() || self.function == Function::VarianceSample;
                let range = variance.mean.range;
                ExprType { ty: variance_type(of.ty), nullable, range }
            }
        };
        Ok(made.column(&self.name))
    }
}

/// The type of a sum.
pub(super) fn sum_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Decimal { precision, scale } => {
            ColumnType::Decimal { precision: (precision + 10).min(MAX_DIGITS), scale }
        }
        ColumnType::Double { .. } => of,
        _ => ColumnType::BigInt,
    }
}

/// The type of a mean.
fn average_type(of: ColumnType) -> ColumnType {
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
fn variance_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Double { .. } => of,
        _ => ColumnType::Decimal { precision: MAX_DIGITS, scale: (2 * of.scale() + 4).min(MAX_DIGITS) },
    }
}

/// The digits of the mean of `rows` numbers, and whether their sum may be NULL for its size.
pub(crate) fn average_mean(of: ExprType, rows: u64) -> (Mean, bool) {
    let digits = average_type(of.ty).scale() - of.ty.scale();
    (Mean::new(of.range, digits), sum_range(of.range, rows).1)
}

/// The variance of `rows` numbers; `None` where it would not be computed in 128 bits.
pub(crate) fn variance_of(of: ExprType, rows: u64) -> Option<Variance> {
    let ColumnType::Double { frac } = of.ty else {
        let digits = variance_type(of.ty).scale().checked_sub(2 * of.ty.scale())?;
        return Variance::new(of.range, rows, digits);
    };
    let mut made = Variance::new(of.range, rows, 0)?;
    made.mean.range.high >>= frac;
    Some(made)
}
