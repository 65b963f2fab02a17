//! Queries as trees of operators on numbered columns.
//!
//! A column keeps its number from the operator that makes it up to the top, even if operators are
//! moved. So rules do not need to renumber. Expressions are those of the algebra, whose indices
//! here are column numbers. [`emit`] turns numbers into indices at the end.

mod emit;
mod expr;
mod joins;
mod keys;
mod owners;
mod prune;
mod push;

pub use emit::Options;
pub(crate) use emit::{emit, needed};
pub(crate) use expr::{conjunction, conjuncts, map, reads, replaced, truth};
pub(crate) use joins::{Pool, joined, pair};
pub(crate) use keys::RowFacts;
pub(crate) use owners::by_owners;
pub(crate) use prune::prune;
pub(crate) use push::filtered;

use hushwire_tables::{
    Fault,
    algebra::{Aggregate, Column, ColumnType, Expr, Range, Schema, SetOperation, Value, WindowFunction},
};
use std::collections::BTreeSet;

/// The number of a column.
pub(crate) type Id = usize;

/// Numbers of columns.
pub(crate) type Ids = BTreeSet<Id>;

/// All columns of a query: their names, types, NULLs and ranges, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns(pub(crate) Schema);

impl Columns {
    /// Adds a column. Only its type and its NULLs matter here: ranges depend on rows and are
    /// determined when relations are made. Numbers have the smallest range here, so that no
    /// expression is refused for its type's range.
    pub(crate) fn add(&mut self, column: Column) -> Id {
        let number = column.ty.is_numeric() || matches!(column.ty, ColumnType::Date | ColumnType::Timestamp);
        let range = number.then_some(Range { low: 0, high: 0 });
        self.0.0.push(Column { range, ..column });
        self.0.0.len() - 1
    }

    /// Whether an expression may be NULL. For a CAST this depends on the operand's values, which
    /// are unknown here. So a CAST may be NULL if its types allow it.
    pub(crate) fn may_be_null(&self, expr: &Expr) -> Result<bool, Fault> {
        let nullable = expr.check(&self.0)?.nullable;
        if nullable || !parts_of(expr).iter().any(|part| matches!(part, Expr::Cast(..))) {
            return Ok(nullable);
        }
        let whole = |column: &Column| Column { range: None, ..column.clone() };
        let whole = Schema(self.0.columns().iter().map(whole).collect());
        Ok(expr.check(&whole).map_or(true, |of| of.nullable))
    }

    /// The column with this number.
    pub(crate) fn of(&self, id: Id) -> &Column {
        &self.0.0[id]
    }
}

/// An expression and all its parts.
fn parts_of(expr: &Expr) -> Vec<&Expr> {
    let mut all = vec![expr];
    let mut next = 0;
    while let Some(part) = all.get(next) {
        let operands = part.operands();
        all.extend(operands);
        next += 1;
    }
    all
}

/// The kind of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogicalJoin {
    /// Pairs.
    Inner,
    /// Pairs, and rows of the left side without a partner.
    Left,
    /// Rows of the left side with their partner. The query promises at most one partner, and the
    /// run checks it.
    One,
    /// Pairs, and rows of both sides without a partner.
    Full,
    /// Rows of the left side with a partner.
    Semi,
    /// Rows of the left side without a partner.
    Anti,
}

