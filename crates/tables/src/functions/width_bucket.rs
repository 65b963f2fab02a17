//! The SQL function WIDTH_BUCKET.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::{Arithmetic, ColumnType, Expr, Value};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["width_bucket"],
    arity: 4..=4,
    usage: "WIDTH_BUCKET(number, low, high, count)",
    gives: "BIGINT",
    doc: "the number, from 1, of the bucket among `count` equal ones from `low` to `high`; 0 below them, `count` + 1 above",
    example: "WIDTH_BUCKET(n, 0, 10, 5)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        use Arithmetic::{Add, Divide, Multiply, Subtract};
        let [of, low, high, count] = arguments.exactly()?;
        let reader = arguments.reader;
        let whole = |n| Expr::Literal(Value::Number(n), ColumnType::BigInt);
        let place = reader.arithmetic(Subtract, of.clone(), low.clone())?;
        let place = reader.arithmetic(Multiply, place, count.clone())?;
        let width = reader.arithmetic(Subtract, high.clone(), low.clone())?;
        let place = call("floor", vec![reader.arithmetic(Divide, place, width)?], reader)?;
        let place = reader.arithmetic(Add, place.cast(ColumnType::BigInt), whole(1))?;
        let below = reader.compared(Comparison::Less, of.clone(), low)?;
        let above = reader.compared(Comparison::GreaterOrEqual, of, high)?;
        let over = reader.arithmetic(Add, count, whole(1))?;
        let branches = vec![(below, whole(0)), (above, over)];
        Ok(Expr::Case { branches, otherwise: Some(Box::new(place)) })
    }),
};
