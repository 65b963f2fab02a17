//! The SQL aggregate REGR_SLOPE.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_slope"],
    arity: 2..=2,
    usage: "REGR_SLOPE(y, x)",
    gives: "as a quotient of the product",
    doc: "the slope of the line that fits rows in which neither is NULL; NULL where x does not vary",
    example: "REGR_SLOPE(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let mixed = moments.mixed(arguments)?;
        let spread = moments.spread(arguments, &moments.x)?;
        arguments.arithmetic(Arithmetic::Divide, mixed, spread)
    }),
};
