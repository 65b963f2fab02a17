//! The SQL aggregate REGR_AVGX.

use super::{AVG, AggregateDef, AggregateMeaning};
use crate::algebra::when;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_avgx"],
    arity: 2..=2,
    usage: "REGR_AVGX(y, x)",
    gives: "as AVG",
    doc: "the mean of the second number, of rows in which neither is NULL",
    example: "REGR_AVGX(n, price)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [y, x] = arguments.exactly()?;
        arguments.figure(&AVG, when(y.is_null().not(), x))
    }),
};
