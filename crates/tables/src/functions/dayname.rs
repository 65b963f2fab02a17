//! The SQL function DAYNAME.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{WEEKDAYS, named},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["dayname"],
    arity: 1..=1,
    usage: "DAYNAME(date)",
    gives: "VARCHAR(9)",
    doc: "the English name of the day",
    example: "DAYNAME(day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [sunday, others @ ..] = WEEKDAYS;
        named("isodow", &[&others[..], &[sunday]].concat(), arguments)
    }),
};
