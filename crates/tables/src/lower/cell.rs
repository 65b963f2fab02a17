//! Columns as values of a computation.
//!
//! ```text
//! BOOLEAN       bool, false if it is NULL
//! numbers       two's complement in as few bits as hold the public range: 8, 16, 32, 64, or bytes
//!               up to 128
//! VARCHAR(n)    bits(8 n), the first byte highest, so that strings are ordered as numbers are
//! DIGEST        bits(64)
//! NULL          a separate flag; the number or string is arbitrary
//! ```

use super::{
    divide::{Divisor, Quotient, divided},
    numbers::{number, resized, truth, width, zero},
};
use crate::algebra::{ColumnType, DAY, Range, Value, fitted, has_range, rescaled};
use hushwire_compute::{Builder, Comparison, Op, Scalar, Shape, Tensor, Val};

/// The scalar of a type's values within a range.
pub(crate) fn scalar(ty: ColumnType, range: Range) -> Scalar {
    match ty {
        ColumnType::Boolean => Scalar::Bool,
        ColumnType::Varchar(bytes) => Scalar::Bits(8 * bytes),
        ColumnType::Digest { bits } => Scalar::Bits(bits.into()),
        _ => Scalar::signed(width(range)),
    }
}

/// A column's values as elements; NULL becomes 0.
pub(crate) fn tensor<'a>(
    ty: ColumnType,
    range: Range,
    lengths: &[usize],
    values: impl Iterator<Item = &'a Value>,
) -> Tensor {
    let mut tensor = Tensor::zeros(scalar(ty, range), lengths);
    for (i, value) in values.enumerate() {
        match value {
            Value::Null => {}
            Value::Boolean(truth) => tensor.set(i, (*truth).into()),
            Value::Number(n) => tensor.set(i, n.cast_unsigned()),
            Value::Text(bytes) => {
                let last = tensor.scalar().bits() / 8;
                for (k, byte) in bytes.iter().enumerate() {
                    let at = 8 * (last - 1 - k);
                    tensor.element_mut(i)[at / 64] |= u64::from(*byte) << (at % 64);
                }
            }
        }
    }
    tensor
}

/// The value of an element.
pub(crate) fn value(ty: ColumnType, tensor: &Tensor, i: usize) -> Value {
    match ty {
        ColumnType::Boolean => Value::Boolean(tensor.truth(i)),
        ColumnType::Varchar(bytes) => {
            let byte = |k: usize| {
                let at = 8 * (usize::from(bytes) - 1 - k);
                (tensor.element(i)[at / 64] >> (at % 64)) as u8
            };
            Value::Text((0..bytes.into()).map(byte).take_while(|b| *b != 0).collect())
        }
        ColumnType::Digest { .. } => Value::Number(tensor.get(i).cast_signed()),
        _ => Value::Number(tensor.number(i).expect("it has a sign")),
    }
}

/// The number of a column without an identity.
pub(crate) const LOST: u32 = u32::MAX;

/// A column, or a single public value for all rows.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'b> {
    pub(crate) val: Val<'b>,
    /// The NULL flags of the rows.
    pub(crate) null: Option<Val<'b>>,
    pub(crate) ty: ColumnType,
    pub(crate) range: Range,
    /// The identity of the column; it does not depend on the order of rows.
    pub(crate) id: u32,
}

pub(crate) fn either<'b>(a: Option<Val<'b>>, b: Option<Val<'b>>) -> Option<Val<'b>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a | b),
        (a, b) => a.or(b),
    }
}

pub(crate) fn both<'b>(a: Option<Val<'b>>, b: Option<Val<'b>>) -> Option<Val<'b>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a & b),
        (a, b) => a.or(b),
    }
}

