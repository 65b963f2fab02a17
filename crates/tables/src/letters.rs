//! Finds table columns whose strings may only have certain letters, because the parties compute a
//! function on them that treats bytes as characters, or that changes case.

use crate::{
    Fault,
    algebra::{Expr, Operator, Relation},
    functions::{ComputedBy, Letters},
};
use hushwire_fault::code;
use std::collections::BTreeMap;

/// Columns of tables, by the table's name and the column's index, with the letters that they may
/// have.
pub(crate) type Places = BTreeMap<(String, usize), Letters>;

/// The columns of tables from which the parties compute a function that takes only certain letters.
pub(crate) fn cut(relation: &Relation) -> Places {
    let mut found = Places::new();
    walk(relation, &mut found);
    found
}

fn walk(relation: &Relation, found: &mut Places) {
    match relation.operator() {
        Operator::Join { left, right, on, residual, .. } => {
            for (a, b) in on {
                cuts(left, a, found);
                cuts(right, b, found);
            }
            let width = left.schema().columns().len();
            for (at, letters) in residual.iter().flat_map(cut_columns) {
                match at.checked_sub(width) {
                    Some(at) => origins(right, at, letters, found),
                    None => origins(left, at, letters, found),
                }
            }
        }
        // The others compute their expressions from the rows of one input.
        _ => {
            let inputs = relation.inputs();
            computed(relation).into_iter().for_each(|e| cuts(inputs[0], e, found));
        }
    }
    relation.inputs().into_iter().for_each(|input| walk(input, found));
}

/// The columns in arguments of functions that take only certain letters.
fn cut_columns(expr: &Expr) -> Vec<(usize, Letters)> {
    let within = expr.operands().into_iter().flat_map(cut_columns);
    match expr {
        Expr::Call(call) => match call.primitive.by {
            ComputedBy::OwnerFirst(letters) => {
                within.chain(expr.columns().into_iter().map(|at| (at, letters))).collect()
            }
            _ => within.collect(),
        },
        _ => within.collect(),
    }
}

fn cuts(input: &Relation, expr: &Expr, found: &mut Places) {
    cut_columns(expr).into_iter().for_each(|(at, letters)| origins(input, at, letters, found));
}

/// The columns of tables from which a column's values come.
fn origins(relation: &Relation, at: usize, letters: Letters, found: &mut Places) {
    let width = |of: &Relation| of.schema().columns().len();
    let of_expr = |input: &Relation, e: &Expr, found: &mut Places| {
        e.columns().into_iter().for_each(|at| origins(input, at, letters, found));
    };
    match relation.operator() {
        Operator::Scan(table) => {
            let known = found.entry((table.name.clone(), at)).or_insert(letters);
            *known = letters.min(*known);
        }
        Operator::Values(_) => {}
        Operator::ByOwner(input, columns) => match at.checked_sub(width(input)) {
            Some(at) => of_expr(input, &columns[at].1, found),
            None => origins(input, at, letters, found),
        },
        Operator::Project(input, columns) => of_expr(input, &columns[at].1, found),
        Operator::Filter(input, _)
        | Operator::OrderBy(input, _)
        | Operator::Limit { input, .. }
        | Operator::Distinct(input) => origins(input, at, letters, found),
        Operator::Join { left, right, .. } | Operator::Cross(left, right) => {
            match at.checked_sub(width(left)) {
                Some(at) => origins(right, at, letters, found),
                None => origins(left, at, letters, found),
            }
        }
        Operator::Aggregate { input, keys, aggregates, .. } => match at.checked_sub(keys.len()) {
            Some(at) => aggregates[at].argument.iter().for_each(|e| of_expr(input, e, found)),
            None => of_expr(input, &keys[at].1, found),
        },
        Operator::Set { left, right, .. } => {
            origins(left, at, letters, found);
            origins(right, at, letters, found);
        }
        Operator::Window(input, window) => match at.checked_sub(width(input)) {
            Some(at) => window.functions[at].1.argument().into_iter().for_each(|e| of_expr(input, e, found)),
            None => origins(input, at, letters, found),
        },
    }
}

/// The expressions of an operator that the parties compute.
fn computed(relation: &Relation) -> Vec<&Expr> {
    match relation.operator() {
        Operator::Project(_, columns) => columns.iter().map(|(_, e)| e).collect(),
        Operator::Filter(_, condition) => vec![condition],
        Operator::Join { on, residual, .. } => on.iter().flat_map(|(a, b)| [a, b]).chain(residual).collect(),
        Operator::Aggregate { keys, aggregates, .. } => {
            let arguments = aggregates.iter().filter_map(|a| a.argument.as_ref());
            keys.iter().map(|(_, e)| e).chain(arguments).collect()
        }
        Operator::OrderBy(_, keys) => keys.iter().map(|key| &key.expr).collect(),
        Operator::Window(_, window) => {
            let order = window.order.iter().map(|key| &key.expr);
            let arguments = window.functions.iter().filter_map(|(_, function)| function.argument());
            window.partition.iter().chain(order).chain(arguments).collect()
        }
        Operator::Scan(_)
        | Operator::Values(_)
        // Owners count characters, not bytes.
        | Operator::ByOwner(..)
        | Operator::Cross(..)
        | Operator::Distinct(_)
        | Operator::Limit { .. }
        | Operator::Set { .. } => vec![],
    }
}

/// Refuses functions that only owners can compute, if the parties would have to compute them.
///
/// # Errors
/// If there is such a function.
pub(crate) fn refuse_owners(relation: &Relation) -> Result<(), Fault> {
    fn of_owner(expr: &Expr) -> Option<&'static str> {
        match expr {
            _ if expr.columns().is_empty() => None,
            Expr::Call(call) if call.primitive.by == ComputedBy::OwnerOnly => Some(call.primitive.name),
            _ => expr.operands().into_iter().find_map(of_owner),
        }
    }
    if let Some(name) = computed(relation).into_iter().find_map(of_owner) {
        let clause = format!("{name} on shares");
        let remedy = "let the owners of a table compute it: Relation::by_owner";
        return Err(Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]));
    }
    relation.inputs().into_iter().try_for_each(refuse_owners)
}
