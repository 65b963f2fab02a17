//! VAR_SAMP.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["var_samp", "variance"],
    arity: 1..=1,
    usage: "VAR_SAMP(number)",
    gives: "as VAR_POP",
    doc: "the same over one less than the number of values; NULL of one value",
    example: "VAR_SAMP(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::VarianceSample),
};
