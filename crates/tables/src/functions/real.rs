//! Common parts of functions of real numbers: arguments and results are DOUBLEs with 32 fractional
//! bits.

use super::{Arguments, ComputedBy, Operands, Primitive, Typed, definition::as_call};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, ExprType, Range, Value},
    error::Refused,
    fixed::{self, Fixed, Wide},
    lower::{
        cell::Cell,
        numbers::{resized, width},
    },
};
use hushwire_compute::Val;

/// The type of arguments and results.
pub(super) const REAL: ColumnType = ColumnType::Double { frac: fixed::FRAC };
/// The type of sines and cosines as arguments of sensitive functions: see
/// [`precise`](super::precise).
pub(super) const PRECISE: ColumnType = ColumnType::Double { frac: fixed::INSIDE };
/// The number 1 in steps of [`REAL`].
pub(super) const UNIT: i128 = 1 << fixed::FRAC;

/// An argument as a real number. It is refused if its numbers may be too large.
pub(super) fn real(arguments: &Arguments<'_>, of: Expr) -> Result<Expr, Fault> {
    let null = Expr::Literal(Value::Null, REAL);
    if matches!(of, Expr::Literal(Value::Null, _)) {
        return Ok(null);
    }
    let ty = of.check(arguments.reader.schema)?;
    match ty.ty {
        // A DOUBLE with more bits after the point has fewer before it.
        ColumnType::Double { frac } if frac > fixed::FRAC => Ok(of.cast(REAL)),
        number if number.is_numeric() => Ok(super::coalesce(vec![of, null])),
        _ => {
            let refused = Refused::operands(&[ty], "give it a number");
            Err(refused.of(arguments.name.to_uppercase()))
        }
    }
}

/// A call with real numbers as arguments.
pub(super) fn of_reals(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let all = arguments.all.iter().map(|e| real(arguments, e.clone()));
    Ok(of.call(all.collect::<Result<_, _>>()?, vec![]))
}

/// The type of results in `range`. `partial` tells that some arguments give NULL.
pub(super) fn checked(operands: &Operands<'_>, range: Range, partial: bool) -> Result<ExprType, Refused> {
    match operands.types.iter().all(|t| t.ty == REAL) {
        true => Ok(ExprType { ty: REAL, nullable: partial, range }),
        false => Err(operands.refused("give it a number")),
    }
}

/// The fractional bits that a call's public argument sets; those of [`REAL`] by default.
pub(super) fn frac(public: &[i128]) -> u8 {
    public.first().map_or(fixed::FRAC, |frac| *frac as u8)
}

/// The type of a sine or a cosine, whose public argument sets its fractional bits.
pub(super) fn wave(operands: &Operands<'_>) -> Result<ExprType, Refused> {
    let frac = frac(operands.public);
    let of = checked(operands, Range { low: -1 << frac, high: 1 << frac }, false)?;
    Ok(ExprType { ty: ColumnType::Double { frac }, ..of })
}

/// The type of the angle, from `low` to `high`, of a sine or a cosine. The call's public argument
/// sets the argument's fractional bits.
pub(super) fn angle(operands: &Operands<'_>, range: Range) -> Result<ExprType, Refused> {
    let given = ColumnType::Double { frac: frac(operands.public) };
    match operands.types[0].ty == given {
        true => Ok(ExprType { ty: REAL, nullable: true, range }),
        false => Err(operands.refused("give it a number")),
    }
}

/// The result in the clear; `None` is NULL.
pub(super) fn value(values: &[Value], of: impl Fn(&[i128]) -> Option<i128>) -> Value {
    let numbers: Option<Vec<i128>> = values.iter().map(Value::number).collect();
    numbers.and_then(|numbers| of(&numbers)).map_or(Value::Null, Value::Number)
}

/// The natural logarithm times `BY`, which has the fractional bits of
/// [`LOG2_E`](crate::fixed::LOG2_E). It is NULL for a number that is not above 0.
pub(super) const fn logarithm<const BY: i128>(name: &'static str) -> Primitive {
    Primitive {
        name,
        strict: true,
        by: ComputedBy::Parties,
        check: |operands| checked(operands, Range { low: -128 * UNIT, high: 128 * UNIT }, true),
        plain: |_, values| value(&values, |x| (x[0] > 0).then(|| fixed::logarithm(x[0], BY))),
        lower: |typed, cells| {
            lowered(typed, cells, |x| (fixed::logarithm(x[0], BY), Some(!x[0].same(0).below(x[0]))))
        },
        shown: as_call,
    }
}

/// The result on shares, and the rows where it is NULL.
pub(super) fn lowered<'b>(
    typed: &Typed<'_>,
    cells: &[Cell<'b>],
    of: impl Fn(&[Wide<'b>]) -> (Wide<'b>, Option<Val<'b>>),
) -> Cell<'b> {
    let numbers: Vec<Wide<'b>> = cells.iter().map(|cell| Wide(resized(cell.val, 128))).collect();
    let (made, null) = of(&numbers);
    Cell { null, ..typed.cell(resized(made.0, width(typed.own.range))) }
}

/// The range of nonnegative numbers, up to the largest results.
pub(super) const POSITIVE: Range = Range { low: 0, high: 1 << 95 };

/// A number, in a width that also holds another number.
pub(super) fn wide_enough(val: Val<'_>, other: i128) -> Val<'_> {
    let own = val.ty().map_or(64, |ty| ty.scalar.bits() as u8);
    resized(val, own.max(width(Range { low: 0, high: other })))
}
