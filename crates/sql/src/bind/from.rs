//! Binds FROM: tables, derived tables and joins. Inner joins are collected as a pool of tables and
//! conditions, whose order is chosen later. Outer joins and lateral queries keep their place.

use super::{
    Binder, BoundQuery, CommonTable, Env,
    expr::Calls,
    scope::{Name, Scope, means},
    select::name_of,
    subquery::Inner,
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::{Id, LogicalJoin, LogicalPlan, Pool, conjunction, conjuncts, filtered, joined, pair, reads},
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Column, Expr},
    functions::coalesce,
};
use sqlparser::ast::{self, Ident, JoinConstraint, JoinOperator, Spanned};
use std::fmt::Display;

/// The columns of a lateral query without FROM, and their names.
type Computed = (Vec<(Id, Expr)>, Scope);

/// Two columns that USING or NATURAL merges: both names, and the merged column.
struct Shared {
    /// The name. Two names of a side may denote one column, as in `SELECT y AS k, y AS z`.
    name: Ident,
    left: Id,
    right: Id,
}

/// Makes both names denote the column `one`. If they are qualified by a table's name, they still
/// denote the original columns.
fn merged(left_names: &mut Scope, right_names: &mut Scope, shared: &Shared, one: Id) {
    let Shared { left, right, .. } = *shared;
    let is = |name: &Name, id: Id| name.id == id && means(&shared.name, &name.name);
    for name in right_names.0.iter_mut().filter(|name| is(name, right)) {
        name.merged = true;
    }
    let Some(at) = left_names.0.iter().position(|name| is(name, left) && !name.merged) else { return };
    if one == left {
        return;
    }
    let alone = Name { table: None, id: one, ..left_names.0[at].clone() };
    if left_names.0[at].table.is_none() {
        left_names.0[at] = alone;
    } else {
        left_names.0[at].merged = true;
        left_names.0.insert(at, alone);
    }
}

impl<'q> Binder<'q> {
    /// The tables of a FROM, and the conditions of its inner joins.
    pub(super) fn from(
        &mut self,
        from: &'q [ast::TableWithJoins],
        outer: Option<&Env<'_>>,
    ) -> Result<(Pool, Scope), Fault> {
        let (mut pool, mut scope) = (Pool::default(), Scope::default());
        for item in from {
            let (one, names) = self.joins(item, outer, &scope, &mut pool)?;
            pool.items.extend(one.items);
            pool.conditions.extend(one.conditions);
            scope.0.extend(names.0);
        }
        if from.is_empty() {
            pool.items.push(LogicalPlan::One);
        }
        self.unambiguous(&scope, from)?;
        Ok((pool, scope))
    }

    fn unambiguous(&self, scope: &Scope, from: &[ast::TableWithJoins]) -> Result<(), Fault> {
        let mut seen: Vec<(&str, Vec<&Name>)> = vec![];
        for name in &scope.0 {
            let table = name.table.as_deref().unwrap_or_default();
            match seen.iter_mut().find(|(t, _)| t.eq_ignore_ascii_case(table)) {
                Some((_, names)) => names.push(name),
                None => seen.push((table, vec![name])),
            }
        }
        for (table, names) in seen.into_iter().filter(|(table, _)| !table.is_empty()) {
            let twice = |a: &&Name| names.iter().filter(|b| b.name == a.name && b.id != a.id).count() > 0;
            if names.iter().any(twice) && from.len() + from.iter().map(|f| f.joins.len()).sum::<usize>() > 1 {
                let fields: [(_, &dyn Display); 2] = [("things", &"tables"), ("name", &table)];
                return Err(fault(&from[0], code::NAME_TWICE, &fields));
            }
        }
        Ok(())
    }

