//! The SQL function ISOYEAR.

use super::{FnDef, Leaks, Meaning, calendar::thursday, call};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["isoyear"],
    arity: 1..=1,
    usage: "EXTRACT(ISOYEAR FROM date)",
    gives: "BIGINT",
    doc: "the year of the week of ISO 8601",
    example: "EXTRACT(ISOYEAR FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| call("year", vec![thursday(arguments)?], arguments.reader)),
};
