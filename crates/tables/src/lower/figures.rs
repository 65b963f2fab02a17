//! Figures of groups, whichever way rows are grouped.

use super::{
    cell::{Cell, both, either, extreme, scalar},
    divide::{Divisor, Quotient, divided},
    group::{counted, ones},
    numbers::{beyond, mirrored, number, resized, width, zero},
    rows::one_row,
};
use crate::algebra::{
    Aggregate, Column, ColumnType, ExprType, Function, Mean, NUMBERS, Range, UPPER, average_mean, sum_range,
    variance_of,
};
use hushwire_compute::{Builder, Comparison, Reduction, Scalar, Scan, Shape, Val};

/// The way in which rows are grouped.
pub(super) enum Grouping<'b> {
    /// All rows in one group, whose figures are a column of one row.
    All(&'b Builder),
    /// Runs of rows from each start on; a run's figure stands in its last row.
    Sorted(Val<'b>),
    /// A flag for each group and row, `[groups, rows]`.
    Few(Val<'b>),
}

impl<'b> Grouping<'b> {
    /// Sums of numbers, wrapping.
    fn sum(&self, x: Val<'b>) -> Val<'b> {
        match self {
            Grouping::All(_) => one_row(x.sum()),
            Grouping::Sorted(starts) => x.scan(Scan::Sum, *starts),
            Grouping::Few(flags) => match x.ty() {
                Some(ty) => flags.cast(ty.scalar).matmul(x),
                None => x,
            },
        }
    }

    /// The sums of at most `most` numbers in `range`, and which of them are NULL for their size.
    /// They are wide enough to be multiplied by `times`.
    fn checked_sum(
        &self,
        numbers: &dyn Fn(u8) -> Val<'b>,
        (range, most): (Range, u64),
        times: i128,
    ) -> (Val<'b>, Option<Val<'b>>) {
        let (to, looked_at) = sum_range(range, most);
        let bits = width(multiplied(to, times).unwrap_or(to));
        let x = numbers(if looked_at { width(range) } else { bits });
        let sum = self.sum(resized(x, bits));
        (sum, looked_at.then(|| leaves(self.sum(upper(x, most)))))
    }

    /// How many rows are flagged, or all of a group.
    pub(super) fn count(&self, flag: Option<Val<'b>>, rows: u64) -> Val<'b> {
        match (self, flag) {
            (Grouping::Few(flags), None) => counted(*flags, rows).reduce(Reduction::Sum, 1),
            (Grouping::Sorted(starts), None) => self.sum(ones(starts.builder(), rows)),
            (_, Some(flag)) => self.sum(counted(flag, rows)),
            (Grouping::All(b), None) => all_count(b, rows),
        }
    }

    fn extreme(&self, x: Val<'b>, greatest: bool) -> Val<'b> {
        let (scan, reduction) =
            if greatest { (Scan::Max, Reduction::Max) } else { (Scan::Min, Reduction::Min) };
        match self {
            Grouping::All(_) => one_row(x.reduce(reduction, 0)),
            Grouping::Sorted(starts) => x.scan(scan, *starts),
            Grouping::Few(_) => unreachable!("few keys have sums alone"),
        }
    }
}

/// The upper 64 bits of numbers, wide enough for the sum of `most` such numbers.
pub(super) fn upper(x: Val<'_>, most: u64) -> Val<'_> {
    let all = Range::of_bits(64);
    let sums = Range { low: all.low * i128::from(most.max(1)), high: all.high * i128::from(most.max(1)) };
    resized(x >> 64, width(sums))
}

/// Whether a sum is NULL for its size, from the sum of the numbers' upper bits.
pub(super) fn leaves(upper: Val<'_>) -> Val<'_> {
    let below = upper.compare(Comparison::Less, number(upper, UPPER.low));
    below | upper.compare(Comparison::Greater, number(upper, UPPER.high))
}

/// The rows under a figure.
#[derive(Clone, Copy)]
pub(super) struct Of<'b> {
    pub(super) b: &'b Builder,
    /// Rows, valid or not.
    pub(super) rows: u64,
    /// A bound on the number of valid rows.
    pub(super) all: u64,
}

/// Computes a figure. `valid` flags the rows that count. For a distinct figure, `fresh` flags the
/// rows among these that are the first with their argument.
pub(super) fn figure<'b>(
    grouping: &Grouping<'b>,
    aggregate: &Aggregate,
    column: &Column,
    valid: Option<Val<'b>>,
    argument: Option<Cell<'b>>,
    fresh: Option<Val<'b>>,
    of: Of<'b>,
) -> Cell<'b> {
    let Of { b, rows, all: most } = of;
    let own = column.expr_type();
    let is = |val: Val<'b>, null: Option<Val<'b>>| {
        let val = if super::cell::is_number(own.ty) { resized(val, width(own.range)) } else { val };
        Cell { val, null, ty: own.ty, range: own.range, id: u32::MAX }
    };
    let Some(argument) = argument else { return is(grouping.count(valid, rows), None) };
    let counts = fresh.or_else(|| both(valid, argument.null.map(|null| !null)));
    let count = || grouping.count(counts, rows);
    // A group is never empty; without keys all rows may be.
    let nullable = argument.null.is_some() || matches!(grouping, Grouping::All(_));
    let none = || {
        nullable.then(|| {
            let count = count();
            count.equals(number(count, 0))
        })
    };
    let chosen = |bits: u8| {
        let x = resized(argument.val, bits);
        counts.map_or(x, |counts| b.select(counts, x, number(x, 0)))
    };
    match aggregate.function {
        Function::CountRows | Function::Count => is(count(), None),
        Function::Min | Function::Max => {
            let null = none();
            let greatest = aggregate.function == Function::Max;
            let (ty, range) = (argument.ty, argument.range);
            if let ColumnType::Varchar(17..) = ty {
                // The rows were sorted so that the last one has it.
                let val = match grouping {
                    Grouping::All(_) if rows == 0 => zero(b, scalar(ty, range)).broadcast(Shape::vector(1)),
                    Grouping::All(_) => argument.val.slice(rows - 1, rows),
                    _ => argument.val,
                };
                return is(val, null);
            }
            let ordered = ordered(ty, range);
            let x = argument.val.cast(ordered);
            let x = counts.map_or(x, |counts| b.select(counts, x, b.constant(extreme(ordered, !greatest))));
            let made = grouping.extreme(x, greatest);
            match ty {
                ColumnType::Boolean => {
                    let val = made.compare(Comparison::NotEqual, number(made, 0));
                    is(null.map_or(val, |null| val & !null), null)
                }
                _ => is(made.cast(scalar(ty, range)), null),
            }
        }
        Function::Sum => {
            let null = none();
            let (sum, leaves) = grouping.checked_sum(&chosen, (argument.range, most), 1);
            is(sum, either(null, leaves))
        }
        Function::Average => {
            let null = none();
            let typed = ExprType { ty: argument.ty, nullable, range: argument.range };
            let (digits, _) = average_mean(typed, most);
            let (sum, left) = grouping.checked_sum(&chosen, (argument.range, most), digits.times);
            let of_sum = sum_range(argument.range, most).0;
            let (mean, leaves) = mean((sum, of_sum), (count(), Range { low: 0, high: rows.into() }), &digits);
            is(mean, [null, left, leaves].into_iter().fold(None, either))
        }
        Function::VariancePopulation | Function::VarianceSample => {
            let null = none();
            let typed = ExprType { ty: argument.ty, nullable, range: argument.range };
            let varied = variance_of(typed, most).expect("it was checked");
            let (x, n) = (chosen(128), resized(count(), 128));
            let square = |bits: u8| resized(x * x, bits);
            let (squares, left) = grouping.checked_sum(&square, (varied.squares, most), 1);
            let squares = resized(squares, 128);
            let larger = |most| squares.compare(Comparison::Greater, number(squares, most));
            let larger = varied.most_squares.map(larger);
            let sum = grouping.sum(x);
            let one_less = if aggregate.function == Function::VarianceSample { n - number(n, 1) } else { n };
            let (size, by) = (n * squares - sum * sum, n * one_less);
            let counts = i128::from(rows).checked_mul(rows.into()).unwrap_or(i128::MAX);
            let (made, leaves) = mean((size, NUMBERS), (by, Range { low: 0, high: counts }), &varied.mean);
            let made = match argument.ty {
                ColumnType::Double { frac } => resized(made, 128) >> u16::from(frac),
                _ => made,
            };
            let null = match aggregate.function {
                Function::VarianceSample => Some(by.equals(number(by, 0))),
                _ => null,
            };
            is(made, [null, left, larger, leaves].into_iter().fold(None, either))
        }
    }
}

/// The scalar whose order is the order of a type's values; strings have at most 16 bytes.
pub(super) fn ordered(ty: ColumnType, range: Range) -> Scalar {
    match ty {
        ColumnType::Boolean => Scalar::unsigned(1),
        ColumnType::Varchar(bytes) => Scalar::unsigned(8 * bytes as u8),
        _ => scalar(ty, range),
    }
}

/// A range times a number, where 128 bits hold it.
fn multiplied(range: Range, times: i128) -> Option<Range> {
    Some(Range { low: range.low.checked_mul(times)?, high: range.high.checked_mul(times)? })
}

/// Sums divided by counts, with the digits of a mean, and which of them are NULL for their size.
fn mean<'b>(
    (sum, range): (Val<'b>, Range),
    (count, counts): (Val<'b>, Range),
    digits: &Mean,
) -> (Val<'b>, Option<Val<'b>>) {
    let times = digits.times;
    let by = || Divisor::Column(count, counts);
    if let Some(range) = multiplied(range, times) {
        let sum = resized(sum, width(range));
        let sum = if times == 1 { sum } else { sum * number(sum, times) };
        return (divided(sum, range, by()).whole, None);
    }
    let Quotient { whole, rest } = divided(sum, range, by());
    let leaves = digits.most.map(|most| beyond(whole, most));
    let rests = mirrored(Range { low: 0, high: counts.high.saturating_mul(times) });
    let rest = resized(rest, width(rests));
    let more = divided(rest * number(rest, times), rests, by()).whole;
    let bits = width(digits.range);
    let whole = resized(whole, bits);
    (whole * number(whole, times) + resized(more, bits), leaves)
}

/// The public count of all rows, as a column of one row.
fn all_count(b: &Builder, rows: u64) -> Val<'_> {
    let bits = width(Range { low: 0, high: rows.into() });
    b.number(Scalar::signed(bits), rows.into()).broadcast(Shape::vector(1))
}
