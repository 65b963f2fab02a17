//! Figures of a group's rows.

use super::{Row, expr::value};
use crate::{
    aggregates::FigureValues,
    algebra::{Aggregate, Schema, Value},
};

/// The figure of a group's rows; all groups together have at most `most` rows.
pub(super) fn figure(aggregate: &Aggregate, schema: &Schema, rows: &[Row], most: u64) -> Value {
    let count = |n: usize| Value::Number(n as i128);
    let Some(argument) = &aggregate.argument else { return count(rows.len()) };
    let of = argument.check(schema).expect("it was checked");
    let mut values: Vec<Value> = rows.iter().map(|row| value(argument, schema, row)).collect();
    values.retain(|v| !v.is_null());
    values.sort();
    if aggregate.distinct {
        values.dedup();
    }
    match (values.is_empty(), aggregate.figure.counts()) {
        (true, true) => count(0),
        (true, false) => Value::Null,
        _ => (aggregate.figure.plain)(&FigureValues { all: &values, of, most }),
    }
}
