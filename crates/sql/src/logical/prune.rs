//! Removes everything that is not read: columns of tables, aggregates of groups, and projections
//! that compute nothing.

use super::{Ids, LogicalPlan, reads};
use hushwire_tables::algebra::{Expr, SetOperation};

/// The same rows with the needed columns, and possibly others.
pub(crate) fn prune(plan: LogicalPlan, needed: &Ids) -> LogicalPlan {
    match plan {
        LogicalPlan::Scan { table, columns, made } => {
            let made: Vec<_> = made.into_iter().filter(|(id, _)| needed.contains(id)).collect();
            let read: Ids = made.iter().flat_map(|(_, expr)| expr.columns()).collect();
            let is_read = |id: &usize| needed.contains(id) || read.contains(id);
            let columns = columns.into_iter().filter(|(id, _)| is_read(id)).collect();
            LogicalPlan::Scan { table, columns, made }
        }
        LogicalPlan::One => LogicalPlan::One,
        LogicalPlan::Values { columns, rows } => {
            let kept: Vec<usize> = (0..columns.len()).filter(|k| needed.contains(&columns[*k])).collect();
            let rows = rows.iter().map(|row| kept.iter().map(|k| row[*k].clone()).collect()).collect();
            LogicalPlan::Values { columns: kept.iter().map(|k| columns[*k]).collect(), rows }
        }
        LogicalPlan::Filter { input, condition } => {
            let input = Box::new(prune(*input, &(needed | &reads(&condition))));
            LogicalPlan::Filter { input, condition }
        }
        LogicalPlan::Project { input, columns } => {
            let columns: Vec<_> = columns.into_iter().filter(|(id, _)| needed.contains(id)).collect();
            let below = columns.iter().flat_map(|(_, expr)| expr.columns()).collect();
            let input = Box::new(prune(*input, &below));
            // The projection computes nothing, and additional columns do no harm.
            if columns.iter().all(|(id, expr)| *expr == Expr::Column(*id)) {
                return *input;
            }
            LogicalPlan::Project { input, columns }
        }
        LogicalPlan::Join { kind, left, right, on, residual } => {
            let keys = on.iter().flat_map(|(a, b)| [*a, *b]);
            let mut below: Ids = needed.iter().copied().chain(keys).collect();
            below.extend(residual.iter().flat_map(Expr::columns));
            let (left, right) = (Box::new(prune(*left, &below)), Box::new(prune(*right, &below)));
            LogicalPlan::Join { kind, left, right, on, residual }
        }
        LogicalPlan::Group { input, keys, aggregates, asked } => {
            let aggregates: Vec<_> = aggregates.into_iter().filter(|(id, _)| needed.contains(id)).collect();
            let arguments = aggregates.iter().flat_map(|(_, a)| a.argument.iter().flat_map(Expr::columns));
            let below = keys.iter().copied().chain(arguments).collect();
            LogicalPlan::Group { input: Box::new(prune(*input, &below)), keys, aggregates, asked }
        }
        LogicalPlan::Window { input, partition, order, calls } => {
            let calls: Vec<_> = calls.into_iter().filter(|(id, _)| needed.contains(id)).collect();
            if calls.is_empty() {
                return prune(*input, needed);
            }
            let mut below = needed.clone();
            below.extend(partition.iter().copied().chain(order.iter().map(|key| key.id)));
            below.extend(calls.iter().filter_map(|(_, call)| call.argument()).flat_map(Expr::columns));
            LogicalPlan::Window { input: Box::new(prune(*input, &below)), partition, order, calls }
        }
        LogicalPlan::Sort { input, keys } => {
            let below = needed.iter().copied().chain(keys.iter().map(|key| key.id)).collect();
            LogicalPlan::Sort { input: Box::new(prune(*input, &below)), keys }
        }
        LogicalPlan::Limit { input, offset, limit } => {
            LogicalPlan::Limit { input: Box::new(prune(*input, needed)), offset, limit }
        }
        LogicalPlan::Set { kind, all, left, right, columns } => {
            // A set operation that compares rows needs every column.
            let kept: Vec<usize> = (0..columns.len())
                .filter(|i| needed.contains(&columns[*i]) || !all || kind != SetOperation::Union)
                .collect();
            let side = |(plan, ids): (Box<LogicalPlan>, Vec<usize>)| {
                let ids: Vec<usize> = kept.iter().map(|i| ids[*i]).collect();
                (Box::new(prune(*plan, &ids.iter().copied().collect())), ids)
            };
            let columns = kept.iter().map(|i| columns[*i]).collect();
            LogicalPlan::Set { kind, all, left: side(left), right: side(right), columns }
        }
    }
}
