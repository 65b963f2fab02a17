//! The SQL aggregate STDDEV_SAMP.

use super::{AggregateDef, AggregateMeaning, VAR_SAMP, moments};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["stddev_samp", "stddev", "std"],
    arity: 1..=1,
    usage: "STDDEV_SAMP(number)",
    gives: "DOUBLE",
    doc: "the square root of VAR_SAMP",
    example: "STDDEV_SAMP(n)",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let of = moments::finer(arguments, of)?;
        let variance = arguments.figure(&VAR_SAMP, of)?;
        arguments.call("sqrt", vec![variance])
    }),
};
