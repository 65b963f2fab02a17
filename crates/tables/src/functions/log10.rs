//! LOG10.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{
    algebra::Range,
    fixed::{self, Fixed},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["log10", "log"],
    arity: 1..=1,
    usage: "LOG10(number)",
    gives: "DOUBLE",
    doc: "the decimal logarithm; NULL of a number that is not above 0",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LOG10, real::of_reals),
};

/// 1 / ln 10 with 60 fractional bits.
const LOG10_E: i128 = 500_707_447_518_348_173;

static LOG10: Primitive = Primitive {
    name: "LOG10",
    strict: true,
    cuts_bytes: false,
    check: |operands| real::checked(operands, Range { low: -128 * UNIT, high: 128 * UNIT }, true),
    plain: |_, values| real::value(&values, |x| (x[0] > 0).then(|| fixed::logarithm(x[0], LOG10_E))),
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| (fixed::logarithm(x[0], LOG10_E), Some(!x[0].same(0).below(x[0]))))
    },
    shown: as_call,
};
