//! COS.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{algebra::Range, fixed};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["cos"],
    arity: 1..=1,
    usage: "COS(number)",
    gives: "DOUBLE",
    doc: "the cosine of an angle in radians",
    example: "COS(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&COS, real::of_reals),
};

static COS: Primitive = Primitive {
    name: "COS",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, Range { low: -UNIT, high: UNIT }, false),
    plain: |_, values| real::value(&values, |x| Some(fixed::cosine(x[0]))),
    lower: |typed, cells| real::lowered(typed, cells, |x| (fixed::cosine(x[0]), None)),
    shown: as_call,
};
