//! Numbers of one type in another's steps, and days as dates.

use crate::algebra::ColumnType;

/// Microseconds of a day.
pub(crate) const DAY: i128 = 86_400_000_000;

/// `n / d` to the nearest, halves away from 0; `d` is positive.
pub(crate) fn nearest(n: i128, d: i128) -> i128 {
    let size = n.unsigned_abs();
    let (whole, rest) = (size / d.unsigned_abs(), size % d.unsigned_abs());
    let whole = (whole + u128::from(rest >= d.unsigned_abs() - rest)).cast_signed();
    if n < 0 { whole.wrapping_neg() } else { whole }
}

/// Steps of one type as steps of another, rounded; `None` where a product leaves 128 bits. Truth values count as integers.
pub(crate) fn rescale(n: i128, from: ColumnType, to: ColumnType) -> Option<i128> {
    use ColumnType::{Date, Double, Timestamp};
    let unit = |scale: u8| 10i128.pow(scale.into());
    match (from, to) {
        (Date, Timestamp) => n.checked_mul(DAY),
        (Timestamp, Date) => Some(n.div_euclid(DAY)),
        (Double { frac: f }, Double { frac: g }) if g >= f => n.checked_mul(1 << (g - f)),
        (Double { frac: f }, Double { frac: g }) => Some(nearest(n, 1 << (f - g))),
        (from, Double { frac }) => Some(nearest(n.checked_mul(1 << frac)?, unit(from.scale()))),
        (Double { frac }, to) => Some(nearest(n.checked_mul(unit(to.scale()))?, 1 << frac)),
        (from, to) if to.scale() >= from.scale() => n.checked_mul(unit(to.scale() - from.scale())),
        (from, to) => Some(nearest(n, unit(from.scale() - to.scale()))),
    }
}

/// Year, month and day of a day since 1970-01-01: Gregorian, whole eras of 400 years, whose years begin in March.
pub(crate) fn civil(day: i128) -> [i32; 3] {
    let since = day + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    [(era * 400 + year + next) as i32, month as i32, day as i32]
}
