//! The SQL function CENTURY.

use super::{FnDef, Leaks, Meaning, calendar::floored, call};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["century"],
    arity: 1..=1,
    usage: "EXTRACT(CENTURY FROM date)",
    gives: "BIGINT",
    doc: "the century: 21 from 2001 on",
    example: "EXTRACT(CENTURY FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let year = call("year", arguments.all.clone(), arguments.reader)?;
        let later = arguments.reader.arithmetic(Arithmetic::Add, year, whole(99))?;
        floored(later, 100, arguments.reader)
    }),
};
