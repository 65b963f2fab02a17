//! The SQL aggregate COUNT_IF.

use super::{AggregateDef, AggregateMeaning, COUNT};
use crate::algebra::{when, whole};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["count_if", "countif"],
    arity: 1..=1,
    usage: "COUNT_IF(condition)",
    gives: "BIGINT",
    doc: "the number of rows for which the condition is true",
    example: "COUNT_IF(n > 5)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        arguments.figure(&COUNT, when(of, whole(1)))
    }),
};
