//! The SQL aggregate REGR_AVGY.

use super::{AVG, AggregateDef, AggregateMeaning};
use crate::algebra::when;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_avgy"],
    arity: 2..=2,
    usage: "REGR_AVGY(y, x)",
    gives: "as AVG",
    doc: "the mean of the first number, of rows in which neither is NULL",
    example: "REGR_AVGY(n, price)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [y, x] = arguments.exactly()?;
        arguments.figure(&AVG, when(x.is_null().not(), y))
    }),
};
