//! Binds names, types and subqueries of a query's text: from the parser's tree to [`LogicalPlan`]s.
//!
//! ```text
//! mod         whole queries: WITH, set operations, ORDER BY, LIMIT
//! from        tables, derived tables, joins     values: rows that are written
//! select      WHERE, HAVING, the list, QUALIFY, DISTINCT     groups: GROUP BY
//! expr        expressions and their types     literal, interval, function, window: their parts
//! subquery    EXISTS, IN and scalar subqueries as joins
//! scope       which names there are
//! ```

mod cast;
mod clock;
mod expr;
mod frame;
mod from;
mod function;
mod groups;
mod held;
mod instead;
mod interval;
mod literal;
mod pattern;
mod pivot;
mod quantified;
mod ranged;
mod ranged_ends;
mod ranged_extremes;
mod respelt;
mod scope;
mod select;
mod selected;
mod series;
mod subquery;
mod values;
mod window;

use crate::{
    Fault,
    catalog::Catalog,
    error::{At, fault, refused_at, too_large, unsupported, widths},
    logical::{Columns, Id, Ids, LogicalPlan, Options, OrderKey},
};
use expr::Calls;
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Column, ColumnType, Expr, SetOperation, Value, common_type},
    types_differ,
};
pub(crate) use instead::of_syntax;
pub(crate) use pivot::Written;
use scope::{Env, Scope};
use selected::Selected;
use sqlparser::ast::{self, Spanned};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A table of WITH. It is bound again at each place that names it.
#[derive(Clone)]
struct CommonTable<'q> {
    alias: &'q ast::TableAlias,
    query: &'q ast::Query,
}

/// LOCAL: the largest depth of an expression.
const DEEPEST: usize = 1000;
/// LOCAL: the largest number of parts of a query. A query of WITH counts at each place that names
/// it.
const MOST_QUERIES: usize = 1000;
/// LOCAL: the largest number of parts of one expression, including those that functions repeat.
const LARGEST: usize = 1 << 14;
/// LOCAL: the largest number of parts of all expressions, counted at each occurrence.
const MOST_PARTS: usize = 1 << 22;

pub(crate) struct Binder<'q> {
    catalog: &'q Catalog,
    pub(crate) columns: Columns,
    /// The place at which each column was last named.
    named: BTreeMap<Id, At>,
    common: Vec<CommonTable<'q>>,
    /// The depth of the current expression or query.
    depth: usize,
    /// The columns that hold only NULLs and have no type of their own.
    nulls: Ids,
    /// The number of queries bound so far.
    queries: usize,
    /// The number of parts of the expressions bound so far.
    parts: usize,
    /// The time of the query, on which all members agree, and its bounds.
    options: Options,
    /// The queries that are written in place of clauses.
    written: &'q Written,
}

/// A query's rows, with the names and numbers of its columns.
pub(crate) struct BoundQuery {
    pub(crate) plan: LogicalPlan,
    pub(crate) columns: Vec<(String, Id)>,
}

impl<'q> Binder<'q> {
    pub(crate) fn new(catalog: &'q Catalog, options: Options, written: &'q Written) -> Self {
        let (columns, named, nulls) = (Columns::default(), BTreeMap::new(), Ids::new());
        Binder {
            catalog,
            columns,
            named,
            common: vec![],
            depth: 0,
            nulls,
            queries: 0,
            parts: 0,
            options,
            written,
        }
    }

