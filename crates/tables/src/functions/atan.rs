//! The SQL function ATAN.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{algebra::Range, fixed};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["atan"],
    arity: 1..=1,
    usage: "ATAN(number)",
    gives: "DOUBLE",
    doc: "the angle with this tangent, in radians",
    example: "ATAN(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&ATAN, real::of_reals),
};

static ATAN: Primitive = Primitive {
    name: "ATAN",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, Range { low: -2 * UNIT, high: 2 * UNIT }, false),
    plain: |_, values| real::value(&values, |x| Some(fixed::arc_tangent(x[0]))),
    lower: |typed, cells| real::lowered(typed, cells, |x| (fixed::arc_tangent(x[0]), None)),
    shown: as_call,
};
