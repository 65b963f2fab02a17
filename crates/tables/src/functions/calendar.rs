//! Expressions on the days of dates, and the calendar on shares and in the clear.

use super::{Arguments, Reader, call};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, DAY, Expr, Value, whole},
    error::refused,
    fixed::Fixed,
};
use hushwire_compute::Comparison;

/// The English names of months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The English names of weekdays, from Sunday on.
pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The days since 1970-01-01 of a date in a year from 0 on. Within an era, years begin in March.
pub(super) fn days<F: Fixed>(year: F, month: F, day: F) -> F {
    let n = |x: i128| year.same(x);
    let first = month.below(n(3));
    let year = F::choose(first, year.minus(n(1)), year);
    let month = F::choose(first, month.plus(n(9)), month.minus(n(3)));
    let (leap, century, era) = (year.part(4), year.part(100), year.part(400));
    let leap_days = leap.minus(century).plus(era);
    let of_year = month.times(n(153), 0).plus(n(2)).part(5);
    year.times(n(365), 0).plus(leap_days).plus(of_year).plus(day).minus(n(719_469))
}

/// The number of days of a month.
pub(super) fn month_days<F: Fixed>(year: F, month: F) -> F {
    let n = |x: i128| year.same(x);
    let last = n(11).below(month);
    let (next_year, next) = (F::choose(last, year.plus(n(1)), year), F::choose(last, n(1), month.plus(n(1))));
    days(next_year, next, n(1)).minus(days(year, month, n(1)))
}

/// The days since 1970-01-01 of a date or timestamp, as a number.
pub(super) fn day_number(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    let of = dated(of, reader)?;
    let day = match reader.ty(&of)? {
        ColumnType::Timestamp => of.cast(ColumnType::Date),
        _ => of,
    };
    Ok(day.arithmetic(Arithmetic::Subtract, Expr::Literal(Value::Number(0), ColumnType::Date)))
}

/// The microseconds since 1970-01-01 of a date or timestamp, as a number.
pub(super) fn micros(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    let of = dated(of, reader)?;
    let at = match reader.ty(&of)? {
        ColumnType::Date => of.cast(ColumnType::Timestamp),
        _ => of,
    };
    let since = at.arithmetic(Arithmetic::Subtract, Expr::Literal(Value::Number(0), ColumnType::Timestamp));
    Ok(since.cast(ColumnType::BigInt))
}

/// A field of an INTERVAL: its microseconds below `within`, in units of `by`, with its sign; `None`
/// for units that it does not have.
pub(super) fn of_interval(unit: &str, of: Expr, reader: Reader<'_>) -> Result<Option<Expr>, Fault> {
    let micros = of.cast(ColumnType::BigInt);
    let (within, by) = match unit {
        "epoch" => {
            // A DECIMAL with six fractional digits has the same steps.
            let step = Expr::Literal(Value::Number(1), ColumnType::Decimal { precision: 6, scale: 6 });
            return reader.arithmetic(Arithmetic::Multiply, micros, step).map(Some);
        }
        "day" => (None, DAY),
        "hour" => (Some(DAY), 3_600_000_000),
        "minute" => (Some(3_600_000_000), 60_000_000),
        "second" => (Some(60_000_000), 1_000_000),
        _ => return Ok(None),
    };
    let rest = match within {
        None => micros,
        Some(within) => reader.arithmetic(Arithmetic::Remainder, micros, whole(within))?,
    };
    reader.arithmetic(Arithmetic::DivideWhole, rest, whole(by)).map(Some)
}

/// A date or a timestamp; a literal text is read as one of these.
pub(super) fn dated(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    match &of {
        Expr::Literal(Value::Null, _) => Ok(Expr::Literal(Value::Null, ColumnType::Date)),
        Expr::Literal(Value::Text(text), _) => {
            let ty = if text.len() > 10 { ColumnType::Timestamp } else { ColumnType::Date };
            reader.read_as(of, ty)
        }
        _ => match reader.ty(&of)? {
            ColumnType::Date | ColumnType::Timestamp => Ok(of),
            ty => Err(refused(
                format!("a date is taken from {ty}"),
                "give it a DATE or a TIMESTAMP: CAST a text to DATE, or declare the column DATE",
            )),
        },
    }
}

/// A field of the time of day: a number of units of `micros` microseconds, from 0 to below `most`.
pub(super) fn of_time(arguments: &Arguments<'_>, micros: i128, most: i128) -> Result<Expr, Fault> {
    let [of] = arguments.exactly()?;
    let reader = arguments.reader;
    let units = reader.arithmetic(Arithmetic::DivideWhole, of_day(of, reader)?, whole(micros))?;
    modulo(units, most, reader)
}

/// The remainder of a division by a public number, never negative.
pub(super) fn modulo(of: Expr, by: i128, reader: Reader<'_>) -> Result<Expr, Fault> {
    let rest = reader.arithmetic(Arithmetic::Remainder, of, whole(by))?;
    let positive = reader.arithmetic(Arithmetic::Add, rest, whole(by))?;
    reader.arithmetic(Arithmetic::Remainder, positive, whole(by))
}

