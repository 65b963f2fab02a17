//! The text of plans.

use crate::algebra::{Expr, JoinKind, Operator, Relation, Schema, SetOperation, SortKey};

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn keys(keys: &[SortKey], schema: &Schema) -> String {
    list(keys.iter().map(|key| {
        let down = if key.descending { " DESC" } else { "" };
        let nulls = if key.nulls_first { " NULLS FIRST" } else { "" };
        format!("{}{down}{nulls}", key.expr.shown(schema))
    }))
}

fn exprs<'a>(all: impl Iterator<Item = &'a Expr>, schema: &Schema) -> String {
    list(all.map(|e| e.shown(schema).to_string()))
}

/// One line for an operator.
pub(crate) fn operator(relation: &Relation) -> String {
    match relation.operator() {
        Operator::Scan(table) => {
            let owners = list(table.parts.iter().map(|part| part.owner.clone()));
            format!("table {} of {owners}", table.name)
        }
        Operator::Values(rows) => format!("{} public rows", rows.len()),
        Operator::ByOwner(input, columns) => {
            format!("owners compute {}", exprs(columns.iter().map(|(_, e)| e), input.schema()))
        }
        Operator::Project(input, columns) => {
            format!("project {}", exprs(columns.iter().map(|(_, e)| e), input.schema()))
        }
        Operator::Filter(input, condition) => format!("filter {}", condition.shown(input.schema())),
        Operator::Join { left, right, kind, on, residual, .. } => {
            let name = match kind {
                JoinKind::Inner => "inner",
                JoinKind::Left => "left",
                JoinKind::Right => "right",
                JoinKind::Full => "full",
                JoinKind::Semi => "semi",
                JoinKind::Anti => "anti",
            };
            let on =
                on.iter().map(|(a, b)| format!("{} = {}", a.shown(left.schema()), b.shown(right.schema())));
            let both = Schema([left.schema().columns(), right.schema().columns()].concat());
            let besides = residual.as_ref().map_or(String::new(), |e| format!(", {}", e.shown(&both)));
            format!("{name} join on {}{besides}", list(on))
        }
        Operator::Cross(..) => "all pairs".into(),
        Operator::Aggregate { input, keys, aggregates, min_group, .. } => {
            let by = if keys.is_empty() {
                "all rows".to_owned()
            } else {
                format!("groups by {}", exprs(keys.iter().map(|(_, e)| e), input.schema()))
            };
            let figures = list(aggregates.iter().map(|a| {
                let of = a.argument.as_ref().map_or("*".to_owned(), |e| e.shown(input.schema()).to_string());
                format!("{}({}{of})", a.figure, if a.distinct { "DISTINCT " } else { "" })
            }));
            let least = if *min_group > 1 { format!(", of {min_group} rows or more") } else { String::new() };
            format!("{by}{least}: {figures}")
        }
        Operator::Distinct(_) => "distinct".into(),
        Operator::OrderBy(input, by) => format!("order by {}", keys(by, input.schema())),
        Operator::Limit { skip, fetch, .. } => {
            let fetch = fetch.map_or("all".to_owned(), |n| n.to_string());
            format!("limit {fetch} from {skip} on")
        }
        Operator::Set { operation, all, .. } => {
            let name = match operation {
                SetOperation::Union => "union",
                SetOperation::Intersect => "intersect",
                SetOperation::Except => "except",
            };
            format!("{name}{}", if *all { " all" } else { "" })
        }
        Operator::Window(input, window) => {
            let by = exprs(window.partition.iter(), input.schema());
            let functions = list(window.functions.iter().map(|(name, _)| name.clone()));
            format!("window {functions} over ({by}; {})", keys(&window.order, input.schema()))
        }
    }
}
