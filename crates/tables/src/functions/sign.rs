//! The SQL function SIGN.

use super::{Arguments, ComputedBy, FnDef, Leaks, Meaning, Primitive, definition::as_call};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, ExprType, Range, Value},
    lower::{cell::scalar, numbers::number},
};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["sign"],
    arity: 1..=1,
    usage: "SIGN(number)",
    gives: "INTEGER",
    doc: "-1 of a number below 0, 0 of 0, and 1 of a number above 0",
    example: "SIGN(k)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&SIGN, bind),
};

static SIGN: Primitive = Primitive {
    name: "SIGN",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let of = operands.types[0];
        if !of.ty.is_numeric() {
            return Err(operands.refused("give it a number"));
        }
        let range = Range { low: of.range.low.signum(), high: of.range.high.signum() };
        Ok(ExprType { ty: ColumnType::Integer, nullable: false, range })
    },
    plain: |_, values| values[0].number().map_or(Value::Null, |n| Value::Number(n.signum())),
    lower: |typed, cells| {
        let (b, x) = (cells[0].builder(), cells[0].val);
        let to = scalar(typed.own.ty, typed.own.range);
        let is_some = x.compare(Comparison::NotEqual, number(x, 0)).cast(to);
        // A number that is never below 0 only needs a comparison with 0.
        typed.cell(match typed.own.range.low {
            0.. => is_some,
            _ => b.select(x.less(number(x, 0)), b.number(to, -1), is_some),
        })
    },
    shown: as_call,
};

fn bind(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [number] = arguments.exactly()?;
    // A literal NULL gets a number's type.
    let number = match number {
        Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, ColumnType::Integer),
        number => number,
    };
    Ok(of.call(vec![number], vec![]))
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::{numbers, refused, values},
    };
    use hushwire_fault::code;

    #[test]
    fn numbers_of_each_type_have_it() {
        let expected = numbers([Some(-1), Some(-1), Some(0), Some(1), Some(1), None]);
        for ty in [
            ColumnType::SmallInt,
            ColumnType::Integer,
            ColumnType::BigInt,
            ColumnType::Decimal { precision: 9, scale: 4 },
            ColumnType::Decimal { precision: 38, scale: 10 },
            ColumnType::Double { frac: 32 },
        ] {
            let (low, high) = (ty.range().low, ty.range().high);
            let given = numbers([Some(low), Some(-1), Some(0), Some(1), Some(high), None]);
            assert_eq!(values("sign", &[(Column::new("x", ty).nullable(), given)], &[]), expected, "{ty}");
        }
    }

    #[test]
    fn what_is_never_below_0_is_compared_with_0_alone() {
        let column = Column::new("x", ColumnType::Integer).within(0, 9).nullable();
        let given = numbers([Some(0), Some(9), None]);
        assert_eq!(values("sign", &[(column, given)], &[]), numbers([Some(0), Some(1), None]));
    }

    #[test]
    fn texts_have_none_and_a_bare_null_has() {
        let of = |value, ty| refused("sign", &[Expr::literal(value, ty)]);
        let text = of(Value::text("a"), ColumnType::Varchar(1));
        assert_eq!(text.map(|e| e.code()), Some(code::OPERANDS));
        assert_eq!(of(Value::Null, ColumnType::Boolean), None);
    }
}
