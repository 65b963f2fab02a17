//! The SQL function TO_TIMESTAMP.

use super::{Arguments, FnDef, Leaks, Meaning};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Value, whole},
    error::refused,
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["to_timestamp", "from_unixtime", "timestamp_seconds"],
    arity: 1..=2,
    usage: "TO_TIMESTAMP(seconds)",
    gives: "TIMESTAMP",
    doc: "the time that many seconds after 1970-01-01 00:00, in UTC",
    example: "TO_TIMESTAMP(n * 100000.5)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(bind),
};

fn bind(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let reader = arguments.reader;
    let of = match &arguments.all[..] {
        [Expr::Literal(Value::Null, _)] => {
            return Ok(Expr::Literal(Value::Null, ColumnType::Timestamp));
        }
        [of] => of.clone(),
        _ => {
            let name = arguments.name.to_uppercase();
            let remedy = "write STRPTIME(text, '%d.%m.%Y') for a text, and STRFTIME(TO_TIMESTAMP(n), '%d.%m.%Y') for a text of a number";
            return Err(arguments.unsupported(&format!("{name} with a format"), remedy));
        }
    };
    let ty = reader.ty(&of)?;
    if !ty.is_numeric() {
        return Err(refused(
            format!("a time is made of {ty}"),
            "give it a number of seconds: a text's time is CAST(text AS TIMESTAMP) or STRPTIME(text, '%d.%m.%Y %H:%M')",
        ));
    }
    let micros = reader.arithmetic(Arithmetic::Multiply, of, whole(1_000_000))?;
    let micros = match ty {
        ColumnType::SmallInt | ColumnType::Integer => micros,
        _ => micros.cast(ColumnType::BigInt),
    };
    let first = Expr::Literal(Value::Number(0), ColumnType::Timestamp);
    Ok(first.arithmetic(Arithmetic::Add, micros))
}

#[cfg(test)]
mod tests {
    use crate::algebra::Expr;
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{in_open, numbers, refused, values},
    };

    #[test]
    fn seconds_are_counted_from_1970() {
        let whole = Column::new("n", ColumnType::Integer).nullable();
        let given = numbers([Some(0), Some(1_709_214_310), Some(-1), Some(i128::from(i32::MIN)), None]);
        let expected = [
            Some(0),
            Some(1_709_214_310_000_000),
            Some(-1_000_000),
            Some(i128::from(i32::MIN) * 1_000_000),
            None,
        ];
        assert_eq!(values("to_timestamp", &[(whole, given)], &[]), numbers(expected));
        let ty = ColumnType::Decimal { precision: 12, scale: 2 };
        let parts = Column::new("x", ty).nullable();
        let given = numbers([Some(150), Some(-25), None]);
        let expected = numbers([Some(1_500_000), Some(-250_000), None]);
        assert_eq!(values("to_timestamp", &[(parts, given)], &[]), expected);
        let large = Column::new("x", ColumnType::BigInt);
        let given = numbers([Some(i128::from(i64::MAX)), Some(253_402_300_799)]);
        let expected = numbers([None, Some(253_402_300_799_000_000)]);
        assert_eq!(values("to_timestamp", &[(large, given)], &[]), expected);
        let null = Expr::literal(Value::Null, ColumnType::Boolean);
        assert_eq!(in_open("to_timestamp", vec![null]), Value::Null);
    }

    #[test]
    fn texts_and_formats_are_refused() {
        let text = |of: &str| Expr::literal(Value::text(of), ColumnType::Varchar(20));
        for all in [vec![text("2024-01-01")], vec![text("01.02.2024"), text("DD.MM.YYYY")]] {
            let error = refused("to_timestamp", &all).unwrap_or_else(|| panic!("{all:?}"));
            assert!(error.remedy().contains("STRPTIME"), "{error}");
        }
    }
}
