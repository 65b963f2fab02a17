//! The SQL function RADIANS.

use super::{FnDef, Leaks, Meaning, call, real::real};
use crate::algebra::{Arithmetic, ColumnType, Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["radians"],
    arity: 1..=1,
    usage: "RADIANS(number)",
    gives: "DOUBLE",
    doc: "degrees in radians",
    example: "RADIANS(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [number] = arguments.exactly()?;
        let number = real(arguments, number)?;
        let turned = arguments.reader.arithmetic(
            Arithmetic::Multiply,
            number,
            call("pi", vec![], arguments.reader)?,
        )?;
        let half = Expr::Literal(Value::Number(180), ColumnType::Integer);
        arguments.reader.arithmetic(Arithmetic::Divide, turned, half)
    }),
};
