//! Values as text, as in files and queries.

use crate::Fault;
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{ColumnType, Value},
    plain::civil,
};
use std::fmt::Display;

/// The microseconds of a day.
pub(crate) const DAY: i128 = 86_400_000_000;

/// The number of days from 1970-01-01 to a Gregorian date. Internally, years begin in March.
fn days(year: i128, month: i128, day: i128) -> i128 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

fn days_of_month(year: i128, month: i128) -> i128 {
    let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    next - days(year, month, 1)
}

/// The same day of a later month, or that month's last day if it is shorter.
pub(crate) fn months_later(day: i128, months: i128) -> Option<i128> {
    let [year, month, of_month] = civil(day);
    let all = year * 12 + month - 1 + months;
    let (year, month) = (all.div_euclid(12), all.rem_euclid(12) + 1);
    (1..=9999).contains(&year).then(|| days(year, month, of_month.min(days_of_month(year, month))))
}

/// The date this many days later, if its year can be written.
pub(crate) fn days_later(day: i128, days: i128) -> Option<i128> {
    let day = day + days;
    (1..=9999).contains(&civil(day)[0]).then_some(day)
}

fn digits(text: &str, most: usize) -> Option<i128> {
    let plain = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

fn read_date(text: &str) -> Option<i128> {
    let mut parts = text.split('-');
    let mut part = |n: usize| parts.next().filter(|p| p.len() == n).and_then(|p| digits(p, n));
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    let there = parts.next().is_none() && year >= 1 && (1..=12).contains(&month);
    (there && (1..=days_of_month(year, month)).contains(&day)).then(|| days(year, month, day))
}

/// A time of day without its offset, and the microseconds by which it is ahead of UTC. Offsets are
/// `Z`, `UTC`, `GMT`, `+02`, `+02:00` and `-0530`.
fn without_offset(time: &str) -> Option<(&str, i128)> {
    if let Some(time) = ["Z", "z", "UTC", "GMT"].iter().find_map(|zone| time.strip_suffix(zone)) {
        return Some((time.trim_end(), 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let (time, offset) = time.split_at(at);
    let (sign, offset) = (if offset.starts_with('-') { -1 } else { 1 }, &offset[1..]);
    let (hours, minutes) = match offset.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => offset.split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { "00" } else { minutes };
    let whole = hours.len() == 2 && minutes.len() == 2;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    let ahead = sign * (hours * 60 + minutes) * 60_000_000;
    (whole && hours <= 15 && minutes < 60).then_some((time.trim_end(), ahead))
}

/// Microseconds since 1970 in UTC. A time without an offset is taken as UTC.
fn read_timestamp(text: &str) -> Option<i128> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let (time, ahead) = without_offset(time)?;
    let mut parts = time.split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (second, micros) = match parts.next().map(|s| s.split_once('.').unwrap_or((s, ""))) {
        None => (0, 0),
        Some((second, "")) => (digits(second, 2)?, 0),
        Some((second, rest)) => {
            // Zeros after the microseconds carry no information.
            let kept = if rest.len() > 6 { rest.trim_end_matches('0') } else { rest };
            let kept = if kept.is_empty() { "0" } else { kept };
            (digits(second, 2)?, digits(kept, 6)? * 10i128.pow(6 - kept.len() as u32))
        }
    };
    let there = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    let of_day = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros - ahead;
    there.then_some(read_date(date)? * DAY + of_day)
}

/// The number of steps of 10^-scale. Digits beyond the scale are refused, except zeros.
fn read_decimal(text: &str, scale: u8) -> Option<i128> {
    let (minus, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, behind) = size.split_once('.').unwrap_or((size, ""));
    let (kept, rest) = behind.split_at_checked(usize::from(scale)).unwrap_or((behind, ""));
    if (whole.is_empty() && behind.is_empty()) || rest.bytes().any(|b| b != b'0') {
        return None;
    }
    let all = format!("{whole}{kept:0<width$}", width = usize::from(scale));
    let steps = if all.is_empty() {
        0
    } else {
        digits(all.trim_start_matches('0'), 38).or((all.bytes().all(|b| b == b'0')).then_some(0))?
    };
    Some(if minus { -steps } else { steps })
}

/// Reads a field as a value of a type, never NULL: the reader of a file decides which fields are
/// NULL.
///
/// # Errors
/// The field is not such a value. The message does not repeat the field.
pub fn read(text: &str, ty: ColumnType) -> Result<Value, Fault> {
    let trimmed = text.trim();
    let (value, form) = match ty {
        ColumnType::Boolean => {
            let truth = match trimmed.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" | "yes" => Some(true),
                "false" | "f" | "0" | "no" => Some(false),
                _ => None,
            };
            (truth.map(Value::Boolean), "true or false")
        }
        ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt => {
            (read_decimal(trimmed, 0).map(Value::Number), "a whole number")
        }
        ColumnType::Decimal { scale, .. } => (
            read_decimal(trimmed, scale).map(Value::Number),
            "a number with no more digits than the type has",
        ),
        ColumnType::Date => {
            (read_date(trimmed).map(Value::Number), "a date as 2026-11-23, of the years 0001 to 9999")
        }
        ColumnType::Timestamp => (
            read_timestamp(trimmed).map(Value::Number),
            "a time as 2026-11-23 14:05:00, of the years 0001 to 9999",
        ),
        ColumnType::Double { frac } => {
            let steps = trimmed.parse::<f64>().ok().filter(|x| x.is_finite());
            let steps = steps.map(|x| (x * f64::from(2u32).powi(frac.into())).round_ties_even());
            (steps.map(|x| Value::Number(x as i128)), "a number")
        }
        ColumnType::Varchar(_) => {
            (Some(text).filter(|text| !text.contains('\0')).map(Value::text), "a string without zero bytes")
        }
        ColumnType::Interval => (None, "an INTERVAL, which only queries compute"),
        ColumnType::Digest { .. } => (None, "a digest, which only a reader with the key can make"),
    };
    match value {
        Some(value) if value.fits(ty) => Ok(value),
        Some(_) => {
            let wider = match ty {
                ColumnType::Double { .. } => {
                    "declare a DECIMAL of as many digits, or a DOUBLE with fewer bits behind the point"
                }
                _ => "declare a wider type",
            };
            let places: [(_, &dyn Display); 3] = [("value", &"it"), ("type", &ty), ("remedy", &wider)];
            Err(Fault::filled(code::VALUE_TOO_LARGE, &places))
        }
        None => Err(Fault::filled(code::VALUE, &[("value", &"it"), ("type", &ty), ("form", &form)])),
    }
}

/// Microseconds as days and a time, in the format of DuckDB: `2 days 03:04:05`, `-1 day -10:00:00`.
fn interval(n: i128) -> String {
    let (days, rest) = (n / DAY, n % DAY);
    let size = rest.abs();
    let behind = match size % 1_000_000 {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    let (sign, seconds) = (if rest < 0 { "-" } else { "" }, size / 1_000_000);
    let time = format!("{sign}{:02}:{:02}:{:02}{behind}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let unit = if days.abs() == 1 { "day" } else { "days" };
    match (days, rest) {
        (0, _) => time,
        (_, 0) => format!("{days} {unit}"),
        _ => format!("{days} {unit} {time}"),
    }
}

/// The text of a value of a type. The text of NULL is empty.
#[must_use]
pub fn show(value: &Value, ty: ColumnType) -> String {
    let n = match value {
        Value::Null => return String::new(),
        Value::Boolean(truth) => return truth.to_string(),
        Value::Text(bytes) => return String::from_utf8_lossy(bytes).into_owned(),
        Value::Number(n) => *n,
    };
    // Years that do not have four digits have the form of ISO 8601: 10000, and -0001 before 0000,
    // the year before 0001.
    let as_date = |day: i128| {
        let [year, month, day] = civil(day);
        let sign = if year < 0 { "-" } else { "" };
        format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
    };
    match ty {
        ColumnType::Decimal { scale: scale @ 1.., .. } => {
            let unit = 10u128.pow(scale.into());
            let (sign, size) = (if n < 0 { "-" } else { "" }, n.unsigned_abs());
            format!("{sign}{}.{:0width$}", size / unit, size % unit, width = usize::from(scale))
        }
        ColumnType::Date => as_date(n),
        ColumnType::Timestamp => {
            let (day, rest) = (n.div_euclid(DAY), n.rem_euclid(DAY));
            let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
            let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            let behind = if micros == 0 { String::new() } else { format!(".{micros:06}") };
            format!("{} {time}{behind}", as_date(day))
        }
        ColumnType::Interval => interval(n),
        ColumnType::Double { frac } => (n as f64 / f64::from(2u32).powi(frac.into())).to_string(),
        ColumnType::Digest { bits } => format!("{n:0width$x}", width = usize::from(bits) / 4),
        _ => n.to_string(),
    }
}
