//! Joins, pair by pair.

use super::{Row, Tables, bound_promise, broken, evaluate, expr::converted, is_true, value};
use crate::{
    TableError,
    algebra::{
        Expr, JoinKind, Operator, Pairing, Relation, Schema, Value, common_type, is_partnership, pairing,
    },
};

pub(super) fn joined(relation: &Relation, tables: &Tables) -> Result<Vec<Row>, TableError> {
    let Operator::Join { left, right, kind, on, residual, bound } = relation.operator() else {
        unreachable!("its caller looked");
    };
    let (a_rows, b_rows) = (evaluate(left, tables)?, evaluate(right, tables)?);
    let both = Schema([left.schema().columns(), right.schema().columns()].concat());
    let key = |(e, f): &(Expr, Expr), a: &Row, b: &Row| {
        let types = [e.check(left.schema()), f.check(right.schema())].map(|t| t.expect("it was checked").ty);
        let common = common_type(types[0], types[1]).expect("it was checked");
        let x = converted(value(e, left.schema(), a), types[0], common);
        let y = converted(value(f, right.schema(), b), types[1], common);
        !x.is_null() && x == y
    };
    let mut pairs = vec![];
    let mut matched = 0u64;
    for (i, a) in a_rows.iter().enumerate() {
        for (j, b) in b_rows.iter().enumerate() {
            if !on.iter().all(|pair| key(pair, a, b)) {
                continue;
            }
            matched += 1;
            let row = [a.clone(), b.clone()].concat();
            if residual.as_ref().is_none_or(|e| is_true(e, &both, &row)) {
                pairs.push((i, j, row));
            }
        }
    }
    if let Some(Pairing::Bound(most)) = pairing(left, right, on, *bound)
        && matched > most
        && !is_partnership(left, right, *kind, residual.as_ref())
    {
        return Err(broken(bound_promise("pairs", most)));
    }
    let in_pairs = |i: usize| pairs.iter().any(|(at, ..)| *at == i);
    let nulls = |n: usize| vec![Value::Null; n];
    let lone_left = || {
        let lone = a_rows.iter().enumerate().filter(|(i, _)| !in_pairs(*i));
        lone.map(|(_, a)| [a.clone(), nulls(right.schema().columns().len())].concat()).collect::<Vec<_>>()
    };
    let lone_right = || {
        let lone = b_rows.iter().enumerate().filter(|(j, _)| !pairs.iter().any(|(_, at, _)| at == j));
        lone.map(|(_, b)| [nulls(left.schema().columns().len()), b.clone()].concat()).collect::<Vec<_>>()
    };
    let found: Vec<Row> = pairs.iter().map(|(.., row)| row.clone()).collect();
    Ok(match kind {
        JoinKind::Inner => found,
        JoinKind::Left => [found, lone_left()].concat(),
        JoinKind::Right => [found, lone_right()].concat(),
        JoinKind::Full => [found, lone_left(), lone_right()].concat(),
        JoinKind::Semi | JoinKind::Anti => {
            let wanted = *kind == JoinKind::Semi;
            let kept = a_rows.iter().enumerate().filter(|(i, _)| in_pairs(*i) == wanted);
            kept.map(|(_, a)| a.clone()).collect()
        }
    })
}
