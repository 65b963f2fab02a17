//! SQRT.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, REAL},
};
use crate::{
    algebra::{ColumnType, Expr, ExprType, Range, Value},
    fixed::{self, Fixed, Wide},
    lower::{
        cell::Cell,
        numbers::{number, resized, width},
    },
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["sqrt"],
    arity: 1..=1,
    usage: "SQRT(number)",
    gives: "DOUBLE",
    doc: "the square root, rounded down; NULL of a number below 0",
    example: "SQRT(price)",
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
    by: ComputedBy::Parties,
    check: |operands| {
        let of = operands.types[0];
        if !of.ty.is_numeric() {
            return Err(operands.refused("give it a number"));
        }
        // A smaller number may have more bits behind the point, and be rounded down less.
        let high = root(of.range.high.max(0), of.ty) + (1 << fixed::FRAC);
        Ok(ExprType { ty: REAL, nullable: of.range.low < 0, range: Range { low: 0, high } })
    },
    plain: |typed, values| real::value(&values, |x| (x[0] >= 0).then(|| root(x[0], typed.ty(0)))),
    lower: |typed, cells| {
        let of = typed.operands.types[0];
        let made = root(Wide(resized(cells[0].val, 128)), of.ty);
        let null = (of.range.low < 0).then(|| cells[0].val.less(number(cells[0].val, 0)));
        Cell { null, ..typed.cell(resized(made.0, width(typed.own.range))) }
    },
    shown: as_call,
};

/// The steps by which a number moves to the left, half of them: 32 in all.
const STEPS: [u8; 6] = [16, 8, 4, 2, 1, 1];

/// The root of a number of a type, with as many of the 32 fractional bits as 126 bits leave space
/// for: a number moves to the left first, as far as it may, and its root then by half of the rest.
fn root<F: Fixed>(of: F, ty: ColumnType) -> F {
    let (mut x, mut moved) = (of, vec![]);
    for step in STEPS {
        let fits = x.below(x.same(1 << (126 - 2 * step)));
        x = F::choose(fits, x.left(2 * step), x);
        moved.push(fits);
    }
    let x = match ty {
        ColumnType::Double { frac } => x.right(frac),
        ty if ty.scale() == 0 => x,
        ty => x.part(10i128.pow(ty.scale().into())),
    };
    let root = x.whole_root();
    STEPS.iter().zip(moved).fold(root, |root, (step, moved)| F::choose(moved, root, root.left(*step)))
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