    /// Binds a table and the tables joined to it. A lateral query among them may name columns of
    /// the tables before it.
    fn joins(
        &mut self,
        item: &'q ast::TableWithJoins,
        outer: Option<&Env<'_>>,
        before: &Scope,
        tables: &mut Pool,
    ) -> Result<(Pool, Scope), Fault> {
        let (mut pool, mut scope) = match self.computed(&item.relation, outer, before)? {
            Some((more, names)) => {
                let was = std::mem::take(tables);
                (self.with_computed(was, more, (&item.relation).into())?, names)
            }
            None => match self.lateral(&item.relation, outer, before, false)? {
                None => self.factor(&item.relation, outer)?,
                Some((inner, names, at)) => {
                    let was = std::mem::take(tables);
                    *tables = self.with_lateral(was, inner, at)?;
                    (std::mem::take(tables), names)
                }
            },
        };
        for join in &item.joins {
            let around = Scope([before.0.clone(), scope.0.clone()].concat());
            use JoinOperator as J;
            let always = |on: &JoinConstraint| match on {
                JoinConstraint::None => true,
                JoinConstraint::On(ast::Expr::Value(value)) => value.value == ast::Value::Boolean(true),
                _ => false,
            };
            // A lateral query without FROM gives each row exactly one partner, so an outer join
            // equals an inner join.
            if let J::CrossJoin(on) | J::Join(on) | J::Inner(on) | J::Left(on) | J::LeftOuter(on) =
                &join.join_operator
                && always(on)
                && let Some((more, names)) = self.computed(&join.relation, outer, &around)?
            {
                pool = self.with_computed(pool, more, (&join.relation).into())?;
                scope.0.extend(names.0);
                continue;
            }
            // APPLY of SQL Server joins a lateral query without a condition of its own.
            let applied = matches!(join.join_operator, J::CrossApply | J::OuterApply);
            let Some((inner, names, at)) = self.lateral(&join.relation, outer, &around, applied)? else {
                let (right, names) = self.factor(&join.relation, outer)?;
                (pool, scope) = self.join(join, (pool, scope), (right, names), outer)?;
                continue;
            };
            let is_outer = match &join.join_operator {
                J::Left(on) | J::LeftOuter(on) => always(on),
                other => matches!(other, J::OuterApply),
            };
            match &join.join_operator {
                J::CrossJoin(on) | J::Join(on) | J::Inner(on) if always(on) => {
                    pool = self.with_lateral(pool, inner, at)?;
                }
                J::CrossApply => pool = self.with_lateral(pool, inner, at)?,
                J::Left(_) | J::LeftOuter(_) | J::OuterApply
                    if is_outer && inner.correlated(at)?.is_none() =>
                {
                    let left = self.joined(pool);
                    let plan = self.outer_join(LogicalJoin::Left, left, inner.plan, inner.on, at)?;
                    pool = Pool { items: vec![plan], conditions: vec![] };
                }
                J::Left(_) | J::LeftOuter(_) | J::OuterApply if is_outer => {
                    pool = self.with_lateral(pool, inner, at)?;
                }
                _ => {
                    let clause = "LATERAL with a condition of its own";
                    let remedy = "write the condition in the WHERE of the lateral query, and join ON TRUE";
                    return Err(unsupported(at, clause, remedy));
                }
            }
            scope.0.extend(names.0);
        }
        Ok((pool, scope))
    }

