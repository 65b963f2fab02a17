//! Binds calls of functions: aggregates, window functions, and scalar functions. The `tables` crate
//! defines the functions. A function of another database is rewritten, or refused with a
//! substitute.

use super::{
    Binder, Env,
    expr::{Calls, Staged, placed},
    instead::of_function,
    interval::is_interval,
    respelt::{is_week, respelt},
    sort_key,
};
use crate::{
    Fault,
    error::{At, fault, unsupported},
    logical::{Id, OrderKey, truth},
};
use hushwire_fault::code;
use hushwire_tables::{
    aggregates::{
        self, AggregateArguments, AggregateDef, AggregateMeaning, AggregateOrder, Figure, Figures, Nulls,
    },
    algebra::{Aggregate, Arithmetic, Column, ColumnType, Expr, Relation, WindowFunction},
    functions::{self, Arguments, Reader},
};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments, Spanned};
use std::fmt::Display;

/// The arguments of a call.
pub(super) struct Given<'q> {
    /// `None` for `*`.
    pub(super) all: Option<Vec<&'q ast::Expr>>,
    pub(super) distinct: bool,
    /// Whether NULLs are ignored.
    pub(super) ignores: bool,
    /// The ORDER BY within the parentheses, or of WITHIN GROUP.
    order: Vec<&'q ast::OrderByExpr>,
}

fn arguments(function: &ast::Function) -> Result<Given<'_>, Fault> {
    use ast::{FunctionArgumentClause as C, NullTreatment as N};
    let mut given = Given {
        all: Some(vec![]),
        distinct: false,
        ignores: function.null_treatment == Some(N::IgnoreNulls),
        order: function.within_group.iter().collect(),
    };
    let list = match &function.args {
        FunctionArguments::List(list) => list,
        // CURRENT_DATE has no arguments.
        FunctionArguments::None => return Ok(given),
        FunctionArguments::Subquery(_) => {
            return Err(unsupported(
                function,
                "a function of a query",
                "write the values as arguments, or bring the rows as a table",
            ));
        }
    };
    for clause in &list.clauses {
        match clause {
            C::IgnoreOrRespectNulls(nulls) => given.ignores = *nulls == N::IgnoreNulls,
            C::OrderBy(keys) => given.order.extend(keys),
            other => {
                return Err(unsupported(
                    other,
                    &format!("{other} in a function"),
                    "write the arguments alone, and IGNORE NULLS or ORDER BY where it has them",
                ));
            }
        }
    }
    given.distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    if let [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] = &list.args[..] {
        if given.distinct {
            return Err(unsupported(
                function,
                "DISTINCT * in a function",
                "count DISTINCT columns: COUNT(DISTINCT a, b)",
            ));
        }
        return Ok(Given { all: None, ..given });
    }
    let mut args = vec![];
    for arg in &list.args {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => args.push(expr),
            other => {
                return Err(unsupported(
                    function,
                    &format!("the argument {other}"),
                    "write arguments in their places, without names, and * in COUNT(*) alone",
                ));
            }
        }
    }
    Ok(Given { all: Some(args), ..given })
}

/// Calls that are rewritten as other calls.
const SPELT: [&str; 3] = ["date_add", "adddate", "subdate"];

/// The number of arguments, in words.
fn expected(arity: &std::ops::RangeInclusive<usize>) -> String {
    let (least, most) = (arity.start(), arity.end());
    match most {
        most if least == most => most.to_string(),
        &usize::MAX => format!("at least {least}"),
        most => format!("{least} to {most}"),
    }
}

/// The figures of groups, from which aggregates that are built from others are made.
struct InGroups<'a, 'q> {
    binder: &'a mut Binder<'q>,
    calls: &'a mut Calls<'q>,
    distinct: bool,
    at: At,
}

impl Figures for InGroups<'_, '_> {
    fn reader(&self) -> Reader<'_> {
        self.binder.reader()
    }

    fn figure(
        &mut self,
        figure: &'static Figure,
        argument: Option<Expr>,
        distinct: bool,
    ) -> Result<Expr, Fault> {
        let distinct = distinct || self.distinct;
        self.binder.native(self.calls, figure, argument, distinct, self.at)
    }

    fn within(
        &mut self,
        partition: Vec<Expr>,
        order: Vec<(Expr, bool)>,
        call: WindowFunction,
    ) -> Result<Expr, Fault> {
        let alike =
            |staged: &&Staged| staged.partition == partition && staged.order == order && staged.call == call;
        if let Some(known) = self.calls.staged.iter().find(alike) {
            return Ok(Expr::Column(known.id));
        }
        let keys: Vec<_> = order
            .iter()
            .map(|(expr, descending)| {
                (expr.clone(), OrderKey { id: 0, descending: *descending, nulls_first: false })
            })
            .collect();
        let id = self.binder.window_column(&partition, &keys, ("window", &call), self.at)?;
        self.calls.staged.push(Staged { id, partition, order, call });
        Ok(Expr::Column(id))
    }
}

