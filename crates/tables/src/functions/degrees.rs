//! The SQL function DEGREES.

use super::{FnDef, Leaks, Meaning, call, real::real};
use crate::algebra::{Arithmetic, ColumnType, Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["degrees"],
    arity: 1..=1,
    usage: "DEGREES(number)",
    gives: "DOUBLE",
    doc: "radians in degrees",
    example: "DEGREES(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [number] = arguments.exactly()?;
        let number = real(arguments, number)?;
        let half = Expr::Literal(Value::Number(180), ColumnType::Integer);
        let turned = arguments.reader.arithmetic(Arithmetic::Multiply, number, half)?;
        arguments.reader.arithmetic(Arithmetic::Divide, turned, call("pi", vec![], arguments.reader)?)
    }),
};
