//! The SQL aggregate STDDEV_POP.

use super::{AggregateDef, AggregateMeaning, VAR_POP, moments};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["stddev_pop"],
    arity: 1..=1,
    usage: "STDDEV_POP(number)",
    gives: "DOUBLE",
    doc: "the square root of VAR_POP",
    example: "STDDEV_POP(n)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let of = moments::finer(arguments, of)?;
        let variance = arguments.figure(&VAR_POP, of)?;
        arguments.call("sqrt", vec![variance])
    }),
};
