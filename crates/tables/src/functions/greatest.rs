//! The SQL function GREATEST, and the code that it shares with LEAST.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Operands, Primitive, Typed,
    definition::{as_call, of_one_type},
};
use crate::error::Refused;
use crate::{
    algebra::{ExprType, Range, Value, has_range, rescaled},
    lower::{
        cell::{Cell, LOST, is_number},
        compare,
    },
    plain,
};
use core::cmp::Ordering;
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["greatest"],
    arity: 1..=usize::MAX,
    usage: "GREATEST(value, …)",
    gives: "the values' common type",
    doc: "the greatest of the values that are not NULL; NULL if all are",
    example: "GREATEST(n, k, 1)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&GREATEST, of_one_type),
};

pub(super) static GREATEST: Primitive = Primitive {
    name: "GREATEST",
    strict: false,
    by: ComputedBy::Parties,
    check: |operands| {
        let (one, known) = checked(operands)?;
        let low = known.iter().map(|range| range.low).fold(one.range.low, i128::max);
        Ok(ExprType { range: Range { low, ..one.range }, ..one })
    },
    plain: |typed, values| chosen(Ordering::Greater, typed, values),
    lower: |typed, cells| lowered(Comparison::Greater, typed, cells),
    shown: as_call,
};

/// The type in which values are compared, and the ranges of the operands that are never NULL. The
/// result is at least as good as the worse end of each of these ranges.
pub(super) fn checked(operands: &Operands<'_>) -> Result<(ExprType, Vec<Range>), Refused> {
    let one = operands.united()?;
    if !one.ty.is_ordered() {
        return Err(Refused::no_order(operands.types));
    }
    let sure = operands.types.iter().filter(|t| has_range(one.ty) && !t.nullable);
    let known = sure.filter_map(|t| rescaled(t.ty, t.range, one.ty)).collect();
    Ok((ExprType { nullable: operands.types.iter().all(|t| t.nullable), ..one }, known))
}

/// Among the values that are not NULL, one that compares as `wanted` or equal with all others.
pub(super) fn chosen(wanted: Ordering, typed: &Typed<'_>, values: Vec<Value>) -> Value {
    let there = values.into_iter().enumerate().filter(|(_, value)| !value.is_null());
    let alike = there.map(|(at, value)| plain::converted(value, typed.ty(at), typed.own.ty));
    let best = alike.reduce(|a, b| if plain::compared(&b, &a) == wanted { b } else { a });
    best.unwrap_or(Value::Null)
}

