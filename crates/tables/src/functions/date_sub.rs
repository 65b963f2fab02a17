//! DATE_SUB.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, micros, unit, unit_micros},
    call,
    slice::whole,
    text,
};
use crate::algebra::{Arithmetic, ColumnType, DAY, Expr, Value};
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
        let month = Expr::literal(Value::text("month"), ColumnType::Varchar(5));
        let all = call("date_diff", vec![month, first.clone(), last.clone()], reader)?;
        let reached = call("add_months", vec![first.clone(), all.clone()], reader)?;
        // A month is not whole if its last day is not reached.
        let beyond = reader.compared(Comparison::Greater, reached.clone(), last.clone())?;
        let below = reader.compared(Comparison::Less, reached, last.clone())?;
        let forward = reader.compared(Comparison::GreaterOrEqual, last, first)?;
        let early = Expr::Case {
            branches: vec![(forward.clone().and(beyond), whole(-1)), (forward.not().and(below), whole(1))],
            otherwise: Some(Box::new(whole(0))),
        };
        let all = reader.arithmetic(Arithmetic::Add, all, early)?;
        reader.arithmetic(Arithmetic::DivideWhole, all, whole(months))
    }),
};
