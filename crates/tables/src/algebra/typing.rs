//! Types, NULLs and ranges of values, and common types.

use super::{
    arithmetic::Arithmetic,
    bounds::NUMBERS,
    types::{Column, ColumnType, DAY, MAX_DIGITS, Range},
};

/// The type of an expression's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExprType {
    /// The type.
    pub ty: ColumnType,
    /// Whether the value may be NULL.
    pub nullable: bool,
    /// The range of its numbers, from ranges of columns and literals. Arithmetic may exceed the
    /// type's digits.
    pub range: Range,
}

impl ExprType {
    /// A column of this type.
    #[must_use]
    pub fn column(self, name: &str) -> Column {
        let whole = self.range == self.ty.range();
        let range = Some(self.range).filter(|_| has_range(self.ty) && !whole);
        Column { name: name.to_owned(), ty: self.ty, nullable: self.nullable, range }
    }
}

impl Column {
    /// The column in the form of a result: if its range exceeds its type, it has a wider type with
    /// the same steps.
    #[must_use]
    pub(crate) fn shown(&self) -> Column {
        let range = self.expr_type().range;
        let wider = match self.ty {
            ty if ty.range().holds(range) => ty,
            ty if ty.is_integer() && ColumnType::Integer.range().holds(range) => ColumnType::Integer,
            ty if ty.is_integer() && ColumnType::BigInt.range().holds(range) => ColumnType::BigInt,
            ty if ty.is_integer() || matches!(ty, ColumnType::Decimal { .. }) => {
                ColumnType::Decimal { precision: MAX_DIGITS, scale: ty.scale() }
            }
            ty => ty,
        };
        Column { ty: wider, ..self.clone() }
    }

    /// Its values' type and range.
    #[must_use]
    pub fn expr_type(&self) -> ExprType {
        ExprType { ty: self.ty, nullable: self.nullable, range: self.range.unwrap_or(self.ty.range()) }
    }
}

pub(crate) const fn has_range(ty: ColumnType) -> bool {
    !matches!(ty, ColumnType::Boolean | ColumnType::Varchar(_) | ColumnType::Digest { .. })
}

/// The range of all intermediate numbers of a type: 128 bits, or for dates the years that 32 bits
/// can hold.
pub(crate) const fn held(ty: ColumnType) -> Range {
    const DAYS: i128 = 1 << 38;
    match ty {
        ColumnType::Boolean | ColumnType::Varchar(_) | ColumnType::Digest { .. } => ty.range(),
        ColumnType::Date => Range { low: -DAYS, high: DAYS },
        ColumnType::Timestamp | ColumnType::Interval => Range { low: -DAYS * DAY, high: DAYS * DAY },
        _ => NUMBERS,
    }
}

/// A range, or the range of all of the type's numbers if it is unknown.
pub(crate) fn fitted(ty: ColumnType, exact: Option<Range>) -> Range {
    exact.filter(|range| held(ty).holds(*range)).unwrap_or(held(ty))
}

/// The largest number of digits before the point that numbers of a type have.
const fn whole_digits(ty: ColumnType) -> u8 {
    match ty {
        ColumnType::SmallInt => 5,
        ColumnType::Integer => 10,
        ColumnType::BigInt => 19,
        ColumnType::Decimal { precision, scale } => precision - scale,
        _ => MAX_DIGITS,
    }
}

const fn decimal(whole: u8, scale: u8) -> ColumnType {
    let precision = if whole + scale > MAX_DIGITS { MAX_DIGITS } else { whole + scale };
    ColumnType::Decimal { precision, scale }
}

/// The fractional bits of a DOUBLE that meets fractional digits, and of a quotient of doubles,
/// whatever their types declare.
const FRAC: u8 = 32;

/// The fractional digits of a quotient of integers.
const RATIO: u8 = 9;

const fn larger(a: u8, b: u8) -> u8 {
    if a > b { a } else { b }
}

/// The type in which values of two types are compared, selected from, and put into one column. Two
/// integers take the wider type, and an integer and a decimal take the digits of both. All numbers
/// become doubles next to a double, with at least 32 fractional bits if there are fractional
/// digits. Dates become timestamps; strings take the longer type.
#[must_use]
pub fn common_type(a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    use ColumnType::{BigInt, Date, Decimal, Double, Integer, SmallInt, Timestamp, Varchar};
    Some(match (a, b) {
        _ if a == b => a,
        (Double { frac: f }, Double { frac: g }) => Double { frac: larger(f, g) },
        (Double { frac }, other) | (other, Double { frac }) if other.is_numeric() => {
            Double { frac: if other.scale() > 0 { larger(frac, FRAC) } else { frac } }
        }
        (Decimal { .. }, other) | (other, Decimal { .. }) if other.is_numeric() => {
            decimal(larger(whole_digits(a), whole_digits(b)), larger(a.scale(), b.scale()))
        }
        (BigInt, SmallInt | Integer) | (SmallInt | Integer, BigInt) => BigInt,
        (Integer, SmallInt) | (SmallInt, Integer) => Integer,
        (Date, Timestamp) | (Timestamp, Date) => Timestamp,
        (Varchar(n), Varchar(m)) => Varchar(if n > m { n } else { m }),
        _ => return None,
    })
}

