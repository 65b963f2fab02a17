//! The SQL function DATE_TRUNC.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, first_day, micros, modulo, unit, unit_micros},
    text,
};
use crate::algebra::{Arithmetic, ColumnType};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["date_trunc", "datetrunc"],
    arity: 2..=2,
    usage: "DATE_TRUNC('month', date)",
    gives: "the date's type; TIMESTAMP for units below a day",
    doc: "the beginning of the year, quarter, month, week, day, hour, minute or second, or of the decade, century or millennium",
    example: "DATE_TRUNC('month', day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let reader = arguments.reader;
        let name = text::literal(arguments, 0)?;
        let of = dated(arguments.all[1].clone(), reader)?;
        let unknown = || {
            arguments.unsupported(
                "DATE_TRUNC to a unit other than year, quarter, month, week, day, hour, minute and second",
                "write one of these, or decade, century or millennium, as in DATE_TRUNC('month', day)",
            )
        };
        let unit = unit(&name).ok_or_else(unknown)?;
        let ty = reader.ty(&of)?;
        if let Some(day) = first_day(unit, of.clone(), reader)? {
            return Ok(if ty == ColumnType::Timestamp { day.cast(ty) } else { day });
        }
        let by = unit_micros(unit).ok_or_else(unknown)?;
        let rest = modulo(micros(of.clone(), reader)?, by, reader)?;
        let at = if ty == ColumnType::Date { of.cast(ColumnType::Timestamp) } else { of };
        Ok(at.arithmetic(Arithmetic::Subtract, rest))
    }),
};
