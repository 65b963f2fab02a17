//! Binds literals of a query's text.

use crate::{
    Fault,
    error::{At, refused, unsupported},
};
use hushwire_fault::code;
use hushwire_tables::algebra::{ColumnType, Expr, MAX_DIGITS, MAX_TEXT, Value};
use sqlparser::ast;
use std::fmt::Display;

/// A literal.
pub(super) fn literal(value: &ast::ValueWithSpan) -> Result<Expr, Fault> {
    let at = value.span;
    Ok(match &value.value {
        ast::Value::Number(digits, _) => {
            number(&digits.replace('_', "")).map_err(|e| e.placed(At::from(at).0))?
        }
        ast::Value::SingleQuotedString(text) => string(text).map_err(|e| e.placed(At::from(at).0))?,
        ast::Value::Boolean(truth) => crate::logical::truth(*truth),
        ast::Value::Null => Expr::Literal(Value::Null, ColumnType::Boolean),
        ast::Value::Placeholder(_) => {
            return Err(unsupported(
                at,
                "a parameter",
                "give its value: --param name=value for :name; for each ? such a --param in order, under any name, as in --param a=7; or [parameters] of the job",
            ));
        }
        other => {
            return Err(unsupported(
                at,
                &format!("a literal as {other}"),
                "write a number, 'text', TRUE, FALSE, NULL, DATE '2026-11-28' or TIMESTAMP '2026-11-28 12:00:00'",
            ));
        }
    })
}

/// A number from digits with or without a point. An integer takes 32 or 64 bits. Any other number
/// is a decimal with exactly the written digits.
fn number(digits: &str) -> Result<Expr, Fault> {
    let wrong = || {
        let fields: [(_, &dyn Display); 3] = [
            ("value", &digits),
            ("type", &"number of at most 38 digits"),
            ("form", &"at most 38 digits, without an exponent"),
        ];
        Fault::filled(code::VALUE, &fields)
    };
    if let Some((size, power)) = digits.split_once(['e', 'E']) {
        // 1.5e3 has the digits of 1500.
        let power: i32 = power.parse().map_err(|_| wrong())?;
        let (whole, behind) = size.split_once('.').unwrap_or((size, ""));
        let all = format!("{whole}{behind}");
        let point = whole.len() as i32 + power;
        return match point {
            _ if power.abs() > 38 => Err(wrong()),
            ..=0 => number(&format!("0.{}{all}", "0".repeat(point.unsigned_abs() as usize))),
            point if point as usize >= all.len() => {
                number(&format!("{all:0<width$}", width = point as usize))
            }
            point => number(&format!("{}.{}", &all[..point as usize], &all[point as usize..])),
        };
    }
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
        ref other => {
            return Err(unsupported(
                at,
                &format!("a literal of type {other}"),
                "write DATE '2026-11-28' or TIMESTAMP '2026-11-28 12:00:00', or CAST('1.50' AS DECIMAL(9, 2))",
            ));
        }
    };
    Ok((literal(&typed.value)?, ty, at))
}
