//! Binds intervals: months, days and microseconds by which dates and timestamps are moved.

use super::{Binder, Env, expr::Calls};
use crate::{
    Fault,
    cell::{DAY, days_later, months_later},
    error::{At, refused_at},
};
use hushwire_tables::algebra::{Arithmetic, ColumnType, Expr, Value, whole};
use sqlparser::ast::{self, BinaryOperator as B, UnaryOperator as U};

/// LOCAL: the largest number of a unit in an interval.
const MOST: i128 = 4_000_000_000_000;

/// An interval. Its parts are whole numbers, from columns or public.
#[derive(Clone, Default)]
pub(super) struct Interval {
    months: Option<Expr>,
    days: Option<Expr>,
    micros: Option<Expr>,
}

impl Interval {
    /// Whether it has hours or shorter units.
    pub(super) fn has_time(&self) -> bool {
        self.micros.is_some()
    }
}

/// Whether an expression is an interval, by its form.
pub(super) fn is_interval(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Interval(_) => true,
        ast::Expr::Nested(e) | ast::Expr::UnaryOp { op: U::Minus, expr: e } => is_interval(e),
        ast::Expr::BinaryOp { left, op: B::Multiply, right } => is_interval(left) || is_interval(right),
        ast::Expr::BinaryOp { left, op: B::Divide, .. } => is_interval(left),
        ast::Expr::BinaryOp { left, op: B::Plus | B::Minus, right } => {
            is_interval(left) && is_interval(right)
        }
        _ => false,
    }
}

impl<'q> Binder<'q> {
    /// An interval, if the expression has the form of one.
    pub(super) fn interval(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        expr: &'q ast::Expr,
    ) -> Result<Interval, Fault> {
        let at = At::of(expr);
        match expr {
            ast::Expr::Nested(e) => self.interval(env, calls, e),
            ast::Expr::UnaryOp { op: U::Minus, expr } => {
                let of = self.interval(env, calls, expr)?;
                self.scaled(of, &whole(-1), at)
            }
            ast::Expr::BinaryOp { left, op: B::Multiply, right } => {
                let (of, by) = if is_interval(left) { (left, right) } else { (right, left) };
                let by = self.expr(env, calls, by)?;
                let of = self.interval(env, calls, of)?;
                self.scaled(of, &by, at)
            }
            ast::Expr::BinaryOp { left, op: B::Divide, right } => {
                let (of, by) = (self.interval(env, calls, left)?, self.expr(env, calls, right)?);
                self.divided(of, &by, at)
            }
            ast::Expr::BinaryOp { left, op, right } => {
                let (a, b) = (self.interval(env, calls, left)?, self.interval(env, calls, right)?);
                let b = if *op == B::Minus { self.scaled(b, &whole(-1), at)? } else { b };
                self.sum(a, b, at)
            }
            ast::Expr::Interval(interval) => self.written(env, calls, interval, at),
            _ => Err(refused_at(at, "this is no interval", "write it as INTERVAL '3' MONTH")),
        }
    }

    fn scaled(&self, of: Interval, by: &Expr, at: At) -> Result<Interval, Fault> {
        let times = |part: Option<Expr>| {
            part.map(|part| self.arithmetic(Arithmetic::Multiply, part, by.clone(), at)).transpose()
        };
        Ok(Interval { months: times(of.months)?, days: times(of.days)?, micros: times(of.micros)? })
    }

    /// Divides an interval. Months stay whole; days and time are divided together, so half a day is
    /// 12 hours.
    fn divided(&self, of: Interval, by: &Expr, at: At) -> Result<Interval, Fault> {
        let whole_of = |part: Expr| self.arithmetic(Arithmetic::DivideWhole, part, by.clone(), at);
        let months = of.months.map(whole_of).transpose()?;
        let divides = |days: &Expr| {
            let number = |e: &Expr| self.constant(e).ok().filter(|_| e.columns().is_empty())?.number();
            let (days, by) = (number(days)?, number(by)?);
            (by != 0 && days % by == 0).then(|| whole(days / by))
        };
        if let (Some(days), None) = (of.days.as_ref().and_then(divides), &of.micros) {
            return Ok(Interval { months, days: Some(days), micros: None });
        }
        let days = of.days.map(|days| self.arithmetic(Arithmetic::Multiply, days, whole(DAY), at));
        let days = Interval { micros: days.transpose()?, ..Interval::default() };
        let time = self.sum(days, Interval { micros: of.micros, ..Interval::default() }, at)?;
        Ok(Interval { months, days: None, micros: time.micros.map(whole_of).transpose()? })
    }

    fn sum(&self, a: Interval, b: Interval, at: At) -> Result<Interval, Fault> {
        let both = |a: Option<Expr>, b: Option<Expr>| match (a, b) {
            (Some(a), Some(b)) => self.arithmetic(Arithmetic::Add, a, b, at).map(Some),
            (a, b) => Ok(a.or(b)),
        };
        Ok(Interval {
            months: both(a.months, b.months)?,
            days: both(a.days, b.days)?,
            micros: both(a.micros, b.micros)?,
        })
    }

