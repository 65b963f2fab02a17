//! MAX.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["max"],
    arity: 1..=1,
    usage: "MAX(value)",
    gives: "the value's type",
    doc: "the greatest value",
    example: "MAX(price)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::Max),
};
