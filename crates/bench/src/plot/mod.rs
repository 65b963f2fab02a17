//! Pictures of reports.
