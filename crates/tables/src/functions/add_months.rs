//! The SQL function ADD_MONTHS, on which intervals of months and years are built.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    calendar::{dated, days, month_days},
    dates::{self, DatePart},
    definition::as_call,
    real::value,
};
use crate::{
    algebra::{ColumnType, DAY, ExprType, Range},
    fixed::{Fixed, Wide},
    lower::{
        cell::Cell,
        numbers::{number, resized, width},
    },
    plain::numbers::civil,
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["add_months"],
    arity: 2..=2,
    usage: "ADD_MONTHS(date, months)",
    gives: "the date's type",
    doc: "the same day that many months later, or the last day of a shorter month, as `date + INTERVAL '1' MONTH`; NULL outside of the years 1 to 9999",
    example: "day + INTERVAL '1' MONTH",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&ADD_MONTHS, |of, arguments| {
        let [date, months] = arguments.exactly()?;
        Ok(of.call(vec![dated(date, arguments.reader)?, months], vec![]))
    }),
};

static ADD_MONTHS: Primitive = Primitive {
    name: "ADD_MONTHS",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let [of, months] = operands.types else { return Err(operands.refused("give it a date and months")) };
        if !matches!(of.ty, ColumnType::Date | ColumnType::Timestamp) || !months.ty.is_integer() {
            return Err(operands.refused("give it a DATE or a TIMESTAMP, and a whole number of months"));
        }
        Ok(ExprType { ty: of.ty, nullable: true, range: of.ty.range() })
    },
    plain: |typed, values| {
        value(&values, |x| {
            let unit = if typed.ty(0) == ColumnType::Timestamp { DAY } else { 1 };
            let (day, time) = (x[0].div_euclid(unit), x[0].rem_euclid(unit));
            let [year, month, of_month] = civil(day);
            let (made, there) = moved(year, month, of_month, x[1].clamp(-MOST, MOST));
            (there && ColumnType::Date.range().holds(Range { low: day, high: day }))
                .then(|| made * unit + time)
        })
    },
    lower: |typed, cells| {
        let of = cells[0];
        let day = of.converted(ColumnType::Date);
        let held = ColumnType::Date.range();
        let wide = super::real::wide_enough(day.val, held.high);
        let beyond =
            wide.less(number(wide, held.low)) | wide.compare(Comparison::Greater, number(wide, held.high));
        // A day that no year has is replaced by another one, and becomes NULL.
        let b = of.builder();
        let safe = b.select(beyond, number(wide, 0), wide);
        let range =
            Range { low: day.range.low.max(held.low).min(0), high: day.range.high.min(held.high).max(0) };
        let safe = Cell { val: safe, range, ..day };
        let part = |part: DatePart, low: i128, high: i128| {
            Wide(resized(dates::part(part, safe, Range { low, high }), 32))
        };
        let (year, month) = (part(DatePart::Year, 1, 9999), part(DatePart::Month, 1, 12));
        let of_month = part(DatePart::Day, 1, 31);
        let months = super::real::wide_enough(cells[1].val, MOST);
        let months = b.select(months.less(number(months, -MOST)), number(months, -MOST), months);
        let above = months.compare(Comparison::Greater, number(months, MOST));
        let months = Wide(resized(b.select(above, number(months, MOST), months), 32));
        let (made, there) = moved(year, month, of_month, months);
        let null = Some(beyond | !there);
        let bits = width(typed.own.range);
        let made = resized(made.0, bits);
        let made = match typed.own.ty {
            ColumnType::Timestamp => {
                let time = resized(of.val, bits) - resized(day.val, bits) * number(made, DAY);
                made * number(made, DAY) + time
            }
            _ => made,
        };
        Cell { null, ..typed.cell(made) }
    },
    shown: as_call,
};

/// More months than all supported years have.
const MOST: i128 = 240_000;

/// The date `months` months later, as a day number, and whether its year is from 1 to 9999.
fn moved<F: Fixed>(year: F, month: F, day: F, months: F) -> (F, F::Truth) {
    let n = |x: i128| year.same(x);
    // Counting from a year far below keeps all numbers positive.
    let first = 30_000;
    let all = year.plus(n(first)).times(n(12), 0).plus(month).plus(months).minus(n(1));
    let whole = all.part(12);
    let month = all.minus(whole.times(n(12), 0)).plus(n(1));
    let year = whole.minus(n(first));
    let there = F::both(n(0).below(year), year.below(n(10_000)));
    let safe = F::choose(there, year, n(1));
    let last = month_days(safe, month);
    let day = F::choose(last.below(day), last, day);
    (days(safe, month, day), there)
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{int, numbers, values},
    };

    /// Days of `date -u -d @…`: 2024-01-31, 2023-01-31, 2023-12-31, 1970-01-01, 9999-12-31.
    #[test]
    fn the_last_day_stays_the_last() {
        let days = numbers([Some(19_753), Some(19_388), Some(19_722), Some(0), Some(2_932_896), None]);
        let given = [(Column::new("d", ColumnType::Date).nullable(), days)];
        let later = numbers([Some(19_782), Some(19_416), Some(19_753), Some(31), None, None]);
        assert_eq!(values("add_months", &given, &[int(1)]), later);
        let column = Column::new("d", ColumnType::Date).nullable().within(19_000, 20_000);
        let given = [(column, numbers([Some(19_753), Some(19_388), None]))];
        assert_eq!(values("add_months", &given, &[int(-12)]), numbers([Some(19_388), Some(19_023), None]));
        let day = 86_400_000_000;
        let column = Column::new("t", ColumnType::Timestamp).nullable();
        let given = [(column, numbers([Some(19_753 * day + 5), Some(-1), None]))];
        let later = numbers([Some(19_782 * day + 5), Some(31 * day - 1), None]);
        assert_eq!(values("add_months", &given, &[int(1)]), later);
    }
}