    /// Counts a level, and refuses too many levels.
    fn deeper(&mut self, at: At) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let cause = format!("the query is nested deeper than {DEEPEST} levels");
            return Err(too_large(at, cause, "write a list in place of a chain, or split the query"));
        }
        Ok(())
    }

    /// Counts a query, and refuses too many queries.
    fn another(&mut self, at: At) -> Result<(), Fault> {
        self.queries += 1;
        if self.queries > MOST_QUERIES {
            let cause = format!("there are more than {MOST_QUERIES} queries within it");
            let remedy =
                "name tables of WITH less often: each counts, with those within it, wherever it is named";
            return Err(too_large(at, cause, remedy));
        }
        Ok(())
    }

    /// Counts the parts of an expression, and refuses too many parts.
    fn within_size(&mut self, expr: &Expr, at: At) -> Result<(), Fault> {
        let size = size(expr);
        self.parts += size;
        if size > LARGEST || self.parts > MOST_PARTS {
            let cause =
                "its expressions are too large, with what functions such as ABS repeat of their arguments";
            return Err(too_large(at, cause, "compute parts of them in a derived table, or split the query"));
        }
        Ok(())
    }

    /// A new column of this type, without a range: the algebra determines ranges.
    fn column(&mut self, name: &str, ty: ColumnType, nullable: bool) -> Id {
        let column = Column::new(name, ty);
        self.columns.add(if nullable { column.nullable() } else { column })
    }

    /// The column of an expression. It is a new column unless the expression is a column itself.
    fn id_of(&mut self, name: &str, expr: &Expr, more: &mut Vec<(Id, Expr)>) -> Result<Id, Fault> {
        if let Expr::Column(id) = expr {
            return Ok(*id);
        }
        if let Some((id, _)) = more.iter().find(|(_, other)| other == expr) {
            return Ok(*id);
        }
        let ty = expr.check(&self.columns.0)?.ty;
        let nullable = self.columns.may_be_null(expr)?;
        let id = self.column(name, ty, nullable);
        if matches!(expr, Expr::Literal(Value::Null, ColumnType::Boolean)) {
            self.nulls.insert(id);
        }
        more.push((id, expr.clone()));
        Ok(id)
    }

    /// Binds a query that is not part of another query.
    pub(crate) fn whole(&mut self, query: &'q ast::Query) -> Result<BoundQuery, Fault> {
        self.query(query, None)
    }

    /// Binds a query that uses only its own columns, even within another query.
    fn query(&mut self, query: &'q ast::Query, outer: Option<&Env<'_>>) -> Result<BoundQuery, Fault> {
        refuse_clauses(query)?;
        self.deeper(query.into())?;
        self.another(query.into())?;
        let before = self.common.len();
        let all = self.with(query.with.as_ref());
        let bound = all.and_then(|()| self.ordered(query, outer));
        self.common.truncate(before);
        self.depth -= 1;
        bound
    }

    fn with(&mut self, with: Option<&'q ast::With>) -> Result<(), Fault> {
        let Some(with) = with else { return Ok(()) };
        if with.recursive {
            return Err(unsupported(
                with.with_token.0.span,
                "WITH RECURSIVE, whose number of steps would follow from secret rows",
                "join the table with itself once for each level that there may be: FROM staff AS a LEFT JOIN staff AS b ON b.id = a.boss LEFT JOIN staff AS c ON c.id = b.boss; without a query that names itself, leave out RECURSIVE",
            ));
        }
        for table in &with.cte_tables {
            if with.cte_tables.iter().filter(|t| t.alias.name == table.alias.name).count() > 1 {
                let name = &table.alias.name;
                let fields: [(_, &dyn Display); 2] = [("things", &"tables of WITH"), ("name", &name.value)];
                return Err(fault(name.span, code::NAME_TWICE, &fields));
            }
            self.common.push(CommonTable { alias: &table.alias, query: &table.query });
        }
        Ok(())
    }

    fn ordered(&mut self, query: &'q ast::Query, outer: Option<&Env<'_>>) -> Result<BoundQuery, Fault> {
        let order = order_by(query)?;
        let mut bound = match query.body.as_ref() {
            ast::SetExpr::Select(select) => {
                let Selected { bound, correlated, .. } = self.select(select, order, outer, false)?;
                if let Some((_, at)) = correlated.first() {
                    let cause = "a column of the query around is named here";
                    let remedy = "name it in the WHERE of an EXISTS, an IN or a scalar subquery";
                    return Err(refused_at(*at, cause, remedy));
                }
                bound
            }
            body => {
                let bound = self.body(body, outer)?;
                self.order_columns(bound, order)?
            }
        };
        bound.plan = limited(bound.plan, query)?;
        Ok(bound)
    }

    fn body(&mut self, body: &'q ast::SetExpr, outer: Option<&Env<'_>>) -> Result<BoundQuery, Fault> {
        match body {
            ast::SetExpr::Select(select) => {
                if select.top.is_some() {
                    let remedy = "put the SELECT with its ORDER BY in parentheses, with LIMIT n at its end";
                    return Err(unsupported(select.span(), "TOP in a part of a set operation", remedy));
                }
                self.another(body.span().into())?;
                let Selected { bound, correlated, .. } =
                    self.select(select, QueryOrder::default(), outer, false)?;
                match correlated.first() {
                    None => Ok(bound),
                    Some((_, at)) => Err(unsupported(
                        *at,
                        "a column of the query around in a part of a set operation",
                        "write one EXISTS or IN for each part, joined by OR",
                    )),
                }
            }
            ast::SetExpr::Query(query) => self.query(query, outer),
            ast::SetExpr::SetOperation { op, set_quantifier, left, right } => {
                use ast::{SetOperator as S, SetQuantifier as Q};
                let kind = match op {
                    S::Union => SetOperation::Union,
                    S::Intersect => SetOperation::Intersect,
                    S::Except | S::Minus => SetOperation::Except,
                };
                let (all, by_name) = match set_quantifier {
                    Q::All => (true, false),
                    Q::Distinct | Q::None => (false, false),
                    Q::AllByName => (true, true),
                    Q::ByName | Q::DistinctByName => (false, true),
                };
                if by_name && kind != SetOperation::Union {
                    return Err(unsupported(
                        body.span(),
                        "INTERSECT or EXCEPT BY NAME",
                        "list the columns of both sides in one order",
                    ));
                }
                let (mut left, mut right) = (self.body(left, outer)?, self.body(right, outer)?);
                if by_name {
                    self.by_name(&mut left, &mut right, body.span().into())?;
                }
                self.set(kind, all, left, right, body.span().into())
            }
            ast::SetExpr::Values(values) => self.values(values),
            other => Err(unsupported(
                other.span(),
                "a statement in place of a SELECT",
                "write SELECT * FROM t in place of TABLE t; queries change no rows",
            )),
        }
    }

    fn set(
        &mut self,
        kind: SetOperation,
        all: bool,
        mut left: BoundQuery,
        mut right: BoundQuery,
        at: At,
    ) -> Result<BoundQuery, Fault> {
        if left.columns.len() != right.columns.len() {
            return Err(widths(at, "rows of its sides", [left.columns.len(), right.columns.len()]));
        }
        let mut columns = vec![];
        for ((name, a), (_, b)) in left.columns.iter_mut().zip(&mut right.columns) {
            // A column of untyped NULLs takes the other side's type.
            let untyped = [*a, *b].map(|id| self.nulls.contains(&id));
            match untyped {
                [true, false] => *a = self.nulls_of(self.columns.of(*b).ty, &mut left.plan),
                [false, true] => *b = self.nulls_of(self.columns.of(*a).ty, &mut right.plan),
                _ => {}
            }
            let types = [*a, *b].map(|id| self.columns.of(id).ty);
            let Some(ty) = common_type(types[0], types[1]) else {
                return Err(
                    types_differ(types, &format_args!("column {name} of a set operation")).placed(at.0)
                );
            };
            let nullable = [*a, *b].iter().any(|id| self.columns.of(*id).nullable);
            let id = self.column(name, ty, nullable);
            if untyped == [true, true] {
                self.nulls.insert(id);
            }
            columns.push((name.clone(), id));
        }
        let ids = |columns: &[(String, Id)]| columns.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let plan = LogicalPlan::Set {
            kind,
            all,
            left: (Box::new(left.plan), ids(&left.columns)),
            right: (Box::new(right.plan), ids(&right.columns)),
            columns: ids(&columns),
        };
        Ok(BoundQuery { plan, columns })
    }

    /// Brings the columns of UNION BY NAME into one order: first those of the left side, then those
    /// that only the right side has. A side has NULL in columns that it lacks.
    fn by_name(&mut self, left: &mut BoundQuery, right: &mut BoundQuery, at: At) -> Result<(), Fault> {
        let (of_left, of_right) = (left.columns.clone(), right.columns.clone());
        for side in [&of_left, &of_right] {
            for (place, (name, _)) in side.iter().enumerate() {
                if called(&side[..place], name).is_some() {
                    let fields: [(_, &dyn Display); 2] =
                        [("things", &"columns of a side of UNION BY NAME"), ("name", name)];
                    return Err(fault(at, code::NAME_TWICE, &fields));
                }
            }
        }
        for (name, id) in &of_right {
            if called(&of_left, name).is_none() {
                let ty = self.columns.of(*id).ty;
                let none = self.nulls_of(ty, &mut left.plan);
                left.columns.push((name.clone(), none));
            }
        }
        right.columns.clear();
        for (name, id) in &left.columns {
            let id = match called(&of_right, name) {
                Some(id) => id,
                None => self.nulls_of(self.columns.of(*id).ty, &mut right.plan),
            };
            right.columns.push((name.clone(), id));
        }
        Ok(())
    }

    /// Adds a column of NULLs to a plan.
    fn nulls_of(&mut self, ty: ColumnType, plan: &mut LogicalPlan) -> Id {
        let id = self.column("null", ty, true);
        let was = std::mem::replace(plan, LogicalPlan::One);
        *plan = was.extended(vec![(id, Expr::Literal(Value::Null, ty))]);
        id
    }

    /// ORDER BY after a set operation, which can only use its columns.
    fn order_columns(&mut self, bound: BoundQuery, order: QueryOrder<'q>) -> Result<BoundQuery, Fault> {
        let scope = Scope::of(None, &bound.columns);
        let env = Env::alone(&scope);
        let (mut keys, mut more) = (vec![], vec![]);
        if let Some(options) = order.all {
            for (_, id) in &bound.columns {
                keys.push(order_key(options, *id, At::default())?);
            }
        }
        for key in order.keys {
            let expr = match ordinal(&key.expr, bound.columns.len())? {
                Some(at) => Expr::Column(bound.columns[at].1),
                None => self.expr(&env, &mut Calls::none("ORDER BY of a set operation"), &key.expr)?,
            };
            let id = self.id_of("key", &expr, &mut more)?;
            keys.push(sort_key(key, id)?);
        }
        if keys.is_empty() {
            return Ok(bound);
        }
        let plan = LogicalPlan::Sort { input: Box::new(bound.plan.extended(more)), keys };
        Ok(BoundQuery { plan, ..bound })
    }
}

