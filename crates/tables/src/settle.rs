//! Makes the order of a result's rows reveal no more than the rows, their places in tables and an
//! ORDER BY.
//!
//! Groups, windows, sets and joins leave rows in the order of their keys. A member that sees this
//! order without the keys would learn how the keys compare: the k-th of all sums would belong to
//! the k-th smallest name. Such a result is sorted by the columns that it shows.

use crate::{
    Fault,
    algebra::{Expr, Operator, Relation, SortKey},
};

/// The source of the order of a result's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The rows that are shown.
    Shown,
    /// An ORDER BY by columns that are not shown; equal rows follow their places in tables.
    Asked,
    /// The rows' places in tables, as far as shown values do not determine the order.
    Tables,
}

/// Whether an operator leaves its rows in the order of an ORDER BY below it.
pub(crate) fn keeps_order(relation: &Relation) -> bool {
    use Operator::{Filter, Limit, OrderBy, Project};
    matches!(relation.operator(), Project(..) | Filter(..) | Limit { .. } | OrderBy(..))
}

/// All columns.
fn all(relation: &Relation) -> Vec<Expr> {
    (0..relation.schema().columns().len()).map(Expr::Column).collect()
}

/// Expressions on a projection's columns as expressions on its input's columns.
fn below(shown: &[Expr], columns: &[(String, Expr)]) -> Vec<Expr> {
    shown.iter().map(|e| e.replaced(&|at| columns[at].1.clone())).collect()
}

/// The order of a relation's rows.
pub(crate) fn order(relation: &Relation) -> Order {
    of_shown(relation, all(relation))
}

fn of_shown(relation: &Relation, shown: Vec<Expr>) -> Order {
    let is_shown = |e: &Expr| shown.contains(e) || e.columns().is_empty();
    let known = |is: bool| if is { Order::Shown } else { Order::Tables };
    match relation.operator() {
        Operator::OrderBy(_, keys) => {
            let mut by: Vec<&Expr> = vec![];
            let is_settled = |by: &[&Expr]| shown.iter().all(|e| by.contains(&e) || e.columns().is_empty());
            for key in keys {
                // Rows that are equal in all shown values may come in any order.
                if is_settled(&by) {
                    break;
                }
                if !is_shown(&key.expr) {
                    return Order::Asked;
                }
                by.push(&key.expr);
            }
            known(is_settled(&by) || relation.is_unique_by(by))
        }
        Operator::Aggregate { keys, .. } => known((0..keys.len()).all(|at| is_shown(&Expr::Column(at)))),
        Operator::Distinct(_) => known(all(relation).iter().all(is_shown)),
        Operator::Values(_) => Order::Shown,
        Operator::Limit { input, .. } | Operator::Filter(input, _) => of_shown(input, shown),
        Operator::Project(input, columns) => of_shown(input, below(&shown, columns)),
        _ => known(relation.rows() < 2),
    }
}

/// The same rows in an order that follows from the shown values, after those of an ORDER BY, if
/// there is one. The order is applied below the limits, so it also decides which rows they keep.
pub(crate) fn settled(relation: &Relation) -> Result<Relation, Fault> {
    settled_by(relation, all(relation), vec![])
}

/// All columns of expressions.
fn columns_of(exprs: &[Expr]) -> impl Iterator<Item = Expr> {
    exprs.iter().flat_map(Expr::columns).map(Expr::Column)
}

/// `used` are the columns that conditions above read. Rows that are equal in the shown values may
/// differ in these columns, and a limit depends on them too.
fn settled_by(relation: &Relation, shown: Vec<Expr>, used: Vec<Expr>) -> Result<Relation, Fault> {
    match relation.operator() {
        Operator::OrderBy(input, keys) => {
            let more = keys_of(input, shown)?;
            let more = more.into_iter().filter(|key| !keys.iter().any(|known| known.expr == key.expr));
            input.order_by(keys.iter().cloned().chain(more).collect())
        }
        Operator::Limit { input, skip, fetch } => {
            let read: Vec<Expr> = columns_of(&shown).chain(used).collect();
            settled_by(input, [shown, read].concat(), vec![])?.limit(*skip, *fetch)
        }
        Operator::Project(input, columns) if is_cut(input) => {
            settled_by(input, below(&shown, columns), columns_of(&below(&used, columns)).collect())?
                .project(columns.clone())
        }
        Operator::Filter(input, condition) if is_cut(input) => {
            let used = used.into_iter().chain(condition.columns().into_iter().map(Expr::Column)).collect();
            settled_by(input, shown, used)?.filter(condition.clone())
        }
        _ => relation.order_by(keys_of(relation, shown)?),
    }
}

/// Whether only projections and filters are above an order or a limit.
fn is_cut(relation: &Relation) -> bool {
    match relation.operator() {
        Operator::OrderBy(..) | Operator::Limit { .. } => true,
        Operator::Project(input, _) | Operator::Filter(input, _) => is_cut(input),
        _ => false,
    }
}

/// The sort keys for shown values, each once. Literals, and digests, which no result of a job
/// shows, have no order.
fn keys_of(relation: &Relation, shown: Vec<Expr>) -> Result<Vec<SortKey>, Fault> {
    let mut keys: Vec<SortKey> = vec![];
    for expr in shown {
        let is_known = keys.iter().any(|key| key.expr == expr) || expr.columns().is_empty();
        if !is_known && expr.check(relation.schema())?.ty.is_ordered() {
            keys.push(SortKey { expr, descending: false, nulls_first: false });
        }
    }
    Ok(keys)
}
