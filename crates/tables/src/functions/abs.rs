//! The SQL function ABS.

use super::{Arguments, FnDef, Leaks, Meaning};
use crate::{
    Fault,
    algebra::{Expr, Value},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["abs"],
    arity: 1..=1,
    usage: "ABS(number)",
    gives: "the number's type; BIGINT for a whole number",
    doc: "the number without its sign",
    example: "ABS(k)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(bind),
};

fn bind(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [a] = arguments.exactly()?;
    // The absolute value of a type's least number fits only the next wider type.
    let a = arguments.reader.wide(a)?;
    let ty = arguments.reader.ty(&a)?;
    let below = a.clone().compare(Comparison::Less, Expr::Literal(Value::Number(0), ty));
    let branches = vec![(below, Expr::Negate(Box::new(a.clone())))];
    Ok(Expr::Case { branches, otherwise: Some(Box::new(a)) })
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn the_least_number_of_a_type_has_one() {
        let column = Column::new("x", ColumnType::SmallInt).nullable();
        let given = numbers([Some(-32_768), Some(32_767), Some(-1), Some(0), None]);
        let expected = [Some(32_768), Some(32_767), Some(1), Some(0), None];
        assert_eq!(values("abs", &[(column, given)], &[]), numbers(expected));
    }
}
