//! The SQL function LOG2.

use super::{FnDef, Leaks, Meaning, Primitive, real};
use crate::fixed;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["log2"],
    arity: 1..=1,
    usage: "LOG2(number)",
    gives: "DOUBLE",
    doc: "the binary logarithm; NULL of a number that is not above 0",
    example: "LOG2(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LOG2, real::of_reals),
};

static LOG2: Primitive = real::logarithm::<{ fixed::LOG2_E }>("LOG2");
