//! ACOS.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, UNIT},
};
use crate::{algebra::Range, fixed, lower::numbers::beyond};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["acos"],
    arity: 1..=1,
    usage: "ACOS(number)",
    gives: "DOUBLE",
    doc: "the angle with this cosine, in radians; NULL of a number outside of -1 to 1",
    example: "ACOS(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&ACOS, real::of_reals),
};

static ACOS: Primitive = Primitive {
    name: "ACOS",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, Range { low: 0, high: 4 * UNIT }, true),
    plain: |_, values| real::value(&values, |x| (x[0].abs() <= UNIT).then(|| fixed::arc_cosine(x[0]))),
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| (fixed::arc_cosine(x[0]), Some(beyond(x[0].0, UNIT))))
    },
    shown: as_call,
};
