//! The SQL function COS.

use super::{ComputedBy, FnDef, Leaks, Meaning, Primitive, definition::as_call, real};
use crate::fixed;

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

pub(super) static COS: Primitive = Primitive {
    name: "COS",
    strict: true,
    by: ComputedBy::Parties,
    check: real::wave,
    plain: |typed, values| {
        let frac = real::frac(typed.operands.public);
        real::value(&values, |x| Some(fixed::cosine(x[0], frac)))
    },
    lower: |typed, cells| {
        let frac = real::frac(typed.operands.public);
        real::lowered(typed, cells, |x| (fixed::cosine(x[0], frac), None))
    },
    shown: as_call,
};