    /// The columns of a lateral query without FROM, which are expressions on the tables before it.
    fn computed(
        &mut self,
        factor: &'q ast::TableFactor,
        outer: Option<&Env<'_>>,
        before: &Scope,
    ) -> Result<Option<Computed>, Fault> {
        let ast::TableFactor::Derived { lateral: true, subquery, alias, sample: None } = factor else {
            return Ok(None);
        };
        let ast::SetExpr::Select(select) = subquery.body.as_ref() else { return Ok(None) };
        let is_grouped =
            !matches!(&select.group_by, ast::GroupByExpr::Expressions(keys, _) if keys.is_empty());
        let is_more = !select.from.is_empty()
            || is_grouped
            || [&select.selection, &select.having, &select.qualify].into_iter().any(Option::is_some)
            || select.distinct.is_some()
            || subquery.with.is_some()
            || subquery.order_by.is_some()
            || subquery.limit_clause.is_some()
            || subquery.fetch.is_some();
        let is_expression = |item: &ast::SelectItem| {
            matches!(item, ast::SelectItem::UnnamedExpr(_) | ast::SelectItem::ExprWithAlias { .. })
        };
        if is_more || !select.projection.iter().all(is_expression) {
            return Ok(None);
        }
        let env = Env { scope: before, outer, barred: None };
        let (mut columns, mut more) = (vec![], vec![]);
        for item in &select.projection {
            let (expr, name) = match item {
                ast::SelectItem::UnnamedExpr(expr) => (expr, name_of(expr)),
                ast::SelectItem::ExprWithAlias { expr, alias } => (expr, alias.value.clone()),
                _ => continue,
            };
            let expr = self.expr(&env, &mut Calls::none("the list of LATERAL without FROM"), expr)?;
            let id = self.id_of(&name, &expr, &mut more)?;
            columns.push((name, id));
        }
        for (column, name) in columns.iter_mut().zip(alias.iter().flat_map(|alias| &alias.columns)) {
            column.0.clone_from(&name.name.value);
        }
        let called = alias.as_ref().map(|alias| alias.name.value.as_str());
        let scope = Scope::of(called.filter(|called| !called.is_empty()), &columns);
        Ok(Some((more, scope)))
    }

    /// The tables with additional columns, computed from their own columns.
    fn with_computed(&mut self, pool: Pool, more: Vec<(Id, Expr)>, at: At) -> Result<Pool, Fault> {
        let plan = if pool.items.is_empty() { LogicalPlan::One } else { self.joined(pool) };
        let own = plan.ids();
        if !more.iter().all(|(_, expr)| reads(expr).is_subset(&own)) {
            return Err(unsupported(
                at,
                "LATERAL without FROM that names a table before a comma",
                "write CROSS JOIN in place of the comma",
            ));
        }
        Ok(Pool { items: vec![plan.extended(more)], conditions: vec![] })
    }

    /// Binds a lateral query. Returns it, the names of its columns, and its place. `applied` tells
    /// whether APPLY precedes it.
    fn lateral(
        &mut self,
        factor: &'q ast::TableFactor,
        outer: Option<&Env<'_>>,
        before: &Scope,
        applied: bool,
    ) -> Result<Option<(Inner, Scope, At)>, Fault> {
        let ast::TableFactor::Derived { lateral, subquery, alias, sample: None } = factor else {
            return Ok(None);
        };
        if !lateral && !applied {
            return Ok(None);
        }
        let at: At = factor.into();
        let env = Env { scope: before, outer, barred: None };
        let mut inner = self.around(&env, subquery, false, at)?;
        let called = alias.as_ref().map_or("", |alias| alias.name.value.as_str());
        for (column, name) in inner.columns.iter_mut().zip(alias.iter().flat_map(|alias| &alias.columns)) {
            column.0.clone_from(&name.name.value);
        }
        let scope = Scope::of(Some(called).filter(|c| !c.is_empty()), &inner.columns);
        Ok(Some((inner, scope, at)))
    }

    /// Joins the rows of a lateral query to the tables before it.
    fn with_lateral(&mut self, mut pool: Pool, inner: Inner, at: At) -> Result<Pool, Fault> {
        if inner.correlated(at)?.is_some() {
            let left = self.joined(pool);
            let plan = self.beside(left, inner, at)?;
            return Ok(Pool { items: vec![plan], conditions: vec![] });
        }
        pool.items.push(inner.plan);
        pool.conditions.extend(inner.on);
        Ok(pool)
    }

