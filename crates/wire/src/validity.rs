//! The validity of a certificate, read from its DER form.

use core::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::{Date, Month, OffsetDateTime};

/// The seconds of a day.
const DAY: u64 = 86_400;

/// The dates of a certificate, in whole seconds; both ends are included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validity {
    /// The first second at which the certificate is valid.
    pub not_before: SystemTime,
    /// The last second at which the certificate is valid.
    pub not_after: SystemTime,
}

impl Validity {
    /// LOCAL: the default lifetime of a certificate.
    pub const DEFAULT: Duration = Duration::from_secs(365 * DAY);
    /// LOCAL: a certificate with less time left is reported as expiring.
    pub const SOON: Duration = Duration::from_secs(30 * DAY);
    /// LOCAL: longer lifetimes are reduced to this, so that the year always has four digits.
    const LONGEST: Duration = Duration::from_secs(1000 * 365 * DAY);
    /// LOCAL: the time by which the clocks of two hosts may differ.
    const SKEW: Duration = Duration::from_secs(DAY);

    /// A validity from a day ago, for peers whose clocks are slow, to `lifetime` from now.
    #[must_use]
    pub fn lasting(lifetime: Duration) -> Self {
        let now = SystemTime::now();
        Self { not_before: now - Self::SKEW, not_after: now + lifetime.min(Self::LONGEST) }
    }

    /// Whether the certificate is valid at `time`.
    #[must_use]
    pub fn holds_at(&self, time: SystemTime) -> bool {
        (self.not_before..=self.not_after).contains(&time)
    }

    /// The time for which the certificate is still valid after `time`; zero if it has expired.
    #[must_use]
    pub fn left_at(&self, time: SystemTime) -> Duration {
        self.not_after.duration_since(time).unwrap_or_default()
    }

    /// Whether the certificate is valid at `time` and ends within [`Validity::SOON`].
    #[must_use]
    pub fn expires_soon(&self, time: SystemTime) -> bool {
        self.holds_at(time) && self.left_at(time) < Self::SOON
    }

    /// Reads the dates of an X.509 certificate (RFC 5280 §4.1); `None` if they cannot be read.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let (_, certificate, _) = element(certificate)?;
        let (_, mut body, _) = element(certificate)?;
        // [0] version is optional; the serial number, signature algorithm and issuer follow.
        if let (VERSION, _, rest) = element(body)? {
            body = rest;
        }
        for _ in 0..3 {
            body = element(body)?.2;
        }
        let (SEQUENCE, dates, _) = element(body)? else { return None };
        let (kind, from, dates) = element(dates)?;
        let not_before = moment(kind, from)?;
        let (kind, to, _) = element(dates)?;
        Some(Self { not_before, not_after: moment(kind, to)? })
    }
}

/// The text has both days in UTC, as `2026-01-31 to 2027-01-31`.
impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = |at| OffsetDateTime::from(at).date();
        write!(f, "{} to {}", day(self.not_before), day(self.not_after))
    }
}

pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The first DER element: its tag, its content, and the bytes after it.
pub(crate) fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = der.split_first_chunk::<2>()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    Some((tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, the only forms that RFC 5280 allows. Dates before
/// 1970 become 1970.
fn moment(kind: u8, text: &[u8]) -> Option<SystemTime> {
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0, |n, &c| c.is_ascii_digit().then(|| n * 10 + u16::from(c - b'0')))
    };
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year = number(year)?;
            (year + if year < 50 { 2000 } else { 1900 }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (number(year)?, rest)
        }
        _ => return None,
    };
    let (fields, b"Z") = rest.split_at_checked(10)? else { return None };
    let mut fields = fields.chunks(2).map(number);
    let mut field = || fields.next()?.and_then(|n| u8::try_from(n).ok());
    let date = Date::from_calendar_date(year.into(), Month::try_from(field()?).ok()?, field()?).ok()?;
    // A leap second is read as the second before it.
    let at = date.with_hms(field()?, field()?, field()?.min(59)).ok()?.assume_utc();
    Some(SystemTime::from(at).max(UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(kind: u8, text: &str) -> Option<u64> {
        moment(kind, text.as_bytes())?.duration_since(UNIX_EPOCH).ok().map(|t| t.as_secs())
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(unix(UTC_TIME, "700101000000Z"), Some(0));
        assert_eq!(unix(UTC_TIME, "000229120000Z"), Some(951_825_600));
        assert_eq!(unix(UTC_TIME, "161231235960Z"), Some(1_483_228_799), "a leap second");
        assert_eq!(unix(UTC_TIME, "690101000000Z"), Some(0), "1969");
        assert_eq!(unix(UTC_TIME, "491231235959Z"), Some(2_524_607_999));
        assert_eq!(unix(GENERALIZED_TIME, "20380119031407Z"), Some(0x7fff_ffff));
        assert_eq!(unix(GENERALIZED_TIME, "99991231235959Z"), Some(253_402_300_799));
        for bad in [
            "",
            "Z",
            "70010100000",
            "700101000000",
            "7001010000000",
            "701301000000Z",
            "700230000000Z",
            "700101240000Z",
            "70x101000000Z",
        ] {
            assert_eq!(unix(UTC_TIME, bad), None, "{bad}");
        }
    }

    #[test]
    fn days_are_shown() {
        let (not_before, leap) = (UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(951_825_600));
        assert_eq!(Validity { not_before, not_after: leap }.to_string(), "1970-01-01 to 2000-02-29");
    }

    #[test]
    fn damaged_certificates_have_no_dates_and_do_no_harm() {
        let identity = crate::Identity::generate("a").unwrap_or_else(|e| panic!("{e}"));
        let whole = identity.certificate();
        assert_eq!(Validity::of(&whole), Some(identity.validity()));
        for cut in 0..150 {
            let _ = Validity::of(&whole[..cut]);
            let mut spoilt = whole.to_vec();
            for value in [0, 0x30, 0x7f, 0x80, 0x84, 0xff] {
                spoilt[cut] = value;
                let _ = Validity::of(&spoilt);
            }
        }
    }
}
