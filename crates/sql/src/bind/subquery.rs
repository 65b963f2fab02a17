//! Turns subqueries into joins.
//!
//! ```text
//! EXISTS, IN                  semi join       NOT EXISTS, NOT IN     anti join       as conditions
//! the same elsewhere          join with the different keys, and whether there was a partner
//! scalar, an aggregate        groups by what it is correlated by, joined to each row; the value of
//!                             no row where there is no group
//! scalar, of one row          the row, joined to each row: one row is promised and checked
//! comparison, ANY or ALL      groups with the least and the greatest value, joined to each row
//! LATERAL, correlated LIMIT   a join, and the numbers of rows within what they are correlated by
//! ```
//! A subquery is attached to the smallest part of FROM that has the columns with which it
//! correlates.

use super::{
    Binder, BoundQuery, Env,
    expr::Calls,
    foreign, limited, order_by,
    selected::{Empty, Selected, of_no_row},
};
use crate::{
    Fault,
    error::{At, fault, unsupported},
    logical::{Id, Ids, LogicalJoin, LogicalPlan, Pool, RowFacts, conjunction, filtered, pair, reads, truth},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::{
    aggregates::{COUNT, MAX, MIN},
    algebra::{Aggregate, Column, ColumnType, Expr, Value, WindowFunction, whole},
    functions::coalesce,
};
use sqlparser::ast;

pub(super) enum Sort {
    Exists,
    /// Whether an outer expression is among the values of a column.
    In(Expr, Id),
    /// Whether outer expressions are a row.
    Row(Vec<RowPair>),
    /// Whether a comparison with an outer expression holds for some value of a column.
    Any(Expr, Comparison, Id),
    /// The value's column, and its value over no rows if that is not NULL. `exactly` tells that
    /// there is always one row.
    Scalar {
        value: Id,
        empty: Option<Expr>,
        exactly: bool,
    },
}

/// A value of a tuple that is sought in a subquery.
pub(super) struct RowPair {
    pub(super) left: Expr,
    /// The subquery's column.
    pub(super) right: Id,
    /// Whether the value may be NULL, and whether the subquery's column may.
    pub(super) nulls: [bool; 2],
}

/// A subquery, with the column that represents it until it is attached.
pub(super) struct Subquery {
    pub(super) id: Id,
    sort: Sort,
    plan: LogicalPlan,
    on: Vec<Expr>,
    at: At,
}

impl Subquery {
    /// The outer columns that it uses.
    fn outer(&self) -> Ids {
        let all: Ids = self.on.iter().flat_map(reads).collect();
        let mut outer = foreign(&all, &self.plan.ids());
        match &self.sort {
            Sort::In(left, _) | Sort::Any(left, ..) => outer.extend(reads(left)),
            Sort::Row(pairs) => outer.extend(pairs.iter().flat_map(|pair| reads(&pair.left))),
            Sort::Exists | Sort::Scalar { .. } => {}
        }
        outer
    }

    /// Refuses a subquery that names columns of a query beyond the directly enclosing one.
    pub(super) fn refuse_beyond(&self, own: &Ids) -> Result<(), Fault> {
        let all: Ids = self.on.iter().flat_map(reads).collect();
        if foreign(&foreign(&all, &self.plan.ids()), own).is_empty() {
            return Ok(());
        }
        Err(unsupported(
            self.at,
            "a column of a query that is two levels around",
            "join the table of that column in the query between, or in FROM, and compare columns there",
        ))
    }

    /// Rewrites its expressions on outer columns.
    pub(super) fn each_outer(
        &mut self,
        mut f: impl FnMut(&Expr) -> Result<Expr, Fault>,
    ) -> Result<(), Fault> {
        for condition in &mut self.on {
            *condition = f(condition)?;
        }
        match &mut self.sort {
            Sort::In(left, _) | Sort::Any(left, ..) => *left = f(left)?,
            Sort::Row(pairs) => {
                for pair in pairs {
                    pair.left = f(&pair.left)?;
                }
            }
            Sort::Exists | Sort::Scalar { .. } => {}
        }
        Ok(())
    }
}

/// A subquery's rows, and how it is correlated.
pub(super) struct Inner {
    pub(super) plan: LogicalPlan,
    pub(super) columns: Vec<(String, Id)>,
    pub(super) on: Vec<Expr>,
    one: Option<Empty>,
    figures: Vec<(Id, Aggregate)>,
    list: Vec<Expr>,
    beside: bool,
}

impl Inner {
    /// The value of a correlated aggregate for an outer row without inner rows. It is `None` if the
    /// subquery is not an aggregate or is not correlated.
    pub(super) fn correlated(&self, at: At) -> Result<Option<Empty>, Fault> {
        match self.one.filter(|_| !self.on.is_empty()) {
            Some(Empty::Unsure) => {
                let clause = "HAVING of a correlated aggregate that no rows may meet";
                Err(unsupported(
                    at,
                    clause,
                    "compare the figure in the query around: (SELECT COUNT(*) FROM b WHERE b.id = a.id) > 0",
                ))
            }
            one => Ok(one),
        }
    }
}

impl<'q> Binder<'q> {
    pub(super) fn inner(
        &mut self,
        env: &Env<'_>,
        calls: &Calls<'q>,
        query: &'q ast::Query,
        exists: bool,
        at: At,
    ) -> Result<Inner, Fault> {
        if calls.subqueries.is_none() || calls.inside {
            return Err(unsupported(
                at,
                "a subquery in this place",
                "write it in WHERE, HAVING or the list, or join it in FROM: JOIN (SELECT …) AS b ON a.id = b.id; to group by it, select it in a derived table",
            ));
        }
        self.around(env, query, exists, at)
    }

    /// Binds a query that may name columns of the enclosing query.
    pub(super) fn around(
        &mut self,
        env: &Env<'_>,
        query: &'q ast::Query,
        exists: bool,
        at: At,
    ) -> Result<Inner, Fault> {
        let ast::SetExpr::Select(select) = query.body.as_ref() else {
            let BoundQuery { plan, columns } = self.query(query, Some(env))?;
            let (figures, list) = (vec![], vec![]);
            return Ok(Inner { plan, columns, on: vec![], one: None, figures, list, beside: false });
        };
        super::refuse_clauses(query)?;
        self.another(at)?;
        let before = self.common.len();
        self.with(query.with.as_ref())?;
        let selected = self.select(select, order_by(query)?, Some(env), exists);
        self.common.truncate(before);
        let Selected { bound: BoundQuery { mut plan, columns }, mut correlated, one, figures, list, beside } =
            selected?;
        let one = match limited(LogicalPlan::One, query)? {
            // Each row of the enclosing query has a limit of its own.
            LogicalPlan::Limit { offset, limit, .. } if !correlated.is_empty() => {
                let none = offset > 0 || limit == Some(0);
                if none || !exists {
                    let by = self.correlated_by(&mut correlated, &Ids::new(), &mut plan)?;
                    plan = self.first_rows(plan, by, offset, limit);
                }
                if none { one.map(|_| Empty::None) } else { one }
            }
            _ => {
                plan = limited(plan, query)?;
                one
            }
        };
        let on = correlated.into_iter().map(|(condition, _)| condition).collect();
        Ok(Inner { plan, columns, on, one, figures, list, beside })
    }

    /// The first rows of each partition, in the order of the plan.
    fn first_rows(
        &mut self,
        plan: LogicalPlan,
        partition: Vec<Id>,
        offset: u64,
        limit: Option<u64>,
    ) -> LogicalPlan {
        let (input, order) = match plan {
            LogicalPlan::Sort { input, keys } => (input, keys),
            other => (Box::new(other), vec![]),
        };
        let row = self.column("row", ColumnType::BigInt, false);
        let calls = vec![(row, WindowFunction::RowNumber)];
        let plan = LogicalPlan::Window { input, partition, order, calls };
        let end = |n: u64| whole(n.into());
        let of = |by, n| Expr::Column(row).compare(by, end(n));
        let last = limit.map(|limit| of(Comparison::LessOrEqual, limit.saturating_add(offset)));
        let first = (offset > 0).then(|| of(Comparison::Greater, offset));
        filtered(plan, last.into_iter().chain(first))
    }

    pub(super) fn stand_in(
        &mut self,
        calls: &mut Calls<'q>,
        (ty, nullable): (ColumnType, bool),
        sort: Sort,
        (plan, on): (LogicalPlan, Vec<Expr>),
        at: At,
    ) -> Expr {
        let id = self.column("subquery", ty, nullable);
        if let Some(all) = &mut calls.subqueries {
            all.push(Subquery { id, sort, plan, on, at });
        }
        Expr::Column(id)
    }

    pub(super) fn exists(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        query: &'q ast::Query,
        at: At,
    ) -> Result<Expr, Fault> {
        let inner = self.inner(env, calls, query, true, at)?;
        if inner.correlated(at)? == Some(Empty::One) {
            return Ok(truth(true));
        }
        let Inner { plan, on, .. } = inner;
        Ok(self.stand_in(calls, (ColumnType::Boolean, false), Sort::Exists, (plan, on), at))
    }

    pub(super) fn scalar(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        query: &'q ast::Query,
        at: At,
    ) -> Result<Expr, Fault> {
        let inner = self.inner(env, calls, query, false, at)?;
        self.value_of(calls, inner, at)
    }

    /// The value of a subquery's one row; NULL if there is no row.
    pub(super) fn value_of(&mut self, calls: &mut Calls<'q>, inner: Inner, at: At) -> Result<Expr, Fault> {
        let one = inner.correlated(at)?;
        let Inner { plan, columns, on, figures, list, beside, .. } = inner;
        let [(_, value)] = columns[..] else {
            return Err(fault(at, code::SUBQUERY_COLUMNS, &[("found", &columns.len())]));
        };
        let facts = RowFacts::of(&plan, self.catalog);
        let inner = plan.ids();
        // A column that equals an outer expression. Rows may share the value of any other
        // expression.
        let column = |condition: &Expr| match condition {
            Expr::Compare(Comparison::Equal, a, b) => {
                let outside = |e: &Expr| reads(e).is_disjoint(&inner);
                match (a.as_ref(), b.as_ref()) {
                    (Expr::Column(id), e) | (e, Expr::Column(id)) if inner.contains(id) && outside(e) => {
                        Some(*id)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let by: Ids = on.iter().filter_map(column).collect();
        // Otherwise the query promises one row, and the run checks it.
        if !facts.is_unique(&by) && on.iter().any(|condition| column(condition).is_none()) {
            return Err(fault(at, code::SUBQUERY_ROWS, &[]));
        }
        let exactly = on.is_empty() && always_one(&plan);
        let empty = one.filter(|one| *one == Empty::One);
        let empty = empty.and_then(|_| empty_value(&list, &figures, &self.columns));
        if empty.is_some() && beside {
            let clause = "a subquery beside an aggregate in a correlated subquery";
            let remedy = "write the two subqueries side by side in the query around";
            return Err(unsupported(at, clause, remedy));
        }
        let column = self.columns.of(value);
        let kind = (column.ty, column.nullable || !exactly);
        Ok(self.stand_in(calls, kind, Sort::Scalar { value, empty, exactly }, (plan, on), at))
    }

    /// Attaches a subquery to a plan that has all outer columns it uses.
    fn attach(
        &mut self,
        item: LogicalPlan,
        sub: Subquery,
        conditions: &mut Vec<Expr>,
    ) -> Result<LogicalPlan, Fault> {
        let Subquery { id, sort, plan, mut on, at } = sub;
        let (positive, negative) = (Expr::Column(id), Expr::Column(id).not());
        let used = |e: &Expr| reads(e).contains(&id);
        let alone = conditions.iter().filter(|e| used(e)).count() == 1;
        let mut taken = |is: &Expr| {
            let place = conditions.iter().position(|e| e == is).filter(|_| alone);
            place.map(|place| conditions.remove(place)).is_some()
        };
        match sort {
            Sort::Scalar { value, empty, exactly } => {
                self.attach_scalar(item, plan, on, (id, value, empty, exactly), at)
            }
            Sort::Exists if taken(&positive) => Ok(self.semi(LogicalJoin::Semi, item, plan, on)),
            Sort::Exists if taken(&negative) => Ok(self.semi(LogicalJoin::Anti, item, plan, on)),
            Sort::Exists => self.marked(item, plan, on, id, at),
            Sort::Row(pairs) => {
                let is_sure = pairs.iter().all(|pair| pair.nulls == [false; 2]);
                let kind = match (taken(&positive), is_sure && taken(&negative)) {
                    (true, _) => Some(LogicalJoin::Semi),
                    (_, true) => Some(LogicalJoin::Anti),
                    _ => None,
                };
                if kind.is_none() && !is_sure {
                    return self.attach_rows(item, (&plan, &on), (id, &pairs), at);
                }
                for pair in pairs {
                    on.push(self.compared(Comparison::Equal, pair.left, Expr::Column(pair.right), at)?);
                }
                match kind {
                    Some(kind) => Ok(self.semi(kind, item, plan, on)),
                    None => self.marked(item, plan, on, id, at),
                }
            }
            Sort::In(left, right) => {
                let nulls = self.columns.may_be_null(&left)?;
                let equal = self.compared(Comparison::Equal, left.clone(), Expr::Column(right), at)?;
                if taken(&positive) {
                    on.push(equal);
                    return Ok(self.semi(LogicalJoin::Semi, item, plan, on));
                }
                if taken(&negative) {
                    let mut item = item;
                    if self.columns.of(right).nullable {
                        let null = filtered(plan.clone(), [Expr::Column(right).is_null()]);
                        item = self.semi(LogicalJoin::Anti, item, null, on.clone());
                    }
                    if nulls {
                        // NULL NOT IN (…) is NULL, but true if the set is empty.
                        let there = self.column("there", ColumnType::Boolean, false);
                        item = self.marked(item, plan.clone(), on.clone(), there, at)?;
                        item = filtered(item, [left.is_null().and(Expr::Column(there)).not()]);
                    }
                    on.push(equal);
                    return Ok(self.semi(LogicalJoin::Anti, item, plan, on));
                }
                if !nulls && !self.columns.of(right).nullable {
                    on.push(equal);
                    return self.marked(item, plan, on, id, at);
                }
                // NULL if the value is not found, and either it or a value of the set is NULL.
                let [found, some, null] =
                    ["found", "some", "null"].map(|name| self.column(name, ColumnType::Boolean, false));
                let with = [on.clone(), vec![equal]].concat();
                let none = filtered(plan.clone(), [Expr::Column(right).is_null()]);
                let item = self.marked(item, plan.clone(), with, found, at)?;
                let item = self.marked(item, plan, on.clone(), some, at)?;
                let item = self.marked(item, none, on, null, at)?;
                let [found, some, null] = [found, some, null].map(Expr::Column);
                let unsure = left.is_null().and(some).or(null);
                Ok(item.extended(vec![(id, three_valued(found, unsure))]))
            }
            Sort::Any(left, op, value) => self.attach_any(item, plan, on, (id, left, op, value), at),
        }
    }

    pub(super) fn semi(
        &mut self,
        kind: LogicalJoin,
        mut left: LogicalPlan,
        mut right: LogicalPlan,
        conditions: Vec<Expr>,
    ) -> LogicalPlan {
        let (mut on, mut rest) = (vec![], vec![]);
        for condition in conditions {
            if reads(&condition).is_subset(&right.ids()) {
                right = filtered(right, [condition]);
            } else if let Some(pair) = pair(&condition, &mut left, &mut right, &mut self.columns) {
                on.push(pair);
            } else {
                rest.push(condition);
            }
        }
        let residual = (!rest.is_empty()).then(|| conjunction(rest));
        LogicalPlan::Join { kind, left: Box::new(left), right: Box::new(right), on, residual }
    }

    fn pairs(
        &mut self,
        left: &mut LogicalPlan,
        right: &mut LogicalPlan,
        conditions: Vec<Expr>,
        at: At,
    ) -> Result<Vec<(Id, Id)>, Fault> {
        let mut pairs = vec![];
        for condition in conditions {
            // The value does not depend on a row, as in `3 IN (SELECT id …)`.
            if reads(&condition).is_subset(&right.ids()) {
                let plan = std::mem::replace(right, LogicalPlan::One);
                *right = filtered(plan, [condition]);
                continue;
            }
            let found = pair(&condition, left, right, &mut self.columns).ok_or_else(|| {
                let clause = "a subquery in this place that is not correlated by columns that are equal";
                unsupported(
                    at,
                    clause,
                    "compare columns of both by =, as in WHERE b.id = a.id, or join in FROM",
                )
            });
            pairs.push(found?);
        }
        Ok(pairs)
    }

    /// The plan with a truth value for each row, which tells whether the row has a partner.
    pub(super) fn marked(
        &mut self,
        mut left: LogicalPlan,
        mut right: LogicalPlan,
        on: Vec<Expr>,
        id: Id,
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let on = self.pairs(&mut left, &mut right, on, at)?;
        let group =
            |keys, aggregates| LogicalPlan::Group { input: Box::new(right), keys, aggregates, asked: false };
        if on.is_empty() {
            let count = self.column("count", ColumnType::BigInt, false);
            let right = group(vec![], vec![(count, Aggregate::count_rows("count"))]);
            let plan = LogicalPlan::Join {
                kind: LogicalJoin::Inner,
                left: Box::new(left),
                right: Box::new(right),
                on,
                residual: None,
            };
            let none = whole(0);
            return Ok(plan.extended(vec![(id, Expr::Column(count).compare(Comparison::Greater, none))]));
        }
        let mut keys: Vec<Id> = on.iter().map(|(_, key)| *key).collect();
        keys.dedup();
        let there = self.column("there", ColumnType::Boolean, false);
        let right = group(keys, vec![]).extended(vec![(there, truth(true))]);
        self.may_be_null(&right.columns());
        let plan = LogicalPlan::Join {
            kind: LogicalJoin::Left,
            left: Box::new(left),
            right: Box::new(right),
            on,
            residual: None,
        };
        Ok(plan.extended(vec![(id, Expr::Column(there).is_null().not())]))
    }

    /// Whether a comparison holds for some value: for the least or the greatest one.
    fn attach_any(
        &mut self,
        mut left: LogicalPlan,
        mut right: LogicalPlan,
        on: Vec<Expr>,
        (id, of, op, value): (Id, Expr, Comparison, Id),
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let on = self.pairs(&mut left, &mut right, on, at)?;
        let mut keys: Vec<Id> = on.iter().map(|(_, key)| *key).collect();
        keys.dedup();
        let mut all = vec![];
        let argument = Expr::Column(value);
        let mut figure = |binder: &mut Self, figure, argument| {
            let aggregate = Aggregate { name: "any".into(), figure, argument, distinct: false };
            binder.figure(&mut all, aggregate, at).map(Expr::Column)
        };
        let rows = figure(self, &COUNT, None)?;
        let count = figure(self, &COUNT, Some(argument.clone()))?;
        let least = figure(self, &MIN, Some(argument.clone()))?;
        let greatest = figure(self, &MAX, Some(argument))?;
        let right = LogicalPlan::Group { input: Box::new(right), keys, aggregates: all, asked: false };
        let kind = if on.is_empty() { LogicalJoin::Inner } else { LogicalJoin::Left };
        if !on.is_empty() {
            self.may_be_null(&right.columns());
        }
        let compared = |with| self.compared(op, of.clone(), with, at);
        let holds = match op {
            Comparison::Less | Comparison::LessOrEqual => compared(greatest)?,
            Comparison::Greater | Comparison::GreaterOrEqual => compared(least)?,
            _ => compared(least)?.or(compared(greatest)?),
        };
        let number = |e: Expr| coalesce(vec![e, whole(0)]);
        let (rows, count) = (number(rows), number(count));
        let some = self.compared(Comparison::Greater, rows.clone(), whole(0), at)?;
        let nulls = self.compared(Comparison::Greater, rows, count, at)?;
        let unsure = some.and(of.is_null()).or(nulls);
        let found = three_valued(coalesce(vec![holds, truth(false)]), unsure);
        let plan =
            LogicalPlan::Join { kind, left: Box::new(left), right: Box::new(right), on, residual: None };
        Ok(plan.extended(vec![(id, found)]))
    }

    /// Joins the rows of a lateral query to those of the plan before it. An aggregate without GROUP
    /// BY has one row for each.
    pub(super) fn beside(
        &mut self,
        mut left: LogicalPlan,
        inner: Inner,
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let Inner { plan: mut right, columns, on, figures, list, .. } = inner;
        let on = self.pairs(&mut left, &mut right, on, at)?;
        let there = self.column("there", ColumnType::Boolean, true);
        let inner: Vec<(Id, Id)> = columns
            .iter()
            .map(|(_, id)| (*id, self.columns.add(Column { nullable: true, ..self.columns.of(*id).clone() })))
            .collect();
        let more = inner.iter().map(|(id, new)| (*new, Expr::Column(*id)));
        right = right.extended(more.chain([(there, truth(true))]).collect());
        let kept: Vec<(Id, Expr)> = left.columns().into_iter().map(|id| (id, Expr::Column(id))).collect();
        let plan = LogicalPlan::Join {
            kind: LogicalJoin::One,
            left: Box::new(left),
            right: Box::new(right),
            on,
            residual: None,
        };
        let value = |((id, new), expr): (&(Id, Id), &Expr)| {
            let empty = of_no_row(expr, &figures, &self.columns);
            let branches = vec![(Expr::Column(there).is_null(), empty)];
            (*id, Expr::Case { branches, otherwise: Some(Box::new(Expr::Column(*new))) })
        };
        let columns = kept.into_iter().chain(inner.iter().zip(&list).map(value)).collect();
        Ok(LogicalPlan::Project { input: Box::new(plan), columns })
    }

    fn attach_scalar(
        &mut self,
        mut left: LogicalPlan,
        mut right: LogicalPlan,
        on: Vec<Expr>,
        (id, value, empty, exactly): (Id, Id, Option<Expr>, bool),
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        let on = self.pairs(&mut left, &mut right, on, at)?;
        let mut found = Expr::Column(value);
        if let Some(empty) = empty {
            let there = self.column("there", ColumnType::Boolean, true);
            right = right.extended(vec![(there, truth(true))]);
            let branches = vec![(Expr::Column(there).is_null(), empty)];
            found = Expr::Case { branches, otherwise: Some(Box::new(found)) };
        }
        let kind = if exactly { LogicalJoin::Inner } else { LogicalJoin::One };
        if !exactly {
            self.may_be_null(&right.columns());
        }
        let plan =
            LogicalPlan::Join { kind, left: Box::new(left), right: Box::new(right), on, residual: None };
        Ok(plan.extended(vec![(id, found)]))
    }
}

/// True if it is found, NULL if that is unsure, else false.
pub(super) fn three_valued(found: Expr, unsure: Expr) -> Expr {
    let null = Expr::Literal(Value::Null, ColumnType::Boolean);
    Expr::Case {
        branches: vec![(found, truth(true)), (unsure, null)],
        otherwise: Some(Box::new(truth(false))),
    }
}

/// Whether a plan always has exactly one row.
fn always_one(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Group { keys, .. } => keys.is_empty(),
        LogicalPlan::One => true,
        LogicalPlan::Values { rows, .. } => rows.len() == 1,
        LogicalPlan::Project { input, .. } | LogicalPlan::Sort { input, .. } => always_one(input),
        _ => false,
    }
}

/// The value of an aggregate over no rows; `None` if it is certainly NULL.
fn empty_value(
    list: &[Expr],
    figures: &[(Id, Aggregate)],
    columns: &crate::logical::Columns,
) -> Option<Expr> {
    fn strict(expr: &Expr) -> bool {
        match expr {
            Expr::Column(_) => true,
            Expr::Arithmetic(_, a, b) => strict(a) || strict(b),
            Expr::Negate(a) | Expr::Cast(a, _) => strict(a),
            _ => false,
        }
    }
    let [expr] = list else { return None };
    if strict(expr) && figures.iter().all(|(_, a)| !a.figure.counts()) {
        return None;
    }
    Some(of_no_row(expr, figures, columns))
}

/// Attaches subqueries to parts of a FROM. Each goes to the first part that has all columns it
/// uses, or else to all parts joined.
pub(super) fn attached(
    binder: &mut Binder<'_>,
    pool: &mut Pool,
    mut subqueries: Vec<Subquery>,
) -> Result<(), Fault> {
    while !subqueries.is_empty() {
        let place = |sub: &Subquery, pool: &Pool| {
            let outer = sub.outer();
            pool.items.iter().position(|item| outer.is_subset(&item.ids()))
        };
        let Some(next) = subqueries.iter().position(|sub| place(sub, pool).is_some()) else {
            if pool.items.len() < 2 {
                let clause = "a column of the query around beside a subquery";
                let remedy =
                    "write it as a condition of its own, joined by AND, or join the subquery's table in FROM";
                return Err(unsupported(subqueries[0].at, clause, remedy));
            }
            let waits = |e: &Expr| reads(e).iter().any(|id| subqueries.iter().any(|sub| sub.id == *id));
            let (later, now) = std::mem::take(&mut pool.conditions).into_iter().partition(waits);
            let items = std::mem::take(&mut pool.items);
            *pool = Pool { items: vec![binder.joined(Pool { items, conditions: now })], conditions: later };
            continue;
        };
        let at = place(&subqueries[next], pool).unwrap_or(0);
        let sub = subqueries.remove(next);
        match sub {
            // A single row is a table like any other; the order of joins places it.
            Subquery { id, sort: Sort::Scalar { value, exactly: true, .. }, plan, .. } => {
                pool.items.push(plan.extended(vec![(id, Expr::Column(value))]));
            }
            sub => {
                let item = std::mem::replace(&mut pool.items[at], LogicalPlan::One);
                pool.items[at] = binder.attach(item, sub, &mut pool.conditions)?;
            }
        }
    }
    Ok(())
}