    fn join(
        &mut self,
        join: &'q ast::Join,
        (mut left, mut left_names): (Pool, Scope),
        (right, mut right_names): (Pool, Scope),
        outer: Option<&Env<'_>>,
    ) -> Result<(Pool, Scope), Fault> {
        use JoinOperator as J;
        let at: At = (&join.relation).into();
        let no = |clause: &str, remedy: &str| Err(unsupported(at, clause, remedy));
        // A right join is a left join with swapped sides.
        let (kind, turned, constraint) = match &join.join_operator {
            J::Join(on) | J::Inner(on) | J::CrossJoin(on) => (LogicalJoin::Inner, false, on),
            J::Left(on) | J::LeftOuter(on) => (LogicalJoin::Left, false, on),
            J::Right(on) | J::RightOuter(on) => (LogicalJoin::Left, true, on),
            J::FullOuter(on) => (LogicalJoin::Full, false, on),
            J::Semi(on) | J::LeftSemi(on) => (LogicalJoin::Semi, false, on),
            J::RightSemi(on) => (LogicalJoin::Semi, true, on),
            J::Anti(on) | J::LeftAnti(on) => (LogicalJoin::Anti, false, on),
            J::RightAnti(on) => (LogicalJoin::Anti, true, on),
            _ => {
                return no(
                    "this kind of join",
                    "write JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or CROSS JOIN; for the last row before a time, LEFT JOIN LATERAL (SELECT … WHERE b.id = a.id AND b.at <= a.at ORDER BY b.at DESC LIMIT 1) ON TRUE",
                );
            }
        };
        let mut shared = vec![];
        let mut conditions = match constraint {
            JoinConstraint::On(condition) => {
                let both = Scope([left_names.0.clone(), right_names.0.clone()].concat());
                let env = Env { scope: &both, outer, barred: Some("ON") };
                let mut calls = Calls::none("ON");
                let condition = self.condition(&env, &mut calls, condition)?;
                conjuncts(condition)
            }
            JoinConstraint::Using(columns) => {
                let mut all = vec![];
                for column in columns {
                    let [ast::ObjectNamePart::Identifier(name)] = &column.0[..] else {
                        return Err(unsupported(
                            column,
                            "such a name in USING",
                            "name a column alone, as in USING (id)",
                        ));
                    };
                    all.push(self.shared(name, &left_names, &right_names, &mut shared)?);
                }
                all
            }
            JoinConstraint::Natural => {
                let common: Vec<String> = left_names
                    .0
                    .iter()
                    .filter(|l| {
                        !l.merged && right_names.0.iter().any(|r| r.name.eq_ignore_ascii_case(&l.name))
                    })
                    .map(|l| l.name.clone())
                    .collect();
                let mut all = vec![];
                for name in common {
                    all.push(self.shared(&Ident::new(name), &left_names, &right_names, &mut shared)?);
                }
                all
            }
            JoinConstraint::None => vec![],
        };
        if matches!(kind, LogicalJoin::Semi | LogicalJoin::Anti) {
            let (l, r) = (self.joined(left), self.joined(right));
            let (kept, other, names) = if turned { (r, l, right_names) } else { (l, r, left_names) };
            let plan = self.semi(kind, kept, other, conditions);
            return Ok((Pool { items: vec![plan], conditions: vec![] }, names));
        }
        let plan = if kind == LogicalJoin::Inner {
            left.items.extend(right.items);
            left.conditions.extend(right.conditions);
            left.conditions.append(&mut conditions);
            left
        } else {
            let (l, r) = (self.joined(left), self.joined(right));
            let (kept, other) = if turned { (r, l) } else { (l, r) };
            let plan = self.outer_join(kind, kept, other, conditions, at)?;
            Pool { items: vec![plan], conditions: vec![] }
        };
        let mut pool = plan;
        for shared in shared {
            let Shared { left, right, .. } = shared;
            let one = match (kind, turned) {
                (LogicalJoin::Full, _) => {
                    let either = coalesce(vec![Expr::Column(left), Expr::Column(right)]);
                    let item = pool.items.pop().unwrap_or(LogicalPlan::One);
                    let name = self.columns.of(left).name.clone();
                    let mut more = vec![];
                    let id = self.id_of(&name, &either, &mut more)?;
                    pool.items.push(item.extended(more));
                    id
                }
                (_, true) => right,
                _ => left,
            };
            merged(&mut left_names, &mut right_names, &shared, one);
        }
        Ok((pool, Scope([left_names.0, right_names.0].concat())))
    }

