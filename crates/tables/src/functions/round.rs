//! ROUND.

use super::{Arguments, FnDef, Leaks, Meaning};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, Value},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["round"],
    arity: 1..=2,
    usage: "ROUND(number, digits)",
    gives: "DECIMAL with `digits` digits after the point; the number's own type if it has no more",
    doc: "the nearest number with `digits` digits after the point; `digits` is a literal, 0 if left out; halves are rounded away from 0",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(bind),
};

fn bind(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let (a, scale) = match &arguments.all[..] {
        [a] => (a, 0),
        [a, Expr::Literal(Value::Number(n @ 0..=38), ty)] if ty.is_integer() => (a, *n as u8),
        [_, _] => return Err(arguments.unsupported("ROUND to digits that are no literal")),
        _ => return Err(arguments.wrong_count("1 or 2")),
    };
    match arguments.reader.ty(a)? {
        ColumnType::Decimal { precision, scale: has } if scale < has => {
            // One more digit before the point: 9.9 becomes 10.
            let precision = (precision - has + scale + 1).min(38);
            Ok(a.clone().cast(ColumnType::Decimal { precision, scale }))
        }
        // A double has no decimal digits.
        ColumnType::Double { .. } => {
            Ok(a.clone().cast(ColumnType::Decimal { precision: 38, scale: scale.min(18) }))
        }
        ty if ty.is_integer() || matches!(ty, ColumnType::Decimal { .. }) => Ok(a.clone()),
        ty => Err(arguments.unsupported(&format!("ROUND of {ty}"))),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
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
        let minus = refused("round", &[int(5), int(-1)]);
        assert_eq!(minus.map(|e| e.code()), Some(code::SQL_UNSUPPORTED));
    }
}
