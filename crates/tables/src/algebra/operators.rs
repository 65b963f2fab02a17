//! Constructors of operators: each checks its input and computes its schema, its number of rows and
//! its unique columns.

use super::{
    aggregate::Aggregate,
    expr::Expr,
    join::{join_rows, joined_schema, joined_unique},
    relation::{JoinKind, MAX_ROWS, Operator, Relation, SetOperation, SortKey, Table, united_schema},
    types::{Column, Range, Schema, Value},
    typing::has_range,
    window::{Window, WindowFunction, check_order},
};
use crate::{Fault, error::refused};
use hushwire_compute::Comparison;
use std::collections::HashSet;

type RelationResult = Result<Relation, Fault>;

fn check_columns(of: &str, columns: &[Column]) -> Result<(), Fault> {
    for column in columns {
        let fits =
            |range: Range| has_range(column.ty) && range.low <= range.high && column.ty.range().holds(range);
        if !column.ty.is_valid() || !column.range.is_none_or(fits) {
            let cause = format!("{of} has a column {column} that cannot be");
            return Err(refused(cause, "a type has its bounds, and a range is of numbers that it has"));
        }
    }
    Ok(())
}

/// The unique columns of public rows: columns whose values are all different and not NULL. For at
/// most one row it is the empty set.
#[must_use]
pub fn distinct(rows: &[Vec<Value>], columns: usize) -> Vec<Vec<usize>> {
    if rows.len() < 2 {
        return vec![vec![]];
    }
    let differ = |at: &usize| {
        let mut seen = HashSet::new();
        rows.iter().all(|row| !row[*at].is_null() && seen.insert(&row[*at]))
    };
    (0..columns).filter(differ).map(|at| vec![at]).collect()
}

