//! STRING_AGG.

use super::{AggregateArguments, AggregateDef, AggregateMeaning};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["string_agg", "group_concat", "listagg", "array_agg", "list"],
    arity: 0..=usize::MAX,
    usage: "STRING_AGG(text, separator)",
    gives: "–",
    doc: "is refused: its length would grow with the rows of a group, and show their number",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let clause = format!("{} of values whose number is secret", arguments.name.to_uppercase());
        let remedy = "the length of its result would tell how many rows a group has: return the rows, ordered by the group, and join their texts after the query";
        Err(AggregateArguments::unsupported(&clause, remedy))
    }),
};
