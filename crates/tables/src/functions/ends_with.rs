//! The SQL function ENDS_WITH.

use super::{
    FnDef, Leaks, Meaning,
    starts_with::{escaped, like},
};
use crate::algebra::{Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ends_with", "suffix"],
    arity: 2..=2,
    usage: "ENDS_WITH(text, part)",
    gives: "BOOLEAN",
    doc: "whether the text ends with the part, a literal",
    example: "ENDS_WITH(name, 'Berg')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [text, part] = arguments.exactly()?;
        match &part {
            Expr::Literal(Value::Text(bytes), _) => Ok(like(text, format!("%{}", escaped(bytes)))),
            _ => Err(arguments.unsupported(
                "ENDS_WITH of a part that is no literal",
                "write RIGHT(text, LENGTH(part)) = part",
            )),
        }
    }),
};
