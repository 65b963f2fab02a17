//! Binds SELECT: conditions, groups, the list, DISTINCT, and order. FROM and WHERE are bound first,
//! then GROUP BY, the list, and the remaining clauses. Expressions after GROUP BY are rewritten to
//! read the columns of the groups.

use super::{
    Binder, BoundQuery, Env, QueryOrder,
    expr::Calls,
    foreign,
    groups::{Figures, Groups},
    order_key, ordinal,
    ranged::{Over, ranged_last},
    scope::means,
    selected::{Empty, Selected, of_no_row},
    sort_key,
    subquery::attached,
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::{Id, Ids, LogicalPlan, OrderKey, Pool, RowFacts, conjuncts, filtered, reads},
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Aggregate, Column, ColumnType, Expr, Relation, Schema, WindowFunction, whole},
    plain::{Tables, evaluate},
};
use sqlparser::ast::{self, Spanned};

/// A bound item of the list.
struct Item {
    name: String,
    expr: Expr,
    at: At,
}

impl<'q> Binder<'q> {
    /// Binds a SELECT with its ORDER BY. `exists` tells that only the presence of rows counts.
    pub(super) fn select(
        &mut self,
        select: &'q ast::Select,
        order: QueryOrder<'q>,
        outer: Option<&Env<'_>>,
        exists: bool,
    ) -> Result<Selected, Fault> {
        refuse_clauses(select)?;
        let (mut pool, scope) = self.from(&select.from, outer)?;
        let env = Env { scope: &scope, outer, barred: None };
        let own: Ids = pool.items.iter().flat_map(LogicalPlan::columns).collect();
        let mut correlated = self.conditions(select, &env, &own, &mut pool)?;
        let plan = self.joined(pool);
        let mut calls = Calls::all(select);
        let within = |clause| Env { barred: Some(clause), ..env };
        let mut grouping = self.group_by(select, &within("GROUP BY"))?;
        // For EXISTS, the list matters only if it has an aggregate. Its columns may then belong to
        // any query.
        let (items, aggregates) = if exists {
            let mut all = Calls::all(select);
            self.list(select, &env, &mut all)?;
            (vec![], !all.aggregates.is_empty())
        } else {
            (self.list(select, &within("the list"), &mut calls)?, false)
        };
        if grouping.all {
            // GROUP BY ALL: by the items that contain no aggregate.
            let made = calls.made();
            for item in items.iter().filter(|item| reads(&item.expr).is_disjoint(&made)) {
                grouping.add(item.expr.clone());
            }
        }
        let mut clause = |calls: &mut Calls<'q>, name, e: &'q Option<ast::Expr>| {
            e.as_ref().map(|e| self.condition(&within(name), calls, e)).transpose()
        };
        let having = clause(&mut calls, "HAVING", &select.having)?;
        let qualify = clause(&mut calls, "QUALIFY", &select.qualify)?;
        let first = self.first_of(select, &within("DISTINCT ON"), &mut calls, &items)?;
        let orders =
            if exists { vec![] } else { self.orders(&within("ORDER BY"), &mut calls, order, &items)? };
        let figures = calls.aggregates.clone();
        // In this case EXISTS is true for all rows, and needs no groups.
        let no_keys = grouping.keys.is_empty() && grouping.sets.is_none();
        let always = aggregates && no_keys && having.is_none();
        let aggregates = aggregates && (!always || correlated.is_empty());
        let grouped = aggregates || !no_keys || grouping.all || !figures.is_empty() || having.is_some();
        let mut subqueries = calls.subqueries.take().unwrap_or_default();
        let windows = calls.windows.take().unwrap_or_default();

        let mut plan = plan;
        let mut groups = Groups::default();
        if grouped {
            // A scalar subquery has one row, even if few rows were counted.
            let asked = !no_keys || outer.is_none();
            let figures = Figures { all: &figures, staged: &calls.staged, levels: &calls.levels };
            plan = self.grouped(plan, grouping, &mut correlated, &own, figures, asked, &mut groups)?;
        }
        let rewritten = |binder: &Self, expr: &Expr, at: At| -> Result<Expr, Fault> {
            if !grouped {
                return Ok(expr.clone());
            }
            let made = groups.of(expr);
            let mut known: Ids = groups.keys.iter().map(|(_, id)| *id).collect();
            known.extend(figures.iter().map(|(id, _)| *id));
            known.extend(calls.levels.iter().map(|(_, id)| *id));
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
        let mut pool = Pool { items: vec![plan], conditions: vec![] };
        if let Some(having) = &having {
            pool.conditions.push(rewritten(self, having, At::default())?);
        }
        attached(self, &mut pool, subqueries)?;
        plan = self.joined(pool);

        // A window of a correlated subquery spans the rows that match one row of the enclosing
        // query.
        let by = if windows.is_empty() && first.is_none() {
            vec![]
        } else {
            self.correlated_by(&mut correlated, &own, &mut plan)?
        };
        let (early, late) = ranged_last(windows);
        let mut number = None;
        if !late.is_empty() {
            (plan, number) = self.numbered(plan, late.iter().any(Over::goes_by_order));
        }
        let plainly = |binder: &Self, expr: &Expr| rewritten(binder, expr, At::default());
        for over in early.iter().chain(&late) {
            plan = self.window(plan, (over, number), &by, plainly)?;
        }
        if let Some(qualify) = &qualify {
            plan = filtered(plan, [plainly(self, qualify)?]);
        }
        if let Some(partition) = first {
            let id = self.column("row", ColumnType::BigInt, false);
            let order = orders.iter().map(|(expr, key, _)| (expr.clone(), *key)).collect();
            let calls = vec![(id, WindowFunction::RowNumber)];
            let over = Over { calls, ..Over::new(partition, order) };
            plan = self.window(plan, (&over, number), &by, plainly)?;
            plan = filtered(plan, [Expr::Column(id).equals(whole(1))]);
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
        let one = (always || grouped && no_keys).then(|| match &having {
            None => Empty::One,
            Some(having) => self.of_nothing(having, &figures),
        });
        let known = |id: &Id| {
            figures.iter().any(|(figure, _)| figure == id) || groups.keys.iter().any(|(_, key)| key == id)
        };
        let beside = list.iter().flat_map(reads).any(|id| !known(&id));
        Ok(Selected { bound: BoundQuery { plan, columns }, correlated, one, figures, list, beside })
    }

    /// Adds the conditions of WHERE, and their subqueries, to the tables of FROM. Returns the
    /// conditions that also read the query around.
    fn conditions(
        &mut self,
        select: &'q ast::Select,
        env: &Env<'_>,
        own: &Ids,
        pool: &mut Pool,
    ) -> Result<Vec<(Expr, At)>, Fault> {
        let mut correlated = vec![];
        let mut calls = Calls::subqueries("WHERE", select);
        for part in select.selection.iter().flat_map(parts) {
            let at = At::of(part);
            let first = calls.subqueries.as_ref().map_or(0, Vec::len);
            let condition = self.condition(env, &mut calls, part)?;
            let made = calls.subqueries.as_ref().map_or(&[][..], |all| &all[first..]);
            let mut mine = own.clone();
            mine.extend(made.iter().map(|sub| sub.id));
            for sub in made {
                sub.refuse_beyond(own)?;
            }
            for condition in conjuncts(condition) {
                let read = reads(&condition);
                if foreign(&read, &mine).is_empty() {
                    pool.conditions.push(condition);
                } else if env.outer.is_none() || made.iter().any(|sub| read.contains(&sub.id)) {
                    let clause = "a column of the query around beside a subquery";
                    let remedy = "write it as a condition of its own, joined by AND, or join the subquery's table in FROM";
                    return Err(unsupported(at, clause, remedy));
                } else {
                    correlated.push((condition, at));
                }
            }
        }
        attached(self, pool, calls.subqueries.take().unwrap_or_default())?;
        Ok(correlated)
    }

    /// The items of the list.
    fn list(
        &mut self,
        select: &'q ast::Select,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
    ) -> Result<Vec<Item>, Fault> {
        let mut items = vec![];
        for item in &select.projection {
            self.item(env, calls, item, &mut items)?;
        }
        Ok(items)
    }

    /// The rows that HAVING leaves of an aggregate over no input rows.
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

    /// One row for each value of the list and of the columns by which the subquery is correlated.
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

    /// The expressions of DISTINCT ON: names and ordinals of the list, or else expressions.
    fn first_of(
        &mut self,
        select: &'q ast::Select,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        items: &[Item],
    ) -> Result<Option<Vec<Expr>>, Fault> {
        let Some(ast::Distinct::On(keys)) = &select.distinct else { return Ok(None) };
        let key = |key: &'q ast::Expr| match ordinal(key, items.len())? {
            Some(place) => Ok(items[place].expr.clone()),
            None => self.expr(env, calls, key),
        };
        keys.iter().map(key).collect::<Result<_, _>>().map(Some)
    }

    /// Adds row numbers, by which frames by a distance match a row with its markers. If `ordered`,
    /// equal rows are ordered by their numbers. The numbers follow the order of the rows, or a key
    /// after groups and joins.
    fn numbered(&mut self, plan: LogicalPlan, ordered: bool) -> (LogicalPlan, Option<Id>) {
        let id = self.column("row", ColumnType::BigInt, false);
        let call = if ordered { WindowFunction::RowNumber } else { WindowFunction::RowId };
        let key = RowFacts::of(&plan, self.catalog).key().filter(|key| {
            let are_ordered = key.iter().all(|id| self.columns.of(*id).ty.is_ordered());
            ordered && are_ordered && !plan.has_own_order()
        });
        let order = key.into_iter().flatten();
        let order = order.map(|id| OrderKey { id, descending: false, nulls_first: false }).collect();
        let input = Box::new(plan);
        (LogicalPlan::Window { input, partition: vec![], order, calls: vec![(id, call)] }, Some(id))
    }

    /// Adds a window to a plan. Its partitions are split further by `by`. Returns the plan and the
    /// row number's column.
    fn window(
        &mut self,
        plan: LogicalPlan,
        (over, number): (&Over, Option<Id>),
        by: &[Id],
        rewritten: impl Fn(&Self, &Expr) -> Result<Expr, Fault>,
    ) -> Result<LogicalPlan, Fault> {
        let mut more = vec![];
        let mut partition = by.to_vec();
        for expr in &over.partition {
            let expr = rewritten(self, expr)?;
            partition.push(self.id_of("key", &expr, &mut more)?);
        }
        let mut order = vec![];
        for (expr, key) in &over.order {
            let expr = rewritten(self, expr)?;
            order.push(OrderKey { id: self.id_of("key", &expr, &mut more)?, ..*key });
        }
        if let (Some(ranged), [key], Some(number)) = (&over.ranged, &order[..], number) {
            return self.ranged(plan.extended(more), &partition, (*key, number), ranged, rewritten);
        }
        let calls = over.calls.iter();
        let calls = calls.map(|(id, call)| Ok((*id, call.of(|e| rewritten(self, e))?)));
        let calls = calls.collect::<Result<_, Fault>>()?;
        Ok(LogicalPlan::Window { input: Box::new(plan.extended(more)), partition, order, calls })
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
            S::ExprWithAliases { .. } => {
                return Err(unsupported(at, "several aliases", "write one name after AS"));
            }
            S::Wildcard(options) | S::QualifiedWildcard(_, options) => {
                if options.opt_ilike.is_some() || options.opt_rename.is_some() || options.opt_alias.is_some()
                {
                    return Err(unsupported(
                        at,
                        "* with ILIKE, RENAME or an alias",
                        "name the columns, as in SELECT id, price AS cost, or write * EXCLUDE (price), price AS cost",
                    ));
                }
                let left_out = left_out(options);
                let replaced = options.opt_replace.iter().flat_map(|replace| &replace.items);
                let replaced: Vec<_> = replaced.map(|item| (&item.column_name, &item.expr)).collect();
                let table = match item {
                    S::QualifiedWildcard(W::ObjectName(name), _) => match &name.0[..] {
                        [ast::ObjectNamePart::Identifier(name)] => Some(name),
                        _ => {
                            return Err(unsupported(
                                at,
                                "such a name before *",
                                "write *, or the table's name as in orders.*",
                            ));
                        }
                    },
                    _ => None,
                };
                let before = items.len();
                for name in &env.scope.0 {
                    let of = table.is_none_or(|t| name.table.as_ref().is_some_and(|n| means(t, n)));
                    if of
                        && !(name.merged && table.is_none())
                        && !left_out.iter().any(|out| means(out, &name.name))
                    {
                        let put = replaced.iter().find(|(column, _)| means(column, &name.name));
                        let expr = match put {
                            Some((_, expr)) => self.expr(env, calls, expr)?,
                            None => Expr::Column(name.id),
                        };
                        items.push(Item { name: name.name.clone(), expr, at });
                    }
                }
                if items.len() == before {
                    return Err(refused_at(at, "* stands for no column here", "name tables in FROM"));
                }
                let unknown = left_out.iter().copied().chain(replaced.iter().map(|(column, _)| *column));
                for column in unknown {
                    self.resolve(env, std::slice::from_ref(column))?;
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
        order: QueryOrder<'q>,
        items: &[Item],
    ) -> Result<Vec<(Expr, OrderKey, At)>, Fault> {
        let mut keys = vec![];
        if let Some(options) = order.all {
            for item in items {
                keys.push((item.expr.clone(), order_key(options, 0, item.at)?, item.at));
            }
        }
        for key in order.keys {
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

/// The operands of a condition's outermost ANDs, in the order of the text.
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

/// The columns that `*` leaves out by EXCLUDE or EXCEPT.
fn left_out(options: &ast::WildcardAdditionalOptions) -> Vec<&ast::Ident> {
    let excluded = match &options.opt_exclude {
        None => &[][..],
        Some(ast::ExcludeSelectItem::Single(name)) => std::slice::from_ref(name),
        Some(ast::ExcludeSelectItem::Multiple(names)) => names,
    };
    let excluded = excluded.iter().filter_map(|name| name.0.last().and_then(|part| part.as_ident()));
    let except = options.opt_except.iter();
    let except = except.flat_map(|e| std::iter::once(&e.first_element).chain(&e.additional_elements));
    excluded.chain(except).collect()
}

/// The name of a list item without an alias.
pub(super) fn name_of(expr: &ast::Expr) -> String {
    match expr {
        ast::Expr::Identifier(name) => name.value.clone(),
        ast::Expr::CompoundIdentifier(path) => path.last().map_or(String::new(), |name| name.value.clone()),
        ast::Expr::Nested(inner) => name_of(inner),
        other => other.to_string(),
    }
}

fn refuse_clauses(select: &ast::Select) -> Result<(), Fault> {
    let found = [
        (select.exclude.is_some(), "EXCLUDE behind the list", "write it behind the star: * EXCLUDE (a, b)"),
        (select.into.is_some(), "INTO", "name the result's file in the job or by --out, not in the query"),
        (
            !select.lateral_views.is_empty(),
            "LATERAL VIEW",
            "bring one row for each element of a list, in a table of its own, and join it",
        ),
        (select.prewhere.is_some(), "PREWHERE", "write WHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY", "join the table with itself once for each level"),
        (!select.cluster_by.is_empty(), "CLUSTER BY", "write ORDER BY"),
        (
            !select.distribute_by.is_empty(),
            "DISTRIBUTE BY",
            "leave it out: the parties choose where rows are",
        ),
        (!select.sort_by.is_empty(), "SORT BY", "write ORDER BY"),
        (select.value_table_mode.is_some(), "SELECT AS VALUE", "list columns: SELECT a, b"),
        (select.projection.is_empty(), "an empty list", "list columns: SELECT a, b, or SELECT * for all"),
    ];
    match found.into_iter().find(|(there, ..)| *there) {
        Some((_, clause, remedy)) => Err(unsupported(select, clause, remedy)),
        None => Ok(()),
    }
}