/// The column of this name, ignoring case.
fn called(columns: &[(String, Id)], name: &str) -> Option<Id> {
    columns.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, id)| *id)
}

/// The number of parts of an expression.
fn size(expr: &Expr) -> usize {
    1 + expr.operands().into_iter().map(size).sum::<usize>()
}

/// ORDER BY.
#[derive(Clone, Copy, Default)]
struct QueryOrder<'q> {
    keys: &'q [ast::OrderByExpr],
    /// The options of ORDER BY ALL, which orders by all columns of the list in turn.
    all: Option<&'q ast::OrderByOptions>,
}

fn order_by(query: &ast::Query) -> Result<QueryOrder<'_>, Fault> {
    use ast::OrderByKind as K;
    match &query.order_by {
        None => Ok(QueryOrder::default()),
        Some(ast::OrderBy { kind: K::Expressions(keys), interpolate: None }) => {
            Ok(QueryOrder { keys, ..QueryOrder::default() })
        }
        Some(ast::OrderBy { kind: K::All(options), interpolate: None }) => {
            Ok(QueryOrder { all: Some(options), ..QueryOrder::default() })
        }
        Some(other) => Err(unsupported(
            other,
            "INTERPOLATE",
            "join the rows that are to be there, as VALUES, by a LEFT JOIN",
        )),
    }
}

