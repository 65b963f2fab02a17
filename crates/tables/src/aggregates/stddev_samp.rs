//! STDDEV_SAMP.

use super::{AggregateDef, AggregateMeaning, moments};
use crate::algebra::Function;

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
        let variance = arguments.figure(Function::VarianceSample, of)?;
        arguments.call("sqrt", vec![variance])
    }),
};
