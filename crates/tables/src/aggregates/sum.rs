//! SUM.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::Function;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["sum"],
    arity: 1..=1,
    usage: "SUM(number)",
    gives: "BIGINT; DECIMAL with ten digits more; DOUBLE",
    doc: "the sum; a truth value counts as 1 or 0",
    example: "SUM(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(Function::Sum),
};
