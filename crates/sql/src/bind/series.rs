//! Rows that UNNEST and GENERATE_SERIES make from literals. They are public, as those of VALUES.

use super::{
    Binder, BoundQuery, Env,
    expr::Calls,
    interval::{Interval, is_interval},
    scope::Scope,
};
use crate::{
    Fault,
    error::{At, refused_at, too_large, unsupported},
    logical::LogicalPlan,
};
use hushwire_tables::algebra::{Arithmetic, ColumnType, Expr, Value};
use sqlparser::{
    ast::{self, FunctionArg, FunctionArgExpr},
    tokenizer::Span,
};

/// LOCAL: the most rows that a series makes.
const MOST: usize = 1 << 14;

/// The step from an element to the next one.
enum SeriesStep {
    Number(Expr),
    Time(Interval),
}

impl<'q> Binder<'q> {
    /// The rows of a function in FROM. Their one column has the name of the function.
    pub(super) fn series(
        &mut self,
        name: &str,
        args: &'q [FunctionArg],
        span: Span,
    ) -> Result<BoundQuery, Fault> {
        let (at, mut given) = (At::from(span), vec![]);
        for arg in args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = arg else {
                return Err(unsupported(
                    at,
                    &format!("the argument {arg}"),
                    "write the arguments in their places",
                ));
            };
            given.push(expr);
        }
        let called = name.to_ascii_lowercase();
        let (ty, values) = match (called.as_str(), &given[..]) {
            ("unnest", [ast::Expr::Array(array)]) => {
                let all = array.elem.iter().map(|e| self.public(e)).collect::<Result<Vec<_>, _>>()?;
                if all.is_empty() {
                    return Err(refused_at(at, "the list is empty", "list a value: UNNEST([1, 2])"));
                }
                self.constants(all, at)?
            }
            ("unnest", [ast::Expr::Function(inner)]) => match &inner.args {
                ast::FunctionArguments::List(list) => {
                    return self.series(&inner.name.to_string(), &list.args, span);
                }
                _ => return Err(unknown(name, at)),
            },
            (
                "generate_series"
                | "generate_array"
                | "generate_date_array"
                | "generate_timestamp_array"
                | "sequence"
                | "range",
                [first, last @ ..],
            ) if last.len() < 3 => self.steps(first, last, called == "range", span)?,
            _ => return Err(unknown(name, at)),
        };
        let id = self.column("column1", ty, values.iter().any(Value::is_null));
        let rows = values.into_iter().map(|value| vec![value]).collect();
        Ok(BoundQuery { plan: LogicalPlan::Values { columns: vec![id], rows }, columns: vec![(called, id)] })
    }

    /// A public expression.
    fn public(&mut self, expr: &'q ast::Expr) -> Result<Expr, Fault> {
        self.expr(&Env::alone(&Scope::default()), &mut Calls::none("a function in FROM"), expr)
    }

    fn steps(
        &mut self,
        first: &'q ast::Expr,
        rest: &[&'q ast::Expr],
        open: bool,
        span: Span,
    ) -> Result<(ColumnType, Vec<Value>), Fault> {
        let at = At::from(span);
        let zero = Expr::Literal(Value::Number(0), ColumnType::Integer);
        let (first, last) = match rest.first() {
            None => (zero, self.public(first)?),
            Some(last) => (self.public(first)?, self.public(last)?),
        };
        let date = |binder: &Self, of: Expr| match binder.ty(&of, at)? {
            ColumnType::Varchar(_) => binder.read_as(of, ColumnType::Date, at),
            _ => Ok(of),
        };
        let (first, last) = (date(self, first)?, date(self, last)?);
        let is_time = matches!(self.ty(&first, at)?, ColumnType::Date | ColumnType::Timestamp);
        let step = match (rest.get(1), is_time) {
            (None, false) => SeriesStep::Number(Expr::Literal(Value::Number(1), ColumnType::Integer)),
            (None, true) => SeriesStep::Time(self.distance("INTERVAL '1' DAY", span)?),
            (Some(by), false) => SeriesStep::Number(self.public(by)?),
            (Some(by), true) => SeriesStep::Time(self.step(by, span)?),
        };
        let mut all = vec![first, last];
        match &step {
            SeriesStep::Number(by) => all.push(by.clone()),
            // Steps of hours need a start with a time of day.
            SeriesStep::Time(by) if by.has_time() => {
                all = all.into_iter().map(|e| e.cast(ColumnType::Timestamp)).collect();
            }
            SeriesStep::Time(_) => {}
        }
        let (ty, ends) = self.constants(all, at)?;
        let [Some(mut now), Some(last)] = [0, 1].map(|k| ends[k].number()) else { return Ok((ty, vec![])) };
        let next = |now: i128| -> Result<i128, Fault> {
            let now = Expr::Literal(Value::Number(now), ty);
            let made = match &step {
                SeriesStep::Number(_) => {
                    let by = Expr::Literal(ends[2].clone(), ty);
                    self.arithmetic(Arithmetic::Add, now, by, at)?
                }
                SeriesStep::Time(by) => self.moved(now, by.clone(), false, at)?,
            };
            Ok(self.constant(&made)?.number().unwrap_or_default())
        };
        let up = next(now)?.cmp(&now);
        if up.is_eq() {
            return Err(refused_at(at, "the step of the series is 0", "write a step above or below 0"));
        }
        let mut values = vec![];
        while now.cmp(&last) != up && !(open && now == last) {
            if values.len() == MOST {
                let cause = format!("the series has more than {MOST} rows");
                return Err(too_large(at, cause, "take a longer step, or bring the rows as a table"));
            }
            values.push(Value::Number(now));
            now = next(now)?;
        }
        Ok((ty, values))
    }

    /// The interval between the elements of a series, which may be written as a text.
    fn step(&mut self, by: &'q ast::Expr, span: Span) -> Result<Interval, Fault> {
        let text = match by {
            ast::Expr::Cast { expr, data_type: ast::DataType::Interval { .. }, .. } => expr,
            other => other,
        };
        match text {
            by if is_interval(by) => {
                self.interval(&Env::alone(&Scope::default()), &mut Calls::none("a step"), by)
            }
            ast::Expr::Value(value) if matches!(value.value, ast::Value::SingleQuotedString(_)) => {
                self.distance(&format!("INTERVAL {value}"), span)
            }
            _ => Err(refused_at(span, "the step of the series is no interval", "write INTERVAL '1' DAY")),
        }
    }

    /// Reads a text as an interval.
    fn distance(&mut self, text: &str, span: Span) -> Result<Interval, Fault> {
        let by = self.spelt(text, span)?;
        self.interval(&Env::alone(&Scope::default()), &mut Calls::none("a step"), by)
    }
}

fn unknown(name: &str, at: At) -> Fault {
    let clause = format!("{} in FROM", name.to_uppercase());
    unsupported(
        at,
        &clause,
        "take GENERATE_SERIES(1, 5), RANGE(5) or UNNEST([1, 2]) of literals, or bring the rows as a table",
    )
}