/// The whole quotient of a division by a public number, rounded down.
pub(super) fn floored(of: Expr, by: i128, reader: Reader<'_>) -> Result<Expr, Fault> {
    let rest = modulo(of.clone(), by, reader)?;
    let below = reader.arithmetic(Arithmetic::Subtract, of, rest)?;
    reader.arithmetic(Arithmetic::DivideWhole, below, whole(by))
}

/// The microseconds since midnight.
fn of_day(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    modulo(micros(of, reader)?, DAY, reader)
}

/// The weekday, 1 for Monday to 7 for Sunday.
pub(super) fn weekday(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    let day = reader.arithmetic(Arithmetic::Add, day_number(of, reader)?, whole(3))?;
    reader.arithmetic(Arithmetic::Add, modulo(day, 7, reader)?, whole(1))
}

/// The Thursday of a date's week of ISO 8601, which belongs to the year of its Thursday.
pub(super) fn thursday(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [of] = arguments.exactly()?;
    let reader = arguments.reader;
    let of = dated(of, reader)?;
    let day = if reader.ty(&of)? == ColumnType::Timestamp { of.cast(ColumnType::Date) } else { of };
    let by = reader.arithmetic(Arithmetic::Subtract, whole(4), weekday(day.clone(), reader)?)?;
    Ok(days_later(day, by))
}

/// The English name of the day or the month that `part`, a function of dates, numbers from 1 on.
pub(super) fn named(part: &str, names: &[&str], arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let of = call(part, arguments.all.clone(), arguments.reader)?;
    let branch = |(name, n): (&&str, i128)| {
        let is = arguments.reader.compared(Comparison::Equal, of.clone(), whole(n))?;
        Ok((is, Expr::Literal(Value::text(name), ColumnType::Varchar(9))))
    };
    let branches = names.iter().zip(1..).map(branch).collect::<Result<_, Fault>>()?;
    Ok(Expr::Case { branches, otherwise: None })
}

/// A date moved by a number of days.
pub(super) fn days_later(of: Expr, by: Expr) -> Expr {
    of.arithmetic(Arithmetic::Add, by)
}

/// The first day of the year, quarter, month or week of a date; `None` for other units.
pub(super) fn first_day(unit: &str, of: Expr, reader: Reader<'_>) -> Result<Option<Expr>, Fault> {
    let day = match reader.ty(&of)? {
        ColumnType::Timestamp => of.cast(ColumnType::Date),
        _ => of,
    };
    let part = |name: &str| call(name, vec![day.clone()], reader);
    let minus = |a: Expr, b: Expr| reader.arithmetic(Arithmetic::Subtract, a, b);
    let plus = |a: Expr, b: Expr| reader.arithmetic(Arithmetic::Add, a, b);
    let make = |year: Expr, month: Expr| call("make_date", vec![year, month, whole(1)], reader);
    // The first year of a span of years.
    let first_of = |years: i128, from: i128| {
        let year = minus(part("year")?, whole(from))?;
        let rest = modulo(year.clone(), years, reader)?;
        make(plus(minus(year, rest)?, whole(from))?, whole(1))
    };
    Ok(Some(match unit {
        "year" => make(part("year")?, whole(1))?,
        "decade" => first_of(10, 0)?,
        "century" => first_of(100, 0)?,
        "millennium" => first_of(1000, 0)?,
        "quarter" => {
            let months = minus(part("month")?, whole(1))?;
            let rest = modulo(months.clone(), 3, reader)?;
            make(part("year")?, plus(minus(months, rest)?, whole(1))?)?
        }
        "month" => {
            let before = minus(whole(1), part("day")?)?;
            days_later(day.clone(), before)
        }
        "week" => {
            let before = minus(whole(1), weekday(day.clone(), reader)?)?;
            days_later(day.clone(), before)
        }
        "day" => day.clone(),
        _ => return Ok(None),
    }))
}

/// The microseconds of a unit below a day.
pub(super) fn unit_micros(unit: &str) -> Option<i128> {
    Some(match unit {
        "hour" => 3_600_000_000,
        "minute" => 60_000_000,
        "second" => 1_000_000,
        "millisecond" => 1000,
        "microsecond" => 1,
        _ => return None,
    })
}

/// A unit, given by any of its names.
pub(super) fn unit(name: &[u8]) -> Option<&'static str> {
    Some(match String::from_utf8_lossy(name).to_ascii_lowercase().as_str() {
        "year" | "years" | "yr" | "y" | "yyyy" => "year",
        "quarter" | "quarters" | "q" => "quarter",
        "month" | "months" | "mon" | "mm" => "month",
        "week" | "weeks" | "w" => "week",
        "day" | "days" | "d" | "dd" => "day",
        "hour" | "hours" | "h" | "hr" => "hour",
        "minute" | "minutes" | "min" | "m" | "mi" => "minute",
        "second" | "seconds" | "sec" | "s" => "second",
        "millisecond" | "milliseconds" | "ms" => "millisecond",
        "microsecond" | "microseconds" | "us" => "microsecond",
        "decade" | "decades" => "decade",
        "century" | "centuries" => "century",
        "millennium" | "millennia" => "millennium",
        _ => return None,
    })
}
