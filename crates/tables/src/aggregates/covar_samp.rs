//! The SQL aggregate COVAR_SAMP.

use super::{AggregateDef, AggregateMeaning, moments::Moments};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["covar_samp"],
    arity: 2..=2,
    usage: "COVAR_SAMP(y, x)",
    gives: "as COVAR_POP",
    doc: "the same over one less than the number of rows; NULL of one row",
    example: "COVAR_SAMP(n, k)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let moments = Moments::of(arguments)?;
        let less = arguments.arithmetic(Arithmetic::Subtract, moments.count.clone(), whole(1))?;
        let by = arguments.arithmetic(Arithmetic::Multiply, moments.count.clone(), less)?;
        let mixed = moments.mixed(arguments)?;
        arguments.arithmetic(Arithmetic::Divide, mixed, by)
    }),
};
