//! LN.

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
    names: &["ln"],
    arity: 1..=1,
    usage: "LN(number)",
    gives: "DOUBLE",
    doc: "the natural logarithm; NULL of a number that is not above 0",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LN, real::of_reals),
};

static LN: Primitive = Primitive {
    name: "LN",
    strict: true,
    cuts_bytes: false,
    check: |operands| real::checked(operands, Range { low: -128 * UNIT, high: 128 * UNIT }, true),
    plain: |_, values| real::value(&values, |x| (x[0] > 0).then(|| fixed::logarithm(x[0], fixed::ONE))),
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| (fixed::logarithm(x[0], fixed::ONE), Some(!x[0].same(0).below(x[0]))))
    },
    shown: as_call,
};
