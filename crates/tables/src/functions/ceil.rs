//! The SQL function CEIL, and the code that it shares with FLOOR.

use super::{Arguments, FnDef, Leaks, Meaning};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Value},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ceil", "ceiling"],
    arity: 1..=1,
    usage: "CEIL(number)",
    gives: "DECIMAL without digits after the point; the same type for a whole number",
    doc: "the least whole number that is not below it",
    example: "CEIL(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| next_whole(arguments, Comparison::Less, Arithmetic::Add)),
};

/// The nearest whole number, or the next one in direction `step` if the nearest is on the wrong
/// side of the number. The result has as many digits as it may need.
pub(super) fn next_whole(
    arguments: &Arguments<'_>,
    passed: Comparison,
    step: Arithmetic,
) -> Result<Expr, Fault> {
    let [of] = arguments.exactly()?;
    let ty = match arguments.reader.ty(&of)? {
        ty if ty.is_integer() => return Ok(of),
        ColumnType::Decimal { precision, scale } => {
            ColumnType::Decimal { precision: (precision - scale + 1).min(38), scale: 0 }
        }
        ColumnType::Double { .. } => ColumnType::Decimal { precision: 38, scale: 0 },
        ty => {
            return Err(arguments.unsupported(
                &format!("CEIL or FLOOR of {ty}"),
                "give it a number: CAST a text to DECIMAL(12, 2), and take DATE_TRUNC of a time",
            ));
        }
    };
    let nearest = of.clone().cast(ty);
    let one = Expr::Literal(Value::Number(1), ColumnType::Decimal { precision: 1, scale: 0 });
    let branches = vec![(nearest.clone().compare(passed, of), nearest.clone().arithmetic(step, one))];
    Ok(Expr::Case { branches, otherwise: Some(Box::new(nearest)) })
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn whole_numbers_stay_and_others_go_up() {
        let column = Column::new("x", ColumnType::Decimal { precision: 4, scale: 2 }).nullable();
        let given = numbers([Some(9999), Some(-9999), Some(200), Some(201), Some(-249), Some(-1), None]);
        let expected = [Some(100), Some(-99), Some(2), Some(3), Some(-2), Some(0), None];
        assert_eq!(values("ceil", &[(column, given)], &[]), numbers(expected));
    }
}
