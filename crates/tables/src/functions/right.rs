//! The SQL function RIGHT.

use super::{FnDef, Leaks, Meaning, call, slice::slice};
use crate::algebra::{Arithmetic, Expr, Value, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["right"],
    arity: 2..=2,
    usage: "RIGHT(text, count)",
    gives: "the text's type",
    doc: "the last characters; without the first ones if the count is below 0",
    example: "RIGHT(name, 4)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [text, count] = arguments.exactly()?;
        let reader = arguments.reader;
        let length = call("length", vec![text.clone()], reader)?;
        let skip = match &count {
            Expr::Literal(Value::Number(n @ ..=-1), _) => whole(-n),
            _ => reader.arithmetic(Arithmetic::Subtract, length.clone(), count)?,
        };
        slice(text, skip, length, reader)
    }),
};
