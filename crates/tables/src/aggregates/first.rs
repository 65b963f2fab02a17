//! The SQL aggregate FIRST.

use super::{
    AggregateArguments, AggregateDef, AggregateMeaning, AggregateOrder, MIN, Nulls, arg_max::extreme,
};
use crate::{
    Fault,
    algebra::{Expr, when},
    functions::coalesce,
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["first"],
    arity: 1..=1,
    usage: "FIRST(value ORDER BY key)",
    gives: "the value's type",
    doc: "the first value in the order that is not NULL",
    example: "FIRST(name ORDER BY k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let [key] = &arguments.order[..] else {
            let clause = "FIRST without an ORDER BY of one key";
            return Err(AggregateArguments::unsupported(
                clause,
                "write FIRST(value ORDER BY key): rows have no order of their own",
            ));
        };
        let key = key.clone();
        at_end(arguments, of, key, true)
    }),
};

/// The first or the last value in an order, among those that are not NULL.
pub(super) fn at_end(
    arguments: &mut AggregateArguments<'_>,
    of: Expr,
    key: AggregateOrder,
    is_first: bool,
) -> Result<Expr, Fault> {
    let AggregateOrder { by, descending, nulls } = key;
    let among = extreme(arguments, of.clone(), by.clone(), descending == is_first)?;
    if nulls == Nulls::None {
        return Ok(among);
    }
    // Rows without a key come first or last.
    let without = arguments.figure(&MIN, when(by.is_null(), of))?;
    let are_near = (nulls == Nulls::First) == is_first;
    Ok(coalesce(if are_near { vec![without, among] } else { vec![among, without] }))
}
