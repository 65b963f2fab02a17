//! The SQL function LEFT.

use super::{FnDef, Leaks, Meaning, call, slice::slice};
use crate::algebra::{Arithmetic, Expr, Value, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["left"],
    arity: 2..=2,
    usage: "LEFT(text, count)",
    gives: "VARCHAR",
    doc: "the first characters; without the last ones if the count is below 0",
    example: "LEFT(name, 4)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [text, count] = arguments.exactly()?;
        let reader = arguments.reader;
        match &count {
            Expr::Literal(Value::Number(0..), ty) if ty.is_integer() => {
                call("substring", vec![text, whole(1), count], reader)
            }
            Expr::Literal(Value::Number(_), _) => {
                let length = call("length", vec![text.clone()], reader)?;
                slice(text, whole(0), reader.arithmetic(Arithmetic::Add, length, count)?, reader)
            }
            _ => slice(text, whole(0), count, reader),
        }
    }),
};