    fn shared(
        &mut self,
        name: &Ident,
        left: &Scope,
        right: &Scope,
        shared: &mut Vec<Shared>,
    ) -> Result<Expr, Fault> {
        let mut side = |scope: &Scope| self.resolve(&Env::alone(scope), std::slice::from_ref(name));
        let (left, right) = (side(left)?, side(right)?);
        shared.push(Shared { name: name.clone(), left, right });
        let at = name.span.into();
        self.compared(hushwire_compute::Comparison::Equal, Expr::Column(left), Expr::Column(right), at)
    }

    /// Joins a pool to one plan.
    pub(super) fn joined(&mut self, pool: Pool) -> LogicalPlan {
        joined(pool, &mut self.columns, self.catalog)
    }

    /// All rows of the left side; if the join is full, also those of the right side.
    fn outer_join(
        &mut self,
        kind: LogicalJoin,
        mut left: LogicalPlan,
        mut right: LogicalPlan,
        conditions: Vec<Expr>,
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let (mut on, mut rest) = (vec![], vec![]);
        for condition in conditions {
            // Conditions on the right side alone are applied before the join: its rows without a
            // partner do not occur in the result.
            if kind == LogicalJoin::Left && reads(&condition).is_subset(&right.ids()) {
                right = filtered(right, [condition]);
            } else if let Some(pair) = pair(&condition, &mut left, &mut right, &mut self.columns) {
                on.push(pair);
            } else {
                rest.push(condition);
            }
        }
        if kind == LogicalJoin::Full && !rest.is_empty() {
            return Err(unsupported(
                at,
                "FULL JOIN on more than columns that are equal",
                "write the LEFT JOIN of a and b UNION ALL the rows of b for which no row of a EXISTS",
            ));
        }
        // A condition on the left side alone becomes a key that is NULL for rows that do not meet
        // it. NULL has no partner.
        let (mine, both): (Vec<Expr>, Vec<Expr>) =
            rest.into_iter().partition(|condition| reads(condition).is_subset(&left.ids()));
        if let (Some((first, _)), false) = (on.first_mut(), mine.is_empty()) {
            let column = self.columns.of(*first).clone();
            let key = self.columns.add(Column { range: None, ..column.clone() }.nullable());
            let branches = vec![(conjunction(mine), Expr::Column(*first))];
            left = left.extended(vec![(key, Expr::Case { branches, otherwise: None })]);
            *first = key;
        } else if !mine.is_empty() {
            return Err(unsupported(
                at,
                "an outer join on no columns that are equal",
                "join ON a.x = b.x AND the other condition, or write the inner join UNION ALL the rows for which no partner EXISTS",
            ));
        }
        let outer: Vec<Id> = match kind {
            LogicalJoin::Full => [left.columns(), right.columns()].concat(),
            _ => right.columns(),
        };
        for id in outer {
            self.columns.0.0[id].nullable = true;
        }
        let residual = (!both.is_empty()).then(|| conjunction(both));
        Ok(LogicalPlan::Join { kind, left: Box::new(left), right: Box::new(right), on, residual })
    }

