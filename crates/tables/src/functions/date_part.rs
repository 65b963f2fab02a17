//! The SQL function DATE_PART.

use super::{
    FnDef, Leaks, Meaning,
    age::part_of_age,
    calendar::{of_interval, unit},
    call, text,
};
use crate::algebra::ColumnType;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["date_part", "datepart"],
    arity: 2..=2,
    usage: "DATE_PART('year', date)",
    gives: "as EXTRACT",
    doc: "EXTRACT by the name of a part",
    example: "DATE_PART('year', day)",
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
        let of = &arguments.all[1];
        if let Some(part) = part_of_age(arguments, name, of) {
            return part;
        }
        if arguments.reader.ty(of)? == ColumnType::Interval {
            let part = of_interval(name, of.clone(), arguments.reader)?;
            return part.ok_or_else(|| {
                arguments.unsupported(
                    &format!("EXTRACT of {name} from an INTERVAL"),
                    "take DAY, HOUR, MINUTE, SECOND or EPOCH of it; years and months are in AGE(last, first), as EXTRACT(YEAR FROM AGE(last, first))",
                )
            });
        }
        if !parts.contains(&name) {
            return Err(arguments.unsupported(&format!("EXTRACT of {name}"), "take YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, DOW, ISODOW, DOY, EPOCH, ISOYEAR, DECADE or CENTURY"));
        }
        call(name, vec![arguments.all[1].clone()], arguments.reader)
    }),
};
