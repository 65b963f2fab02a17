//! Dates, times and durations: texts of RFC 3339, and seconds since 1970.

const DAY: i64 = 86_400;

/// Days from 1970-01-01 to a date, or `None` if there is no such date. Years have four digits.
pub(crate) fn days(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let number = |at: std::ops::Range<usize>| {
        let digits = &text.get(at)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Reads `2026-12-01`, `2026-12-01T10:30:00Z`, or the latter with an offset, as seconds since 1970.
/// A date means its first second in UTC.
#[must_use]
pub fn read_moment(text: &str) -> Option<u64> {
    let day = days(text.get(..10)?)?.checked_mul(DAY)?;
    let rest = &text[10..];
    if rest.is_empty() {
        return u64::try_from(day).ok();
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let two = |text: &str, at: usize, most: i64| {
        let digits = text.get(at..at + 2)?;
        let number: i64 = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
        (number <= most).then_some(number)
    };
    let colon = |text: &str, at: usize| (text.as_bytes().get(at) == Some(&b':')).then_some(());
    let (hour, minute) = (two(rest, 0, 23)?, two(rest, 3, 59)?);
    colon(rest, 2)?;
    colon(rest, 5)?;
    let second = two(rest, 6, 59)?;
    let zone = &rest[8..];
    let offset = match zone.as_bytes() {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let offset = two(zone, 1, 23)? * 3600 + two(zone, 4, 59)? * 60;
            if *sign == b'-' { -offset } else { offset }
        }
        _ => return None,
    };
    u64::try_from(day + hour * 3600 + minute * 60 + second - offset).ok()
}

/// Seconds since 1970 as `2026-12-01T00:00:00Z`.
#[must_use]
pub fn moment_text(seconds: u64) -> String {
    let (days, rest) = (seconds as i64 / DAY, seconds as i64 % DAY);
    // The inverse of `days`: eras of 400 years, which begin on 1 March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The seconds of `30d`, `12h`, `5m` or `60s`.
pub(crate) fn duration(text: &str) -> Option<u64> {
    let units = [("d", DAY as u64), ("h", 3600), ("m", 60), ("s", 1)];
    let (digits, unit) =
        units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))?;
    let number: u64 = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())??;
    number.checked_mul(unit).filter(|seconds| *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_are_those_of_other_calendars() {
        // The numbers come from `date -u -d … +%s`.
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1972-02-29T23:59:59Z", 68_255_999),
            ("2000-03-01T00:00:00Z", 951_868_800),
            ("2026-12-01", 1_796_083_200),
            ("2026-12-01T01:30:00+01:30", 1_796_083_200),
            ("2026-11-30T20:00:00-04:00", 1_796_083_200),
            ("2100-02-28T12:00:00Z", 4_107_499_200),
        ] {
            assert_eq!(read_moment(text), Some(seconds), "{text}");
        }
        for wrong in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-00-01",
            "2026-01-00",
            "2026-1-01",
            "+026-01-01",
            "2026-01-01T24:00:00Z",
            "2026-01-01T10:00Z",
            "2026-01-01T10:00:00",
            "2026-01-01T10:00:00+1:00",
            "1969-12-31",
            "2026-01-01é",
            "2026-01-01T10:00:00é",
            "é026-01-01",
        ] {
            assert_eq!(read_moment(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(
            [duration("30d"), duration("12h"), duration("5m"), duration("1s")],
            [2_592_000, 43_200, 300, 1].map(Some)
        );
        for wrong in ["", "30", "d", "-1d", "0d", "1.5h", "99999999999999999999d", "1w"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn moments_come_back(seconds in 0u64..253_402_300_800) {
            prop_assert_eq!(read_moment(&moment_text(seconds)), Some(seconds));
        }

        #[test]
        fn no_text_is_a_panic(text in ".{0,30}") {
            let _ = (read_moment(&text), duration(&text));
        }
    }
}
