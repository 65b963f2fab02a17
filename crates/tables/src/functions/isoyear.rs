//! The SQL function ISOYEAR.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, days_later, weekday},
    call,
    slice::whole,
};
use crate::algebra::{Arithmetic, ColumnType};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["isoyear"],
    arity: 1..=1,
    usage: "EXTRACT(ISOYEAR FROM date)",
    gives: "BIGINT",
    doc: "the year of the week of ISO 8601",
    example: "EXTRACT(ISOYEAR FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let reader = arguments.reader;
        // A week belongs to the year of its Thursday.
        let of = dated(of, reader)?;
        let day = if reader.ty(&of)? == ColumnType::Timestamp { of.cast(ColumnType::Date) } else { of };
        let by = reader.arithmetic(Arithmetic::Subtract, whole(4), weekday(day.clone(), reader)?)?;
        let thursday = days_later(day, by);
        call("year", vec![thursday], reader)
    }),
};
