//! The SQL aggregate ANY_VALUE.

use super::{AggregateDef, AggregateMeaning, MIN};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["any_value", "arbitrary"],
    arity: 1..=1,
    usage: "ANY_VALUE(value)",
    gives: "the value's type",
    doc: "one of the values that are not NULL: the least",
    example: "ANY_VALUE(name)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        arguments.figure(&MIN, of)
    }),
};
