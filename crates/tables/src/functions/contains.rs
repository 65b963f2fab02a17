//! The SQL function CONTAINS.

use super::{
    FnDef, Leaks, Meaning, call,
    starts_with::{escaped, like},
};
use crate::algebra::{Expr, Value, whole};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["contains"],
    arity: 2..=2,
    usage: "CONTAINS(text, part)",
    gives: "BOOLEAN",
    doc: "whether the part is within the text",
    example: "CONTAINS(name, 'Berg')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [text, part] = arguments.exactly()?;
        match &part {
            Expr::Literal(Value::Text(bytes), _) => Ok(like(text, format!("%{}%", escaped(bytes)))),
            _ => {
                let place = call("strpos", vec![text, part], arguments.reader)?;
                arguments.reader.compared(Comparison::GreaterOrEqual, place, whole(1))
            }
        }
    }),
};
