//! FIRST.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, arg_max::extreme};

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
        let [(by, descending)] = &arguments.order[..] else {
            let clause = "FIRST without an ORDER BY of one key";
            return Err(AggregateArguments::unsupported(
                clause,
                "write FIRST(value ORDER BY key): rows have no order of their own",
            ));
        };
        let (by, descending) = (by.clone(), *descending);
        extreme(arguments, of, by, descending)
    }),
};
