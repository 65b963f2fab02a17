//! The rows of a bound SELECT.

use super::BoundQuery;
use crate::{
    error::At,
    logical::{Columns, Id, replaced},
};
use hushwire_tables::algebra::{Aggregate, Expr, Value};
use std::collections::BTreeMap;

/// The rows of a SELECT.
pub(super) struct Selected {
    pub(super) bound: BoundQuery,
    /// Conditions on columns of the enclosing query, with their places in the text.
    pub(super) correlated: Vec<(Expr, At)>,
    /// For an aggregate without GROUP BY: its rows over no input rows. Such an aggregate always has
    /// one row, unless HAVING drops it.
    pub(super) one: Option<Empty>,
    /// The aggregates; a scalar subquery needs their values for an input of no rows.
    pub(super) figures: Vec<(Id, Aggregate)>,
    /// The list's expressions, before they are assigned to columns.
    pub(super) list: Vec<Expr>,
    /// Whether the list reads columns of subqueries, in addition to aggregates and keys of groups.
    pub(super) beside: bool,
}

/// The rows of an aggregate over no input rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// One row, as over any input.
    One,
    /// No row, because HAVING is not true for it.
    None,
    /// One row, but HAVING may drop the row for other inputs; or it is unknown before the query
    /// runs.
    Unsure,
}

/// The expression on aggregates, for the aggregates' values over no rows.
pub(super) fn of_no_row(expr: &Expr, figures: &[(Id, Aggregate)], columns: &Columns) -> Expr {
    let value = |(id, aggregate): &(Id, Aggregate)| {
        let value = if aggregate.figure.counts() { Value::Number(0) } else { Value::Null };
        (*id, Expr::Literal(value, columns.of(*id).ty))
    };
    let by: BTreeMap<Id, Expr> = figures.iter().map(value).collect();
    replaced(expr, &by)
}
