//! The SQL function ACOS.

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

pub(super) static ACOS: Primitive = Primitive {
    name: "ACOS",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::angle(operands, Range { low: 0, high: 4 * UNIT }),
    plain: |typed, values| {
        let frac = real::frac(typed.operands.public);
        let has_one = |x: i128| x.abs() <= fixed::most_of_waves(frac);
        real::value(&values, |x| has_one(x[0]).then(|| fixed::arc_cosine(x[0], frac)))
    },
    lower: |typed, cells| {
        let frac = real::frac(typed.operands.public);
        let most = fixed::most_of_waves(frac);
        real::lowered(typed, cells, |x| (fixed::arc_cosine(x[0], frac), Some(beyond(x[0].0, most))))
    },
    shown: as_call,
};
