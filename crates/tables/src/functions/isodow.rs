//! The SQL function ISODOW.

use super::{FnDef, Leaks, Meaning, calendar::weekday};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["isodow"],
    arity: 1..=1,
    usage: "EXTRACT(ISODOW FROM date)",
    gives: "BIGINT",
    doc: "the weekday, 1 for Monday to 7 for Sunday",
    example: "EXTRACT(ISODOW FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        weekday(of, arguments.reader)
    }),
};
