//! The SQL function PI.

use super::{FnDef, Leaks, Meaning};
use crate::algebra::{ColumnType, Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["pi"],
    arity: 0..=0,
    usage: "PI()",
    gives: "DECIMAL",
    doc: "3.141592653589793",
    example: "PI()",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|_| {
        let ty = ColumnType::Decimal { precision: 16, scale: 15 };
        Ok(Expr::Literal(Value::Number(3_141_592_653_589_793), ty))
    }),
};
