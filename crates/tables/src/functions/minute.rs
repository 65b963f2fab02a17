//! The SQL function MINUTE.

use super::{FnDef, Leaks, Meaning, calendar::of_time};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["minute"],
    arity: 1..=1,
    usage: "EXTRACT(MINUTE FROM timestamp)",
    gives: "BIGINT",
    doc: "the minute of a TIMESTAMP, 0 to 59",
    example: "EXTRACT(MINUTE FROM at)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| of_time(arguments, 60_000_000, 60)),
};
