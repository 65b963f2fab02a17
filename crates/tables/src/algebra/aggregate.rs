//! Figures of groups.

use super::{
    expr::Expr,
    types::{Column, ColumnType, MAX_DIGITS, Range, Schema},
    typing::ExprType,
};
use crate::{
    Fault,
    aggregates::{Checked, Figure},
    error::refused,
};

/// A figure and its column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Aggregate {
    /// The column's name.
    pub name: String,
    /// The figure.
    pub figure: &'static Figure,
    /// Its argument; `None` for COUNT(*).
    pub argument: Option<Expr>,
    /// Whether equal arguments count once.
    pub distinct: bool,
}

impl Aggregate {
    /// A figure of all rows' arguments.
    #[must_use]
    pub fn new(name: &str, figure: &'static Figure, argument: Expr) -> Self {
        Aggregate { name: name.to_owned(), figure, argument: Some(argument), distinct: false }
    }

    /// The same figure over distinct arguments.
    #[must_use]
    pub fn distinct(self) -> Self {
        Aggregate { distinct: true, ..self }
    }

    /// The figure's column for groups of at most `rows` rows. `grouped` tells that no group is
    /// empty.
    pub(super) fn check(&self, schema: &Schema, rows: u64, grouped: bool) -> Result<Column, Fault> {
        let Some(argument) = &self.argument else {
            if !self.figure.counts() {
                let cause = format!("{} without an argument", self.figure);
                return Err(refused(cause, "give it one: only COUNT(*) has none"));
            }
            let range = Range { low: 0, high: rows.into() };
            return Ok(ExprType { ty: ColumnType::BigInt, nullable: false, range }.column(&self.name));
        };
        let of = argument.check(schema)?;
        let checked = Checked { of, rows, nullable: of.nullable || !grouped };
        let made = (self.figure.check)(&checked).map_err(|e| e.of(self.figure))?;
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
