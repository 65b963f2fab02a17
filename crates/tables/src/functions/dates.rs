//! Parts of dates.
//!
//! If only few years or months can occur, their first days are public constants, and a part is
//! found by comparisons with them. Otherwise the calendar is computed, as in [`crate::plain`].

use super::{Operands, Primitive, Typed};
use crate::error::Refused;
use crate::{
    algebra::{ColumnType, ExprType, Range, Value, fitted, rescaled},
    lower::{
        cell::{Cell, floored, scalar},
        divide::{Divisor, divided},
        numbers::{number, resized, width},
    },
    plain::numbers::{civil, rescale},
};
use hushwire_compute::{Comparison, Val};

/// A part of a date or a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatePart {
    /// The year of the proleptic Gregorian calendar; year 0 precedes year 1.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the month, 1 to 31.
    Day,
}

/// The type of a part.
pub(super) fn checked(part: DatePart, operands: &Operands<'_>) -> Result<ExprType, Refused> {
    let of = operands.types[0];
    if !matches!(of.ty, ColumnType::Date | ColumnType::Timestamp) {
        return Err(operands.refused("give it a DATE or a TIMESTAMP"));
    }
    let day = fitted(ColumnType::Date, rescaled(of.ty, of.range, ColumnType::Date));
    Ok(ExprType { ty: ColumnType::Integer, nullable: false, range: range(part, day) })
}

/// The range of a part, for a range of days.
pub(super) fn range(part: DatePart, day: Range) -> Range {
    let year = |n| civil(n)[0];
    match part {
        DatePart::Year => Range { low: year(day.low), high: year(day.high) },
        DatePart::Month => Range { low: 1, high: 12 },
        DatePart::Day => Range { low: 1, high: 31 },
    }
}

/// A part in the clear.
pub(super) fn value(part: DatePart, typed: &Typed<'_>, values: &[Value]) -> Value {
    let day = values[0].number().and_then(|n| rescale(n, typed.ty(0), ColumnType::Date));
    let at = match part {
        DatePart::Year => 0,
        DatePart::Month => 1,
        DatePart::Day => 2,
    };
    day.map_or(Value::Null, |day| Value::Number(civil(day)[at]))
}

/// The text of a part in a plan.
pub(super) fn shown(of: &Primitive, operands: &[String], _public: &[i128]) -> String {
    format!("EXTRACT({} FROM {})", of.name, operands.join(", "))
}

/// The largest number of first days with which a date is compared.
const MOST: i128 = 96;

/// A part of dates or timestamps, within a range.
pub(super) fn part<'b>(part: DatePart, of: Cell<'b>, range: Range) -> Val<'b> {
    let day = of.converted(ColumnType::Date);
    let to = scalar(ColumnType::Integer, range);
    let years = civil(day.range.high)[0] - civil(day.range.low)[0] + 1;
    let steps = years * if part == DatePart::Year { 1 } else { 12 };
    if steps > MOST {
        return computed(part, day).cast(to);
    }
    // The days of the range, relative to its first, on which a part begins.
    let begins = |d: i128| match (part, civil(d)) {
        (DatePart::Year, [_, 1, 1]) => true,
        (DatePart::Year, _) => false,
        (_, [_, _, 1]) => true,
        _ => false,
    };
    let Range { low, high } = day.range;
    let figure = |d: i128| match part {
        DatePart::Year => civil(d)[0],
        DatePart::Month => civil(d)[1],
        // The day before the first of the month.
        DatePart::Day => d - civil(d)[2],
    };
    let b = day.builder();
    let wide = if part == DatePart::Day { scalar(day.ty, Range { low: low - 31, high }) } else { to };
    let mut sum = b.number(wide, figure(low));
    let mut before = low;
    for d in (low + 1..=high).filter(|d| begins(*d)) {
        let step = b.number(wide, figure(d) - figure(before));
        let reached = day.val.compare(Comparison::GreaterOrEqual, number(day.val, d));
        sum = sum + b.select(reached, step, number(step, 0));
        before = d;
    }
    if part == DatePart::Day {
        return (resized(day.val, wide.bits() as u8) - sum).cast(to);
    }
    sum
}

/// Counts whole eras of 400 years; within them, years begin in March.
fn computed<'b>(part: DatePart, day: Cell<'b>) -> Val<'b> {
    let range = Range { low: day.range.low + 719_468, high: day.range.high + 719_468 };
    let bits = width(range).max(32);
    let since = resized(day.val, bits);
    let since = since + number(since, 719_468);
    let n = |x: i128| number(since, x);
    // Numbers within an era are below this bound.
    let within = Range { low: 0, high: 146_097 * 5 };
    let over = |x: Val<'b>, by: i128| resized(divided(x, within, Divisor::Known(by)).whole, bits);
    let era = resized(floored(since, range, 146_097), bits);
    let of_era = since - era * n(146_097);
    let years = of_era - over(of_era, 1460) + over(of_era, 36_524) - over(of_era, 146_096);
    let year = over(years, 365);
    let of_year = of_era - (n(365) * year + over(year, 4) - over(year, 100));
    let month = over(n(5) * of_year + n(2), 153);
    if part == DatePart::Day {
        return of_year - over(n(153) * month + n(2), 5) + n(1);
    }
    let next = month.compare(Comparison::GreaterOrEqual, n(10));
    let b = day.builder();
    match part {
        DatePart::Month => b.select(next, month - n(9), month + n(3)),
        _ => era * n(400) + year + next.cast(hushwire_compute::Scalar::signed(bits)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    /// Days from `date -u -d @…`, with a range of all years and of few.
    #[test]
    fn days_have_years_months_and_days() {
        let day = Column::new("d", ColumnType::Date).nullable();
        let days = numbers([Some(9204), Some(-1), Some(11_016), None]);
        for (part, expected) in [("year", [1995, 1969, 2000]), ("month", [3, 12, 2]), ("day", [15, 31, 29])] {
            let [a, b, c] = expected.map(Some);
            for column in [day.clone(), day.clone().within(-400, 11_100)] {
                assert_eq!(values(part, &[(column, days.clone())], &[]), numbers([a, b, c, None]));
            }
        }
    }
}
