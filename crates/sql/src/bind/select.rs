//! Binds SELECT: conditions, groups, the list, DISTINCT, order.

use super::{
    Binder, BoundQuery, Env,
    expr::Calls,
    foreign, ordinal,
    scope::means,
    sort_key,
    subquery::{attached, of_no_row},
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::{Id, Ids, LogicalPlan, OrderKey, RowFacts, conjuncts, map, reads},
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Aggregate, Column, Expr, Function, Relation, Schema},
    plain::{Tables, evaluate},
};
use sqlparser::ast::{self, Spanned};

/// The rows of a SELECT.
pub(super) struct Selected {
    pub(super) bound: BoundQuery,
    /// Conditions on columns of the enclosing query, with their places in the text.
    pub(super) correlated: Vec<(Expr, At)>,
    /// For an aggregate without GROUP BY: its rows if there are no input rows. Such an aggregate
    /// has one row whatever the input, unless HAVING drops it.
    pub(super) one: Option<Empty>,
    /// The aggregates; a scalar subquery needs their values for an input of no rows.
    pub(super) figures: Vec<(Id, Aggregate)>,
    /// The list's expressions, before they are assigned to columns.
    pub(super) list: Vec<Expr>,
    /// Whether the list reads columns of subqueries, in addition to aggregates and keys of its
    /// groups.
    pub(super) beside: bool,
}

/// The rows of an aggregate over no input rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// One row, as over any input.
    One,
    /// No row, since HAVING is not true of it.
    None,
    /// One row, but HAVING may drop the row over other inputs; or not known before the query runs.
    Unsure,
}

/// A bound item of the list.
struct Item {
    name: String,
    expr: Expr,
    at: At,
}

/// The expressions by which rows are grouped, and their columns.
#[derive(Default)]
struct Groups {
    keys: Vec<(Expr, Id)>,
}

impl Groups {
    /// Rewrites an expression to read the columns of the groups: keys and figures.
    fn of(&self, expr: &Expr) -> Expr {
        map(expr, &mut |e| match self.keys.iter().find(|(key, _)| *key == e) {
            Some((_, id)) => Expr::Column(*id),
            None => e,
        })
    }
}

