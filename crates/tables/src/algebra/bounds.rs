//! Bounds of results: numbers have 128 bits, and no result is wrong because of its size.
//!
//! Sums, differences and products in an expression are refused if the ranges of their operands
//! allow larger results. For sums of rows, means, variances and quotients, ranges nearly always
//! allow results that are too large, but these occur rarely; such a result becomes NULL.

use super::{
    arithmetic::Arithmetic,
    types::{ColumnType, Range},
    typing::{ExprType, rescaled},
};
use crate::plain::numbers;

/// The range of all numbers.
pub(crate) const NUMBERS: Range = Range { low: -i128::MAX, high: i128::MAX };

/// The range of sums of numbers' upper 64 bits for which the sum of the numbers is not NULL.
pub(crate) const UPPER: Range = Range::of_bits(63);

/// The range of sums that passed this check: at most 2^40 lower halves of 64 bits are added.
const CHECKED: Range = Range { low: -(1 << 126), high: (1 << 126) + (1 << 104) };

/// The greatest absolute value in a range.
pub(crate) fn greatest(range: Range) -> i128 {
    range.low.saturating_abs().max(range.high.saturating_abs())
}

/// The range of sums of up to `rows` numbers, and whether some sums may be NULL because of their
/// size.
pub(crate) fn sum_range(of: Range, rows: u64) -> (Range, bool) {
    let end = |n: i128| n.checked_mul(rows.into());
    let exact = end(of.low.min(0)).zip(end(of.high.max(0))).map(|(low, high)| Range { low, high });
    match exact.filter(|range| Range::of_bits(127).holds(*range)) {
        Some(exact) => (exact, false),
        None => (CHECKED, true),
    }
}

/// The digits of a mean: the whole quotient of a sum by its count, then fractional digits.
pub(crate) struct Mean {
    /// The power of ten of the digits that it has in addition to its numbers' digits.
    pub(crate) times: i128,
    /// The greatest whole quotient that is not NULL, if there may be greater ones.
    pub(crate) most: Option<i128>,
    pub(crate) range: Range,
}

impl Mean {
    /// The mean of quotients of a range.
    pub(crate) fn new(of: Range, digits: u8) -> Mean {
        let times = 10i128.pow(digits.into());
        let end = |n: i128| n.checked_mul(times);
        match end(of.low.min(0)).zip(end(of.high.max(0))).filter(|(low, _)| *low > i128::MIN) {
            Some((low, high)) => Mean { times, most: None, range: Range { low, high } },
            None => Mean { times, most: Some(i128::MAX / times - 1), range: NUMBERS },
        }
    }
}

/// A variance: its squares, their sum and its divisor.
pub(crate) struct Variance {
    /// The greatest sum of squares that is not NULL, if there may be greater ones.
    pub(crate) most_squares: Option<i128>,
    /// The range of the numbers' squares.
    pub(crate) squares: Range,
    /// The digits of its quotients, before a double's shift.
    pub(crate) mean: Mean,
}

impl Variance {
    /// The variance of up to `rows` numbers of a range; `None` if a square may be too large.
    pub(crate) fn new(of: Range, rows: u64, digits: u8) -> Option<Variance> {
        let most = greatest(of);
        let square = most.checked_mul(most)?;
        let rows = i128::from(rows).max(1);
        let fits = square.checked_mul(rows).and_then(|sum| sum.checked_mul(rows)).is_some();
        // A sample's variance is at most twice the greatest square.
        let quotients = Range { low: 0, high: square.saturating_mul(2) };
        Some(Variance {
            most_squares: (!fits).then(|| i128::MAX / rows),
            squares: Range { low: 0, high: square },
            mean: Mean::new(quotients, digits),
        })
    }

    /// Whether some variances may be NULL because of their size.
    pub(crate) fn may_leave(&self) -> bool {
        self.most_squares.is_some() || self.mean.most.is_some()
    }
}

/// A quotient by long division: `x first / y`, then the remainder times each further factor.
pub(crate) struct Quotient {
    pub(crate) first: i128,
    pub(crate) more: Vec<i128>,
    /// The greatest absolute value of the first quotient that is not NULL, if there may be greater
    /// ones.
    pub(crate) most: Option<i128>,
    pub(crate) range: Range,
}

/// The largest absolute value of quotients that are computed without a proven bound on their size,
/// so that they can be multiplied.
const WIDE: i128 = 10i128.pow(33);

