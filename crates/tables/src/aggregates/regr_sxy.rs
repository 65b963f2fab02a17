//! The SQL aggregate REGR_SXY.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_sxy"],
    arity: 2..=2,
    usage: "REGR_SXY(y, x)",
    gives: "as a quotient of the product",
    doc: "the sum of the products of both distances from the means, of rows in which neither is NULL",
    example: "REGR_SXY(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let all = moments.mixed(arguments)?;
        arguments.arithmetic(Arithmetic::Divide, all, moments.count)
    }),
};