/// The type of arithmetic on two operands.
pub(crate) fn arithmetic_type(op: Arithmetic, a: ColumnType, b: ColumnType) -> Option<ColumnType> {
    use ColumnType::{Date, Decimal, Double, Integer, Interval, Timestamp};
    match (op, a, b) {
        (Arithmetic::Add, day @ (Date | Timestamp), by) if by.is_integer() => return Some(day),
        (Arithmetic::Add, by, day @ (Date | Timestamp)) if by.is_integer() => return Some(day),
        (Arithmetic::Subtract, day @ (Date | Timestamp), by) if by.is_integer() => return Some(day),
        (Arithmetic::Subtract, Date, Date) => return Some(Integer),
        (Arithmetic::Subtract, Timestamp | Date, Timestamp | Date)
        | (Arithmetic::Add | Arithmetic::Subtract, Interval, Interval) => return Some(Interval),
        (Arithmetic::Add, Timestamp | Date, Interval) | (Arithmetic::Add, Interval, Timestamp | Date) => {
            return Some(Timestamp);
        }
        (Arithmetic::Subtract, Timestamp | Date, Interval) => return Some(Timestamp),
        (Arithmetic::Multiply, Interval, by) if by.is_integer() => return Some(Interval),
        (Arithmetic::Multiply, by, Interval) if by.is_integer() => return Some(Interval),
        _ if !a.is_numeric() || !b.is_numeric() => return None,
        _ => {}
    }
    let common = common_type(a, b)?;
    if op == Arithmetic::DivideWhole {
        return common.is_integer().then_some(common);
    }
    let Decimal { .. } = common else {
        return Some(match (op, common) {
            (Arithmetic::Divide, Double { frac }) => Double { frac: larger(frac, FRAC) },
            (Arithmetic::Divide, _) => decimal(whole_digits(a), RATIO),
            _ => common,
        });
    };
    let (whole, scale) = (larger(whole_digits(a), whole_digits(b)), larger(a.scale(), b.scale()));
    match op {
        Arithmetic::Add | Arithmetic::Subtract => Some(decimal(whole + 1, scale)),
        Arithmetic::Remainder => Some(decimal(whole, scale)),
        Arithmetic::Multiply => {
            let scale = a.scale() + b.scale();
            (scale <= MAX_DIGITS).then(|| decimal(whole_digits(a) + whole_digits(b), scale))
        }
        Arithmetic::Divide => {
            let scale = a.scale() + 4;
            (scale <= MAX_DIGITS).then(|| decimal(whole_digits(a) + b.scale(), scale))
        }
        Arithmetic::DivideWhole => None,
    }
}

/// A range in steps of another type of numbers, dates or timestamps; `None` if a product overflows.
pub(crate) fn rescaled(from: ColumnType, range: Range, to: ColumnType) -> Option<Range> {
    let one = |n: i128| crate::plain::numbers::rescale(n, from, to);
    Some(Range { low: one(range.low)?, high: one(range.high)? })
}

/// Whether numbers of these ranges keep their values in the type that is used for comparison.
pub(crate) fn keep_values(ty: ColumnType, all: &[ExprType]) -> bool {
    let keeps = |t: &ExprType| {
        let numbers = ty.is_numeric() && t.ty.is_numeric() && t.ty != ty;
        !numbers || rescaled(t.ty, t.range, ty).is_some_and(|range| held(ty).holds(range))
    };
    all.iter().all(keeps)
}

/// The numbers, in steps of their type, that fit another type's digits when cast to it, including
/// 0; `None` if all numbers of their range fit.
pub(crate) fn castable_part(of: ExprType, to: ColumnType) -> Option<Range> {
    if !of.ty.is_numeric() || !to.is_numeric() {
        return None;
    }
    let within = |n: i128| to.range().low <= n && n <= to.range().high;
    let fits = |n: i128| crate::plain::numbers::rescale(n, of.ty, to).is_some_and(within);
    let last = |end: i128| {
        if fits(end) {
            return end;
        }
        let (mut inside, mut outside) = (0, end);
        while outside.abs_diff(inside) > 1 {
            let middle = inside + (outside - inside) / 2;
            if fits(middle) { inside = middle } else { outside = middle }
        }
        inside
    };
    let part = Range { low: last(of.range.low.min(0)), high: last(of.range.high.max(0)) };
    (!part.holds(of.range)).then_some(part)
}

/// A list of types, as text.
pub(crate) fn told(types: &[ExprType]) -> String {
    types.iter().map(|t| t.ty.to_string()).collect::<Vec<_>>().join(" and ")
}

/// The common type of alternatives.
pub(crate) fn united(all: &[ExprType]) -> Option<ExprType> {
    let (first, rest) = all.split_first()?;
    let ty = rest.iter().try_fold(first.ty, |ty, t| common_type(ty, t.ty))?;
    let ranges: Option<Vec<Range>> = all
        .iter()
        .map(|t| if has_range(ty) { rescaled(t.ty, t.range, ty) } else { Some(ty.range()) })
        .collect();
    let exact = ranges.and_then(|all| {
        let (low, high) = (all.iter().map(|r| r.low).min()?, all.iter().map(|r| r.high).max()?);
        Some(Range { low, high })
    });
    Some(ExprType { ty, nullable: all.iter().any(|t| t.nullable), range: fitted(ty, exact) })
}

/// Whether values of a type can be cast to another.
#[must_use]
pub fn castable(from: ColumnType, to: ColumnType) -> bool {
    use ColumnType::{BigInt, Boolean, Date, Interval, Timestamp, Varchar};
    match (from, to) {
        _ if from == to => true,
        // An interval is cast to its microseconds.
        (Varchar(_), Varchar(_)) | (Date, Timestamp) | (Timestamp, Date) | (Interval, BigInt) => true,
        (Boolean, to) => to.is_numeric(),
        (from, to) => from.is_numeric() && to.is_numeric(),
    }
}
