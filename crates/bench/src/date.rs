//! Dates without a calendar library.

use std::time::{SystemTime, UNIX_EPOCH};

/// The present time in UTC as RFC 3339 writes it, to the second.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    rfc3339(since.map_or(0, |since| since.as_secs()))
}

/// `seconds` after the Unix epoch as `YYYY-MM-DDThh:mm:ssZ`.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    let in_day = seconds % 86_400;
    let (hour, minute, second) = (in_day / 3600, in_day / 60 % 60, in_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day, `days` after 1970-01-01 in the Gregorian calendar.
///
/// Years are counted from 1 March, so that a leap day ends its year, and in eras
/// of 400 years, which all have 146 097 days.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_epochs() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }
}
