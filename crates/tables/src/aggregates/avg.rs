//! AVG.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["avg", "mean"],
    arity: 1..=1,
    usage: "AVG(number)",
    gives: "DECIMAL with four digits more than the number; a DOUBLE stays one",
    doc: "the mean, rounded towards 0",
    example: "AVG(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::Average),
};
