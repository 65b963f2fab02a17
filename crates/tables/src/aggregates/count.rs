//! COUNT.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["count"],
    arity: 0..=usize::MAX,
    usage: "COUNT(*), COUNT(value, …)",
    gives: "BIGINT",
    doc: "the number of rows, or of rows in which no value is NULL",
    example: "COUNT(price)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::Count),
};
