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
pub struct Part {
    /// The member who brings them.
    pub owner: String,
    /// How many, padding included: public.
    pub rows: u64,
}

/// A table that members bring: its parts one behind the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub schema: Schema,
    /// The parts, at least one.
    pub parts: Vec<Part>,
    /// Whether a part may hold fewer rows than it says, so that each row carries a bit of whether it is one.
    pub padded: bool,
    /// Sets of columns of which no two rows have the same values, all of them NOT NULL: a promise, which a plan that stands on it checks; the one
    /// bit of whether it holds is opened to those who learn the result.
    pub unique: Vec<Vec<usize>>,
}

impl Table {
    /// Rows of all parts.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }
}

/// Rows of which side a join keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and left rows without one beside NULLs.
    Left,
    /// Pairs, and right rows without one beside NULLs.
    Right,
    /// Pairs, and rows of both sides without one beside NULLs.
    Full,
    /// Left rows with a partner, once.
    Semi,
    /// Left rows without one.
    Anti,
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The key.
    pub expr: Expr,
    /// Whether it counts down.
    pub descending: bool,
    /// Whether NULLs come first, whichever way it counts.
    pub nulls_first: bool,
}

/// An operation of sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOperation {
    /// Rows of both.
    Union,
    /// Rows of the left that the right has too.
    Intersect,
    /// Rows of the left that the right has not.
    Except,
}

/// An operator. Its row count is public, and most rows may be invalid: nobody sees which.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// A table.
    Scan(Table),
    /// Public rows.
    Values(Vec<Vec<Value>>),
    /// Columns of expressions, with their names.
    Project(Relation, Vec<(String, Expr)>),
    /// Rows of which a condition is true.
    Filter(Relation, Expr),
    /// Pairs of rows.
    Join {
        /// The left side, whose columns come first.
        left: Relation,
        /// The right side.
        right: Relation,
        /// The rows that are kept.
        kind: JoinKind,
        /// Expressions of the left and of the right that are equal; NULLs are not.
        on: Vec<(Expr, Expr)>,
        /// A condition on both sides' columns that a pair meets besides.
        residual: Option<Expr>,
        /// Most pairs, where neither side's keys are unique. More than that ends the run, which those who learn the
        /// result see.
        bound: Option<u64>,
        /// Whether a left row is promised to have at most one partner. A second one ends the run,
        /// as those who learn the result see.
        one: bool,
    },
    /// All pairs: rows multiply.
    Cross(Relation, Relation),
    /// A row for each different key, or the one row of all without keys.
    Aggregate {
        /// Its rows.
        input: Relation,
        /// Keys with their names; NULLs make one group.
        keys: Vec<(String, Expr)>,
        /// Figures of each group.
        aggregates: Vec<Aggregate>,
        /// Groups of fewer rows are left out; 0 or 1 leaves out none.
        min_group: u64,
        /// Most groups: rows of the result. More than that ends the run, which those who learn the result see.
        /// Without it there are as many as input rows.
        bound: Option<u64>,
    },
    /// Each different row once.
    Distinct(Relation),
    /// Rows in an order; equal ones in any.
    OrderBy(Relation, Vec<SortKey>),
    /// Rows `skip..skip + fetch` of those that are valid.
    Limit {
        /// Its rows.
        input: Relation,
        /// Rows that are passed over.
        skip: u64,
        /// Rows that are kept; all without it.
        fetch: Option<u64>,
    },
    /// Sets of rows, or bags where `all`.
    Set {
        /// The operation.
        operation: SetOperation,
        /// Whether equal rows count as often as they come.
        all: bool,
        /// The left side, which gives the columns their names.
        left: Relation,
        /// The right side.
        right: Relation,
    },
    /// Its rows with more columns, of neighbours in an order.
    Window(Relation, Window),
}

/// A checked tree of operators: it has a schema and a public number of rows. Cheap to clone; what is cloned is computed once.
///
/// ```
/// use hushwire_tables::algebra::*;
/// let salaries = Table {
///     name: "salaries".into(),
///     schema: Schema(vec![
///         Column::new("person", ColumnType::BigInt),
///         Column::new("cents", ColumnType::Integer).nullable(),
///     ]),
///     parts: vec![Part { owner: "alice".into(), rows: 1000 }],
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

/// Most rows of a relation.
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

    /// Its rows, valid or not: a public bound.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.rows
    }

    /// Sets of columns of which no two valid rows have the same values: promised of tables, and kept by operators. Of the empty set a
    /// relation has one valid row at most.
    #[must_use]
    pub fn unique(&self) -> &[Vec<usize>] {
        &self.0.unique
    }

    /// Whether no two valid rows have the same values of these columns.
    #[must_use]
    pub fn is_unique(&self, columns: &[usize]) -> bool {
        self.0.unique.iter().any(|set| set.iter().all(|at| columns.contains(at)))
    }

    /// Whether no two valid rows have the same values of these keys; expressions that are no columns tell nothing.
    pub(crate) fn is_unique_by<'a>(&self, keys: impl IntoIterator<Item = &'a Expr>) -> bool {
        let columns = keys.into_iter().filter_map(|key| match key {
            Expr::Column(at) => Some(*at),
            _ => None,
        });
        self.is_unique(&columns.collect::<Vec<_>>())
    }

    /// Whether two are one and the same.
    #[must_use]
    pub fn is(&self, other: &Relation) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that those which are one and the same share, while one of them is there.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The relations that it stands on.
    #[must_use]
    pub fn inputs(&self) -> Vec<&Relation> {
        match self.operator() {
            Operator::Scan(_) | Operator::Values(_) => vec![],
            Operator::Project(input, _)
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

/// The schema of rows of both, of two with as many columns of common types; names are the first one's.
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