    fn factor(
        &mut self,
        factor: &'q ast::TableFactor,
        outer: Option<&Env<'_>>,
    ) -> Result<(Pool, Scope), Fault> {
        use ast::TableFactor as F;
        let at: At = factor.into();
        match factor {
            F::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                let [ast::ObjectNamePart::Identifier(name)] = &name.0[..] else {
                    let cause = format!("{name} is a name of several parts");
                    return Err(refused_at(at, cause, "name the table alone"));
                };
                let bound = self.named_table(name, at)?;
                let called = alias.as_ref().map_or(name.value.as_str(), |alias| alias.name.value.as_str());
                self.one(bound, called, alias.as_ref(), at)
            }
            F::Derived { lateral, subquery, alias, sample: None } => {
                if *lateral {
                    return Err(unsupported(
                        at,
                        "LATERAL in parentheses",
                        "write it behind a comma or JOIN, without parentheses around the join",
                    ));
                }
                let bound = self.query(subquery, outer)?;
                let called = alias.as_ref().map_or("", |alias| alias.name.value.as_str());
                self.one(bound, called, alias.as_ref(), at)
            }
            F::Pivot { alias, .. } | F::Unpivot { alias, .. } => {
                let query = self.pivoted(factor)?;
                let bound = self.query(query, outer)?;
                let called = alias.as_ref().map_or("", |alias| alias.name.value.as_str());
                self.one(bound, called, alias.as_ref(), at)
            }
            F::NestedJoin { table_with_joins, alias: None } => {
                self.joins(table_with_joins, outer, &Scope::default(), &mut Pool::default())
            }
            F::Table { name, alias, args: Some(args), sample: None, with_ordinality: false, .. } => {
                let mut bound = self.series(&name.to_string(), &args.args, factor.span())?;
                let called = alias.as_ref().map_or_else(|| name.to_string(), |a| a.name.value.clone());
                // An alias also names the only column, as in PostgreSQL and BigQuery.
                if alias.is_some() {
                    bound.columns[0].0.clone_from(&called);
                }
                self.one(bound, &called, alias.as_ref(), at)
            }
            F::Table { .. } => Err(unsupported(
                at,
                "a table with hints, a sample or ORDINALITY",
                "name the table alone: bring a sample as a table, and number rows by ROW_NUMBER()",
            )),
            _ => Err(unsupported(
                at,
                "this in FROM",
                "name tables and derived tables, as in FROM a JOIN (SELECT …) AS b ON a.id = b.id: bring a table for what a function makes",
            )),
        }
    }

    fn one(
        &mut self,
        mut bound: BoundQuery,
        called: &str,
        alias: Option<&ast::TableAlias>,
        at: At,
    ) -> Result<(Pool, Scope), Fault> {
        let names = alias.map_or(&[][..], |alias| &alias.columns);
        if names.len() > bound.columns.len() {
            let cause = format!("{called} has {} columns and {} names", bound.columns.len(), names.len());
            return Err(refused_at(at, cause, "give as many names, or fewer"));
        }
        for (column, name) in bound.columns.iter_mut().zip(names) {
            column.0.clone_from(&name.name.value);
        }
        let scope = Scope::of(Some(called).filter(|c| !c.is_empty()), &bound.columns);
        Ok((Pool { items: vec![bound.plan], conditions: vec![] }, scope))
    }

    /// A table of WITH, or else of the catalog.
    fn named_table(&mut self, name: &Ident, at: At) -> Result<BoundQuery, Fault> {
        let place = self.common.iter().rposition(|c| means(name, &c.alias.name.value));
        if let Some(place) = place {
            let CommonTable { alias, query } = self.common[place].clone();
            // A query of WITH only sees the tables before it.
            let after = self.common.split_off(place);
            let bound = self.query(query, None);
            self.common.extend(after);
            let mut bound = bound?;
            if alias.columns.len() > bound.columns.len() {
                let cause = format!("{name} has {} columns", bound.columns.len());
                return Err(refused_at(alias.name.span, cause, "give as many names, or fewer"));
            }
            for (column, name) in bound.columns.iter_mut().zip(&alias.columns) {
                column.0.clone_from(&name.name.value);
            }
            return Ok(bound);
        }
        let tables = self.catalog.tables();
        let Some(table) = tables.iter().position(|table| means(name, &table.name)) else {
            let known: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            let remedy = match known.len() {
                0 => "declare it".to_owned(),
                _ => format!("name one of {}", known.join(", ")),
            };
            return Err(fault(at, code::TABLE_UNKNOWN, &[("table", &name.value), ("remedy", &remedy)]));
        };
        let mut columns = vec![];
        for (place, column) in tables[table].schema.columns().iter().enumerate() {
            let id = self.columns.add(Column { range: None, ..column.clone() });
            columns.push((id, place));
        }
        let named = columns.iter().map(|(id, _)| (self.columns.of(*id).name.clone(), *id)).collect();
        Ok(BoundQuery { plan: LogicalPlan::Scan { table, columns, made: vec![] }, columns: named })
    }
}
