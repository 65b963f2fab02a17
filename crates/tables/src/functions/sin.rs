//! The SQL function SIN.

use super::{ComputedBy, FnDef, Leaks, Meaning, Primitive, definition::as_call, real};
use crate::fixed;

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

pub(super) static SIN: Primitive = Primitive {
    name: "SIN",
    strict: true,
    by: ComputedBy::Parties,
    check: real::wave,
    plain: |typed, values| {
        let frac = real::frac(typed.operands.public);
        real::value(&values, |x| Some(fixed::sine(x[0], frac)))
    },
    lower: |typed, cells| {
        let frac = real::frac(typed.operands.public);
        real::lowered(typed, cells, |x| (fixed::sine(x[0], frac), None))
    },
    shown: as_call,
};