/// A key of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OrderKey {
    pub(crate) id: Id,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// A tree of operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogicalPlan {
    /// Columns of a table of the catalog, each with its index there, and columns that the table's
    /// owners compute from these.
    Scan { table: usize, columns: Vec<(Id, usize)>, made: Vec<(Id, Expr)> },
    /// One row without columns.
    One,
    /// Public rows of columns.
    Values { columns: Vec<Id>, rows: Vec<Vec<Value>> },
    /// Rows for which a condition is true.
    Filter { input: Box<LogicalPlan>, condition: Expr },
    /// Computed columns. Columns that are not among them are dropped.
    Project { input: Box<LogicalPlan>, columns: Vec<(Id, Expr)> },
    /// Pairs of rows that are equal in the columns of `on` and meet a further condition. If `on` is
    /// empty, every row meets every row.
    Join {
        kind: LogicalJoin,
        left: Box<LogicalPlan>,
        right: Box<LogicalPlan>,
        on: Vec<(Id, Id)>,
        residual: Option<Expr>,
    },
    /// One row for each value of the keys. `asked` tells that the query itself asks for the groups.
    /// Small groups are then left out if the options demand it.
    Group { input: Box<LogicalPlan>, keys: Vec<Id>, aggregates: Vec<(Id, Aggregate)>, asked: bool },
    /// Functions of neighbouring rows.
    Window {
        input: Box<LogicalPlan>,
        partition: Vec<Id>,
        order: Vec<OrderKey>,
        calls: Vec<(Id, WindowFunction)>,
    },
    /// Rows in an order.
    Sort { input: Box<LogicalPlan>, keys: Vec<OrderKey> },
    /// A limited number of rows, from an offset on.
    Limit { input: Box<LogicalPlan>, offset: u64, limit: Option<u64> },
    /// A set operation on the rows of two sides, column by column.
    Set {
        kind: SetOperation,
        all: bool,
        left: (Box<LogicalPlan>, Vec<Id>),
        right: (Box<LogicalPlan>, Vec<Id>),
        columns: Vec<Id>,
    },
}

impl LogicalPlan {
    /// The numbers of its columns, in order.
    pub(crate) fn columns(&self) -> Vec<Id> {
        match self {
            LogicalPlan::Scan { columns, made, .. } => {
                columns.iter().map(|(id, _)| *id).chain(made.iter().map(|(id, _)| *id)).collect()
            }
            LogicalPlan::One => vec![],
            LogicalPlan::Filter { input, .. }
            | LogicalPlan::Sort { input, .. }
            | LogicalPlan::Limit { input, .. } => input.columns(),
            LogicalPlan::Project { columns, .. } => columns.iter().map(|(id, _)| *id).collect(),
            LogicalPlan::Join { kind: LogicalJoin::Semi | LogicalJoin::Anti, left, .. } => left.columns(),
            LogicalPlan::Join { left, right, .. } => [left.columns(), right.columns()].concat(),
            LogicalPlan::Group { keys, aggregates, .. } => {
                keys.iter().copied().chain(aggregates.iter().map(|(id, _)| *id)).collect()
            }
            LogicalPlan::Window { input, calls, .. } => {
                input.columns().into_iter().chain(calls.iter().map(|(id, _)| *id)).collect()
            }
            LogicalPlan::Values { columns, .. } | LogicalPlan::Set { columns, .. } => columns.clone(),
        }
    }

    /// The numbers of its columns as a set.
    pub(crate) fn ids(&self) -> Ids {
        self.columns().into_iter().collect()
    }

    /// Whether the rows are those of a table, in the table's order.
    pub(crate) fn has_own_order(&self) -> bool {
        match self {
            LogicalPlan::Scan { .. } | LogicalPlan::One | LogicalPlan::Values { .. } => true,
            LogicalPlan::Filter { input, .. } | LogicalPlan::Project { input, .. } => input.has_own_order(),
            _ => false,
        }
    }

    /// Adds columns that are computed by expressions.
    pub(crate) fn extended(self, more: Vec<(Id, Expr)>) -> LogicalPlan {
        if more.is_empty() {
            return self;
        }
        let own = self.columns().into_iter().map(|id| (id, Expr::Column(id)));
        let columns = own.chain(more).collect();
        LogicalPlan::Project { input: Box::new(self), columns }
    }
}

/// Whether all rows of a plan are groups that the query asks for, so that small ones are left out.
pub(crate) fn shows_groups(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Group { asked, .. } => *asked,
        LogicalPlan::Filter { input, .. }
        | LogicalPlan::Project { input, .. }
        | LogicalPlan::Window { input, .. }
        | LogicalPlan::Sort { input, .. }
        | LogicalPlan::Limit { input, .. } => shows_groups(input),
        LogicalPlan::Join { kind: LogicalJoin::Semi | LogicalJoin::Anti, left, .. } => shows_groups(left),
        LogicalPlan::Set { left, right, .. } => shows_groups(&left.0) && shows_groups(&right.0),
        LogicalPlan::Join { .. }
        | LogicalPlan::Scan { .. }
        | LogicalPlan::One
        | LogicalPlan::Values { .. } => false,
    }
}
