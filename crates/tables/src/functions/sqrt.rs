//! The SQL function SQRT.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Operands, Primitive,
    definition::as_call,
    real::{self, PRECISE, REAL},
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

/// The public argument of a call on a [`PRECISE`] number is the number of fractional bits of its
/// result.
pub(super) static SQRT: Primitive = Primitive {
    name: "SQRT",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let of = operands.types[0];
        let is_precise = !operands.public.is_empty();
        if !of.ty.is_numeric() || is_precise && (of.ty != PRECISE || of.range.high > MOST) {
            return Err(operands.refused("give it a number"));
        }
        let frac = real::frac(operands.public);
        // A smaller number may have more bits after the point, and its root be rounded down by
        // less.
        let high = match is_precise {
            true => precise(of.range.high.max(0), frac),
            false => root(of.range.high.max(0), of.ty) + (1 << fixed::FRAC),
        };
        let ty = ColumnType::Double { frac };
        Ok(ExprType { ty, nullable: of.range.low < least(operands), range: Range { low: 0, high } })
    },
    plain: |typed, values| {
        let root = |x: i128| match typed.operands.public {
            [] => root(x, typed.ty(0)),
            public => precise(x, real::frac(public)),
        };
        real::value(&values, |x| (x[0] >= least(&typed.operands)).then(|| root(x[0])))
    },
    lower: |typed, cells| {
        let of = Wide(resized(cells[0].val, 128));
        let made = match typed.operands.public {
            [] => root(of, typed.ty(0)),
            public => precise(of, real::frac(public)),
        };
        let least = least(&typed.operands);
        let may_lack = typed.operands.types[0].range.low < least;
        let null = may_lack.then(|| of.0.less(number(of.0, least)));
        Cell { null, ..typed.cell(resized(made.0, width(typed.own.range))) }
    },
    shown: as_call,
};

/// The least number that has a root. A [`PRECISE`] number may be slightly below 0 because its parts
/// were rounded; it then counts as 0.
fn least(operands: &Operands<'_>) -> i128 {
    if operands.public.is_empty() { 0 } else { -fixed::SLACK }
}

/// The largest [`PRECISE`] number whose root is computed: with twice the fractional bits it has 126
/// bits.
const MOST: i128 = 1 << (126 - fixed::INSIDE);

/// The root of a [`PRECISE`] number of at most [`MOST`].
fn precise<F: Fixed>(x: F, frac: u8) -> F {
    let zero = x.same(0);
    let x = F::choose(x.below(zero), zero, x);
    x.left(fixed::INSIDE).whole_root().right(fixed::INSIDE - frac)
}

/// Half the steps by which a number is shifted to the left; they sum to 32.
const STEPS: [u8; 6] = [16, 8, 4, 2, 1, 1];

/// The root of a number of a type, with as many of the 32 fractional bits as fit into 126 bits. The
/// number is first shifted to the left as far as possible, and the root by half of the rest.
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
