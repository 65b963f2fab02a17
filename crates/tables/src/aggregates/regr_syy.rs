//! The SQL aggregate REGR_SYY.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_syy"],
    arity: 2..=2,
    usage: "REGR_SYY(y, x)",
    gives: "as a quotient of the product",
    doc: "the sum of the square distances of `y` from its mean, of rows in which neither is NULL",
    example: "REGR_SYY(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let all = moments.spread(arguments, &moments.y)?;
        arguments.arithmetic(Arithmetic::Divide, all, moments.count)
    }),
};
