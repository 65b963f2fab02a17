//! Binds functions of the time. The time of a query is a term that all members agree on, not a
//! member's own clock.

use super::Binder;
use crate::{
    Fault,
    cell::DAY,
    error::{At, fault, refused_at},
};
use hushwire_fault::code;
use hushwire_tables::algebra::{ColumnType, Expr, Value};
use sqlparser::ast;

impl Binder<'_> {
    /// The value of a function of the time; `None` if the name belongs to another function.
    pub(super) fn of_clock(&self, name: &str, args: &[&ast::Expr], at: At) -> Result<Option<Expr>, Fault> {
        let ty = match name {
            "current_date" | "curdate" | "today" | "utc_date" => ColumnType::Date,
            "now"
            | "current_timestamp"
            | "localtimestamp"
            | "transaction_timestamp"
            | "sysdate"
            | "getdate"
            | "getutcdate"
            | "current_datetime"
            | "sysdatetime" => ColumnType::Timestamp,
            _ => return Ok(None),
        };
        if !args.is_empty() {
            let (found, expected) = (args.len(), 0);
            let fields: [(_, &dyn std::fmt::Display); 3] =
                [("function", &name), ("found", &found), ("expected", &expected)];
            return Err(fault(at, code::ARGUMENTS, &fields));
        }
        let Some(now) = self.options.now.map(i128::from) else {
            let cause = format!("{} has no value here", name.to_uppercase());
            let remedy =
                "give the query a time that all members agree on, in the job: now = \"2026-11-28 12:00:00\"";
            return Err(refused_at(at, cause, remedy));
        };
        let value = if ty == ColumnType::Date { now.div_euclid(DAY) } else { now };
        Ok(Some(Expr::Literal(Value::Number(value), ty)))
    }
}
