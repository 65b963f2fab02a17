//! The date of a report.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The present time in UTC as RFC 3339 writes it, to the second.
pub(crate) fn now() -> String {
    let now = OffsetDateTime::now_utc().truncate_to_second();
    now.format(&Rfc3339).unwrap_or_default()
}
