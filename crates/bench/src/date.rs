//! The date of a report.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The current time in UTC, in the format of RFC 3339, in seconds.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::now_utc().truncate_to_second();
    now.format(&Rfc3339).unwrap_or_default()
}
