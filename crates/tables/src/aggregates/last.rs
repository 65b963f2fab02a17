//! The SQL aggregate LAST.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, first::at_end};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["last"],
    arity: 1..=1,
    usage: "LAST(value ORDER BY key)",
    gives: "the value's type",
    doc: "the last value in the order that is not NULL",
    example: "LAST(name ORDER BY k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let [key] = &arguments.order[..] else {
            let clause = "LAST without an ORDER BY of one key";
            return Err(AggregateArguments::unsupported(
                clause,
                "write LAST(value ORDER BY key): rows have no order of their own",
            ));
        };
        let key = key.clone();
        at_end(arguments, of, key, false)
    }),
};
