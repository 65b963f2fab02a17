//! The SQL aggregate PERCENTILE_CONT.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, SUM};
use crate::{
    Fault,
    algebra::{Arithmetic, Expr, counted, whole},
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["percentile_cont", "quantile_cont"],
    arity: 1..=2,
    usage: "PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY number)",
    gives: "as a quotient of the number's type",
    doc: "the value in the place that the share names in the order, between its two neighbours; also `QUANTILE_CONT(number, share)`",
    example: "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY n)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let (of, descending, share) = arguments.percentile()?;
        between(arguments, &of, descending, share)
    }),
};

/// The interpolated value at place p (n − 1) / q of n values, counted from 0.
pub(super) fn between(
    arguments: &mut AggregateArguments<'_>,
    of: &Expr,
    descending: bool,
    (p, q): (i128, i128),
) -> Result<Expr, Fault> {
    use Arithmetic::{Add, Divide, DivideWhole, Multiply, Remainder, Subtract};
    let ty = arguments.ty(of)?;
    if !ty.is_numeric() {
        let clause = format!("{} of {ty}", arguments.name.to_uppercase());
        let remedy =
            "write PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY value), which takes values of any type";
        return Err(AggregateArguments::unsupported(&clause, remedy));
    }
    let (place, count) = arguments.places(of, descending)?;
    // Computes q times the place.
    let scaled = |arguments: &AggregateArguments<'_>, count: Expr| {
        let before = arguments.arithmetic(Subtract, count, whole(1))?;
        arguments.arithmetic(Multiply, before, whole(p))
    };
    let by_row = scaled(arguments, count)?;
    let below = arguments.arithmetic(DivideWhole, by_row.clone(), whole(q))?;
    let below = arguments.arithmetic(Add, below, whole(1))?;
    // The place above, rounded up.
    let above = arguments.arithmetic(Add, by_row, whole(q - 1))?;
    let above = arguments.arithmetic(DivideWhole, above, whole(q))?;
    let above = arguments.arithmetic(Add, above, whole(1))?;
    let low = arguments.at_place(of, descending, &place, below)?;
    let high = arguments.at_place(of, descending, &place, above)?;
    let all = arguments.figure(&SUM, counted(of))?;
    let scaled = scaled(arguments, all)?;
    let rest = arguments.arithmetic(Remainder, scaled, whole(q))?;
    let other = arguments.arithmetic(Subtract, whole(q), rest.clone())?;
    let low = arguments.arithmetic(Multiply, low, other)?;
    let high = arguments.arithmetic(Multiply, high, rest)?;
    let sum = arguments.arithmetic(Add, low, high)?;
    arguments.arithmetic(Divide, sum, whole(q))
}
