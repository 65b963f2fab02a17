//! The SQL function DECADE.

use super::{FnDef, Leaks, Meaning, calendar::floored, call};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["decade"],
    arity: 1..=1,
    usage: "EXTRACT(DECADE FROM date)",
    gives: "BIGINT",
    doc: "the year divided by 10",
    example: "EXTRACT(DECADE FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        floored(call("year", arguments.all.clone(), arguments.reader)?, 10, arguments.reader)
    }),
};
