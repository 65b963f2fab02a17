//! SIN.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{algebra::Range, fixed};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["sin"],
    arity: 1..=1,
    usage: "SIN(number)",
    gives: "DOUBLE",
    doc: "the sine of an angle in radians",
    example: "SIN(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&SIN, real::of_reals),
};

static SIN: Primitive = Primitive {
    name: "SIN",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, Range { low: -UNIT, high: UNIT }, false),
    plain: |_, values| real::value(&values, |x| Some(fixed::sine(x[0]))),
    lower: |typed, cells| real::lowered(typed, cells, |x| (fixed::sine(x[0]), None)),
    shown: as_call,
};
