//! The SQL function DOW.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{modulo, weekday},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["dow", "dayofweek", "weekday"],
    arity: 1..=1,
    usage: "EXTRACT(DOW FROM date)",
    gives: "BIGINT",
    doc: "the weekday, 0 for Sunday to 6 for Saturday",
    example: "EXTRACT(DOW FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        modulo(weekday(of, arguments.reader)?, 7, arguments.reader)
    }),
};
