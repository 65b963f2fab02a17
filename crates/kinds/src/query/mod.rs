//! SQL over members' tables as a job: [`hushwire_sql`] and [`hushwire_tables`] on CSV and Parquet
//! files, run as a computation.
//!
//! ```text
//! file   QueryJob    the keys of a job file of this kind
//! plan   QueryTask   the query as a computation, whose members are the owners and those who learn
//!                    the result
//! source             a table's file, CSV or (with the feature `parquet`) Parquet, row by row as
//!                    text
//! rows               a table's part from a file, and a result as one
//! part   QueryPart   reads its parts, computes, writes the result
//! ```
//!
//! Row counts, columns and their types are in the job, so that all members plan the same
//! computation; the digest of that is agreed on.

#[cfg(feature = "sql")]
mod clock;
mod file;
#[cfg(feature = "sql")]
mod parameters;
#[cfg(feature = "sql")]
mod part;
#[cfg(feature = "sql")]
mod plan;
#[cfg(feature = "sql")]
mod rows;
#[cfg(feature = "sql")]
mod source;
#[cfg(feature = "sql")]
mod stored;
#[cfg(feature = "sql")]
mod words;

#[cfg(feature = "sql")]
pub use clock::now as query_now;
pub use file::{QueryJob, QueryPartOf, QueryTable};
#[cfg(feature = "sql")]
pub use hushwire_sql::schema::declaration;
#[cfg(feature = "sql")]
pub use part::QueryPart;
#[cfg(feature = "sql")]
pub use plan::{Answer, QueryTask};
#[cfg(feature = "sql")]
pub use rows::{InferredTable, Pad, count, infer};
#[cfg(feature = "sql")]
pub use source::check_output;
#[cfg(feature = "sql")]
pub use stored::StoredTable;
#[cfg(feature = "sql")]
pub use words::aligned;

/// The output's name in member files.
#[cfg(feature = "sql")]
const RESULT: &str = "result";
