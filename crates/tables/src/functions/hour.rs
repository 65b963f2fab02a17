//! The SQL function HOUR.

use super::{FnDef, Leaks, Meaning, calendar::of_time};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["hour"],
    arity: 1..=1,
    usage: "EXTRACT(HOUR FROM timestamp)",
    gives: "BIGINT",
    doc: "the hour of a TIMESTAMP, 0 to 23",
    example: "EXTRACT(HOUR FROM at)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| of_time(arguments, 3_600_000_000, 24)),
};
