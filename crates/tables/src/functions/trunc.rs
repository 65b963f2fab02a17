//! The SQL function TRUNC.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::{ColumnType, Expr, Value};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["trunc", "truncate"],
    arity: 1..=2,
    usage: "TRUNC(number, digits)",
    gives: "as ROUND",
    doc: "the number without its digits from `digits` behind the point on; `digits` is a literal, 0 if left out",
    example: "TRUNC(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let of = arguments.all[0].clone();
        let digits = match arguments.all.get(1) {
            None => 0,
            Some(Expr::Literal(Value::Number(n @ 0..=18), ty)) if ty.is_integer() => *n as u8,
            Some(_) => {
                return Err(arguments.unsupported(
                    "TRUNC to digits that are no literal from 0 to 18",
                    "write a whole number from 0 to 18, as in TRUNC(price, 2)",
                ));
            }
        };
        // The number is scaled so that FLOOR and CEIL cut at the wanted digit.
        let ten = |n: u8| Expr::Literal(Value::Number(10i128.pow(n.into())), ColumnType::BigInt);
        let reader = arguments.reader;
        use crate::algebra::Arithmetic::{Divide, Multiply};
        let scaled =
            if digits == 0 { of.clone() } else { reader.arithmetic(Multiply, of.clone(), ten(digits))? };
        let zero = Expr::Literal(Value::Number(0), ColumnType::Integer);
        let below = reader.compared(Comparison::Less, of, zero)?;
        let mut both = reader.united(vec![
            call("ceil", vec![scaled.clone()], reader)?,
            call("floor", vec![scaled], reader)?,
        ])?;
        let otherwise = both.pop().map(Box::new);
        let cut = Expr::Case { branches: vec![(below, both.swap_remove(0))], otherwise };
        if digits == 0 { Ok(cut) } else { reader.arithmetic(Divide, cut, ten(digits)) }
    }),
};
