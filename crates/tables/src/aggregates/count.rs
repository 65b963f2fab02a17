//! The SQL aggregate COUNT.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, as_it_is},
};
use crate::algebra::{Aggregate, ColumnType, ExprType, Range, Value, counted};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["count"],
    arity: 0..=usize::MAX,
    usage: "COUNT(*), COUNT(value, …)",
    gives: "BIGINT",
    doc: "the number of rows, or of rows in which no value is NULL",
    example: "COUNT(price)",
    distinct: true,
    meaning: AggregateMeaning::Native(&COUNT),
};

/// The number of rows, or of rows whose argument is not NULL.
pub static COUNT: Figure = Figure {
    name: "COUNT",
    form: FigureForm::Count,
    argument: as_it_is,
    check: |checked| {
        let range = Range { low: 0, high: checked.rows.into() };
        Ok(ExprType { ty: ColumnType::BigInt, nullable: false, range })
    },
    plain: |values| Value::Number(values.count()),
    lower: |rows| rows.cell(rows.count(), None),
    over: |frame, of| frame.sum(&counted(of)),
};

impl Aggregate {
    /// The count of rows.
    #[must_use]
    pub fn count_rows(name: &str) -> Self {
        Aggregate { name: name.to_owned(), figure: &COUNT, argument: None, distinct: false }
    }
}
