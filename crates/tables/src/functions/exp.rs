//! The SQL function EXP.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, POSITIVE},
};
use crate::fixed;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["exp"],
    arity: 1..=1,
    usage: "EXP(number)",
    gives: "DOUBLE",
    doc: "e to the power of a number; NULL above e^42",
    example: "EXP(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&EXP, real::of_reals),
};

static EXP: Primitive = Primitive {
    name: "EXP",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, POSITIVE, true),
    plain: |_, values| {
        real::value(&values, |x| {
            let (made, large) = fixed::exponential(x[0]);
            (!large).then_some(made)
        })
    },
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| {
            let (made, large) = fixed::exponential(x[0]);
            (made, Some(large))
        })
    },
    shown: as_call,
};
