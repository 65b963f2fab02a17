//! Moves conditions towards the source of their columns, where fewer rows are compared than after
//! joins.

use super::{Ids, LogicalJoin, LogicalPlan, conjunction, conjuncts, reads, replaced};
use hushwire_tables::algebra::Expr;
use std::collections::BTreeMap;

/// The rows of a plan for which all conditions are true.
pub(crate) fn filtered(plan: LogicalPlan, conditions: impl IntoIterator<Item = Expr>) -> LogicalPlan {
    conditions.into_iter().fold(plan, filter)
}

fn filter(plan: LogicalPlan, condition: Expr) -> LogicalPlan {
    let parts = conjuncts(condition);
    parts.into_iter().fold(plan, one)
}

fn one(plan: LogicalPlan, condition: Expr) -> LogicalPlan {
    let of = reads(&condition);
    let within = |plan: &LogicalPlan| of.is_subset(&plan.ids());
    match plan {
        LogicalPlan::Filter { input, condition: other } => {
            let mut all = conjuncts(other);
            if all.contains(&condition) {
                return LogicalPlan::Filter { input, condition: conjunction(all) };
            }
            // The condition goes below the filter if possible, else next to it.
            match one(*input, condition) {
                LogicalPlan::Filter { input, condition: mine } => {
                    all.extend(conjuncts(mine));
                    LogicalPlan::Filter { input, condition: conjunction(all) }
                }
                input => LogicalPlan::Filter { input: Box::new(input), condition: conjunction(all) },
            }
        }
        LogicalPlan::Project { input, columns } if plain(&columns, &of) => {
            let by: BTreeMap<_, _> = columns.iter().cloned().collect();
            let input = Box::new(one(*input, replaced(&condition, &by)));
            LogicalPlan::Project { input, columns }
        }
        LogicalPlan::Join { kind, left, right, on, residual }
            if within(&left) && kind != LogicalJoin::Full =>
        {
            LogicalPlan::Join { kind, left: Box::new(one(*left, condition)), right, on, residual }
        }
        LogicalPlan::Join { kind: LogicalJoin::Inner, left, right, on, residual } if within(&right) => {
            LogicalPlan::Join {
                kind: LogicalJoin::Inner,
                left,
                right: Box::new(one(*right, condition)),
                on,
                residual,
            }
        }
        LogicalPlan::Group { input, keys, aggregates, asked }
            if !keys.is_empty() && of.iter().all(|id| keys.contains(id)) =>
        {
            LogicalPlan::Group { input: Box::new(one(*input, condition)), keys, aggregates, asked }
        }
        LogicalPlan::Sort { input, keys } => {
            LogicalPlan::Sort { input: Box::new(one(*input, condition)), keys }
        }
        other => LogicalPlan::Filter { input: Box::new(other), condition },
    }
}

/// Whether these columns of a projection are columns of its input.
fn plain(columns: &[(usize, Expr)], of: &Ids) -> bool {
    columns.iter().filter(|(id, _)| of.contains(id)).all(|(_, expr)| matches!(expr, Expr::Column(_)))
}