/// As [`chosen`], in a computation. It is a tree, so that few comparisons wait for each other.
pub(super) fn lowered<'b>(wanted: Comparison, typed: &Typed<'_>, cells: &[Cell<'b>]) -> Cell<'b> {
    let ty = typed.own.ty;
    let mut all: Vec<Cell<'b>> = cells.iter().map(|cell| cell.converted(ty)).collect();
    while all.len() > 1 {
        let better = |pair: &[Cell<'b>]| match *pair {
            [a, b] => better(wanted, a, b),
            _ => pair[0],
        };
        all = all.chunks(2).map(better).collect();
    }
    let best = all[0];
    let val = if is_number(ty) { best.sized(typed.own.range) } else { best.val };
    Cell { null: best.null, ..typed.cell(val) }
}

/// The better of two values of one type; NULL is worse than any value.
fn better<'b>(wanted: Comparison, a: Cell<'b>, b: Cell<'b>) -> Cell<'b> {
    let range = Range { low: a.range.low.min(b.range.low), high: a.range.high.max(b.range.high) };
    let [a, b] = [a, b].map(|cell| cell.united(cell.ty, range));
    let second = compare::compared(wanted, b, a);
    let second = a.null.map_or(second, |null| second | null);
    let second = b.null.map_or(second, |null| second & !null);
    let null = a.null.zip(b.null).map(|(x, y)| x & y);
    Cell { val: a.builder().select(second, b.val, a.val), null, id: LOST, ..a }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Schema, Value},
        functions::tests::{call, int, numbers, refused, values},
    };
    use hushwire_fault::code;

    #[test]
    fn nulls_are_left_out() {
        let column = |name| Column::new(name, ColumnType::Integer).nullable();
        let given = [
            (column("x"), numbers([Some(1), Some(3), None, None, Some(-5), None])),
            (column("y"), numbers([Some(2), Some(-3), Some(4), None, None, None])),
            (column("z"), numbers([Some(0), Some(3), Some(9), Some(-1), None, None])),
        ];
        let expected = numbers([Some(2), Some(3), Some(9), Some(-1), Some(-5), None]);
        assert_eq!(values("greatest", &given, &[]), expected);
        assert_eq!(values("greatest", &given[..1], &[]), given[0].1);
        let positive = numbers([Some(2), Some(3), Some(9), Some(0), Some(0), Some(0)]);
        assert_eq!(values("greatest", &given, &[int(0)]), positive);
        let expected = numbers([Some(0), Some(-3), Some(4), Some(-1), Some(-5), None]);
        assert_eq!(values("least", &given, &[]), expected);
        assert_eq!(values("least", &given[1..2], &[]), given[1].1);
    }

    #[test]
    fn numbers_of_mixed_scale_are_compared_in_one() {
        let decimal = |scale| ColumnType::Decimal { precision: 9, scale };
        let given = [
            (Column::new("x", decimal(2)).nullable(), numbers([Some(150), Some(-150), None])),
            (Column::new("y", decimal(4)), numbers([Some(15_001), Some(-14_999), Some(7)])),
            (Column::new("z", ColumnType::SmallInt), numbers([Some(1), Some(-2), Some(-1)])),
        ];
        assert_eq!(values("greatest", &given, &[]), numbers([Some(15_001), Some(-14_999), Some(7)]));
    }

    #[test]
    fn dates_texts_and_truth_values_have_an_order() {
        let day = Column::new("d", ColumnType::Date).nullable();
        let time = Column::new("t", ColumnType::Timestamp).nullable();
        let given = [(day, numbers([Some(1), Some(1), None])), (time, numbers([Some(5), None, Some(7)]))];
        let expected = numbers([Some(86_400_000_000), Some(86_400_000_000), Some(7)]);
        assert_eq!(values("greatest", &given, &[]), expected);
        let texts = |all: [&str; 3]| all.map(Value::text).to_vec();
        let given = [
            (Column::new("x", ColumnType::Varchar(3)), texts(["a", "ab", ""])),
            (Column::new("y", ColumnType::Varchar(20)), texts(["b", "a", "longer than sixteen"])),
        ];
        assert_eq!(values("greatest", &given, &[]), texts(["b", "ab", "longer than sixteen"]));
        let truths = |all: [Option<bool>; 3]| all.map(|t| t.map_or(Value::Null, Value::Boolean)).to_vec();
        let column = |name| Column::new(name, ColumnType::Boolean).nullable();
        let given = [
            (column("x"), truths([Some(false), Some(false), None])),
            (column("y"), truths([Some(true), None, None])),
        ];
        assert_eq!(values("greatest", &given, &[]), truths([Some(true), Some(false), None]));
    }

    #[test]
    fn what_is_above_0_for_sure_has_that_range() {
        let columns = Schema(vec![Column::new("x", ColumnType::SmallInt).nullable()]);
        let made = call("greatest", vec![Expr::Column(0), int(7)], &columns).unwrap();
        let of = made.check(&columns).unwrap();
        assert_eq!((of.nullable, of.range.low, of.range.high), (false, 7, 32_767));
        assert_eq!(made.shown(&columns).to_string(), "GREATEST(x, 7)");
    }

    #[test]
    fn digests_have_no_order() {
        let columns = Schema(vec![Column::new("x", ColumnType::Digest { bits: 64 })]);
        let made = call("greatest", vec![Expr::Column(0), Expr::Column(0)], &columns).unwrap();
        assert_eq!(made.check(&columns).unwrap_err().code(), code::NO_ORDER);
        let none = refused("greatest", &[]).unwrap();
        assert_eq!((none.code(), none.field("expected")), (code::ARGUMENTS, Some("at least 1".into())));
    }
}
