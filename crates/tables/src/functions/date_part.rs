//! DATE_PART.

use super::{FnDef, Leaks, Meaning, calendar::unit, call, text};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["date_part", "datepart"],
    arity: 2..=2,
    usage: "DATE_PART('year', date)",
    gives: "as EXTRACT",
    doc: "EXTRACT by the name of a part",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let name = text::literal(arguments, 0)?;
        let name =
            unit(&name).map_or_else(|| String::from_utf8_lossy(&name).to_ascii_lowercase(), str::to_owned);
        let parts = [
            "year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "isodow", "doy",
            "epoch", "isoyear", "decade", "century",
        ];
        let name = match name.as_str() {
            "dayofweek" | "weekday" => "dow",
            "dayofyear" => "doy",
            other => other,
        };
        if !parts.contains(&name) {
            return Err(arguments.unsupported(&format!("EXTRACT of {name}")));
        }
        call(name, vec![arguments.all[1].clone()], arguments.reader)
    }),
};
