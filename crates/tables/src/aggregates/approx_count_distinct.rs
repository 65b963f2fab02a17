//! The SQL aggregate APPROX_COUNT_DISTINCT.

use super::{AggregateDef, AggregateMeaning, COUNT};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["approx_count_distinct", "approx_distinct"],
    arity: 1..=1,
    usage: "APPROX_COUNT_DISTINCT(value)",
    gives: "BIGINT",
    doc: "the exact number of different values",
    example: "APPROX_COUNT_DISTINCT(n)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        arguments.figures.figure(&COUNT, Some(of), true)
    }),
};