impl<'q> Binder<'q> {
    /// Binds a SELECT with its ORDER BY. `exists` says that only the presence of rows counts.
    pub(super) fn select(
        &mut self,
        select: &'q ast::Select,
        order: &'q [ast::OrderByExpr],
        outer: Option<&Env<'_>>,
        exists: bool,
    ) -> Result<Selected, Fault> {
        refuse_clauses(select)?;
        let (mut pool, scope) = self.from(&select.from, outer)?;
        let env = Env { scope: &scope, outer, barred: None };
        let own: Ids = pool.items.iter().flat_map(LogicalPlan::columns).collect();
        let mut correlated: Vec<(Expr, At)> = vec![];
        let mut calls = Calls::subqueries("WHERE");
        for part in select.selection.iter().flat_map(parts) {
            let at = At::of(part);
            let first = calls.subqueries.as_ref().map_or(0, Vec::len);
            let condition = self.condition(&env, &mut calls, part)?;
            let made = calls.subqueries.as_ref().map_or(&[][..], |all| &all[first..]);
            let mut mine = own.clone();
            mine.extend(made.iter().map(|sub| sub.id));
            for sub in made {
                sub.refuse_beyond(&own)?;
            }
            for condition in conjuncts(condition) {
                if foreign(&reads(&condition), &mine).is_empty() {
                    pool.conditions.push(condition);
                } else if outer.is_none()
                    || reads(&condition).iter().any(|id| made.iter().any(|s| s.id == *id))
                {
                    let clause = "a column of the query around beside a subquery";
                    return Err(unsupported(at, clause));
                } else {
                    correlated.push((condition, at));
                }
            }
        }
        attached(self, &mut pool, calls.subqueries.take().unwrap_or_default())?;
        let plan = self.joined(pool);
        let mut calls = Calls::all(select);
        let within = |clause| Env { barred: Some(clause), ..env };
        let keys = self.group_by(select, &within("GROUP BY"))?;
        let mut items = vec![];
        // For EXISTS the list matters only in whether it aggregates. Its columns may then belong to
        // any query.
        let mut aggregates = false;
        if exists {
            let (mut all, mut none) = (Calls::all(select), vec![]);
            for item in &select.projection {
                self.item(&env, &mut all, item, &mut none)?;
            }
            aggregates = !all.aggregates.is_empty();
        } else {
            for item in &select.projection {
                self.item(&within("the list"), &mut calls, item, &mut items)?;
            }
        }
        let within_having = within("HAVING");
        let having =
            select.having.as_ref().map(|e| self.condition(&within_having, &mut calls, e)).transpose()?;
        let orders =
            if exists { vec![] } else { self.orders(&within("ORDER BY"), &mut calls, order, &items)? };
        let figures = calls.aggregates.clone();
        // EXISTS is then true whatever the rows are, and needs no groups.
        let always = aggregates && keys.is_empty() && having.is_none();
        let aggregates = aggregates && (!always || correlated.is_empty());
        let grouped = aggregates || !keys.is_empty() || !figures.is_empty() || having.is_some();
        let mut subqueries = calls.subqueries.take().unwrap_or_default();
        let windows = calls.windows.take().unwrap_or_default();
        if !correlated.is_empty() && !windows.is_empty() {
            // A window spans the rows that match one row of the enclosing query; here it would span
            // all rows.
            return Err(unsupported(select, "a window function in a correlated subquery"));
        }

        let mut plan = plan;
        let mut groups = Groups::default();
        if grouped {
            // A scalar subquery has one row, whatever it counts.
            let by_query = !keys.is_empty() || outer.is_none();
            plan = self.grouped(plan, keys, &mut correlated, &own, &figures, by_query, &mut groups)?;
        }
        let rewritten = |binder: &Self, expr: &Expr, at: At| -> Result<Expr, Fault> {
            if !grouped {
                return Ok(expr.clone());
            }
            let made = groups.of(expr);
            let mut known: Ids = groups.keys.iter().map(|(_, id)| *id).collect();
            known.extend(figures.iter().map(|(id, _)| *id));
            let lost = reads(&made).into_iter().find(|id| own.contains(id) && !known.contains(id));
            match lost {
                None => Ok(made),
                Some(id) => {
                    let at = binder.named.get(&id).copied().filter(|at| at.0.is_some()).unwrap_or(at);
                    let name = &binder.columns.of(id).name;
                    Err(fault(at, code::COLUMN_UNGROUPED, &[("column", name)]))
                }
            }
        };
        for sub in &mut subqueries {
            sub.refuse_beyond(&own)?;
            sub.each_outer(|expr| rewritten(self, expr, At::default()))?;
        }
        let mut pool = crate::logical::Pool { items: vec![plan], conditions: vec![] };
        if let Some(having) = &having {
            pool.conditions.push(rewritten(self, having, At::default())?);
        }
        attached(self, &mut pool, subqueries)?;
        plan = self.joined(pool);

        for over in windows {
            let mut more = vec![];
            let mut ids = vec![];
            for expr in &over.partition {
                let expr = rewritten(self, expr, At::default())?;
                ids.push(self.id_of("key", &expr, &mut more)?);
            }
            let mut keys = vec![];
            for (expr, key) in &over.order {
                let expr = rewritten(self, expr, At::default())?;
                keys.push(OrderKey { id: self.id_of("key", &expr, &mut more)?, ..*key });
            }
            let mut made = vec![];
            for (id, call) in over.calls {
                made.push((id, call.of(|e| rewritten(self, e, At::default()))?));
            }
            plan = LogicalPlan::Window {
                input: Box::new(plan.extended(more)),
                partition: ids,
                order: keys,
                calls: made,
            };
        }

        let (mut more, mut columns, mut list) = (vec![], vec![], vec![]);
        for item in &items {
            let expr = rewritten(self, &item.expr, item.at)?;
            let id = self.id_of(&item.name, &expr, &mut more)?;
            columns.push((item.name.clone(), id));
            list.push(expr);
        }
        let mut sorted = vec![];
        for (expr, key, at) in &orders {
            let expr = rewritten(self, expr, *at)?;
            sorted.push(OrderKey { id: self.id_of("key", &expr, &mut more)?, ..*key });
        }
        plan = plan.extended(more);
        if matches!(select.distinct, Some(ast::Distinct::Distinct)) && !exists {
            plan = self.distinct(plan, &columns, &mut correlated, &sorted, select.span().into())?;
        }
        if !sorted.is_empty() {
            plan = LogicalPlan::Sort { input: Box::new(plan), keys: sorted };
        }
        let one = (always || grouped && groups_by(select).is_empty()).then(|| match &having {
            None => Empty::One,
            Some(having) => self.of_nothing(having, &figures),
        });
        let known = |id: &Id| {
            figures.iter().any(|(figure, _)| figure == id) || groups.keys.iter().any(|(_, key)| key == id)
        };
        let beside = list.iter().flat_map(reads).any(|id| !known(&id));
        Ok(Selected { bound: BoundQuery { plan, columns }, correlated, one, figures, list, beside })
    }

