//! SQRT.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, REAL},
};
use crate::{
    algebra::{ColumnType, Expr, ExprType, Range, Value},
    fixed::{self, Fixed, Wide},
    lower::{
        cell::Cell,
        divide::{Divisor, divided},
        numbers::{number, resized, width},
    },
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["sqrt"],
    arity: 1..=1,
    usage: "SQRT(number)",
    gives: "DOUBLE",
    doc: "the square root, rounded down; NULL of a number below 0",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&SQRT, |of, arguments| {
        let [number] = arguments.exactly()?;
        let number = match number {
            Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, REAL),
            number => number,
        };
        Ok(of.call(vec![number], vec![]))
    }),
};

static SQRT: Primitive = Primitive {
    name: "SQRT",
    strict: true,
    cuts_bytes: false,
    check: |operands| {
        let of = operands.types[0];
        if !of.ty.is_numeric() {
            return Err(operands.refused("give it a number"));
        }
        let (left, unit, right) = steps(of);
        let high = ((of.range.high.max(0) << left) / unit).isqrt() << right;
        Ok(ExprType { ty: REAL, nullable: of.range.low < 0, range: Range { low: 0, high } })
    },
    plain: |typed, values| {
        let (left, unit, right) = steps(typed.operands.types[0]);
        real::value(&values, |x| (x[0] >= 0).then(|| ((x[0] << left) / unit).isqrt() << right))
    },
    lower: |typed, cells| {
        let of = typed.operands.types[0];
        let (left, unit, right) = steps(of);
        let x = Wide(resized(cells[0].val, 128)).left(left);
        let x = match unit {
            1 => x,
            unit => {
                let all = Range { low: 0, high: i128::MAX };
                Wide(resized(divided(x.0, all, Divisor::Known(unit)).whole, 128))
            }
        };
        let null = (of.range.low < 0).then(|| cells[0].val.less(number(cells[0].val, 0)));
        let made = resized(x.whole_root().left(right).0, width(typed.own.range));
        Cell { null, ..typed.cell(made) }
    },
    shown: as_call,
};

/// How many bits numbers move to the left, what they are then divided by, and how many bits their
/// root moves: the root has as many of the 32 fractional bits as 128 bits leave space for.
fn steps(of: ExprType) -> (u8, i128, u8) {
    let space = of.range.high.max(1).leading_zeros() as u8 - 2;
    match of.ty {
        ColumnType::Double { frac } => {
            // An even number of bits stays behind the point.
            let left = (64 - frac).min(space);
            let left = left - (left + frac) % 2;
            (left, 1, fixed::FRAC - (left + frac) / 2)
        }
        ty => {
            let left = space.min(64) / 2 * 2;
            (left, 10i128.pow(ty.scale().into()), fixed::FRAC - left / 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn numbers_of_each_type_have_one() {
        let root = |x: f64| Some((x.sqrt() * 2f64.powi(32)).floor() as i128);
        for (ty, unit) in [
            (ColumnType::Integer, 1),
            (ColumnType::BigInt, 1),
            (ColumnType::Decimal { precision: 9, scale: 2 }, 100),
            (ColumnType::Double { frac: 32 }, 1 << 32),
            (ColumnType::Double { frac: 9 }, 1 << 9),
        ] {
            let given = [Some(0), Some(unit), Some(4 * unit), Some(2 * unit), Some(-1), None];
            let expected = numbers([root(0.0), root(1.0), root(2.0 * 2.0), root(2.0), None, None]);
            let column = Column::new("x", ty).nullable().within(-unit, 1_000_000 * unit);
            assert_eq!(values("sqrt", &[(column, numbers(given))], &[]), expected, "{ty}");
        }
    }
}
