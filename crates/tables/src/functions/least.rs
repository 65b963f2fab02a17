//! The SQL function LEAST.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::{as_call, of_one_type},
    greatest::{checked, chosen, lowered},
};
use crate::algebra::{ExprType, Range};
use core::cmp::Ordering;
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["least"],
    arity: 1..=usize::MAX,
    usage: "LEAST(value, …)",
    gives: "the values' common type",
    doc: "the least of the values that are not NULL; NULL if all are",
    example: "LEAST(n, k, 1)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LEAST, of_one_type),
};

pub(super) static LEAST: Primitive = Primitive {
    name: "LEAST",
    strict: false,
    by: ComputedBy::Parties,
    check: |operands| {
        let (one, known) = checked(operands)?;
        let high = known.iter().map(|range| range.high).fold(one.range.high, i128::min);
        Ok(ExprType { range: Range { high, ..one.range }, ..one })
    },
    plain: |typed, values| chosen(Ordering::Less, typed, values),
    lower: |typed, cells| lowered(Comparison::Less, typed, cells),
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Schema, Value},
        functions::tests::{call, int, numbers, values},
    };

    #[test]
    fn numbers_of_mixed_kind_are_compared_in_one() {
        let double = Column::new("x", ColumnType::Double { frac: 8 }).within(-2000, 2000).nullable();
        let whole = Column::new("y", ColumnType::Integer).within(-9, 9);
        let given = [
            (double, numbers([Some(384), Some(-384), None])),
            (whole, numbers([Some(1), Some(-1), Some(3)])),
        ];
        assert_eq!(values("least", &given, &[]), numbers([Some(256), Some(-384), Some(768)]));
    }

    #[test]
    fn texts_are_ordered_by_their_bytes() {
        let texts = |all: [&str; 3]| all.map(Value::text).to_vec();
        let given = [
            (Column::new("x", ColumnType::Varchar(3)), texts(["a", "ab", "é"])),
            (Column::new("y", ColumnType::Varchar(20)), texts(["A", "abc", "longer than sixteen"])),
        ];
        assert_eq!(values("least", &given, &[]), texts(["A", "ab", "longer than sixteen"]));
    }

    #[test]
    fn what_is_below_7_for_sure_has_that_range() {
        let columns = Schema(vec![Column::new("x", ColumnType::SmallInt).nullable()]);
        let made = call("least", vec![Expr::Column(0), int(7)], &columns).unwrap();
        let of = made.check(&columns).unwrap();
        assert_eq!((of.nullable, of.range.low, of.range.high), (false, -32_768, 7));
        assert_eq!(made.shown(&columns).to_string(), "LEAST(x, 7)");
    }
}
