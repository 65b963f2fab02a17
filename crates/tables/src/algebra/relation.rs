//! Trees of operators, checked as they grow.

use super::{
    aggregate::Aggregate,
    expr::Expr,
    types::{Column, Schema, Value},
    typing::{keep_values, united},
    window::Window,
};
use crate::{
    Fault,
    error::{Refused, types_differ},
};
use hushwire_fault::code;
use std::sync::Arc;

/// A member's rows of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TablePart {
    /// The member that brings the rows.
    pub owner: String,
    /// The number of rows, including padding; it is public.
    pub rows: u64,
}

/// A table that members bring, one part after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Schema,
    /// The parts; there is at least one.
    pub parts: Vec<TablePart>,
    /// Whether a part may hold fewer rows than it declares; each row then carries a validity bit.
    pub padded: bool,
    /// Sets of columns, all NOT NULL, in which no two rows have the same values. This is a promise.
    /// A plan that relies on it checks it, and opens one bit, whether it holds, to the recipients
    /// of the result.
    pub unique: Vec<Vec<usize>>,
}

impl Table {
    /// The number of rows of all parts.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }
}

/// The rows that a join keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs only.
    Inner,
    /// Pairs, and left rows without a partner, beside NULLs.
    Left,
    /// Pairs, and right rows without a partner, beside NULLs.
    Right,
    /// Pairs, and rows of both sides without a partner, beside NULLs.
    Full,
    /// Left rows with a partner, each once.
    Semi,
    /// Left rows without a partner.
    Anti,
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The expression.
    pub expr: Expr,
    /// Whether the order is descending.
    pub descending: bool,
    /// Whether NULLs come first, in either direction.
    pub nulls_first: bool,
}

/// A set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOperation {
    /// Rows of both.
    Union,
    /// Left rows that the right side also has.
    Intersect,
    /// Left rows that the right side does not have.
    Except,
}

/// An operator. Its number of rows is public. Most of the rows may be invalid, and no member sees
/// which.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// A table.
    Scan(Table),
    /// Public rows.
    Values(Vec<Vec<Value>>),
    /// A table's rows with more columns, which its owners compute from their own rows in the clear
    /// before they share them. The input is a scan.
    ByOwner(Relation, Vec<(String, Expr)>),
    /// Named columns of expressions.
    Project(Relation, Vec<(String, Expr)>),
    /// The rows for which a condition is true.
    Filter(Relation, Expr),
    /// Pairs of rows.
    Join {
        /// The left side, whose columns come first.
        left: Relation,
        /// The right side.
        right: Relation,
        /// The rows that it keeps.
        kind: JoinKind,
        /// Pairs of left and right expressions that must be equal; NULLs never are.
        on: Vec<(Expr, Expr)>,
        /// A further condition on both sides' columns.
        residual: Option<Expr>,
        /// A limit on the pairs, if neither side's keys are unique. More pairs end the run, which
        /// the recipients of the result see.
        bound: Option<u64>,
        /// Whether a left row is promised to have at most one partner. A second one ends the run,
        /// which the recipients of the result see.
        one: bool,
    },
    /// All pairs: the numbers of rows multiply.
    Cross(Relation, Relation),
    /// A row for each different key, or one row if there are no keys.
    Aggregate {
        /// Its rows.
        input: Relation,
        /// Named keys; rows with NULL form one group.
        keys: Vec<(String, Expr)>,
        /// The figures of each group.
        aggregates: Vec<Aggregate>,
        /// Groups with fewer rows are left out; 0 and 1 leave out no group.
        min_group: u64,
        /// A limit on the groups, and the number of rows of the result. More groups end the run,
        /// which the recipients of the result see. By default, the result has as many rows as the
        /// input.
        bound: Option<u64>,
    },
    /// Each different row once.
    Distinct(Relation),
    /// Rows in an order; equal rows come in any order.
    OrderBy(Relation, Vec<SortKey>),
    /// Rows `skip..skip + fetch` of the valid ones.
    Limit {
        /// Its rows.
        input: Relation,
        /// The number of rows that are skipped.
        skip: u64,
        /// The number of rows that are kept; all by default.
        fetch: Option<u64>,
    },
    /// A set operation; on bags if `all`.
    Set {
        /// The operation.
        operation: SetOperation,
        /// Whether equal rows count as often as they occur.
        all: bool,
        /// The left side, which names the columns.
        left: Relation,
        /// The right side.
        right: Relation,
    },
    /// The input's rows with additional columns, computed from neighbours in an order.
    Window(Relation, Window),
}

