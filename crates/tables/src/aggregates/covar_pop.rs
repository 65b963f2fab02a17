//! The SQL aggregate COVAR_POP.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["covar_pop"],
    arity: 2..=2,
    usage: "COVAR_POP(y, x)",
    gives: "as a quotient of the product",
    doc: "the mean product of the distances from the means, of rows in which neither is NULL",
    example: "COVAR_POP(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let by = arguments.arithmetic(Arithmetic::Multiply, moments.count.clone(), moments.count.clone())?;
        let mixed = moments.mixed(arguments)?;
        arguments.arithmetic(Arithmetic::Divide, mixed, by)
    }),
};
