//! Rows, columns and keys of joins.

use super::{
    expr::Expr,
    relation::{JoinKind, Relation},
    types::{Column, ColumnType, Schema},
    typing::{common_type, keep_values},
};
use crate::{
    Fault,
    error::{Refused, refused, types_differ},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;

/// The number of partners that the rows of a join may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// A left row has at most one partner.
    RightUnique,
    /// A right row has at most one partner.
    LeftUnique,
    /// Any number of partners, with this many pairs in total.
    Bound(u64),
}

type On = [(Expr, Expr)];

pub(crate) fn pairing(
    left: &Relation,
    right: &Relation,
    on: &On,
    bound: Option<u64>,
    one: bool,
) -> Option<Pairing> {
    if one {
        return Some(Pairing::RightUnique);
    }
    let by_right = right.is_unique_by(on.iter().map(|(_, key)| key));
    let by_left = left.is_unique_by(on.iter().map(|(key, _)| key));
    match (by_right, by_left) {
        // Both are possible, and the result is smaller.
        (true, true) if right.rows() < left.rows() => Some(Pairing::LeftUnique),
        (true, _) => Some(Pairing::RightUnique),
        (_, true) => Some(Pairing::LeftUnique),
        _ => bound.map(|b| Pairing::Bound(b.min(left.rows().saturating_mul(right.rows())))),
    }
}

/// Splits a residual that only compares an expression of left columns with one of right columns:
/// `left c right`. The right expression counts right columns from 0.
fn split_comparison(residual: &Expr, left_columns: usize) -> Option<(Comparison, Expr, Expr)> {
    let Expr::Compare(comparison, a, b) = residual else { return None };
    let is_left = |e: &Expr| e.columns().iter().all(|at| *at < left_columns);
    let is_right = |e: &Expr| e.columns().iter().all(|at| *at >= left_columns);
    let turned = match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        // An equality would be a key.
        Comparison::Equal => return None,
        Comparison::NotEqual => Comparison::NotEqual,
    };
    let (comparison, a, b) = match (is_left(a) && is_right(b), is_right(a) && is_left(b)) {
        (true, _) => (*comparison, a, b),
        (_, true) => (turned, b, a),
        _ => return None,
    };
    Some((comparison, (**a).clone(), b.mapped(&|at| at - left_columns)))
}

/// A comparison, in addition to keys, that can be decided by the least and the greatest of a key's
/// right values: see [`split_comparison`].
pub(crate) fn by_extremes(
    left: &Relation,
    right: &Relation,
    residual: &Expr,
) -> Option<(Comparison, Expr, Expr)> {
    let (comparison, a, b) = split_comparison(residual, left.schema().columns().len())?;
    let ty = common_type(a.check(left.schema()).ok()?.ty, b.check(right.schema()).ok()?.ty)?;
    let found = !matches!(ty, ColumnType::Digest { .. } | ColumnType::Boolean | ColumnType::Varchar(17..));
    found.then_some((comparison, a, b))
}

/// Whether a join without a bound never pairs many rows with many.
pub(crate) fn is_partnership(
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    residual: Option<&Expr>,
) -> bool {
    matches!(kind, JoinKind::Semi | JoinKind::Anti)
        && residual.is_none_or(|e| by_extremes(left, right, e).is_some())
}

