//! Binds literals of a query's text.

use crate::{
    Fault,
    error::{At, refused, refused_at, unsupported},
};
use hushwire_fault::code;
use hushwire_tables::algebra::{ColumnType, Expr, MAX_DIGITS, MAX_TEXT, Value};
use sqlparser::ast;
use std::fmt::Display;

/// A literal.
pub(super) fn literal(value: &ast::ValueWithSpan) -> Result<Expr, Fault> {
    let at = value.span;
    Ok(match &value.value {
        ast::Value::Number(digits, _) => number(digits).map_err(|e| e.placed(At::from(at).0))?,
        ast::Value::SingleQuotedString(text) => string(text).map_err(|e| e.placed(At::from(at).0))?,
        ast::Value::Boolean(truth) => crate::logical::truth(*truth),
        ast::Value::Null => Expr::Literal(Value::Null, ColumnType::Boolean),
        ast::Value::Placeholder(_) => return Err(unsupported(at, "a parameter")),
        other => return Err(unsupported(at, &format!("a literal as {other}"))),
    })
}

/// Digits with or without a point: an integer takes 32 or 64 bits; any other number is a decimal
/// with exactly the written digits.
fn number(digits: &str) -> Result<Expr, Fault> {
    let wrong = || {
        let fields: [(_, &dyn Display); 3] = [
            ("value", &digits),
            ("type", &"number of at most 38 digits"),
            ("form", &"at most 38 digits, without an exponent"),
        ];
        Fault::filled(code::VALUE, &fields)
    };
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let all: String = [whole.trim_start_matches('0'), behind].concat();
    let steps: i128 = if all.is_empty() { Ok(0) } else { all.parse() }.map_err(|_| wrong())?;
    let ty = match digits.contains('.') {
        false if steps <= i32::MAX.into() => ColumnType::Integer,
        false if steps <= i64::MAX.into() => ColumnType::BigInt,
        _ => decimal_of(&all, behind.len()).ok_or_else(wrong)?,
    };
    Ok(Expr::Literal(Value::Number(steps), ty))
}

fn decimal_of(all: &str, scale: usize) -> Option<ColumnType> {
    let precision = u8::try_from(all.len().max(scale).max(1)).ok().filter(|p| *p <= MAX_DIGITS)?;
    Some(ColumnType::Decimal { precision, scale: scale as u8 })
}

fn string(text: &str) -> Result<Expr, Fault> {
    if text.contains('\0') || text.len() > usize::from(MAX_TEXT) {
        return Err(refused(
            format!("a string of {} bytes, or with a zero byte", text.len()),
            format!("write at most {MAX_TEXT} bytes, none of them 0"),
        ));
    }
    Ok(Expr::Literal(Value::text(text), ColumnType::Varchar((text.len() as u16).max(1))))
}

/// `DATE '…'` and `TIMESTAMP '…'`: the literal, the type that it is read as, and its place.
pub(super) fn typed(typed: &ast::TypedString) -> Result<(Expr, ColumnType, At), Fault> {
    let at: At = typed.value.span.into();
    let ty = match typed.data_type {
        ast::DataType::Date => ColumnType::Date,
        ast::DataType::Timestamp(None, ast::TimezoneInfo::None | ast::TimezoneInfo::WithoutTimeZone) => {
            ColumnType::Timestamp
        }
        ref other => return Err(unsupported(at, &format!("a literal of type {other}"))),
    };
    Ok((literal(&typed.value)?, ty, at))
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Calendar months.
    Months(i128),
    /// Days.
    Days(i128),
}

/// `INTERVAL '3' MONTH`.
pub(super) fn interval(interval: &ast::Interval) -> Result<Span, Fault> {
    let at: At = interval.value.as_ref().into();
    let wrong =
        |cause: &str| Err(refused_at(at, cause, "write it as INTERVAL '3' MONTH, of days, months or years"));
    if interval.last_field.is_some() || interval.leading_precision.is_some() {
        return wrong("an interval of two units or with a precision");
    }
    let (text, unit) = match interval.value.as_ref() {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(text) => (text.clone(), None),
            ast::Value::Number(digits, _) => (digits.clone(), None),
            _ => return wrong("an interval that is no number"),
        },
        _ => return wrong("an interval that is no literal"),
    };
    // Some write '3 months' in one string.
    let (digits, unit) = match text.trim().split_once(' ') {
        Some((digits, unit)) => (digits.to_owned(), Some(unit.trim().to_ascii_lowercase())),
        None => (text.trim().to_owned(), unit),
    };
    let Ok(n) = digits.parse::<i128>() else { return wrong("an interval that is no whole number") };
    if n.unsigned_abs() > 4_000_000 {
        return wrong("an interval of more than four million units");
    }
    use ast::DateTimeField as F;
    match (&interval.leading_field, unit.as_deref()) {
        (Some(F::Day | F::Days), None) | (None, Some("day" | "days")) => Ok(Span::Days(n)),
        (Some(F::Week(None) | F::Weeks), None) | (None, Some("week" | "weeks")) => Ok(Span::Days(7 * n)),
        (Some(F::Month | F::Months), None) | (None, Some("month" | "months")) => Ok(Span::Months(n)),
        (Some(F::Year | F::Years), None) | (None, Some("year" | "years")) => Ok(Span::Months(12 * n)),
        _ => wrong("an interval of another unit"),
    }
}

/// A date, or a column of dates, shifted by a span.
pub(super) fn moved(expr: Expr, ty: ColumnType, by: Span, at: At) -> Result<Expr, Fault> {
    use hushwire_tables::algebra::Arithmetic;
    let unit = if ty == ColumnType::Timestamp { crate::cell::DAY } else { 1 };
    match (by, &expr) {
        (_, Expr::Literal(Value::Number(steps), _)) => {
            let (day, time) = (steps.div_euclid(unit), steps.rem_euclid(unit));
            let later = match by {
                Span::Days(n) => crate::cell::days_later(day, n),
                Span::Months(n) => crate::cell::months_later(day, n),
            };
            match later {
                Some(day) => Ok(Expr::Literal(Value::Number(day * unit + time), ty)),
                None => Err(refused_at(at, "the date leaves the years 1 to 9999", "move it by less")),
            }
        }
        (Span::Days(n), _) => {
            let steps = Expr::Literal(Value::Number(n * unit), ColumnType::BigInt);
            Ok(expr.arithmetic(Arithmetic::Add, steps))
        }
        (Span::Months(_), _) => Err(unsupported(at, "a column moved by months or years")),
    }
}
