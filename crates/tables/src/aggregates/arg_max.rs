//! The SQL aggregate ARG_MAX.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, MIN};
use crate::{
    Fault,
    algebra::{Expr, Frame, WindowFunction, when},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["arg_max", "max_by", "argmax"],
    arity: 2..=2,
    usage: "ARG_MAX(value, by)",
    gives: "the value's type",
    doc: "the value of the row with the greatest `by`; the least such value of several rows; rows with NULL do not count",
    example: "ARG_MAX(name, price)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of, by] = arguments.exactly()?;
        extreme(arguments, of, by, true)
    }),
};

/// The value in the row with the extreme key.
pub(super) fn extreme(
    arguments: &mut AggregateArguments<'_>,
    of: Expr,
    by: Expr,
    greatest: bool,
) -> Result<Expr, Fault> {
    let by = when(of.clone().is_null().not(), by);
    let call = WindowFunction::Extreme { of: by.clone(), greatest, frame: Frame::Peers };
    let best = arguments.figures.within(vec![], vec![], call)?;
    let is_best = arguments.compared(Comparison::Equal, by, best)?;
    arguments.figure(&MIN, when(is_best, of))
}
