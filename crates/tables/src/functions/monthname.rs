//! The SQL function MONTHNAME.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{MONTHS, named},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["monthname"],
    arity: 1..=1,
    usage: "MONTHNAME(date)",
    gives: "VARCHAR(9)",
    doc: "the English name of the month",
    example: "MONTHNAME(day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| named("month", &MONTHS, arguments)),
};
