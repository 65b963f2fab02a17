//! The SQL aggregate REGR_R2.

use super::{AggregateDef, AggregateMeaning, corr, moments::Moments};
use crate::algebra::{Arithmetic, ColumnType, Expr, whole};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["regr_r2"],
    arity: 2..=2,
    usage: "REGR_R2(y, x)",
    gives: "DOUBLE",
    doc: "the square of the correlation: the share of the variance of `y` that the line explains; 1 where `y` does not vary, and NULL where `x` does not",
    example: "REGR_R2(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let [of_y, of_x] = [&moments.y, &moments.x].map(|one| moments.spread(arguments, one));
        // The correlation is between -1 and 1, though its type allows more.
        let correlation = corr::of(arguments, &moments)?.cast(ColumnType::Double { frac: 32 });
        let square = arguments.arithmetic(Arithmetic::Multiply, correlation.clone(), correlation)?;
        let is_zero = |of| arguments.compared(Comparison::Equal, of, whole(0));
        let (y_is_flat, x_is_flat) = (is_zero(of_y?)?, is_zero(of_x?)?);
        let values = arguments.figures.reader().united(vec![whole(1), square])?;
        let [one, square] = <[Expr; 2]>::try_from(values).map_err(|_| arguments.wrong_count(2))?;
        let branches = vec![(x_is_flat.not().and(y_is_flat), one)];
        Ok(Expr::Case { branches, otherwise: Some(Box::new(square)) })
    }),
};