    /// HAVING's verdict on an aggregate over no input rows.
    fn of_nothing(&self, having: &Expr, figures: &[(Id, Aggregate)]) -> Empty {
        let having = of_no_row(having, figures, &self.columns);
        if !reads(&having).is_empty() {
            return Empty::Unsure;
        }
        let one = Relation::values(Schema::default(), vec![vec![]]).and_then(|one| one.filter(having));
        match one.and_then(|one| evaluate(&one, &Tables::new())) {
            Ok(rows) if rows.is_empty() => Empty::None,
            _ => Empty::Unsure,
        }
    }

    /// One row for each value of the list and of the columns it is correlated by.
    fn distinct(
        &mut self,
        plan: LogicalPlan,
        columns: &[(String, Id)],
        correlated: &mut [(Expr, At)],
        sorted: &[OrderKey],
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let mut keys: Vec<Id> = vec![];
        let inner = plan.ids();
        let by = correlated.iter().flat_map(|(e, _)| reads(e)).filter(|id| inner.contains(id));
        for id in columns.iter().map(|(_, id)| *id).chain(by) {
            if !keys.contains(&id) {
                keys.push(id);
            }
        }
        if sorted.iter().any(|key| !keys.contains(&key.id)) {
            let cause = "SELECT DISTINCT is ordered by what its list has not";
            return Err(refused_at(at, cause, "order by columns of the list"));
        }
        let firm = self.catalog.tables().iter().all(|table| table.parts.len() == 1);
        if firm && RowFacts::of(&plan, self.catalog).is_unique(&keys.iter().copied().collect()) {
            return Ok(plan);
        }
        Ok(self.group(plan, &keys, vec![], false))
    }

    /// One row for each value of the keys. Keys that follow from other keys are carried along as
    /// figures, so that no sort compares them.
    fn group(
        &self,
        input: LogicalPlan,
        keys: &[Id],
        figures: Vec<(Id, Aggregate)>,
        asked: bool,
    ) -> LogicalPlan {
        let fewest = RowFacts::of(&input, self.catalog).fewest(keys, &self.columns);
        let carried = keys.iter().filter(|id| !fewest.contains(id)).map(|id| {
            // All rows of a group agree in this column.
            (*id, Aggregate::new("key", Function::Min, Expr::Column(*id)))
        });
        let aggregates = carried.chain(figures).collect();
        LogicalPlan::Group { input: Box::new(input), keys: fewest, aggregates, asked }
    }