/// The position in the list that a key names, counted from 0; `None` if the key is not a position.
fn ordinal(expr: &ast::Expr, columns: usize) -> Result<Option<usize>, Fault> {
    let ast::Expr::Value(value) = expr else { return Ok(None) };
    let ast::Value::Number(digits, _) = &value.value else { return Ok(None) };
    match digits.parse::<usize>().ok().filter(|n| (1..=columns).contains(n)) {
        Some(n) => Ok(Some(n - 1)),
        None => {
            let fields: [(_, &dyn Display); 2] = [("place", digits), ("columns", &columns)];
            Err(fault(value.span, code::LIST_PLACE, &fields))
        }
    }
}

/// A key of ORDER BY.
fn sort_key(key: &ast::OrderByExpr, id: Id) -> Result<OrderKey, Fault> {
    if key.with_fill.is_some() {
        return Err(unsupported(
            key,
            "WITH FILL",
            "join the rows that are to be there, as VALUES, by a LEFT JOIN",
        ));
    }
    order_key(&key.options, id, key.into())
}

/// By default, NULLs come last in ascending order and first in descending order.
fn order_key(options: &ast::OrderByOptions, id: Id, at: At) -> Result<OrderKey, Fault> {
    let descending = match &options.sort {
        None | Some(ast::OrderBySort::Asc) => false,
        Some(ast::OrderBySort::Desc) => true,
        Some(_) => return Err(unsupported(at, "ORDER BY … USING", "write ASC or DESC")),
    };
    Ok(OrderKey { id, descending, nulls_first: options.nulls_first.unwrap_or(descending) })
}

