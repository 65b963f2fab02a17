//! Evaluates relations on rows in the clear, row by row. This is their definition, and the
//! reference for every other evaluation.

mod expr;
mod figures;
mod joins;
pub(crate) mod numbers;
mod windows;

pub(crate) use expr::{compared, converted, value};
pub use numbers::civil;

use crate::incoming::unknown_part;
use crate::{
    Fault,
    algebra::{Expr, Operator, Relation, Schema, SetOperation, SortKey, Value, pairing},
    promises::Promises,
};
use core::cmp::Ordering;
use std::collections::BTreeMap;

/// A row: a value for each column.
pub type Row = Vec<Value>;
/// The rows of tables by name, all parts one after the other.
pub type Tables = BTreeMap<String, Vec<Row>>;

/// The valid rows of a relation. They are in the order of an [`Operator::OrderBy`] at its top or
/// below limits, otherwise in any order.
///
/// # Errors
/// If a table is missing, or rows break a promise.
pub fn evaluate(relation: &Relation, tables: &Tables) -> Result<Vec<Row>, Fault> {
    World { tables, promises: Promises::of(relation) }.rows(relation)
}

/// The rows of tables, and a plan's promises about them.
struct World<'a> {
    tables: &'a Tables,
    promises: Promises,
}

impl World<'_> {
    fn rows(&self, relation: &Relation) -> Result<Vec<Row>, Fault> {
        let of = |r: &Relation| self.rows(r);
        let schema = relation.schema();
        Ok(match relation.operator() {
            Operator::Scan(table) => {
                let rows = self
                    .tables
                    .get(&table.name)
                    .ok_or_else(|| unknown_part(&table.name, "it is missing", "bring its rows"))?;
                rows.clone()
            }
            Operator::Values(rows) => rows.clone(),
            Operator::ByOwner(input, columns) => {
                let more = |row: Row| -> Row {
                    let made = columns.iter().map(|(_, e)| value(e, input.schema(), &row));
                    let made: Row = made.collect();
                    [row, made].concat()
                };
                of(input)?.into_iter().map(more).collect()
            }
            Operator::Project(input, columns) => {
                let row = |row: &Row| columns.iter().map(|(_, e)| value(e, input.schema(), row)).collect();
                of(input)?.iter().map(row).collect()
            }
            Operator::Filter(input, condition) => {
                let mut rows = of(input)?;
                rows.retain(|row| is_true(condition, input.schema(), row));
                rows
            }
            Operator::Join { left, right, kind, on, residual, bound, one } => {
                let pairing = pairing(left, right, on, *bound, *one);
                self.joined(relation, [left, right], *kind, on, residual.as_ref(), pairing)?
            }
            Operator::Cross(left, right) => {
                let right = of(right)?;
                let pair = |a: Row| right.iter().map(move |b| [a.clone(), b.clone()].concat());
                of(left)?.into_iter().flat_map(pair).collect()
            }
            Operator::Aggregate { input, keys, aggregates, min_group, bound } => {
                let mut groups: BTreeMap<Row, Vec<Row>> = BTreeMap::new();
                if keys.is_empty() {
                    groups.insert(vec![], vec![]);
                }
                for row in of(input)? {
                    let key = keys.iter().map(|(_, e)| value(e, input.schema(), &row)).collect();
                    groups.entry(key).or_default().push(row);
                }
                groups.retain(|_, rows| rows.len() as u64 >= *min_group);
                if bound.is_some_and(|bound| !keys.is_empty() && groups.len() as u64 > bound) {
                    return Err(self.promises.broken(relation));
                }
                let group = |(mut key, rows): (Row, Vec<Row>)| {
                    let figures =
                        aggregates.iter().map(|a| figures::figure(a, input.schema(), &rows, input.rows()));
                    key.extend(figures);
                    key
                };
                groups.into_iter().map(group).collect()
            }
            Operator::Distinct(input) => different(of(input)?),
            Operator::OrderBy(input, keys) => {
                let mut rows = of(input)?;
                rows.sort_by(|a, b| in_order(keys, input.schema(), a, b));
                rows
            }
            Operator::Limit { input, skip, fetch } => {
                let fetch = fetch.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
                let skip = usize::try_from(*skip).unwrap_or(usize::MAX);
                of(input)?.into_iter().skip(skip).take(fetch).collect()
            }
            Operator::Set { operation, all, left, right } => {
                let same = |r: &Relation, row: Row| -> Row {
                    let columns = r.schema().columns().iter().zip(schema.columns());
                    row.into_iter().zip(columns).map(|(v, (from, to))| converted(v, from.ty, to.ty)).collect()
                };
                let mut found: Vec<Row> = of(left)?.into_iter().map(|row| same(left, row)).collect();
                let mut others: Vec<Row> = of(right)?.into_iter().map(|row| same(right, row)).collect();
                if *operation == SetOperation::Union {
                    found.extend(others);
                } else {
                    // A right row removes one equal left row.
                    found.retain(|row| {
                        let partner = others.iter().position(|other| other == row);
                        if let (Some(at), true) = (partner, *all) {
                            others.swap_remove(at);
                        }
                        partner.is_some() == (*operation == SetOperation::Intersect)
                    });
                }
                if *all { found } else { different(found) }
            }
            Operator::Window(input, window) => windows::windowed(window, input, of(input)?),
        })
    }
}

fn is_true(condition: &Expr, schema: &Schema, row: &[Value]) -> bool {
    value(condition, schema, row) == Value::Boolean(true)
}

fn different(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows.dedup();
    rows
}

fn in_order(keys: &[SortKey], schema: &Schema, a: &[Value], b: &[Value]) -> Ordering {
    let one = |key: &SortKey| {
        let [x, y] = [a, b].map(|row| value(&key.expr, schema, row));
        match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if key.nulls_first => Ordering::Less,
            (false, true) if !key.nulls_first => Ordering::Less,
            (false, false) if key.descending => compared(&y, &x),
            (false, false) => compared(&x, &y),
            _ => Ordering::Greater,
        }
    };
    keys.iter().map(one).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}
