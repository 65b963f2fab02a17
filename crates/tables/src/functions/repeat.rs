//! The SQL function REPEAT.

use super::{FnDef, Leaks, Meaning, concat::after, text};
use crate::algebra::{ColumnType, Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["repeat"],
    arity: 2..=2,
    usage: "REPEAT(text, count)",
    gives: "VARCHAR of that many times the length",
    doc: "the text, one after the other, a literal number of times",
    example: "REPEAT(name, 2)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let count = text::literal_number(arguments, 1, 0)?;
        if count > 64 {
            return Err(arguments.unsupported(
                "REPEAT of more than 64 times",
                "write a number from 0 to 64, or RPAD(text, length, text)",
            ));
        }
        let of = text::text(arguments.all[0].clone());
        let none = Expr::Literal(Value::text(""), ColumnType::Varchar(1));
        Ok((0..count).map(|_| of.clone()).reduce(after).unwrap_or(none))
    }),
};
