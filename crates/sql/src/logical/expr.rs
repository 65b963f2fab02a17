//! Rules on expressions.

use super::{Id, Ids};
use hushwire_tables::algebra::{ColumnType, Expr, Value};
use std::collections::BTreeMap;

/// Replaces every part of an expression, operands first.
pub(crate) fn map(expr: &Expr, f: &mut impl FnMut(Expr) -> Expr) -> Expr {
    let whole = expr.with_operands(&mut |e| map(e, f));
    f(whole)
}

/// The columns that an expression reads.
pub(crate) fn reads(expr: &Expr) -> Ids {
    expr.columns().into_iter().collect()
}

/// Replaces columns by expressions.
pub(crate) fn replaced(expr: &Expr, by: &BTreeMap<Id, Expr>) -> Expr {
    map(expr, &mut |e| match e {
        Expr::Column(id) => by.get(&id).cloned().unwrap_or(Expr::Column(id)),
        e => e,
    })
}

/// A truth value.
pub(crate) fn truth(value: bool) -> Expr {
    Expr::Literal(Value::Boolean(value), ColumnType::Boolean)
}

/// Splits a condition into conjuncts. If all alternatives of an OR have conjuncts in common, these
/// are split off too.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::And(a, b) => [conjuncts(*a), conjuncts(*b)].concat(),
        Expr::Or(..) => factored(expr),
        Expr::Literal(Value::Boolean(true), _) => vec![],
        Expr::Not(inner) => match *inner {
            // This also holds in three-valued logic: not (a or b) is true if both are false.
            Expr::Or(a, b) => [conjuncts(a.not()), conjuncts(b.not())].concat(),
            Expr::Not(a) => conjuncts(*a),
            other => vec![other.not()],
        },
        other => vec![other],
    }
}

fn alternatives(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Or(a, b) => [alternatives(*a), alternatives(*b)].concat(),
        other => vec![other],
    }
}

/// `(a and b) or (a and c)` is `a and (b or c)`.
fn factored(expr: Expr) -> Vec<Expr> {
    let mut all: Vec<Vec<Expr>> = alternatives(expr).into_iter().map(conjuncts).collect();
    let common: Vec<Expr> =
        all[0].iter().filter(|e| all.iter().all(|alternative| alternative.contains(e))).cloned().collect();
    for alternative in &mut all {
        alternative.retain(|e| !common.contains(e));
    }
    let rest = all.into_iter().map(conjunction).reduce(Expr::or);
    common.into_iter().chain(rest.filter(|e| *e != truth(true))).collect()
}

/// The conjunction of all; true if there are none.
pub(crate) fn conjunction(all: Vec<Expr>) -> Expr {
    all.into_iter().reduce(Expr::and).unwrap_or(truth(true))
}