impl Relation {
    /// The rows of a table.
    ///
    /// # Errors
    /// If a type does not exist, the table has no part, or a promise of uniqueness names a column
    /// that does not exist or may be NULL.
    pub fn scan(table: Table) -> RelationResult {
        check_columns(&format!("table {}", table.name), table.schema.columns())?;
        let rows = table.parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.rows));
        let Some(rows) = rows.filter(|rows| *rows <= MAX_ROWS && !table.parts.is_empty()) else {
            let cause = format!("table {} has no part, or too many rows", table.name);
            return Err(refused(cause, "name who brings it, and how many rows"));
        };
        for at in table.unique.iter().flatten() {
            let column = table.schema.columns().get(*at);
            if column.is_none_or(|column| column.nullable) {
                let which = column.map_or_else(|| at.to_string(), |column| column.name.clone());
                let cause = format!("table {}: column {which} cannot be unique", table.name);
                return Err(refused(cause, "columns of a key are there, and NOT NULL"));
            }
        }
        let (schema, unique) = (table.schema.clone(), table.unique.clone());
        Relation::new(Operator::Scan(table), schema, rows, unique)
    }

    /// Public rows.
    ///
    /// # Errors
    /// If a value does not fit its column.
    pub fn values(schema: Schema, rows: Vec<Vec<Value>>) -> RelationResult {
        check_columns("a list of rows", schema.columns())?;
        for row in &rows {
            let fits = |(value, column): (&Value, &Column)| {
                let within = |range: Range| match value {
                    Value::Number(n) => range.holds(Range { low: *n, high: *n }),
                    _ => true,
                };
                value.fits(column.ty)
                    && (column.nullable || !value.is_null())
                    && column.range.is_none_or(within)
            };
            if row.len() != schema.columns().len() || !row.iter().zip(schema.columns()).all(fits) {
                let cause = "a row whose values are not those of its columns";
                return Err(refused(cause, "write a value of the type for each column"));
            }
        }
        let unique = distinct(&rows, schema.columns().len());
        let count = rows.len() as u64;
        Relation::new(Operator::Values(rows), schema, count, unique)
    }

    /// A table's rows, and columns of expressions that its owners compute in the clear.
    ///
    /// # Errors
    /// If the relation is not a table, or an expression does not fit its columns.
    pub fn by_owner(&self, columns: Vec<(String, Expr)>) -> RelationResult {
        if !matches!(self.operator(), Operator::Scan(_)) {
            return Err(refused("rows that no owner has", "let owners compute from columns of one table"));
        }
        let column = |(name, expr): &(String, Expr)| Ok(expr.check(self.schema())?.column(name));
        let more = columns.iter().map(column).collect::<Result<Vec<_>, Fault>>()?;
        let schema = Schema([self.schema().columns(), &more].concat());
        let unique = self.unique().to_vec();
        Relation::new(Operator::ByOwner(self.clone(), columns), schema, self.rows(), unique)
    }

    /// Columns of expressions, with their names.
    ///
    /// # Errors
    /// If an expression does not fit the columns.
    pub fn project(&self, columns: Vec<(String, Expr)>) -> RelationResult {
        let column = |(name, expr): &(String, Expr)| Ok(expr.check(self.schema())?.column(name));
        let schema = Schema(columns.iter().map(column).collect::<Result<_, Fault>>()?);
        let place = |at: &usize| columns.iter().position(|(_, expr)| *expr == Expr::Column(*at));
        let unique = self.unique().iter().filter_map(|set| set.iter().map(place).collect()).collect();
        Relation::new(Operator::Project(self.clone(), columns), schema, self.rows(), unique)
    }

    /// The columns with these indices.
    ///
    /// # Errors
    /// If a column does not exist.
    pub fn select(&self, places: &[usize]) -> RelationResult {
        let name = |at: usize| self.schema().columns().get(at).map_or(String::new(), |c| c.name.clone());
        self.project(places.iter().map(|at| (name(*at), Expr::Column(*at))).collect())
    }

    /// The rows for which a condition is true.
    ///
    /// # Errors
    /// If the condition does not fit the columns, or is not a truth value.
    pub fn filter(&self, condition: Expr) -> RelationResult {
        condition.check_truth(self.schema())?;
        let (schema, mut unique) = (self.schema().clone(), self.unique().to_vec());
        unique.extend(self.partition_of_first(&condition));
        Relation::new(Operator::Filter(self.clone(), condition), schema, self.rows(), unique)
    }

    /// The columns of a window's partitions, if a condition keeps only the first row of each.
    fn partition_of_first(&self, condition: &Expr) -> Option<Vec<usize>> {
        let Operator::Window(input, window) = self.operator() else { return None };
        let Expr::Compare(Comparison::Equal | Comparison::LessOrEqual, a, b) = condition else { return None };
        let (Expr::Column(at), Expr::Literal(Value::Number(1), _)) = (a.as_ref(), b.as_ref()) else {
            return None;
        };
        let function = window.functions.get(at.checked_sub(input.schema().columns().len())?);
        let column = |e: &Expr| if let Expr::Column(at) = e { Some(*at) } else { None };
        match function {
            Some((_, WindowFunction::RowNumber)) => window.partition.iter().map(column).collect(),
            _ => None,
        }
    }

    /// Pairs of rows, with this relation as the left side: see [`Operator::Join`]. Semi and anti
    /// joins have only the left columns.
    ///
    /// # Errors
    /// If there are no keys, keys have no common type, or keys repeat on both sides and there is no
    /// bound.
    pub fn join(
        &self,
        right: &Relation,
        kind: JoinKind,
        on: Vec<(Expr, Expr)>,
        residual: Option<Expr>,
        bound: Option<u64>,
    ) -> RelationResult {
        let schema = joined_schema(self, right, kind, &on, residual.as_ref())?;
        let rows = join_rows(self, right, kind, &on, residual.as_ref(), bound)?;
        let unique = joined_unique(self, right, kind, &on, false);
        let (left, right, one) = (self.clone(), right.clone(), false);
        Relation::new(Operator::Join { left, right, kind, on, residual, bound, one }, schema, rows, unique)
    }

    /// Each row beside its partner in another relation, or beside NULLs if it has none: for the
    /// value of a scalar subquery. A row is promised to have at most one partner. This is checked
    /// unless the other relation's operators ensure it.
    ///
    /// # Errors
    /// If there are no keys, or keys have no common type.
    pub fn join_one(&self, right: &Relation, on: Vec<(Expr, Expr)>) -> RelationResult {
        let kind = JoinKind::Left;
        let schema = joined_schema(self, right, kind, &on, None)?;
        let unique = joined_unique(self, right, kind, &on, true);
        let (left, right, rows) = (self.clone(), right.clone(), self.rows());
        let join = Operator::Join { left, right, kind, on, residual: None, bound: None, one: true };
        Relation::new(join, schema, rows, unique)
    }

    /// All pairs with another relation's rows. This is for small sides, such as the one row of a
    /// scalar subquery.
    ///
    /// # Errors
    /// If there are too many rows.
    pub fn cross(&self, right: &Relation) -> RelationResult {
        let schema = Schema([self.schema().columns(), right.schema().columns()].concat());
        let shifted = |set: &Vec<usize>| set.iter().map(|at| at + self.schema().columns().len()).collect();
        let pairs = self.unique().iter().flat_map(|left: &Vec<usize>| {
            right.unique().iter().map(move |right| [left.clone(), shifted(right)].concat())
        });
        let unique = pairs.take(8).collect();
        let rows = self.rows().saturating_mul(right.rows());
        Relation::new(Operator::Cross(self.clone(), right.clone()), schema, rows, unique)
    }

    /// A row for each different key, or one row if there are no keys: see [`Operator::Aggregate`].
    ///
    /// # Errors
    /// If an aggregate does not take its argument.
    pub fn aggregate(
        &self,
        keys: Vec<(String, Expr)>,
        aggregates: Vec<Aggregate>,
        min_group: u64,
        bound: Option<u64>,
    ) -> RelationResult {
        let column = |(name, key): &(String, Expr)| Ok(key.check(self.schema())?.column(name));
        let mut columns = keys.iter().map(column).collect::<Result<Vec<_>, Fault>>()?;
        for aggregate in &aggregates {
            columns.push(aggregate.check(self.schema(), self.rows(), !keys.is_empty())?);
        }
        let rows = if keys.is_empty() { 1 } else { bound.map_or(self.rows(), |b| b.min(self.rows())) };
        let unique = vec![(0..keys.len()).collect()];
        let operator = Operator::Aggregate { input: self.clone(), keys, aggregates, min_group, bound };
        Relation::new(operator, Schema(columns), rows, unique)
    }

    /// Each different row once.
    ///
    /// # Errors
    /// Currently none.
    pub fn distinct(&self) -> RelationResult {
        let all = (0..self.schema().columns().len()).collect();
        let unique = [self.unique(), &[all]].concat();
        Relation::new(Operator::Distinct(self.clone()), self.schema().clone(), self.rows(), unique)
    }

    /// Rows in an order, the first key most significant.
    ///
    /// # Errors
    /// If a key does not fit the columns, or has no order.
    pub fn order_by(&self, keys: Vec<SortKey>) -> RelationResult {
        check_order(&keys, self.schema())?;
        let (schema, unique) = (self.schema().clone(), self.unique().to_vec());
        Relation::new(Operator::OrderBy(self.clone(), keys), schema, self.rows(), unique)
    }

    /// Rows `skip..skip + fetch` of the valid rows.
    ///
    /// # Errors
    /// Currently none.
    pub fn limit(&self, skip: u64, fetch: Option<u64>) -> RelationResult {
        let rest = self.rows().saturating_sub(skip);
        let rows = fetch.map_or(rest, |fetch| fetch.min(rest));
        let mut unique = self.unique().to_vec();
        if rows < 2 {
            unique.push(vec![]);
        }
        let operator = Operator::Limit { input: self.clone(), skip, fetch };
        Relation::new(operator, self.schema().clone(), rows, unique)
    }

    /// A set operation on two relations' rows; on bags if `all`.
    ///
    /// # Errors
    /// If columns have no common types.
    pub fn set(&self, operation: SetOperation, all: bool, right: &Relation) -> RelationResult {
        let schema = united_schema(self.schema(), right.schema())?;
        let (rows, mut unique) = match operation {
            SetOperation::Union => (self.rows().saturating_add(right.rows()), vec![]),
            _ => (self.rows(), self.unique().to_vec()),
        };
        if !all {
            unique.push((0..schema.columns().len()).collect());
        }
        let operator = Operator::Set { operation, all, left: self.clone(), right: right.clone() };
        Relation::new(operator, schema, rows, unique)
    }

    /// The rows with additional columns, computed from neighbours in an order.
    ///
    /// # Errors
    /// If a key or an argument does not fit the columns.
    pub fn window(&self, window: Window) -> RelationResult {
        let more = window.check(self.schema(), self.rows())?;
        let schema = Schema([self.schema().columns(), &more].concat());
        let unique = self.unique().to_vec();
        Relation::new(Operator::Window(self.clone(), window), schema, self.rows(), unique)
    }
}
