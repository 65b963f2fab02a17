//! The SQL aggregate REGR_SXX.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_sxx"],
    arity: 2..=2,
    usage: "REGR_SXX(y, x)",
    gives: "as a quotient of the product",
    doc: "the sum of the square distances of `x` from its mean, of rows in which neither is NULL",
    example: "REGR_SXX(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let all = moments.spread(arguments, &moments.x)?;
        arguments.arithmetic(Arithmetic::Divide, all, moments.count)
    }),
};