    fn written(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        interval: &'q ast::Interval,
        at: At,
    ) -> Result<Interval, Fault> {
        let wrong = |cause: &str| {
            Err(refused_at(
                at,
                cause,
                "write it as INTERVAL '3' MONTH, INTERVAL '90 minutes' or INTERVAL (n) DAY",
            ))
        };
        if interval.last_field.is_some() || interval.leading_precision.is_some() {
            return wrong("an interval of two units or with a precision");
        }
        let unit = interval.leading_field.as_ref().map(|unit| unit.to_string().to_ascii_lowercase());
        let text = match interval.value.as_ref() {
            ast::Expr::Value(value) => match &value.value {
                ast::Value::SingleQuotedString(text) | ast::Value::Number(text, _) => text.clone(),
                _ => return wrong("an interval that is no number"),
            },
            expr => {
                let Some(unit) = &unit else { return wrong("an interval without a unit") };
                let count = self.expr(env, calls, expr)?;
                let Some(one) = part(unit, &whole(1)) else { return wrong("an interval of another unit") };
                return self.scaled(one, &count, at);
            }
        };
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if let (Some(unit), 1) = (&unit, words.len()) {
            words.push(unit);
        }
        let mut made = Interval::default();
        for pair in words.chunks(2) {
            let &[digits, unit] = pair else { return wrong("an interval without a unit") };
            let Ok(n) = digits.parse::<i128>() else { return wrong("an interval that is no whole number") };
            if n.unsigned_abs() > MOST.unsigned_abs() {
                return wrong("an interval of more than four trillion units");
            }
            let Some(part) = part(&unit.to_ascii_lowercase(), &whole(n)) else {
                return wrong("an interval of another unit");
            };
            made = self.sum(made, part, at)?;
        }
        Ok(made)
    }

    /// A date or a timestamp, moved by an interval.
    pub(super) fn moved(&self, of: Expr, by: Interval, back: bool, at: At) -> Result<Expr, Fault> {
        let by = if back { self.scaled(by, &whole(-1), at)? } else { by };
        let mut made = of;
        let ty = self.dated(&made, at)?;
        let number =
            |e: &Expr| self.constant(e).ok().filter(|_| e.columns().is_empty()).and_then(|v| v.number());
        let leaves = || Err(refused_at(at, "the date leaves the years 1 to 9999", "move it by less"));
        let unit = if ty == ColumnType::Timestamp { DAY } else { 1 };
        if let Some(months) = by.months {
            made = match (&made, number(&months)) {
                (Expr::Literal(Value::Number(n), _), Some(months)) => {
                    let Some(day) = months_later(n.div_euclid(unit), months) else { return leaves() };
                    Expr::Literal(Value::Number(day * unit + n.rem_euclid(unit)), ty)
                }
                _ => self.call("add_months", vec![made, months], at)?,
            };
        }
        if let Some(days) = by.days {
            made = match (&made, number(&days)) {
                (Expr::Literal(Value::Number(n), _), Some(days)) => {
                    let Some(day) = days_later(n.div_euclid(unit), days) else { return leaves() };
                    Expr::Literal(Value::Number(day * unit + n.rem_euclid(unit)), ty)
                }
                (_, Some(days)) => made.arithmetic(Arithmetic::Add, whole(days * unit)),
                _ => {
                    let steps = self.arithmetic(Arithmetic::Multiply, days, whole(unit), at)?;
                    made.arithmetic(Arithmetic::Add, steps)
                }
            };
        }
        if let Some(micros) = by.micros {
            let at = if ty == ColumnType::Date { made.cast(ColumnType::Timestamp) } else { made };
            made = at.arithmetic(Arithmetic::Add, micros);
        }
        Ok(made)
    }

    /// An interval of days and times in microseconds, like the difference of two timestamps.
    pub(super) fn as_micros(&self, of: Interval, at: At) -> Result<Expr, Fault> {
        if of.months.is_some() {
            let cause = "an interval of months has no length of its own";
            return Err(refused_at(at, cause, "add it to a date, or write it in days"));
        }
        let days =
            of.days.map(|days| self.arithmetic(Arithmetic::Multiply, days, whole(DAY), at)).transpose()?;
        let whole_of = Interval { micros: days, ..Interval::default() };
        let sum = self.sum(whole_of, Interval { micros: of.micros, ..Interval::default() }, at)?;
        Ok(match sum.micros.unwrap_or(whole(0)) {
            Expr::Literal(value, _) => Expr::Literal(value, ColumnType::Interval),
            micros => {
                let one = Expr::Literal(Value::Number(1), ColumnType::Interval);
                self.arithmetic(Arithmetic::Multiply, micros, one, at)?
            }
        })
    }
}

/// An interval of a number of units.
fn part(unit: &str, n: &Expr) -> Option<Interval> {
    let times = |n: &Expr, by: i128| match n {
        Expr::Literal(Value::Number(n), ty) => Expr::Literal(Value::Number(n * by), *ty),
        other => other.clone(),
    };
    let (months, days, micros) = match unit.trim_end_matches('s') {
        "year" => (12, 0, 0),
        "quarter" => (3, 0, 0),
        "month" => (1, 0, 0),
        "week" => (0, 7, 0),
        "day" => (0, 1, 0),
        "hour" => (0, 0, 3_600_000_000),
        "minute" | "min" => (0, 0, 60_000_000),
        "second" | "sec" => (0, 0, 1_000_000),
        "millisecond" => (0, 0, 1000),
        "microsecond" => (0, 0, 1),
        _ => return None,
    };
    let of = |by: i128| (by > 0).then(|| times(n, by));
    Some(Interval { months: of(months), days: of(days), micros: of(micros) })
}
