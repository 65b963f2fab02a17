//! The SQL function ROUND.

use super::{Arguments, FnDef, Leaks, Meaning, Reader, call};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Value, whole},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["round"],
    arity: 1..=2,
    usage: "ROUND(number, digits)",
    gives: "DECIMAL with `digits` digits after the point; the number's own type if it has no more",
    doc: "the nearest number with `digits` digits after the point; `digits` is a literal, 0 if left out, and below 0 for tens; halves are rounded away from 0",
    example: "ROUND(price, 1)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(bind),
};

/// The multiple of 10^`digits` that is nearest to `of`: half of 10^`digits` is added away from 0,
/// and the digits below are cut off.
fn tens(reader: Reader<'_>, of: &Expr, digits: u32) -> Result<Expr, Fault> {
    use Arithmetic::{Add, Divide, Multiply, Subtract};
    let unit = 10i128.pow(digits);
    let moved = |op| reader.arithmetic(op, of.clone(), whole(unit / 2));
    let below = reader.compared(Comparison::Less, of.clone(), whole(0))?;
    let away =
        Expr::Case { branches: vec![(below, moved(Subtract)?)], otherwise: Some(Box::new(moved(Add)?)) };
    let cut = call("trunc", vec![reader.arithmetic(Divide, away, whole(unit))?], reader)?;
    reader.arithmetic(Multiply, cut, whole(unit))
}

fn bind(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let (a, scale) =
        match &arguments.all[..] {
            [a] => (a, 0),
            [a, Expr::Literal(Value::Number(n @ 0..=38), ty)] if ty.is_integer() => (a, *n as u8),
            [a, Expr::Literal(Value::Number(n @ -18..=-1), ty)] if ty.is_integer() => {
                return tens(arguments.reader, a, n.unsigned_abs() as u32);
            }
            [_, _] => return Err(arguments.unsupported(
                "ROUND to digits that are no whole literal from -18 to 38",
                "write a whole number, as in ROUND(price, 2), or ROUND(price * 10 ** digits) / 10 ** digits",
            )),
            _ => return Err(arguments.wrong_count("1 or 2")),
        };
    match arguments.reader.ty(a)? {
        ColumnType::Decimal { precision, scale: own } if scale < own => {
            // The result has one more digit before the point: 9.9 becomes 10.
            let precision = (precision - own + scale + 1).min(38);
            Ok(a.clone().cast(ColumnType::Decimal { precision, scale }))
        }
        // A double has no decimal digits.
        ColumnType::Double { .. } => {
            Ok(a.clone().cast(ColumnType::Decimal { precision: 38, scale: scale.min(18) }))
        }
        ty if ty.is_integer() || matches!(ty, ColumnType::Decimal { .. }) => Ok(a.clone()),
        ty => Err(arguments.unsupported(
            &format!("ROUND of {ty}"),
            "give it a number: CAST a text to DECIMAL(12, 2), and take DATE_TRUNC of a time",
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::{int, numbers, refused, values},
    };
    use hushwire_fault::code;

    #[test]
    fn halves_go_away_from_0() {
        let column = Column::new("x", ColumnType::Decimal { precision: 4, scale: 2 }).nullable();
        let given = [(column, numbers([Some(9996), Some(-9996), Some(245), Some(-245), Some(244), None]))];
        let whole = numbers([Some(100), Some(-100), Some(2), Some(-2), Some(2), None]);
        assert_eq!(values("round", &given, &[]), whole);
        let tenths = numbers([Some(1000), Some(-1000), Some(25), Some(-25), Some(24), None]);
        assert_eq!(values("round", &given, &[int(1)]), tenths);
        assert_eq!(values("round", &given, &[int(2)]), given[0].1);
        let thousands = numbers([Some(0), Some(0), Some(0), Some(0), Some(0), None]);
        assert_eq!(values("round", &given, &[int(-3)]), thousands);
        let tens = numbers([Some(100), Some(-100), Some(0), Some(0), Some(0), None]);
        assert_eq!(values("round", &given, &[int(-1)]), tens);
    }

    #[test]
    fn integers_round_to_tens() {
        let given = [(Column::new("n", ColumnType::Integer), numbers([Some(1499), Some(1500), Some(-1500)]))];
        assert_eq!(values("round", &given, &[int(-3)]), numbers([Some(1000), Some(2000), Some(-2000)]));
        assert_eq!(values("round", &given, &[]), given[0].1);
    }

    #[test]
    fn digits_are_a_whole_literal() {
        // Digits of -1.5, as their smallest unit, are -15.
        let tenths = Expr::literal(Value::Number(-15), ColumnType::Decimal { precision: 2, scale: 1 });
        for digits in [int(-19), int(39), tenths] {
            let error = refused("round", &[int(5), digits]);
            assert_eq!(error.map(|e| e.code()), Some(code::SQL_UNSUPPORTED));
        }
    }
}
