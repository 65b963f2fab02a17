//! The SQL function DATE_SUB.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, micros, unit, unit_micros},
    call, text,
};
use crate::algebra::{Arithmetic, ColumnType, DAY, Expr, Value, whole};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["date_sub", "datesub"],
    arity: 3..=3,
    usage: "DATE_SUB('month', first, last)",
    gives: "BIGINT",
    doc: "how many whole units pass from the first time to the last one",
    example: "DATE_SUB('year', born, day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let reader = arguments.reader;
        let name = text::literal(arguments, 0)?;
        let unknown = || {
            arguments.unsupported(
                "DATE_SUB in a unit other than year, quarter, month, week, day, hour, minute and second",
                "write one of these, as in DATE_SUB('month', first, last); a decade is DATE_SUB('year', first, last) // 10",
            )
        };
        let unit = unit(&name).ok_or_else(unknown)?;
        let (first, last) =
            (dated(arguments.all[1].clone(), reader)?, dated(arguments.all[2].clone(), reader)?);
        let months = match unit {
            "year" => 12,
            "quarter" => 3,
            "month" => 1,
            _ => {
                let by = match unit {
                    "week" => 7 * DAY,
                    "day" => DAY,
                    unit => unit_micros(unit).ok_or_else(unknown)?,
                };
                let passed =
                    reader.arithmetic(Arithmetic::Subtract, micros(last, reader)?, micros(first, reader)?)?;
                return reader.arithmetic(Arithmetic::DivideWhole, passed, whole(by));
            }
        };
        let both = reader.united(vec![first, last])?;
        let [first, last] = &both[..] else { return Err(unknown()) };
        let forward = reader.compared(Comparison::GreaterOrEqual, last.clone(), first.clone())?;
        let by_direction = |a: Expr, b: Expr| Expr::Case {
            branches: vec![(forward.clone(), a), (forward.clone().not(), b)],
            otherwise: None,
        };
        // Months are counted from the earlier time on: from 31 January to 28 February is one month,
        // in either direction.
        let earlier = by_direction(first.clone(), last.clone());
        let later = by_direction(last.clone(), first.clone());
        let month = Expr::literal(Value::text("month"), ColumnType::Varchar(5));
        let all = call("date_diff", vec![month, earlier.clone(), later.clone()], reader)?;
        let reached = call("add_months", vec![earlier, all.clone()], reader)?;
        // A month is not complete if its last day is not reached.
        let beyond = reader.compared(Comparison::Greater, reached, later)?;
        let early = Expr::Case { branches: vec![(beyond, whole(1))], otherwise: Some(Box::new(whole(0))) };
        let all = reader.arithmetic(Arithmetic::Subtract, all, early)?;
        let all = reader.arithmetic(Arithmetic::DivideWhole, all, whole(months))?;
        Ok(by_direction(all.clone(), reader.arithmetic(Arithmetic::Subtract, whole(0), all)?))
    }),
};
