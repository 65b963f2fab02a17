//! The SQL function LOG10.

use super::{FnDef, Leaks, Meaning, Primitive, real};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["log10", "log"],
    arity: 1..=1,
    usage: "LOG10(number)",
    gives: "DOUBLE",
    doc: "the decimal logarithm; NULL of a number that is not above 0",
    example: "LOG10(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LOG10, real::of_reals),
};

/// 1 / ln 10 with 60 fractional bits.
const LOG10_E: i128 = 500_707_447_518_348_173;

static LOG10: Primitive = real::logarithm::<LOG10_E>("LOG10");
