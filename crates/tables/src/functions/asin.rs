//! The SQL function ASIN.

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

pub(super) static ASIN: Primitive = Primitive {
    name: "ASIN",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::angle(operands, Range { low: -2 * UNIT, high: 2 * UNIT }),
    plain: |typed, values| {
        let frac = real::frac(typed.operands.public);
        let has_one = |x: i128| x.abs() <= fixed::most_of_waves(frac);
        real::value(&values, |x| has_one(x[0]).then(|| fixed::arc_sine(x[0], frac)))
    },
    lower: |typed, cells| {
        let frac = real::frac(typed.operands.public);
        let most = fixed::most_of_waves(frac);
        real::lowered(typed, cells, |x| (fixed::arc_sine(x[0], frac), Some(beyond(x[0].0, most))))
    },
    shown: as_call,
};
