//! Times: milliseconds since 1970 in the store, RFC 3339 for people and programs.

use std::time::{SystemTime, UNIX_EPOCH};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A day in milliseconds.
pub(crate) const DAY: i64 = 86_400_000;

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX).saturating_add(crate::failpoint::clock_offset())
}

/// A time as text to the second, such as `2026-11-28T20:15:00Z`.
pub(crate) fn text(at: i64) -> String {
    let at = OffsetDateTime::from_unix_timestamp(at.div_euclid(1000)).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    at.format(&Rfc3339).unwrap_or_default()
}

/// The time, in milliseconds since 1970, that a text of this form names.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let at = OffsetDateTime::parse(text, &Rfc3339)
        .map_err(|_| format!("{text:?} is no time as in 2026-11-28T20:15:00Z"))?;
    Ok(at.unix_timestamp() * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        assert_eq!(text(1_795_896_900_999), "2026-11-28T20:15:00Z");
        assert_eq!(parse("2026-11-28T20:15:00Z"), Ok(1_795_896_900_000));
        assert_eq!(parse("2026-11-28T21:15:00+01:00"), Ok(1_795_896_900_000));
        for odd in ["", "2026-11-28", "2026-13-28T20:15:00Z", "tomorrow"] {
            assert!(parse(odd).is_err(), "{odd}");
        }
    }
}
