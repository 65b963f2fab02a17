//! The SQL aggregate BOOL_OR.

use super::{AggregateDef, AggregateMeaning, MAX};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["bool_or", "logical_or"],
    arity: 1..=1,
    usage: "BOOL_OR(condition)",
    gives: "BOOLEAN",
    doc: "whether a condition is true",
    example: "BOOL_OR(done)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        arguments.figure(&MAX, of)
    }),
};
