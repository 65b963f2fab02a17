//! The SQL function COALESCE.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::{as_call, of_one_type},
};
use crate::{
    algebra::{Expr, ExprType, Value},
    lower::cell::{Cell, both, choose},
    plain::converted,
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["coalesce", "ifnull", "nvl"],
    arity: 1..=usize::MAX,
    usage: "COALESCE(value, …)",
    gives: "the values' common type",
    doc: "the first value that is not NULL",
    example: "COALESCE(nothing, n)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&COALESCE, of_one_type),
};

pub(crate) static COALESCE: Primitive = Primitive {
    name: "COALESCE",
    strict: false,
    by: ComputedBy::Parties,
    check: |operands| {
        Ok(ExprType { nullable: operands.types.iter().all(|t| t.nullable), ..operands.united()? })
    },
    plain: |typed, values| {
        let first = values.into_iter().enumerate().find(|(_, value)| !value.is_null());
        first.map_or(Value::Null, |(at, value)| converted(value, typed.ty(at), typed.own.ty))
    },
    lower: |typed, cells| {
        let all = cells.iter().rev().map(|cell| cell.united(typed.own.ty, typed.own.range));
        let first = all.reduce(|rest, cell| match cell.null {
            Some(null) => {
                let made = choose(null, rest, Cell { null: None, ..cell });
                Cell { null: both(Some(null), rest.null).filter(|_| rest.null.is_some()), ..made }
            }
            None => cell,
        });
        first.expect("the check refuses no values at all")
    },
    shown: as_call,
};

/// The first of the values that is not NULL, in their common type.
#[must_use]
pub fn coalesce(values: Vec<Expr>) -> Expr {
    COALESCE.call(values, vec![])
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn the_first_value_counts() {
        let decimal = ColumnType::Decimal { precision: 5, scale: 2 };
        let x = Column::new("x", ColumnType::Integer).nullable();
        let y = Column::new("y", decimal).nullable();
        let given =
            [(x, numbers([Some(7), None, Some(0), None])), (y, numbers([Some(1), Some(250), None, None]))];
        assert_eq!(values("coalesce", &given, &[]), numbers([Some(700), Some(250), Some(0), None]));
        assert_eq!(values("ifnull", &given[..1], &[]), given[0].1);
    }
}
