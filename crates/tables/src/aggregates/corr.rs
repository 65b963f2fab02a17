//! The SQL aggregate CORR.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, moments::Moments};
use crate::{
    Fault,
    algebra::{Arithmetic, Expr},
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["corr"],
    arity: 2..=2,
    usage: "CORR(y, x)",
    gives: "DOUBLE",
    doc: "the correlation of rows in which neither is NULL; NULL where one does not vary",
    example: "CORR(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        of(arguments, &moments)
    }),
};

/// The correlation, computed from sums.
pub(super) fn of(arguments: &AggregateArguments<'_>, moments: &Moments) -> Result<Expr, Fault> {
    let [of_y, of_x] = [&moments.y, &moments.x].map(|one| moments.spread(arguments, one));
    let y = arguments.call("sqrt", vec![of_y?])?;
    let x = arguments.call("sqrt", vec![of_x?])?;
    let by = arguments.arithmetic(Arithmetic::Multiply, y, x)?;
    arguments.arithmetic(Arithmetic::Divide, moments.mixed(arguments)?, by)
}
