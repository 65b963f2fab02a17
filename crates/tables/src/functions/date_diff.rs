//! The SQL function DATE_DIFF.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, day_number, first_day, floored, micros, unit, unit_micros},
    call, text,
};
use crate::Fault;
use crate::algebra::{Arithmetic, Expr, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["date_diff", "datediff"],
    arity: 2..=3,
    usage: "DATE_DIFF('day', first, last)",
    gives: "BIGINT",
    doc: "how many units begin from the first time to the last one; DATEDIFF(last, first) of two dates are days",
    example: "DATE_DIFF('month', born, day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let reader = arguments.reader;
        let minus = |a: Expr, b: Expr| reader.arithmetic(Arithmetic::Subtract, a, b);
        if let [last, first] = &arguments.all[..] {
            return minus(day_number(last.clone(), reader)?, day_number(first.clone(), reader)?);
        }
        let name = text::literal(arguments, 0)?;
        let unknown = || {
            arguments.unsupported(
                "DATE_DIFF in a unit other than year, quarter, month, week, day, hour, minute and second",
                "write one of these, as in DATE_DIFF('month', first, last); a decade is DATE_DIFF('year', first, last) // 10",
            )
        };
        let unit = unit(&name).ok_or_else(unknown)?;
        let times = [1, 2].map(|place| dated(arguments.all[place].clone(), reader));
        let [first, last] = times;
        let (first, last) = (first?, last?);
        let part = |name: &str, of: &Expr| call(name, vec![of.clone()], reader);
        let count = |of: &Expr| -> Result<Expr, Fault> {
            let years = |per: i128, part_of: Expr| {
                let all = reader.arithmetic(Arithmetic::Multiply, part("year", of)?, whole(per))?;
                reader.arithmetic(Arithmetic::Add, all, part_of)
            };
            match unit {
                "year" => part("year", of),
                "decade" => floored(part("year", of)?, 10, reader),
                "century" => floored(part("year", of)?, 100, reader),
                "millennium" => floored(part("year", of)?, 1000, reader),
                "quarter" => years(4, part("quarter", of)?),
                "month" => years(12, part("month", of)?),
                "week" => {
                    let monday = first_day("week", of.clone(), reader)?.ok_or_else(unknown)?;
                    let days = reader.arithmetic(Arithmetic::Add, day_number(monday, reader)?, whole(3))?;
                    floored(days, 7, reader)
                }
                "day" => day_number(of.clone(), reader),
                unit => floored(micros(of.clone(), reader)?, unit_micros(unit).ok_or_else(unknown)?, reader),
            }
        };
        minus(count(&last)?, count(&first)?)
    }),
};