    fn group_by(&mut self, select: &'q ast::Select, env: &Env<'_>) -> Result<Vec<Expr>, Fault> {
        let ast::GroupByExpr::Expressions(all, modifiers) = &select.group_by else {
            return Err(unsupported(&select.group_by, "GROUP BY ALL"));
        };
        if !modifiers.is_empty() {
            return Err(unsupported(&select.group_by, "GROUP BY with ROLLUP, CUBE or TOTALS"));
        }
        let mut keys = vec![];
        for key in all {
            let of_list = |at: usize| match &select.projection[at] {
                ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
                    Some(expr)
                }
                _ => None,
            };
            let mut calls = Calls::none("GROUP BY");
            let bound = match (ordinal(key, select.projection.len())?.and_then(of_list), key) {
                (Some(expr), _) => self.expr(env, &mut calls, expr),
                (None, ast::Expr::Identifier(name)) => {
                    let own = self.expr(env, &mut calls, key);
                    let alias = select.projection.iter().find_map(|item| match item {
                        ast::SelectItem::ExprWithAlias { expr, alias } if means(name, &alias.value) => {
                            Some(expr)
                        }
                        _ => None,
                    });
                    match (own, alias) {
                        (Err(_), Some(expr)) => self.expr(env, &mut calls, expr),
                        (own, _) => own,
                    }
                }
                (None, ast::Expr::Rollup(_) | ast::Expr::Cube(_) | ast::Expr::GroupingSets(_)) => {
                    Err(unsupported(key, "GROUP BY with ROLLUP, CUBE or GROUPING SETS"))
                }
                (None, key) => self.expr(env, &mut calls, key),
            }?;
            if !keys.contains(&bound) {
                keys.push(bound);
            }
        }
        Ok(keys)
    }

    /// Groups rows by the keys and by the columns that correlated conditions compare with the
    /// enclosing query.
    #[expect(clippy::too_many_arguments, reason = "the parts of one SELECT, used here alone")]
    fn grouped(
        &mut self,
        plan: LogicalPlan,
        keys: Vec<Expr>,
        correlated: &mut [(Expr, At)],
        own: &Ids,
        figures: &[(Id, Aggregate)],
        asked: bool,
        groups: &mut Groups,
    ) -> Result<LogicalPlan, Fault> {
        let mut more = vec![];
        for key in keys {
            let name = match &key {
                Expr::Column(id) => self.columns.of(*id).name.clone(),
                _ => "key".to_owned(),
            };
            let id = self.id_of(&name, &key, &mut more)?;
            groups.keys.push((key, id));
        }
        for (condition, at) in correlated {
            let sides = match &*condition {
                Expr::Compare(hushwire_compute::Comparison::Equal, a, b) => {
                    let mine = |e: &Expr| !reads(e).is_empty() && reads(e).is_subset(own);
                    let theirs = |e: &Expr| reads(e).is_disjoint(own);
                    match (mine(a) && theirs(b), mine(b) && theirs(a)) {
                        (true, _) => Some((a, b)),
                        (_, true) => Some((b, a)),
                        _ => None,
                    }
                }
                _ => None,
            };
            let Some((inner, outer)) = sides else {
                let clause = "an aggregate in a subquery that is not correlated by columns that are equal";
                return Err(unsupported(*at, clause));
            };
            let id = self.id_of("key", inner, &mut more)?;
            if !groups.keys.iter().any(|(_, known)| *known == id) {
                groups.keys.push(((**inner).clone(), id));
            }
            *condition = Expr::Column(id).equals((**outer).clone());
        }
        let mut ids: Vec<Id> = vec![];
        for (_, id) in &groups.keys {
            if !ids.contains(id) {
                ids.push(*id);
            }
        }
        Ok(self.group(plan.extended(more), &ids, figures.to_vec(), asked))
    }

    fn item(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        item: &'q ast::SelectItem,
        items: &mut Vec<Item>,
    ) -> Result<(), Fault> {
        use ast::{SelectItem as S, SelectItemQualifiedWildcardKind as W};
        let at: At = item.into();
        let (expr, name) = match item {
            S::UnnamedExpr(expr) => (expr, name_of(expr)),
            S::ExprWithAlias { expr, alias } => (expr, alias.value.clone()),
            S::ExprWithAliases { .. } => return Err(unsupported(at, "several aliases")),
            S::Wildcard(options) | S::QualifiedWildcard(_, options) => {
                let plain = options.opt_ilike.is_none()
                    && options.opt_exclude.is_none()
                    && options.opt_except.is_none()
                    && options.opt_replace.is_none()
                    && options.opt_rename.is_none();
                if !plain {
                    return Err(unsupported(at, "* with EXCEPT, REPLACE or RENAME"));
                }
                let table = match item {
                    S::QualifiedWildcard(W::ObjectName(name), _) => match &name.0[..] {
                        [ast::ObjectNamePart::Identifier(name)] => Some(name),
                        _ => return Err(unsupported(at, "such a name before *")),
                    },
                    _ => None,
                };
                let before = items.len();
                for name in &env.scope.0 {
                    let of = table.is_none_or(|t| name.table.as_ref().is_some_and(|n| means(t, n)));
                    if of && !(name.merged && table.is_none()) {
                        items.push(Item { name: name.name.clone(), expr: Expr::Column(name.id), at });
                    }
                }
                if items.len() == before {
                    return Err(refused_at(at, "* stands for no column here", "name tables in FROM"));
                }
                return Ok(());
            }
        };
        let bound = self.expr(env, calls, expr)?;
        items.push(Item { name, expr: bound, at });
        Ok(())
    }

    /// The keys of ORDER BY: names and ordinals of the list, or else expressions.
    fn orders(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        order: &'q [ast::OrderByExpr],
        items: &[Item],
    ) -> Result<Vec<(Expr, OrderKey, At)>, Fault> {
        let mut keys = vec![];
        for key in order {
            let at = At::of(&key.expr);
            let named = match &key.expr {
                ast::Expr::Identifier(name) => items.iter().find(|item| means(name, &item.name)),
                expr => ordinal(expr, items.len())?.map(|place| &items[place]),
            };
            let expr = match named {
                Some(item) => item.expr.clone(),
                None => self.expr(env, calls, &key.expr)?,
            };
            keys.push((expr, sort_key(key, 0)?, at));
        }
        Ok(keys)
    }

    /// Marks columns as nullable.
    pub(super) fn may_be_null(&mut self, ids: &[Id]) {
        for id in ids {
            let column: &mut Column = &mut self.columns.0.0[*id];
            column.nullable = true;
        }
    }
}

