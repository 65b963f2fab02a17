//! Converts decoded values to text, in the form that CSV files have: 2026-11-23, 14.50, true. It
//! also converts such text back to values for writing.

use super::{
    ParquetField,
    kind::{ParquetType, TextForm},
};
use crate::half;
use chrono::{DateTime, Days, NaiveDate, NaiveDateTime};
use parquet::data_type::Int96;
use std::io::Write;

/// The reason why a value has no text.
pub(crate) type Odd = (&'static str, &'static str);

pub(crate) const FAR: Odd = ("its time is out of range", "mend the file: years from 1 to 9999 are read");
const FINE: Odd = ("its time is finer than a microsecond", "save times in microseconds");

/// The text of a number of steps of 10^-scale.
pub(crate) fn scaled(n: i128, scale: u8, out: &mut Vec<u8>) {
    let (sign, size, unit) = (if n < 0 { "-" } else { "" }, n.unsigned_abs(), 10u128.pow(scale.into()));
    // Writing to a vector does not fail.
    let _ = match scale {
        0 => write!(out, "{n}"),
        _ => write!(out, "{sign}{}.{:0width$}", size / unit, size % unit, width = usize::from(scale)),
    };
}

fn day(days: i64, out: &mut Vec<u8>) -> Result<(), Odd> {
    let epoch = NaiveDate::default();
    let size = Days::new(days.unsigned_abs());
    let date = if days < 0 { epoch.checked_sub_days(size) } else { epoch.checked_add_days(size) };
    let _ = write!(out, "{}", date.ok_or(FAR)?.format("%Y-%m-%d"));
    Ok(())
}

fn micros(micros: i64, out: &mut Vec<u8>) -> Result<(), Odd> {
    let time = DateTime::from_timestamp_micros(micros).ok_or(FAR)?;
    let form = if micros % 1_000_000 == 0 { "%Y-%m-%d %H:%M:%S" } else { "%Y-%m-%d %H:%M:%S%.6f" };
    let _ = write!(out, "{}", time.format(form));
    Ok(())
}

/// The text of a number in the form of its column.
pub(crate) fn number(n: i64, form: TextForm, bits: u32, out: &mut Vec<u8>) -> Result<(), Odd> {
    match form {
        TextForm::Unsigned if bits == 32 => scaled((n as u32).into(), 0, out),
        TextForm::Unsigned => scaled((n as u64).into(), 0, out),
        TextForm::Scaled(scale) => scaled(n.into(), scale, out),
        TextForm::Days => day(n, out)?,
        TextForm::Ticks(1) => micros(n.checked_mul(1000).ok_or(FAR)?, out)?,
        TextForm::Ticks(2) => micros(n, out)?,
        TextForm::Ticks(_) if n % 1000 == 0 => micros(n / 1000, out)?,
        TextForm::Ticks(_) => return Err(FINE),
        TextForm::Plain | TextForm::Uuid | TextForm::Half => scaled(n.into(), 0, out),
    }
    Ok(())
}

/// The text of a time given as nanoseconds of a day and the day's number in the Julian calendar.
pub(crate) fn julian(value: &Int96, out: &mut Vec<u8>) -> Result<(), Odd> {
    let [low, high, day] = *value.data() else { return Err(FAR) };
    let nanos = u64::from(high) << 32 | u64::from(low);
    let seconds = (i64::from(day) - 2_440_588) * 86_400;
    let nanos = i64::try_from(nanos).map_err(|_| FAR)?;
    let all = seconds.checked_mul(1_000_000).and_then(|s| s.checked_add(nanos / 1000)).ok_or(FAR)?;
    if nanos % 1000 != 0 {
        return Err(FINE);
    }
    micros(all, out)
}

/// The text of bytes in the form of their column.
pub(crate) fn bytes(value: &[u8], form: TextForm, out: &mut Vec<u8>) -> Result<(), Odd> {
    match form {
        TextForm::Scaled(scale) => {
            // Two's complement, the highest byte first.
            let fill = if value.first().is_some_and(|b| *b > 127) { 0xff } else { 0 };
            let spare = value.len().saturating_sub(16);
            if value.is_empty() || value[..spare].iter().any(|b| *b != fill) {
                return Err(("its decimal has more than 38 digits", "save it with fewer"));
            }
            let mut word = [fill; 16];
            let kept = &value[spare..];
            word[16 - kept.len()..].copy_from_slice(kept);
            scaled(i128::from_be_bytes(word), scale, out);
        }
        TextForm::Uuid => {
            for (i, byte) in value.iter().enumerate() {
                let dash = if [4, 6, 8, 10].contains(&i) { "-" } else { "" };
                let _ = write!(out, "{dash}{byte:02x}");
            }
        }
        TextForm::Half => {
            let [low, high] = *value else { return Err(("its number has not 16 bits", "save it anew")) };
            let _ = write!(out, "{}", half(u16::from_le_bytes([low, high])));
        }
        _ => out.extend_from_slice(value),
    }
    Ok(())
}

/// The field of a file for a text that was made here. A text that is not of the type becomes NULL.
pub(crate) fn field_of(kind: ParquetType, text: &[u8]) -> ParquetField<'_> {
    if kind == ParquetType::Text {
        return ParquetField::Text(text);
    }
    let text = std::str::from_utf8(text).unwrap_or_default();
    let number = |n: Option<i64>| n.map_or(ParquetField::Null, |n| ParquetField::Number(n.into()));
    match kind {
        ParquetType::Boolean => ParquetField::Boolean(text == "true"),
        ParquetType::Integer { .. } | ParquetType::Decimal { .. } => {
            // The text has all digits after the point.
            text.replace('.', "").parse().map_or(ParquetField::Null, ParquetField::Number)
        }
        ParquetType::Date => {
            let date: Option<NaiveDate> = text.parse().ok();
            number(date.map(|date| date.signed_duration_since(NaiveDate::default()).num_days()))
        }
        ParquetType::Timestamp => {
            let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f");
            number(time.ok().map(|time| time.and_utc().timestamp_micros()))
        }
        ParquetType::Double => text.parse().map_or(ParquetField::Null, ParquetField::Real),
        ParquetType::Text => ParquetField::Text(text.as_bytes()),
    }
}
