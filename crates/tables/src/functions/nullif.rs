//! The SQL function NULLIF.

use super::{Arguments, FnDef, Leaks, Meaning};
use crate::{
    Fault,
    algebra::{Expr, Value},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["nullif"],
    arity: 2..=2,
    usage: "NULLIF(value, other)",
    gives: "the value's type",
    doc: "NULL where the value equals the other one, else the value",
    example: "NULLIF(n, 7)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(bind),
};

fn bind(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [a, b] = arguments.exactly()?;
    let null = Expr::Literal(Value::Null, arguments.reader.ty(&a)?);
    let same = arguments.reader.compared(Comparison::Equal, a.clone(), b)?;
    Ok(Expr::Case { branches: vec![(same, null)], otherwise: Some(Box::new(a)) })
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn equal_values_are_null() {
        let column = |name| Column::new(name, ColumnType::Integer).nullable();
        let given = [
            (column("x"), numbers([Some(1), Some(1), Some(1), None, None])),
            (column("y"), numbers([Some(1), Some(2), None, Some(1), None])),
        ];
        assert_eq!(values("nullif", &given, &[]), numbers([None, Some(1), Some(1), None, None]));
    }
}
