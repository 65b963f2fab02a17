//! The SQL aggregate REGR_INTERCEPT.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_intercept"],
    arity: 2..=2,
    usage: "REGR_INTERCEPT(y, x)",
    gives: "as a quotient of the product",
    doc: "the height of that line at 0",
    example: "REGR_INTERCEPT(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        use Arithmetic::{Divide, Multiply, Subtract};
        let moments = Moments::of(arguments)?;
        let first = arguments.arithmetic(Multiply, moments.y.sum.clone(), moments.x.squares.clone())?;
        let second = arguments.arithmetic(Multiply, moments.x.sum.clone(), moments.products.clone())?;
        let height = arguments.arithmetic(Subtract, first, second)?;
        let spread = moments.spread(arguments, &moments.x)?;
        arguments.arithmetic(Divide, height, spread)
    }),
};