/// A checked tree of operators with a schema and a public number of rows. Cloning is cheap, and a
/// clone is computed only once.
///
/// ```
/// use hushwire_tables::algebra::*;
/// let salaries = Table {
///     name: "salaries".into(),
///     schema: Schema(vec![
///         Column::new("person", ColumnType::BigInt),
///         Column::new("cents", ColumnType::Integer).nullable(),
///     ]),
///     parts: vec![TablePart { owner: "alice".into(), rows: 1000 }],
///     padded: false,
///     unique: vec![vec![0]],
/// };
/// let well_paid = Relation::scan(salaries)?.filter(Expr::Column(1).compare(
///     hushwire_compute::Comparison::Greater,
///     Expr::literal(Value::Number(500_000), ColumnType::Integer),
/// ))?;
/// assert_eq!(well_paid.rows(), 1000);
/// # Ok::<(), hushwire_tables::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation(Arc<Checked>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operator: Operator,
    schema: Schema,
    rows: u64,
    unique: Vec<Vec<usize>>,
}

/// The largest number of rows of a relation.
pub const MAX_ROWS: u64 = 1 << 40;

impl Relation {
    /// Its operator.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.0.operator
    }

    /// Its columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.0.schema
    }

    /// The number of rows, valid or not: a public bound.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.rows
    }

    /// Sets of columns in which no two valid rows have the same values: tables promise them, and
    /// operators keep them. If the empty set is among them, there is at most one valid row.
    #[must_use]
    pub fn unique(&self) -> &[Vec<usize>] {
        &self.0.unique
    }

    /// Whether no two valid rows have the same values in these columns.
    #[must_use]
    pub fn is_unique(&self, columns: &[usize]) -> bool {
        self.0.unique.iter().any(|set| set.iter().all(|at| columns.contains(at)))
    }

    /// Whether no two valid rows have the same values of these keys. Expressions that are not
    /// columns do not help.
    pub(crate) fn is_unique_by<'a>(&self, keys: impl IntoIterator<Item = &'a Expr>) -> bool {
        let columns = keys.into_iter().filter_map(|key| match key {
            Expr::Column(at) => Some(*at),
            _ => None,
        });
        self.is_unique(&columns.collect::<Vec<_>>())
    }

    /// Whether the two are the same object.
    #[must_use]
    pub fn is(&self, other: &Relation) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that identifies the object while it exists.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The input relations.
    #[must_use]
    pub fn inputs(&self) -> Vec<&Relation> {
        match self.operator() {
            Operator::Scan(_) | Operator::Values(_) => vec![],
            Operator::Project(input, _)
            | Operator::ByOwner(input, _)
            | Operator::Filter(input, _)
            | Operator::Aggregate { input, .. }
            | Operator::Distinct(input)
            | Operator::OrderBy(input, _)
            | Operator::Limit { input, .. }
            | Operator::Window(input, _) => vec![input],
            Operator::Join { left, right, .. }
            | Operator::Cross(left, right)
            | Operator::Set { left, right, .. } => vec![left, right],
        }
    }

    pub(super) fn new(
        operator: Operator,
        schema: Schema,
        rows: u64,
        unique: Vec<Vec<usize>>,
    ) -> Result<Self, Fault> {
        if rows > MAX_ROWS {
            return Err(Fault::filled(code::RELATION_TOO_LARGE, &[("rows", &rows)]));
        }
        Ok(Relation(Arc::new(Checked { operator, schema, rows, unique })))
    }
}

/// The schema of rows of both relations. They must have equally many columns with common types; the
/// names are those of the first relation.
pub(super) fn united_schema(left: &Schema, right: &Schema) -> Result<Schema, Fault> {
    let counts = [left, right].map(|schema| schema.columns().len());
    if counts[0] != counts[1] {
        let rows: &str = "the sides of a set operation";
        let places: [(_, &dyn std::fmt::Display); 3] =
            [("rows", &rows), ("left", &counts[0]), ("right", &counts[1])];
        return Err(Fault::filled(code::WIDTHS_DIFFER, &places));
    }
    let pairs = left.columns().iter().zip(right.columns());
    let column = |(a, b): (&Column, &Column)| match united(&[a.expr_type(), b.expr_type()]) {
        Some(one) if !keep_values(one.ty, &[a.expr_type(), b.expr_type()]) => {
            Err(Refused::narrow(&[a.expr_type(), b.expr_type()], one.ty).of("a set operation"))
        }
        Some(one) => Ok(one.column(&a.name)),
        None => Err(types_differ([a.ty, b.ty], &"a set operation")),
    };
    Ok(Schema(pairs.map(column).collect::<Result<_, _>>()?))
}