impl Quotient {
    /// The quotient for a result type of arithmetic; `None` if the divisor leaves no room for a
    /// digit.
    pub(crate) fn new(ty: ColumnType, a: ExprType, b: ExprType) -> Option<Quotient> {
        let (x, y, base, digits) = match ty {
            ColumnType::Double { frac } => {
                (rescaled(a.ty, a.range, ty)?, rescaled(b.ty, b.range, ty)?, 2i128, frac)
            }
            ColumnType::Decimal { scale, .. } => (a.range, b.range, 10, scale + b.ty.scale() - a.ty.scale()),
            _ => (a.range, b.range, 10, 0),
        };
        let times = base.checked_pow(digits.into())?;
        let signed = |most: i128| Range { low: if x.low < 0 || y.low < 0 { -most } else { 0 }, high: most };
        if let Some(whole) = greatest(x).checked_mul(times) {
            let least = if y.low > 0 { y.low } else { (-y.high).max(1) };
            return Some(Quotient { first: times, more: vec![], most: None, range: signed(whole / least) });
        }
        let place =
            (0..u32::from(digits)).take_while(|n| greatest(y).max(1).checked_mul(base.pow(n + 1)).is_some());
        let place = u32::try_from(place.count()).ok().filter(|n| *n > 0)?;
        let mut more = vec![base.pow(place); u32::from(digits).div_ceil(place) as usize];
        if let Some(last) = more.last_mut() {
            *last = base.pow(u32::from(digits) - place * (u32::from(digits).div_ceil(place) - 1));
        }
        let limit = if times <= WIDE / 1_000_000 { WIDE } else { i128::MAX };
        Some(Quotient { first: 1, more, most: Some(limit / times - 1), range: signed(limit) })
    }
}

/// The range of arithmetic on two operands; `None` if the result may not fit in 128 bits.
pub(crate) fn arithmetic_range(op: Arithmetic, ty: ColumnType, a: ExprType, b: ExprType) -> Option<Range> {
    let same = |t: ExprType| match t.ty {
        _ if ty.is_numeric() && t.ty.is_numeric() => rescaled(t.ty, t.range, ty),
        ColumnType::Date if matches!(ty, ColumnType::Interval | ColumnType::Timestamp) => {
            rescaled(t.ty, t.range, ColumnType::Timestamp)
        }
        _ => Some(t.range),
    };
    match op {
        Arithmetic::Add | Arithmetic::Subtract => {
            let (a, b) = (same(a)?, same(b)?);
            let (low, high) = if op == Arithmetic::Add {
                (a.low.checked_add(b.low), a.high.checked_add(b.high))
            } else {
                (a.low.checked_sub(b.high), a.high.checked_sub(b.low))
            };
            Some(Range { low: low?, high: high? })
        }
        Arithmetic::Multiply => {
            let (x, y, frac) = match ty {
                ColumnType::Double { frac } => (same(a)?, same(b)?, frac),
                _ => (a.range, b.range, 0),
            };
            let corners = [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)];
            let all = corners.map(|(x, y)| numbers::product(x, y, frac));
            let all = all.into_iter().collect::<Option<Vec<_>>>()?;
            let range = Range { low: *all.iter().min()?, high: *all.iter().max()? };
            // The product is computed in two parts if one factor times the lower bits of the other
            // fits.
            let sizes = [greatest(x), greatest(y)];
            let whole = sizes[0].checked_mul(sizes[1]).is_some();
            let in_parts = sizes.iter().any(|size: &i128| size.checked_mul(1 << frac).is_some());
            (whole || in_parts && Range::of_bits(127).holds(range)).then_some(range)
        }
        Arithmetic::Divide | Arithmetic::DivideWhole => Quotient::new(ty, a, b).map(|q| q.range),
        Arithmetic::Remainder => {
            let (x, y) = (same(a)?, same(b)?);
            let most = greatest(x).min((greatest(y) - 1).max(0));
            Some(Range { low: if x.low < 0 { -most } else { 0 }, high: if x.high > 0 { most } else { 0 } })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_a_quotient_are_all_its_digits() {
        let of = |ty, high: i128| ExprType { ty, nullable: false, range: Range { low: -high, high } };
        for frac in [0, 8, 32, 48] {
            let ty = ColumnType::Double { frac };
            for y in [1i128, 1 << 63, 1 << 110, i128::MAX >> 3] {
                let Some(q) = Quotient::new(ty, of(ty, i128::MAX), of(ty, y)) else {
                    panic!("{frac} digits have a place beside {y}");
                };
                assert_eq!(q.first * q.more.iter().product::<i128>(), 1 << frac, "{frac} {y}");
                assert!(q.more.iter().all(|times| times.checked_mul(y).is_some()));
            }
        }
        let ty = ColumnType::Double { frac: 32 };
        assert!(Quotient::new(ty, of(ty, i128::MAX), of(ty, i128::MAX)).is_none());
    }

    #[test]
    fn sums_are_checked_where_126_bits_may_not_hold_them() {
        let of = |high: i128| Range { low: 0, high };
        assert_eq!(sum_range(of(i64::MAX.into()), 1 << 40), (of(i128::from(i64::MAX) << 40), false));
        assert_eq!(sum_range(of((1 << 126) - 1), 1), (of((1 << 126) - 1), false));
        assert!(sum_range(of(1 << 126), 1).1 && sum_range(of(1 << 125), 2).1);
    }
}
