//! The SQL function LN.

use super::{FnDef, Leaks, Meaning, Primitive, real};
use crate::fixed;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ln"],
    arity: 1..=1,
    usage: "LN(number)",
    gives: "DOUBLE",
    doc: "the natural logarithm; NULL of a number that is not above 0",
    example: "LN(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LN, real::of_reals),
};

static LN: Primitive = real::logarithm::<{ fixed::ONE }>("LN");