pub(super) fn joined_schema(
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    on: &On,
    residual: Option<&Expr>,
) -> Result<Schema, Fault> {
    if on.is_empty() {
        let remedy = "give expressions of both sides that are equal, or cross them";
        return Err(refused("a join without keys", remedy));
    }
    for (a, b) in on {
        let both = [a.check(left.schema())?, b.check(right.schema())?];
        let types = both.map(|t| t.ty);
        let shown = || format!("a join on {} = {}", a.shown(left.schema()), b.shown(right.schema()));
        match common_type(types[0], types[1]) {
            None => return Err(types_differ(types, &shown())),
            Some(ty) if !keep_values(ty, &both) => return Err(Refused::narrow(&both, ty).of(shown())),
            Some(_) => {}
        }
    }
    let both = Schema([left.schema().columns(), right.schema().columns()].concat());
    if let Some(residual) = residual {
        residual.check_truth(&both)?;
    }
    let nulls = |columns: &[Column], may: bool| -> Vec<Column> {
        let column = |c: &Column| Column { nullable: c.nullable || may, ..c.clone() };
        columns.iter().map(column).collect()
    };
    let left_may = matches!(kind, JoinKind::Right | JoinKind::Full);
    let right_may = matches!(kind, JoinKind::Left | JoinKind::Full);
    Ok(match kind {
        JoinKind::Semi | JoinKind::Anti => left.schema().clone(),
        _ => Schema(
            [nulls(left.schema().columns(), left_may), nulls(right.schema().columns(), right_may)].concat(),
        ),
    })
}

pub(super) fn join_rows(
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    on: &On,
    residual: Option<&Expr>,
    bound: Option<u64>,
) -> Result<u64, Fault> {
    let found = pairing(left, right, on, bound, false);
    let (l, r) = (left.rows(), right.rows());
    let unbound = || {
        let shown =
            on.iter().map(|(a, b)| format!("{} = {}", a.shown(left.schema()), b.shown(right.schema())));
        Fault::filled(code::JOIN_UNBOUND, &[("keys", &shown.collect::<Vec<_>>().join(" AND "))])
    };
    if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
        return if is_partnership(left, right, kind, residual) || found.is_some() {
            Ok(l)
        } else {
            Err(unbound())
        };
    }
    let pairs = match found.ok_or_else(unbound)? {
        Pairing::RightUnique => l,
        Pairing::LeftUnique => r,
        // Pairs are counted in 64 bits with a sign, including those beyond the bound.
        Pairing::Bound(_) if l.checked_mul(r).is_none_or(|all| i64::try_from(all).is_err()) => {
            return Err(Fault::filled(code::PAIRS_UNCOUNTABLE, &[("left", &l), ("right", &r)]));
        }
        Pairing::Bound(b) => b,
    };
    // If each row has at most one partner, a row without one takes the place of its pair.
    let alone = |kept: bool, in_place: bool, rows: u64| if kept && !in_place { rows } else { 0 };
    let found = found.ok_or_else(unbound)?;
    let keeps_left = matches!(kind, JoinKind::Left | JoinKind::Full);
    let keeps_right = matches!(kind, JoinKind::Right | JoinKind::Full);
    Ok(pairs.saturating_add(alone(keeps_left, found == Pairing::RightUnique, l)).saturating_add(alone(
        keeps_right,
        found == Pairing::LeftUnique,
        r,
    )))
}

pub(super) fn joined_unique(
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    on: &On,
    one: bool,
) -> Vec<Vec<usize>> {
    let shift = left.schema().columns().len();
    let shifted = |set: &Vec<usize>| -> Vec<usize> { set.iter().map(|at| at + shift).collect() };
    let by_right = one || right.is_unique_by(on.iter().map(|(_, key)| key));
    let by_left = left.is_unique_by(on.iter().map(|(key, _)| key));
    let left_sets = || left.unique().to_vec();
    let right_sets = || right.unique().iter().map(shifted).collect::<Vec<_>>();
    let mut sets = match kind {
        JoinKind::Semi | JoinKind::Anti => return left_sets(),
        JoinKind::Full => return vec![],
        // Each row of the kept side occurs once if its partner is unique.
        JoinKind::Left => return if by_right { left_sets() } else { vec![] },
        JoinKind::Right => return if by_left { right_sets() } else { vec![] },
        JoinKind::Inner => vec![],
    };
    if by_right {
        sets.extend(left_sets());
    }
    if by_left {
        sets.extend(right_sets());
    }
    if sets.is_empty() {
        let pairs =
            left.unique().iter().flat_map(|a| right_sets().into_iter().map(move |b| [a.clone(), b].concat()));
        sets.extend(pairs.take(8));
    }
    sets
}
