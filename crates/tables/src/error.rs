//! Errors of relations and of tables' rows.

use hushwire_compute::ComputeError;

/// The reason for which a relation, or rows for it, are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// An operator or an expression whose operands it does not take.
    #[error("{cause}; {remedy}")]
    Type {
        /// The operator, its operands and their types.
        cause: String,
        /// A way to write it.
        remedy: String,
    },
    /// Rows that do not fit their table.
    #[error("table {table}: {cause}; {remedy}")]
    Rows {
        /// The table.
        table: String,
        /// How they differ. It holds no value of a row, since its reader may be another than its
        /// owner.
        cause: String,
        /// A way to mend it.
        remedy: String,
    },
    /// A promise on which the plan stands does not hold, so that there is no result. Those who
    /// would learn it learn which.
    #[error("{promise} does not hold; {remedy}")]
    Promise {
        /// The promise, as `explain` names it.
        promise: String,
        /// A way to go on.
        remedy: String,
    },
    /// The computation that was made of a relation.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

impl TableError {
    pub(crate) fn ty(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        TableError::Type { cause: cause.into(), remedy: remedy.into() }
    }
}
