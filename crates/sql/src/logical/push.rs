//! Moves conditions towards the source of their columns: fewer rows are compared there than after
//! joins.

use super::{Ids, Kind, Plan, conjunction, conjuncts, reads, replaced};
use hushwire_tables::algebra::Expr;
use std::collections::BTreeMap;

/// The rows of a plan for which all conditions are true.
pub(crate) fn filtered(plan: Plan, conditions: impl IntoIterator<Item = Expr>) -> Plan {
    conditions.into_iter().fold(plan, filter)
}

fn filter(plan: Plan, condition: Expr) -> Plan {
    let parts = conjuncts(condition);
    parts.into_iter().fold(plan, one)
}

fn one(plan: Plan, condition: Expr) -> Plan {
    let of = reads(&condition);
    let within = |plan: &Plan| of.is_subset(&plan.ids());
    match plan {
        Plan::Filter { input, condition: other } => {
            let mut all = conjuncts(other);
            if all.contains(&condition) {
                return Plan::Filter { input, condition: conjunction(all) };
            }
            // Below the filter if it can be moved there, otherwise beside it.
            match one(*input, condition) {
                Plan::Filter { input, condition: mine } => {
                    all.extend(conjuncts(mine));
                    Plan::Filter { input, condition: conjunction(all) }
                }
                input => Plan::Filter { input: Box::new(input), condition: conjunction(all) },
            }
        }
        Plan::Project { input, columns } if plain(&columns, &of) => {
            let by: BTreeMap<_, _> = columns.iter().cloned().collect();
            let input = Box::new(one(*input, replaced(&condition, &by)));
            Plan::Project { input, columns }
        }
        Plan::Join { kind, left, right, on, residual } if within(&left) && kind != Kind::Full => {
            Plan::Join { kind, left: Box::new(one(*left, condition)), right, on, residual }
        }
        Plan::Join { kind: Kind::Inner, left, right, on, residual } if within(&right) => {
            Plan::Join { kind: Kind::Inner, left, right: Box::new(one(*right, condition)), on, residual }
        }
        Plan::Group { input, keys, aggregates, asked }
            if !keys.is_empty() && of.iter().all(|id| keys.contains(id)) =>
        {
            Plan::Group { input: Box::new(one(*input, condition)), keys, aggregates, asked }
        }
        Plan::Sort { input, keys } => Plan::Sort { input: Box::new(one(*input, condition)), keys },
        other => Plan::Filter { input: Box::new(other), condition },
    }
}

/// Whether these columns of a projection are columns of its input.
fn plain(columns: &[(usize, Expr)], of: &Ids) -> bool {
    columns.iter().filter(|(id, _)| of.contains(id)).all(|(_, expr)| matches!(expr, Expr::Column(_)))
}
