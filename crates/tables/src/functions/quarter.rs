//! The SQL function QUARTER.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["quarter"],
    arity: 1..=1,
    usage: "EXTRACT(QUARTER FROM date)",
    gives: "BIGINT",
    doc: "the quarter, 1 to 4",
    example: "EXTRACT(QUARTER FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let month = call("month", arguments.all.clone(), arguments.reader)?;
        let later = arguments.reader.arithmetic(Arithmetic::Add, month, whole(2))?;
        arguments.reader.arithmetic(Arithmetic::DivideWhole, later, whole(3))
    }),
};
