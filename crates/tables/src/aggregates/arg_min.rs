//! The SQL aggregate ARG_MIN.

use super::{AggregateDef, AggregateMeaning, arg_max::extreme};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["arg_min", "min_by", "argmin"],
    arity: 2..=2,
    usage: "ARG_MIN(value, by)",
    gives: "the value's type",
    doc: "the value of the row with the least `by`; the least such value of several rows; rows with NULL do not count",
    example: "ARG_MIN(name, price)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of, by] = arguments.exactly()?;
        extreme(arguments, of, by, false)
    }),
};
