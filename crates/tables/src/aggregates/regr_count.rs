//! The SQL aggregate REGR_COUNT.

use super::{AggregateDef, AggregateMeaning, COUNT};
use crate::algebra::{when, whole};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_count"],
    arity: 2..=2,
    usage: "REGR_COUNT(y, x)",
    gives: "BIGINT",
    doc: "the number of rows in which neither is NULL",
    example: "REGR_COUNT(n, price)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [y, x] = arguments.exactly()?;
        let there = y.is_null().not().and(x.is_null().not());
        arguments.figure(&COUNT, when(there, whole(1)))
    }),
};
