//! VAR_POP.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["var_pop"],
    arity: 1..=1,
    usage: "VAR_POP(number)",
    gives: "DECIMAL with four digits more than a square has; DOUBLE",
    doc: "the mean square distance from the mean",
    example: "VAR_POP(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::VariancePopulation),
};