impl<'q> Binder<'q> {
    pub(super) fn function(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        function: &'q ast::Function,
        at: At,
    ) -> Result<Expr, Fault> {
        let no = |clause: &str, remedy: &str| Err(unsupported(at, clause, remedy));
        if !matches!(function.parameters, FunctionArguments::None) {
            return no("a function with parameters", "write its arguments in one pair of parentheses");
        }
        let name = function.name.to_string().to_ascii_lowercase();
        let given = arguments(function)?;
        if let Some(over) = &function.over {
            if given.order.len() > function.within_group.len() {
                return no(
                    "ORDER BY within a window function's parentheses",
                    "write the order behind OVER: FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY c)",
                );
            }
            return self.windowed(env, calls, &name, &given, function.filter.as_deref(), over, at);
        }
        if let "grouping" | "grouping_id" = name.as_str() {
            return self.grouping(env, calls, given.all.unwrap_or_default(), at);
        }
        if let Some(found) = aggregates::find(&name) {
            return self.aggregated(env, calls, (&name, found), &given, function.filter.as_deref(), at);
        }
        let Given { all, distinct, ignores, order } = given;
        if distinct || function.filter.is_some() || ignores || !order.is_empty() {
            return no(
                "DISTINCT, FILTER, ORDER BY or IGNORE NULLS in a function that is no aggregate",
                "write the call without it, or CASE WHEN condition THEN call END",
            );
        }
        let Some(args) = all else {
            return no(&format!("{name}(*)"), "name its arguments: only COUNT takes *");
        };
        if let Some(made) = self.of_clock(&name, &args, at)? {
            return Ok(made);
        }
        if is_week(&name, &args) {
            let remedy = "write 'week', which begins on Monday: DATE_TRUNC('week', day), DATE_DIFF('week', first, last)";
            return no("WEEK, which begins on Sunday or on Monday", remedy);
        }
        if let Some(text) = respelt(&name, &args) {
            let call = self.spelt(&text, function.span())?;
            return self.expr(env, calls, call);
        }
        if functions::find(&name).is_none() && !SPELT.contains(&name.as_str()) {
            // An argument may be a keyword of another database, as in DATEADD(day, 3, placed).
            return self.call(&name, vec![], at);
        }
        if let ("age", [first]) = (name.as_str(), &args[..]) {
            let today = self.of_clock("current_date", &[], at)?;
            let first = self.expr(env, calls, first)?;
            return self.call(&name, today.into_iter().chain([first]).collect(), at);
        }
        if let ("date_add" | "adddate" | "date_sub" | "subdate", [of, by]) = (name.as_str(), &args[..]) {
            // A plain number counts days.
            let back = name.contains("sub");
            let of = self.expr(env, calls, of)?;
            let of = placed(self.reader().read_as(of, ColumnType::Date), at)?;
            if is_interval(by) {
                let by = self.interval(env, calls, by)?;
                return self.moved(of, by, back, at);
            }
            let by = self.expr(env, calls, by)?;
            let op = if back { Arithmetic::Subtract } else { Arithmetic::Add };
            return self.arithmetic(op, of, by, at);
        }
        let args = args.into_iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?;
        self.call(&name, args, at)
    }

    /// GROUPING: one bit for each argument. The bit is set if the row's grouping set lacks the
    /// argument.
    fn grouping(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        args: Vec<&'q ast::Expr>,
        at: At,
    ) -> Result<Expr, Fault> {
        calls.aggregate(at)?;
        let mut keys = vec![];
        for arg in args {
            keys.push(self.expr(env, &mut Calls::none("GROUPING"), arg)?);
        }
        if let Some((_, id)) = calls.levels.iter().find(|(known, _)| *known == keys) {
            return Ok(Expr::Column(*id));
        }
        let id = self.column("grouping", ColumnType::BigInt, false);
        calls.levels.push((keys, id));
        Ok(Expr::Column(id))
    }

    /// The expression of a scalar function's call.
    pub(super) fn call(&self, name: &str, all: Vec<Expr>, at: At) -> Result<Expr, Fault> {
        let Some(function) = functions::find(name) else {
            let remedy = of_function(name);
            return Err(fault(at, code::FUNCTION_UNSUPPORTED, &[("function", &name), ("remedy", &remedy)]));
        };
        placed(function.bind(&Arguments { name, all, reader: self.reader() }), at)
    }