fn groups_by(select: &ast::Select) -> &[ast::Expr] {
    match &select.group_by {
        ast::GroupByExpr::Expressions(all, _) => all,
        ast::GroupByExpr::All(_) => &[],
    }
}

/// The operands of a condition's outermost ANDs, as they are written.
fn parts(expr: &ast::Expr) -> Vec<&ast::Expr> {
    match expr {
        ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
            [parts(left), parts(right)].concat()
        }
        ast::Expr::Nested(inner) => match inner.as_ref() {
            ast::Expr::BinaryOp { op: ast::BinaryOperator::And, .. } => parts(inner),
            _ => vec![expr],
        },
        other => vec![other],
    }
}

/// The name of a list item without an alias.
fn name_of(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::Identifier(name) => name.value.clone(),
        ast::Expr::CompoundIdentifier(path) => path.last().map_or(String::new(), |name| name.value.clone()),
        ast::Expr::Nested(inner) => name_of(inner),
        other => other.to_string(),
    }
}

fn refuse_clauses(select: &ast::Select) -> Result<(), Fault> {
    let found = [
        (matches!(select.distinct, Some(ast::Distinct::On(_))), "DISTINCT ON"),
        (select.top.is_some(), "TOP"),
        (select.exclude.is_some(), "EXCLUDE"),
        (select.into.is_some(), "INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.qualify.is_some(), "QUALIFY"),
        (select.value_table_mode.is_some(), "SELECT AS VALUE"),
        (select.projection.is_empty(), "an empty list"),
    ];
    match found.into_iter().find(|(there, _)| *there) {
        Some((_, clause)) => Err(unsupported(select, clause)),
        None => Ok(()),
    }
}
