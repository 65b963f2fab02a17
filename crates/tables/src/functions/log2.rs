//! LOG2.

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
    names: &["log2"],
    arity: 1..=1,
    usage: "LOG2(number)",
    gives: "DOUBLE",
    doc: "the binary logarithm; NULL of a number that is not above 0",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LOG2, real::of_reals),
};

static LOG2: Primitive = Primitive {
    name: "LOG2",
    strict: true,
    cuts_bytes: false,
    check: |operands| real::checked(operands, Range { low: -128 * UNIT, high: 128 * UNIT }, true),
    plain: |_, values| real::value(&values, |x| (x[0] > 0).then(|| fixed::logarithm(x[0], fixed::LOG2_E))),
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| {
            (fixed::logarithm(x[0], fixed::LOG2_E), Some(!x[0].same(0).below(x[0])))
        })
    },
    shown: as_call,
};
