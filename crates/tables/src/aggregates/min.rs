//! MIN.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["min"],
    arity: 1..=1,
    usage: "MIN(value)",
    gives: "the value's type",
    doc: "the least value",
    example: "MIN(name)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::Min),
};
