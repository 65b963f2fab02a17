//! The SQL aggregate BOOL_AND.

use super::{AggregateDef, AggregateMeaning, MIN};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["bool_and", "every", "logical_and"],
    arity: 1..=1,
    usage: "BOOL_AND(condition)",
    gives: "BOOLEAN",
    doc: "whether all conditions that are not NULL are true",
    example: "BOOL_AND(done)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        arguments.figure(&MIN, of)
    }),
};
