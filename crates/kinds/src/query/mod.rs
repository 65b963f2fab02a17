//! SQL over members' tables as a job: [`hushwire_sql`] and [`hushwire_tables`] on CSV and Parquet
//! files, run as a computation.
//!
//! ```text
//! file   QueryJob    the keys of a job file of this kind
//! plan   QueryTask   the query as a computation, whose members are the owners and the recipients
//!                    of the result
//! source             a table's files, text or (with the feature `parquet`) Parquet, row by row as
//!                    text
//! partner            types of columns without values, from the values that a query compares them
//!                    with
//! survey             the types that files suggest, why, and rows that do not fit
//! values             the different values of a column, which PIVOT lists
//! rows               a table's part from a file, and a result as one
//! shards             tables of which each of a member's shards reads its rows from Parquet files
//! part   QueryPart   reads its parts, computes, writes the result
//! session            the same on a session that a program holds, with rows as columns
//! ```
//!
//! Row counts, columns and their types are in the job, so that all members plan the same
//! computation. They agree on its digest.

#[cfg(feature = "sql")]
mod clock;
mod file;
#[cfg(all(test, feature = "sql"))]
mod messy_tests;
#[cfg(feature = "sql")]
mod parameters;
#[cfg(feature = "sql")]
mod part;
#[cfg(feature = "sql")]
mod partner;
#[cfg(feature = "sql")]
mod plan;
#[cfg(feature = "sql")]
mod rows;
#[cfg(feature = "sql")]
mod session;
#[cfg(feature = "parquet")]
mod shards;
#[cfg(feature = "sql")]
mod source;
#[cfg(feature = "sql")]
mod stored;
#[cfg(feature = "sql")]
mod survey;
#[cfg(feature = "sql")]
mod trials;
#[cfg(feature = "sql")]
mod values;
#[cfg(feature = "sql")]
mod words;

#[cfg(feature = "sql")]
pub use clock::now as query_now;
pub use file::{QueryJob, QueryPartOf, QueryTable};
#[cfg(feature = "sql")]
pub use hushwire_sql::{OpenPivot, is_plain_name, open_pivots, schema::declaration, with_values};
#[cfg(feature = "sql")]
pub use hushwire_tables::algebra::Column;

/// The column that a text declares, if it is a declaration.
#[cfg(feature = "sql")]
#[must_use]
pub fn column_of(declaration: &str) -> Option<Column> {
    hushwire_sql::schema::column(declaration).ok()
}
#[cfg(feature = "sql")]
pub use hushwire_files::FoundForm;
#[cfg(feature = "sql")]
pub use part::QueryPart;
#[cfg(feature = "sql")]
pub use partner::Partners;
#[cfg(feature = "sql")]
pub use plan::{Answer, QueryTask};
#[cfg(feature = "sql")]
pub use rows::Pad;
#[cfg(feature = "sql")]
pub use source::check_output;
#[cfg(feature = "sql")]
pub use stored::StoredTable;
#[cfg(feature = "sql")]
pub use survey::{ColumnSurvey, Depth, Doubt, Family, InferredTable, Misfit, Spelling, count, infer, survey};
#[cfg(feature = "sql")]
pub use values::column_values;
#[cfg(feature = "sql")]
pub use words::aligned;

/// The output's name in member files.
#[cfg(feature = "sql")]
const RESULT: &str = "result";