impl<'b> Cell<'b> {
    pub(crate) fn builder(&self) -> &'b Builder {
        self.val.builder()
    }

    pub(crate) fn with(self, val: Val<'b>, ty: ColumnType, range: Range) -> Self {
        Cell { val, ty, range, ..self }
    }

    /// One element for each row, even if it is a single one.
    pub(crate) fn spread(self, rows: u64) -> Self {
        let all = |val: Val<'b>| match val.ty() {
            Some(ty) if ty.shape.rank() == 0 => val.broadcast(Shape::vector(rows)),
            _ => val,
        };
        Cell { val: all(self.val), null: self.null.map(all), ..self }
    }

    /// Applies `f` to its value and its NULL flags.
    pub(crate) fn map(self, mut f: impl FnMut(Val<'b>) -> Val<'b>) -> Self {
        Cell { val: f(self.val), null: self.null.map(f), ..self }
    }

    /// Its value, with 0 for NULL; truth values have that already.
    pub(crate) fn canonical(self) -> Val<'b> {
        match self.null {
            Some(null) if self.ty != ColumnType::Boolean => {
                let b = self.builder();
                b.select(null, zero(b, scalar(self.ty, self.range)), self.val)
            }
            _ => self.val,
        }
    }

    /// The numbers in a range's width, modulo 2 to that width.
    pub(crate) fn sized(self, range: Range) -> Val<'b> {
        resized(self.val, width(range))
    }

    /// Converts to another type as [`crate::plain`] does.
    pub(crate) fn converted(self, to: ColumnType) -> Self {
        if self.ty == to {
            return self;
        }
        let b = self.builder();
        // If different values can become equal, the result is another column, with its own groups
        // and order.
        let id = if is_exact(self.ty, to) { self.id } else { LOST };
        let made = match (self.ty, to) {
            (ColumnType::Varchar(from), ColumnType::Varchar(bytes)) => {
                let val = if bytes < from {
                    self.val.part(8 * (from - bytes), 8 * from)
                } else {
                    b.apply(Op::Join, &[zero(b, Scalar::Bits(8 * (bytes - from))), self.val])
                };
                self.with(val, to, to.range())
            }
            (ColumnType::Boolean, _) => {
                let range = Range { low: 0, high: 1 };
                let one = self.with(self.val.cast(Scalar::signed(8)), ColumnType::Integer, range);
                one.converted(to)
            }
            _ => {
                let range = fitted(to, rescaled(self.ty, self.range, to));
                self.with(resized(self.scaled(to), width(range)), to, range)
            }
        };
        Cell { id, ..made }
    }

    /// Its value in the type and width of the alternatives.
    pub(crate) fn united(self, ty: ColumnType, range: Range) -> Self {
        let made = self.converted(ty);
        let val = if is_number(ty) { made.sized(range) } else { made.val };
        made.with(val, ty, range)
    }

    /// Steps of another type, in as many bits as they need.
    fn scaled(self, to: ColumnType) -> Val<'b> {
        use ColumnType::{Date, Double, Timestamp};
        let unit = |scale: u8| 10i128.pow(scale.into());
        let (times, by) = match (self.ty, to) {
            (Date, Timestamp) => (DAY, 1),
            (Timestamp, Date) => return floored(self.val, self.range, DAY),
            (Double { frac: f }, Double { frac: g }) if g >= f => (1 << (g - f), 1),
            (Double { frac: f }, Double { frac: g }) => (1, 1 << (f - g)),
            (from, Double { frac }) => (1 << frac, unit(from.scale())),
            (Double { frac }, to) => (unit(to.scale()), 1 << frac),
            (from, to) if to.scale() >= from.scale() => (unit(to.scale() - from.scale()), 1),
            (from, to) => (1, unit(from.scale() - to.scale())),
        };
        let end = |n: i128| n.checked_mul(times);
        let more = end(self.range.low).zip(end(self.range.high));
        let more = more.map_or(Range::of_bits(128), |(low, high)| Range { low, high });
        let val = resized(self.val, width(more));
        let val = if times == 1 { val } else { val * number(val, times) };
        nearest(val, more, by)
    }
}

/// One of two values of one type and width; the result is neither of the two columns.
pub(crate) fn choose<'b>(condition: Val<'b>, yes: Cell<'b>, no: Cell<'b>) -> Cell<'b> {
    let b = condition.builder();
    let flag = |null: Option<Val<'b>>| null.unwrap_or_else(|| truth(b, false));
    let null =
        (yes.null.is_some() || no.null.is_some()).then(|| b.select(condition, flag(yes.null), flag(no.null)));
    Cell { val: b.select(condition, yes.val, no.val), null, id: LOST, ..yes }
}

/// Whether different values of a type stay different in another.
fn is_exact(from: ColumnType, to: ColumnType) -> bool {
    use ColumnType::{Date, Double, Timestamp, Varchar};
    match (from, to) {
        (Varchar(from), Varchar(to)) => from <= to,
        (Timestamp, Date) | (Double { .. }, _) if !matches!(to, Double { .. }) => false,
        (Double { frac: f }, Double { frac: g }) => f <= g,
        (from, Double { .. }) => from.scale() == 0,
        (from, to) => from.scale() <= to.scale(),
    }
}

/// The quotient `x / by`, rounded to the nearest, halves away from 0.
fn nearest(val: Val<'_>, range: Range, by: i128) -> Val<'_> {
    if by == 1 {
        return val;
    }
    let Quotient { whole, rest } = divided(val, range, Divisor::Known(by));
    let b = val.builder();
    // The remainder is at least half of the divisor; for an odd divisor, the half is rounded up.
    let half = by / 2 + by % 2;
    let up = rest.compare(Comparison::GreaterOrEqual, number(rest, half));
    let down = rest.compare(Comparison::LessOrEqual, number(rest, -half));
    let [up, down] = [up, down].map(|flag| b.select(flag, number(whole, 1), number(whole, 0)));
    whole + up - down
}

/// The quotient `x / by`, rounded towards −∞.
pub(crate) fn floored(val: Val<'_>, range: Range, by: i128) -> Val<'_> {
    let Quotient { whole, rest } = divided(val, range, Divisor::Known(by));
    let below = rest.less(number(rest, 0));
    whole - val.builder().select(below, number(whole, 1), number(whole, 0))
}

/// The neutral element of a least or greatest value: an end of the scalar's range.
pub(crate) fn extreme(scalar: Scalar, greatest: bool) -> Tensor {
    let bits = scalar.bits();
    let ones = u128::MAX >> (128 - bits);
    let top = if scalar.is_signed() { ones >> 1 } else { ones };
    Tensor::single(scalar, if greatest { top } else { !top & ones })
}

/// Whether a type's values are numbers in a computation.
pub(crate) const fn is_number(ty: ColumnType) -> bool {
    has_range(ty)
}
