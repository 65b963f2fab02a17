//! The SQL function SECOND.

use super::{FnDef, Leaks, Meaning, calendar::of_time};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["second"],
    arity: 1..=1,
    usage: "EXTRACT(SECOND FROM timestamp)",
    gives: "BIGINT",
    doc: "the second of a TIMESTAMP, 0 to 59",
    example: "EXTRACT(SECOND FROM at)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| of_time(arguments, 1_000_000, 60)),
};
