//! Converts numbers between steps of types, and days to dates.

use crate::algebra::{ColumnType, DAY, Mean, Quotient, Range, UPPER};

/// The quotient `n / d`, rounded to the nearest, halves away from 0; `d` is positive.
pub(crate) fn nearest(n: i128, d: i128) -> i128 {
    let size = n.unsigned_abs();
    let (whole, rest) = (size / d.unsigned_abs(), size % d.unsigned_abs());
    let whole = (whole + u128::from(rest >= d.unsigned_abs() - rest)).cast_signed();
    if n < 0 { whole.wrapping_neg() } else { whole }
}

/// A product of numbers in steps of 2^-frac, rounded towards −∞; `None` if an intermediate value
/// exceeds 128 bits.
pub(crate) fn product(x: i128, y: i128, frac: u8) -> Option<i128> {
    let in_parts = |x: i128, y: i128| {
        let (upper, lower) = (y >> frac, y & ((1 << frac) - 1));
        x.checked_mul(upper)?.checked_add(x.checked_mul(lower)? >> frac)
    };
    let whole = x.checked_mul(y).map(|product| product >> frac);
    whole.or_else(|| in_parts(x, y)).or_else(|| in_parts(y, x))
}

/// The quotient of two numbers; `None` if it is NULL.
pub(crate) fn quotient(x: i128, y: i128, by: &Quotient) -> Option<i128> {
    let x = x.checked_mul(by.first)?;
    let (mut whole, mut rest) = (x.checked_div(y)?, x.checked_rem(y)?);
    if by.most.is_some_and(|most| whole.saturating_abs() > most) {
        return None;
    }
    for times in &by.more {
        let next = rest * times;
        (whole, rest) = (whole * times + next / y, next % y);
    }
    Some(whole)
}

/// The sum of numbers; `None` if it is NULL because of its size. The size is checked only if
/// `looked_at`.
pub(crate) fn sum(numbers: impl Iterator<Item = i128>, looked_at: bool) -> Option<i128> {
    let (mut sum, mut upper) = (0i128, 0i128);
    for n in numbers {
        (sum, upper) = (sum.wrapping_add(n), upper + (n >> 64));
    }
    (!looked_at || UPPER.holds(Range { low: upper, high: upper })).then_some(sum)
}

/// A sum divided by a count, with a mean's digits; `None` if it is NULL because of its size.
pub(crate) fn mean(sum: i128, count: i128, digits: &Mean) -> Option<i128> {
    let (whole, rest) = (sum / count, sum % count);
    let held = digits.most.is_none_or(|most| whole.saturating_abs() <= most);
    held.then(|| whole * digits.times + rest * digits.times / count)
}

/// Converts steps of one type to steps of another, rounded; `None` if a product exceeds 128 bits.
/// Truth values count as integers.
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

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar. Eras of 400 years are
/// counted, in which years begin in March.
#[must_use]
pub fn civil(day: i128) -> [i128; 3] {
    let since = day + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    [era * 400 + year + next, month, day]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days from `date -u -d @…`.
    #[test]
    fn days_are_dates() {
        for (day, date) in [
            (0, [1970, 1, 1]),
            (-1, [1969, 12, 31]),
            (10_956, [1999, 12, 31]),
            (11_016, [2000, 2, 29]),
            (11_017, [2000, 3, 1]),
            (9204, [1995, 3, 15]),
            (-25_509, [1900, 2, 28]),
            (-25_508, [1900, 3, 1]),
        ] {
            assert_eq!(civil(day), date, "{day}");
        }
    }
}
