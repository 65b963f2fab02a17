//! The SQL function WEEK.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, days_later, weekday},
    call,
    slice::whole,
};
use crate::algebra::{Arithmetic, ColumnType};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["week", "weekofyear"],
    arity: 1..=1,
    usage: "EXTRACT(WEEK FROM date)",
    gives: "BIGINT",
    doc: "the week of ISO 8601, 1 to 53",
    example: "EXTRACT(WEEK FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let reader = arguments.reader;
        // A week belongs to the year of its Thursday.
        let of = dated(of, reader)?;
        let day = if reader.ty(&of)? == ColumnType::Timestamp { of.cast(ColumnType::Date) } else { of };
        let by = reader.arithmetic(Arithmetic::Subtract, whole(4), weekday(day.clone(), reader)?)?;
        let thursday = days_later(day, by);
        let day = call("doy", vec![thursday], reader)?;
        let week = reader.arithmetic(
            Arithmetic::DivideWhole,
            reader.arithmetic(Arithmetic::Subtract, day, whole(1))?,
            whole(7),
        )?;
        reader.arithmetic(Arithmetic::Add, week, whole(1))
    }),
};
