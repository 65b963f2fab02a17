//! The order of inner joins.
//!
//! No row disappears before an explicit step drops it, so the cost of a join depends on the sizes
//! of its two sides. Small sides are joined first. A join with a side that is unique by its keys
//! comes before a join of many rows with many.

use super::{Columns, Id, Ids, LogicalJoin, LogicalPlan, RowFacts, conjuncts, filtered, reads};
use crate::catalog::Catalog;
use hushwire_compute::Comparison;
use hushwire_tables::{
    algebra::{Column, ColumnType, Expr, Value, common_type},
    functions::coalesce,
};

/// The tables and conditions of one FROM and WHERE.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) items: Vec<LogicalPlan>,
    pub(crate) conditions: Vec<Expr>,
}

/// An equality between columns of two items.
struct Edge {
    columns: [Id; 2],
}

/// A column of the common type for one side of an equality. It is computed in the item if the side
/// is an expression or needs a cast.
fn key(expr: Expr, item: &mut LogicalPlan, to: ColumnType, columns: &mut Columns) -> Id {
    let ty = expr.check(&columns.0).map_or(to, |t| t.ty);
    let same = ty == to || matches!(to, ColumnType::Varchar(_));
    let expr = match to {
        _ if same => expr,
        // Unlike a CAST, the conversion is refused if values may be too large, as soon as their
        // range is known.
        ColumnType::Double { .. } | ColumnType::Decimal { .. } => {
            coalesce(vec![expr, Expr::Literal(Value::Null, to)])
        }
        _ => expr.cast(to),
    };
    if let Expr::Column(id) = expr {
        return id;
    }
    let column = expr.check(&columns.0).map(|t| t.column("key"));
    let id = columns.add(column.unwrap_or_else(|_| Column::new("key", to).nullable()));
    let item_was = std::mem::replace(item, LogicalPlan::One);
    *item = item_was.extended(vec![(id, expr)]);
    id
}

/// The two sides of an equality, each on one plan's columns.
pub(crate) fn equality(condition: &Expr, left: &Ids, right: &Ids) -> Option<(Expr, Expr)> {
    let Expr::Compare(Comparison::Equal, a, b) = condition else { return None };
    let of = |e: &Expr, ids: &Ids| !reads(e).is_empty() && reads(e).is_subset(ids);
    if of(a, left) && of(b, right) {
        Some(((**a).clone(), (**b).clone()))
    } else if of(b, left) && of(a, right) {
        Some(((**b).clone(), (**a).clone()))
    } else {
        None
    }
}

/// The two columns of an equality, one from each plan.
pub(crate) fn pair(
    condition: &Expr,
    left: &mut LogicalPlan,
    right: &mut LogicalPlan,
    columns: &mut Columns,
) -> Option<(Id, Id)> {
    let (a, b) = equality(condition, &left.ids(), &right.ids())?;
    let of = |e: &Expr| e.check(&columns.0).ok().map(|t| t.ty);
    let to = common_type(of(&a)?, of(&b)?)?;
    Some((key(a, left, to, columns), key(b, right, to, columns)))
}

/// Joins all items to one plan.
pub(crate) fn joined(pool: Pool, columns: &mut Columns, catalog: &Catalog) -> LogicalPlan {
    let Pool { mut items, conditions } = pool;
    let (mut edges, mut rest) = (vec![], vec![]);
    for condition in conditions.into_iter().flat_map(conjuncts) {
        let of = reads(&condition);
        if let Some(item) = items.iter_mut().find(|item| !of.is_empty() && of.is_subset(&item.ids())) {
            let was = std::mem::replace(item, LogicalPlan::One);
            *item = filtered(was, [condition]);
        } else if let Some(edge) = edge(&condition, &mut items, columns) {
            edges.push(edge);
        } else {
            rest.push(condition);
        }
    }
    while let Some((i, j, on)) = cheapest(&items, &edges, catalog) {
        let right = items.remove(j);
        let left = std::mem::replace(&mut items[i], LogicalPlan::One);
        let mut plan = LogicalPlan::Join {
            kind: LogicalJoin::Inner,
            left: Box::new(left),
            right: Box::new(right),
            on,
            residual: None,
        };
        let ids = plan.ids();
        let (now, later) = rest.into_iter().partition(|condition: &Expr| reads(condition).is_subset(&ids));
        rest = later;
        plan = filtered(plan, now);
        items[i] = plan;
    }
    filtered(items.pop().unwrap_or(LogicalPlan::One), rest)
}

fn edge(condition: &Expr, items: &mut [LogicalPlan], columns: &mut Columns) -> Option<Edge> {
    for j in 1..items.len() {
        let (before, after) = items.split_at_mut(j);
        for item in before {
            if let Some((a, b)) = pair(condition, item, &mut after[0], columns) {
                return Some(Edge { columns: [a, b] });
            }
        }
    }
    None
}

/// The price of a join, in order of importance: whether it pairs many with many, whether it has no
/// equal columns, and its rows.
type Price = (bool, bool, u64);
/// Two items and their pairs of equal columns.
type Next = (usize, usize, Vec<(Id, Id)>);

/// The two items to join next, the larger one first, and the pairs of equal columns; `None` if only
/// one item is left.
fn cheapest(items: &[LogicalPlan], edges: &[Edge], catalog: &Catalog) -> Option<Next> {
    let facts: Vec<RowFacts> = items.iter().map(|item| RowFacts::of(item, catalog)).collect();
    let ids: Vec<Ids> = items.iter().map(LogicalPlan::ids).collect();
    let mut best: Option<(Price, Next)> = None;
    for i in 0..items.len() {
        for j in i + 1..items.len() {
            let on: Vec<(Id, Id)> = edges
                .iter()
                .filter_map(|Edge { columns: [a, b] }| {
                    if ids[i].contains(a) && ids[j].contains(b) {
                        Some((*a, *b))
                    } else if ids[i].contains(b) && ids[j].contains(a) {
                        Some((*b, *a))
                    } else {
                        None
                    }
                })
                .collect();
            let [mine, theirs]: [Ids; 2] =
                [on.iter().map(|k| k.0).collect(), on.iter().map(|k| k.1).collect()];
            let (one, other) = (facts[j].is_unique(&theirs), facts[i].is_unique(&mine));
            let many = !one && !other;
            let size = if many || on.is_empty() {
                facts[i].rows.saturating_mul(facts[j].rows)
            } else {
                facts[i].rows.saturating_add(facts[j].rows)
            };
            let price = (many, on.is_empty() && facts[i].rows.min(facts[j].rows) > 1, size);
            if best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, (i, j, on)));
            }
        }
    }
    best.map(|(_, next)| next)
}
