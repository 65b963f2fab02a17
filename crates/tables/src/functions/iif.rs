//! The SQL function IF.

use super::{FnDef, Leaks, Meaning};
use crate::algebra::{ColumnType, Expr, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["if", "iif"],
    arity: 2..=3,
    usage: "IF(condition, value, other)",
    gives: "the values' common type",
    doc: "the value where the condition is true, else the other one, NULL if it is left out",
    example: "IF(n > 5, 'many', 'few')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let condition = arguments.reader.condition(arguments.all[0].clone())?;
        let mut values = arguments.all[1..].to_vec();
        values.resize(2, Expr::Literal(Value::Null, ColumnType::Boolean));
        let mut values = arguments.reader.united(values)?;
        let otherwise = values.pop().map(Box::new);
        Ok(Expr::Case { branches: vec![(condition, values.swap_remove(0))], otherwise })
    }),
};
