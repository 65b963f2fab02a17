//! The SQL aggregate ARRAY_AGG.

use super::{AggregateArguments, AggregateDef, AggregateMeaning};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["array_agg", "list"],
    arity: 0..=usize::MAX,
    usage: "ARRAY_AGG(value)",
    gives: "–",
    doc: "is refused: the length of a list would tell how many rows a group has",
    example: "",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let clause =
            format!("{}, whose length would tell how many rows a group has", arguments.name.to_uppercase());
        let remedy = "bound a text: CAST(STRING_AGG(name, ', ' ORDER BY name) AS VARCHAR(100)); or return the rows, ordered by the group";
        Err(AggregateArguments::unsupported(&clause, remedy))
    }),
};
