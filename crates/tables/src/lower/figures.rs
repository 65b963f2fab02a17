//! Figures of groups, whichever way rows are grouped.

use super::{
    cell::{Cell, both, extreme, number, resized, scalar, width, zero},
    divide::{Divisor, divided},
    group::{counted, ones},
    rows::one_row,
};
use crate::algebra::{Aggregate, Column, ColumnType, Function, Range, held, sum_type, variance_type};
use hushwire_compute::{Builder, Comparison, Reduction, Scalar, Scan, Shape, Val};

/// The way in which rows are grouped.
pub(super) enum Grouping<'b> {
    /// All rows in one group, whose figures are a column of one row.
    All,
    /// Runs of rows from each start on; a run's figure stands in its last row.
    Sorted(Val<'b>),
    /// A flag for each group and row, `[groups, rows]`.
    Few(Val<'b>),
}

impl<'b> Grouping<'b> {
    /// Sums of numbers, wrapping.
    fn sum(&self, x: Val<'b>) -> Val<'b> {
        match self {
            Grouping::All => one_row(x.sum()),
            Grouping::Sorted(starts) => x.scan(Scan::Sum, *starts),
            Grouping::Few(flags) => match x.ty() {
                Some(ty) => flags.cast(ty.scalar).matmul(x),
                None => x,
            },
        }
    }

    /// How many rows are flagged, or all of a group.
    pub(super) fn count(&self, flag: Option<Val<'b>>, rows: u64) -> Val<'b> {
        match (self, flag) {
            (Grouping::Few(flags), None) => counted(*flags, rows).reduce(Reduction::Sum, 1),
            (Grouping::Sorted(starts), None) => self.sum(ones(starts.builder(), rows)),
            (_, Some(flag)) => self.sum(counted(flag, rows)),
            (Grouping::All, None) => unreachable!("all rows are as many as there are"),
        }
    }

    fn extreme(&self, x: Val<'b>, greatest: bool) -> Val<'b> {
        let (scan, reduction) =
            if greatest { (Scan::Max, Reduction::Max) } else { (Scan::Min, Reduction::Min) };
        match self {
            Grouping::All => one_row(x.reduce(reduction, 0)),
            Grouping::Sorted(starts) => x.scan(scan, *starts),
            Grouping::Few(_) => unreachable!("few keys have sums alone"),
        }
    }
}

/// A figure. `valid` are the rows that count, and `fresh` those of them that are the first of their equals, where it counts different
/// ones.
pub(super) fn figure<'b>(
    grouping: &Grouping<'b>,
    aggregate: &Aggregate,
    column: &Column,
    valid: Option<Val<'b>>,
    argument: Option<Cell<'b>>,
    fresh: Option<Val<'b>>,
    (b, rows): (&'b Builder, u64),
) -> Cell<'b> {
    let own = column.expr_type();
    let is = |val: Val<'b>, null: Option<Val<'b>>| {
        let val = if super::cell::is_number(own.ty) { resized(val, width(own.range)) } else { val };
        Cell { val, null, ty: own.ty, range: own.range, id: u32::MAX }
    };
    let count_of = |counts: Option<Val<'b>>| match (grouping, counts) {
        (Grouping::All, None) => None,
        (_, counts) => Some(grouping.count(counts, rows)),
    };
    let Some(argument) = argument else {
        return match count_of(valid) {
            Some(count) => is(count, None),
            None => all(column, rows, b),
        };
    };
    let counts = fresh.or_else(|| both(valid, argument.null.map(|null| !null)));
    let count = || count_of(counts).unwrap_or_else(|| all_count(b, rows));
    if aggregate.function == Function::Count {
        return is(count(), None);
    }
    // A group is never empty; without keys all rows may be.
    let nullable = argument.null.is_some() || matches!(grouping, Grouping::All);
    let null = nullable.then(|| {
        let count = count();
        count.equals(number(count, 0))
    });
    let chosen = |bits: u8| {
        let x = resized(argument.val, bits);
        counts.map_or(x, |counts| b.select(counts, x, number(x, 0)))
    };
    match aggregate.function {
        Function::CountRows | Function::Count => unreachable!("they were answered before"),
        Function::Min | Function::Max => {
            let greatest = aggregate.function == Function::Max;
            let (ty, range) = (argument.ty, argument.range);
            let ordered = match ty {
                ColumnType::Boolean => Scalar::unsigned(1),
                ColumnType::Varchar(17..) => {
                    // It is the last row's.
                    let val = match grouping {
                        Grouping::All if rows == 0 => zero(b, scalar(ty, range)).broadcast(Shape::vector(1)),
                        Grouping::All => argument.val.slice(rows - 1, rows),
                        _ => argument.val,
                    };
                    return is(val, null);
                }
                ColumnType::Varchar(bytes) => Scalar::unsigned(8 * bytes as u8),
                _ => scalar(ty, range),
            };
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
        Function::Sum => is(grouping.sum(chosen(width(own.range))), null),
        Function::Average => is(average(grouping, column.ty, argument, rows, &chosen, count()), null),
        Function::VariancePopulation | Function::VarianceSample => {
            let (x, n) = (chosen(128), resized(count(), 128));
            let (sum, squares) = (grouping.sum(x), grouping.sum(x * x));
            let one_less = if aggregate.function == Function::VarianceSample { n - number(n, 1) } else { n };
            let size = n * squares - sum * sum;
            let by = n * one_less;
            let squared = i128::from(rows).checked_mul(rows.into()).unwrap_or(i128::MAX);
            let divisor = Divisor::Column(by, Range { low: 0, high: squared });
            let over = |size: Val<'b>| resized(divided(size, Range::of_bits(128), divisor).whole, 128);
            let made = match variance_type(argument.ty) {
                ColumnType::Double { frac } => over(size) >> u16::from(frac),
                ty => over(size * number(size, 10i128.pow((ty.scale() - 2 * argument.ty.scale()).into()))),
            };
            let null = match aggregate.function {
                Function::VarianceSample => Some(by.equals(number(by, 0))),
                _ => null,
            };
            is(resized(made, width(own.range)), null)
        }
    }
}

fn average<'b>(
    grouping: &Grouping<'b>,
    to: ColumnType,
    argument: Cell<'b>,
    rows: u64,
    chosen: &dyn Fn(u8) -> Val<'b>,
    count: Val<'b>,
) -> Val<'b> {
    let end = |n: i128, times: i128| n.checked_mul(rows.into()).and_then(|n| n.checked_mul(times));
    let counts = Range { low: 0, high: rows.into() };
    if to == argument.ty {
        let ty = held(sum_type(argument.ty));
        let sum = grouping.sum(chosen(width(ty)));
        return divided(sum, ty, Divisor::Column(count, counts)).whole;
    }
    let times = 10i128.pow((to.scale() - argument.ty.scale()).into());
    let Range { low, high } = argument.range;
    let range = end(low.min(0), times).zip(end(high.max(0), times)).map(|(low, high)| Range { low, high });
    let range = range.unwrap_or(Range::of_bits(128));
    let sum = grouping.sum(chosen(width(range)));
    divided(sum * number(sum, times), range, Divisor::Column(count, counts)).whole
}

/// The public count of all rows, as a column of one row.
pub(super) fn all_count(b: &Builder, rows: u64) -> Val<'_> {
    let bits = width(Range { low: 0, high: rows.into() });
    b.number(Scalar::signed(bits), rows.into()).broadcast(Shape::vector(1))
}

fn all<'b>(column: &Column, rows: u64, b: &'b Builder) -> Cell<'b> {
    let own = column.expr_type();
    let val = resized(all_count(b, rows), width(own.range));
    Cell { val, null: None, ty: own.ty, range: own.range, id: u32::MAX }
}
