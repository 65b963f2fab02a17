//! Finds the columns of tables from whose strings a relation takes bytes.

use crate::algebra::{Expr, Operator, Relation};
use std::collections::BTreeSet;

/// Columns of tables: the table's name, and the column's index.
pub(crate) type Places = BTreeSet<(String, usize)>;

/// The columns of tables from which a function takes bytes, and so could take parts of multi-byte
/// characters.
pub(crate) fn cut(relation: &Relation) -> Places {
    let mut found = Places::new();
    walk(relation, &mut found);
    found
}

fn walk(relation: &Relation, found: &mut Places) {
    match relation.operator() {
        Operator::Project(input, columns) => columns.iter().for_each(|(_, e)| cuts(input, e, found)),
        Operator::Filter(input, condition) => cuts(input, condition, found),
        Operator::Join { left, right, on, residual, .. } => {
            for (a, b) in on {
                cuts(left, a, found);
                cuts(right, b, found);
            }
            let width = left.schema().columns().len();
            for (of, at) in residual.iter().flat_map(cut_columns).map(|at| match at.checked_sub(width) {
                Some(at) => (right, at),
                None => (left, at),
            }) {
                origins(of, at, found);
            }
        }
        Operator::Aggregate { input, keys, aggregates, .. } => {
            let arguments = aggregates.iter().filter_map(|a| a.argument.as_ref());
            keys.iter().map(|(_, e)| e).chain(arguments).for_each(|e| cuts(input, e, found));
        }
        Operator::OrderBy(input, keys) => keys.iter().for_each(|key| cuts(input, &key.expr, found)),
        Operator::Window(input, window) => {
            let order = window.order.iter().map(|key| &key.expr);
            let arguments = window.functions.iter().filter_map(|(_, function)| function.argument());
            window.partition.iter().chain(order).chain(arguments).for_each(|e| cuts(input, e, found));
        }
        Operator::Scan(_)
        | Operator::Values(_)
        | Operator::Cross(..)
        | Operator::Distinct(_)
        | Operator::Limit { .. }
        | Operator::Set { .. } => {}
    }
    relation.inputs().into_iter().for_each(|input| walk(input, found));
}

/// The columns in arguments of functions that take bytes.
fn cut_columns(expr: &Expr) -> Vec<usize> {
    match expr {
        Expr::Call(call) if call.primitive.cuts_bytes => expr.columns(),
        _ => expr.operands().into_iter().flat_map(cut_columns).collect(),
    }
}

fn cuts(input: &Relation, expr: &Expr, found: &mut Places) {
    cut_columns(expr).into_iter().for_each(|at| origins(input, at, found));
}

/// The columns of tables from which a column's values come.
fn origins(relation: &Relation, at: usize, found: &mut Places) {
    let width = |of: &Relation| of.schema().columns().len();
    let of_expr = |input: &Relation, e: &Expr, found: &mut Places| {
        e.columns().into_iter().for_each(|at| origins(input, at, found));
    };
    match relation.operator() {
        Operator::Scan(table) => {
            found.insert((table.name.clone(), at));
        }
        Operator::Values(_) => {}
        Operator::Project(input, columns) => of_expr(input, &columns[at].1, found),
        Operator::Filter(input, _)
        | Operator::OrderBy(input, _)
        | Operator::Limit { input, .. }
        | Operator::Distinct(input) => origins(input, at, found),
        Operator::Join { left, right, .. } | Operator::Cross(left, right) => {
            match at.checked_sub(width(left)) {
                Some(at) => origins(right, at, found),
                None => origins(left, at, found),
            }
        }
        Operator::Aggregate { input, keys, aggregates, .. } => match at.checked_sub(keys.len()) {
            Some(at) => aggregates[at].argument.iter().for_each(|e| of_expr(input, e, found)),
            None => of_expr(input, &keys[at].1, found),
        },
        Operator::Set { left, right, .. } => {
            origins(left, at, found);
            origins(right, at, found);
        }
        Operator::Window(input, window) => match at.checked_sub(width(input)) {
            Some(at) => window.functions[at].1.argument().into_iter().for_each(|e| of_expr(input, e, found)),
            None => origins(input, at, found),
        },
    }
}