fn limited(plan: LogicalPlan, query: &ast::Query) -> Result<LogicalPlan, Fault> {
    let number = |clause: &str, expr: &ast::Expr| -> Result<u64, Fault> {
        let digits = match expr {
            ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, _), .. }) => {
                digits.parse().ok()
            }
            _ => None,
        };
        digits.ok_or_else(|| fault(expr, code::WHOLE_NUMBER, &[("clause", &clause)]))
    };
    let (mut offset, mut limit) = (0, None);
    match &query.limit_clause {
        None => {}
        Some(ast::LimitClause::LimitOffset { limit: most, offset: from, limit_by }) => {
            if let Some(by) = limit_by.first() {
                return Err(unsupported(
                    by,
                    "LIMIT BY",
                    "write QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) <= n",
                ));
            }
            limit = most.as_ref().map(|e| number("LIMIT", e)).transpose()?;
            offset = from.as_ref().map_or(Ok(0), |e| number("OFFSET", &e.value))?;
        }
        Some(ast::LimitClause::OffsetCommaLimit { offset: from, limit: most }) => {
            (offset, limit) = (number("OFFSET", from)?, Some(number("LIMIT", most)?));
        }
    }
    if let ast::SetExpr::Select(select) = query.body.as_ref()
        && let Some(top) = &select.top
    {
        use ast::TopQuantity as Q;
        let most = match &top.quantity {
            Some(Q::Constant(n)) => Some(*n),
            Some(Q::Expr(e)) => Some(number("TOP", e)?),
            None => None,
        };
        if top.with_ties || top.percent || most.is_none() || (offset, limit) != (0, None) {
            let remedy = "write LIMIT n at the end, or QUALIFY RANK() OVER (ORDER BY a) <= n";
            return Err(unsupported(select.span(), "TOP beside LIMIT, or WITH TIES or PERCENT", remedy));
        }
        limit = most;
    }
    if let Some(fetch) = &query.fetch {
        if fetch.with_ties || fetch.percent {
            return Err(unsupported(
                fetch,
                "FETCH WITH TIES or PERCENT",
                "write QUALIFY RANK() OVER (ORDER BY a) <= n, or PERCENT_RANK() OVER (ORDER BY a) < 0.1",
            ));
        }
        limit = Some(fetch.quantity.as_ref().map_or(Ok(1), |e| number("FETCH", e))?);
    }
    match (offset, limit) {
        (0, None) => Ok(plan),
        _ => Ok(LogicalPlan::Limit { input: Box::new(plan), offset, limit }),
    }
}

fn refuse_clauses(query: &ast::Query) -> Result<(), Fault> {
    let found = [
        (!query.locks.is_empty(), "FOR UPDATE or FOR SHARE", "leave it out: queries change no rows"),
        (query.for_clause.is_some(), "FOR XML or FOR JSON", "leave it out, and write the result by --json"),
        (query.settings.is_some(), "SETTINGS", "set options in the job, or on the command line"),
        (query.format_clause.is_some(), "FORMAT", "name the result's file by --out: .csv or .parquet"),
        (
            !query.pipe_operators.is_empty(),
            "the pipe operator |>",
            "write the steps as derived tables, or by WITH",
        ),
    ];
    match found.into_iter().find(|(there, ..)| *there) {
        Some((_, clause, remedy)) => Err(unsupported(query, clause, remedy)),
        None => Ok(()),
    }
}

/// The columns of a set that are not among `own`.
fn foreign(of: &Ids, own: &Ids) -> Ids {
    of.difference(own).copied().collect()
}