    fn aggregated(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (name, found): (&str, &'static AggregateDef),
        given: &Given<'q>,
        filter: Option<&'q ast::Expr>,
        at: At,
    ) -> Result<Expr, Fault> {
        calls.aggregate(at)?;
        calls.inside = true;
        let bound = self.given(env, calls, given, filter);
        calls.inside = false;
        let (all, order) = bound?;
        let distinct = given.distinct;
        let count = all.as_ref().map_or(0, Vec::len);
        let none = all.is_none();
        if none && found.names[0] != "count" || !none && !found.arity.contains(&count) {
            let expected = if none { "arguments in place of *".to_owned() } else { expected(&found.arity) };
            let fields: [(_, &dyn Display); 3] =
                [("function", &name), ("found", &count), ("expected", &expected)];
            return Err(fault(at, code::ARGUMENTS, &fields));
        }
        if distinct && !found.distinct {
            return Err(unsupported(
                at,
                &format!("DISTINCT in {}", name.to_uppercase()),
                "take it of the rows of SELECT DISTINCT in a derived table",
            ));
        }
        match &found.meaning {
            AggregateMeaning::Native(figure) => {
                let argument = match all {
                    None => None,
                    Some(all) if all.len() > 1 => Some(self.all_there(calls, all, distinct, at)?),
                    Some(all) => all.into_iter().next(),
                };
                placed(self.native(calls, figure, argument, distinct, at), at)
            }
            AggregateMeaning::Rewritten(meaning) => {
                let room = calls.room;
                let mut figures = InGroups { binder: self, calls, distinct, at };
                let (all, figures) = (all.unwrap_or_default(), &mut figures);
                placed(meaning(&mut AggregateArguments { name, all, order, distinct, room, figures }), at)
            }
        }
    }

    /// Returns a value that is NULL if one of several values is NULL. If the values are to be
    /// distinct, it is their place in an order of all.
    fn all_there(
        &mut self,
        calls: &mut Calls<'q>,
        all: Vec<Expr>,
        distinct: bool,
        at: At,
    ) -> Result<Expr, Fault> {
        let there = all.iter().map(|e| e.clone().is_null().not()).reduce(Expr::and).unwrap_or(truth(true));
        let value = if distinct {
            let order = all.into_iter().map(|e| (e, false)).collect();
            let mut figures = InGroups { binder: self, calls, distinct, at };
            figures.within(vec![], order, WindowFunction::DenseRank)?
        } else {
            truth(true)
        };
        Ok(Expr::Case { branches: vec![(there, value)], otherwise: None })
    }

    /// The arguments of an aggregate and its ORDER BY. If the condition of FILTER is not true, the
    /// arguments are NULL. Literals beside other arguments stay.
    pub(super) fn given(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        given: &Given<'q>,
        filter: Option<&'q ast::Expr>,
    ) -> Result<(Option<Vec<Expr>>, Vec<AggregateOrder>), Fault> {
        let filter = filter.map(|e| self.condition(env, calls, e)).transpose()?;
        let mut order = vec![];
        for key in &given.order {
            let by = self.expr(env, calls, &key.expr)?;
            let OrderKey { descending, nulls_first, .. } = sort_key(key, 0)?;
            let nulls = match (self.columns.may_be_null(&by)?, nulls_first) {
                (false, _) => Nulls::None,
                (true, true) => Nulls::First,
                (true, false) => Nulls::Last,
            };
            order.push(AggregateOrder { by, descending, nulls });
        }
        let mut all = match &given.all {
            None => None,
            Some(args) => Some(args.iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?),
        };
        let Some(condition) = filter else { return Ok((all, order)) };
        let kept = |e: Expr| Expr::Case { branches: vec![(condition.clone(), e)], otherwise: None };
        all = Some(match all {
            None => vec![kept(truth(true))],
            Some(all) => {
                let is_literal = |e: &Expr| matches!(e, Expr::Literal(..));
                let beside = !order.is_empty() || all.iter().any(|e| !is_literal(e));
                let one = |e: Expr| if beside && is_literal(&e) { e } else { kept(e) };
                all.into_iter().map(one).collect()
            }
        });
        let order = order.into_iter().map(|key| AggregateOrder { by: kept(key.by), ..key }).collect();
        Ok((all, order))
    }

    /// A figure that the algebra has itself.
    fn native(
        &mut self,
        calls: &mut Calls<'q>,
        figure: &'static Figure,
        argument: Option<Expr>,
        distinct: bool,
        at: At,
    ) -> Result<Expr, Fault> {
        let taken = |of| placed(figure.taken(&self.reader(), of), at);
        let argument = match argument.map(taken).transpose()? {
            // A literal that is not NULL counts in every row, like `*`.
            Some(Expr::Literal(value, _)) if figure.counts() && !distinct && !value.is_null() => None,
            other => other,
        };
        let distinct = distinct && figure.repeats() && argument.is_some();
        let aggregate = Aggregate { name: figure.to_string(), figure, argument, distinct };
        Ok(Expr::Column(self.figure(&mut calls.aggregates, aggregate, at)?))
    }

    /// The column of an aggregate; equal aggregates share one.
    pub(super) fn figure(
        &mut self,
        all: &mut Vec<(Id, Aggregate)>,
        aggregate: Aggregate,
        at: At,
    ) -> Result<Id, Fault> {
        if let Some((id, _)) = all.iter().find(|(_, other)| *other == aggregate) {
            return Ok(*id);
        }
        let none = Relation::values(self.columns.0.clone(), vec![])?;
        let made = none.aggregate(vec![], vec![aggregate.clone()], 0, None);
        let made = made.map_err(|e| e.placed(at.0))?;
        let column = Column { range: None, ..made.schema().columns()[0].clone() };
        let id = self.columns.add(column);
        all.push((id, aggregate));
        Ok(id)
    }
}
