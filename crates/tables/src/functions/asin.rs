//! ASIN.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{algebra::Range, fixed, lower::numbers::beyond};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["asin"],
    arity: 1..=1,
    usage: "ASIN(number)",
    gives: "DOUBLE",
    doc: "the angle with this sine, in radians; NULL of a number outside of -1 to 1",
    example: "ASIN(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&ASIN, real::of_reals),
};

static ASIN: Primitive = Primitive {
    name: "ASIN",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, Range { low: -2 * UNIT, high: 2 * UNIT }, true),
    plain: |_, values| real::value(&values, |x| (x[0].abs() <= UNIT).then(|| fixed::arc_sine(x[0]))),
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| (fixed::arc_sine(x[0]), Some(beyond(x[0].0, UNIT))))
    },
    shown: as_call,
};
