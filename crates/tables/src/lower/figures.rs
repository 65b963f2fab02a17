//! Figures of groups, for each way of grouping rows.

use super::{
    cell::{Cell, LOST, both, extreme, is_number, scalar},
    divide::multiplied,
    group::{counted, ones},
    numbers::{number, resized, width, zero},
    rows::one_row,
};
use crate::{
    aggregates::FigureRows,
    algebra::{Aggregate, Column, ColumnType, ExprType, Range, UPPER, sum_range},
};
use hushwire_compute::{Builder, Comparison, Reduction, Scalar, Scan, Shape, Val};

/// The way in which rows are grouped.
pub(super) enum Grouping<'b> {
    /// All rows in one group, whose figures are a column of one row.
    All(&'b Builder),
    /// Runs of rows that begin at each start; a run's figure is in its last row.
    Sorted(Val<'b>),
    /// A flag for each group and row, `[groups, rows]`.
    Few(Val<'b>),
}

impl<'b> Grouping<'b> {
    /// The sums of numbers, which wrap around.
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

    /// The sums of at most `most` numbers in `range`, and flags for those that are NULL because of
    /// their size. The sums are wide enough to be multiplied by `times`.
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

    /// The number of flagged rows of each group, or of all its rows.
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

/// Whether a sum is NULL because of its size, from the sum of the numbers' upper bits.
pub(super) fn leaves(upper: Val<'_>) -> Val<'_> {
    let below = upper.compare(Comparison::Less, number(upper, UPPER.low));
    below | upper.compare(Comparison::Greater, number(upper, UPPER.high))
}

/// The rows from which a figure is computed.
#[derive(Clone, Copy)]
pub(super) struct SourceRows<'b> {
    pub(super) b: &'b Builder,
    /// The number of rows, valid or not.
    pub(super) rows: u64,
    /// A bound on the number of valid rows.
    pub(super) all: u64,
}

/// Computes the figure of `aggregate` for each group, in the type of `column`. `valid` flags the
/// rows that count. For a distinct figure, `fresh` flags the rows among these that are the first
/// with their argument.
pub(super) fn figure<'b>(
    grouping: &Grouping<'b>,
    aggregate: &Aggregate,
    column: &Column,
    valid: Option<Val<'b>>,
    argument: Option<Cell<'b>>,
    fresh: Option<Val<'b>>,
    source: SourceRows<'b>,
) -> Cell<'b> {
    let own = column.expr_type();
    let Some(argument) = argument else { return cell_of(own, grouping.count(valid, source.rows), None) };
    let counts = fresh.or_else(|| both(valid, argument.null.map(|null| !null)));
    // A group is never empty; but without keys there may be no valid rows.
    let nullable = argument.null.is_some() || matches!(grouping, Grouping::All(_));
    (aggregate.figure.lower)(&GroupRows { grouping, own, argument, counts, nullable, source })
}

/// The rows of groups for which a figure is computed.
struct GroupRows<'a, 'b> {
    grouping: &'a Grouping<'b>,
    /// The figure's type.
    own: ExprType,
    argument: Cell<'b>,
    /// The rows that count; all if there are no flags.
    counts: Option<Val<'b>>,
    /// Whether a group may have no row that counts.
    nullable: bool,
    source: SourceRows<'b>,
}

impl<'b> FigureRows<'b> for GroupRows<'_, 'b> {
    fn argument(&self) -> Cell<'b> {
        self.argument
    }

    fn cell(&self, val: Val<'b>, null: Option<Val<'b>>) -> Cell<'b> {
        cell_of(self.own, val, null)
    }

    fn argument_type(&self) -> ExprType {
        ExprType { ty: self.argument.ty, nullable: self.nullable, range: self.argument.range }
    }

    fn most(&self) -> u64 {
        self.source.all
    }

    fn count(&self) -> Val<'b> {
        self.grouping.count(self.counts, self.source.rows)
    }

    fn counts(&self) -> Range {
        Range { low: 0, high: self.source.rows.into() }
    }

    fn none(&self) -> Option<Val<'b>> {
        self.nullable.then(|| {
            let count = self.count();
            count.equals(number(count, 0))
        })
    }

    fn chosen(&self, bits: u8) -> Val<'b> {
        let x = resized(self.argument.val, bits);
        self.counts.map_or(x, |counts| self.source.b.select(counts, x, number(x, 0)))
    }

    fn sum(&self, times: i128) -> (Val<'b>, Option<Val<'b>>) {
        self.sum_of(&|bits| self.chosen(bits), self.argument.range, times)
    }

    fn sum_of(
        &self,
        numbers: &dyn Fn(u8) -> Val<'b>,
        range: Range,
        times: i128,
    ) -> (Val<'b>, Option<Val<'b>>) {
        self.grouping.checked_sum(numbers, (range, self.source.all), times)
    }

    fn wrapping_sum(&self, x: Val<'b>) -> Val<'b> {
        self.grouping.sum(x)
    }

    fn extreme(&self, greatest: bool) -> Cell<'b> {
        let (ty, range, b) = (self.argument.ty, self.argument.range, self.source.b);
        let null = self.none();
        if let ColumnType::Varchar(17..) = ty {
            // The rows were sorted so that the last row has this value.
            let rows = self.source.rows;
            let val = match self.grouping {
                Grouping::All(_) if rows == 0 => zero(b, scalar(ty, range)).broadcast(Shape::vector(1)),
                Grouping::All(_) => self.argument.val.slice(rows - 1, rows),
                _ => self.argument.val,
            };
            return self.cell(val, null);
        }
        let ordered = ordered(ty, range);
        let x = self.argument.val.cast(ordered);
        let none = || b.constant(extreme(ordered, !greatest));
        let x = self.counts.map_or(x, |counts| b.select(counts, x, none()));
        let made = self.grouping.extreme(x, greatest);
        match ty {
            ColumnType::Boolean => {
                let val = made.compare(Comparison::NotEqual, number(made, 0));
                self.cell(null.map_or(val, |null| val & !null), null)
            }
            _ => self.cell(made.cast(scalar(ty, range)), null),
        }
    }
}

/// The column of a figure.
fn cell_of<'b>(own: ExprType, val: Val<'b>, null: Option<Val<'b>>) -> Cell<'b> {
    let val = if is_number(own.ty) { resized(val, width(own.range)) } else { val };
    Cell { val, null, ty: own.ty, range: own.range, id: LOST }
}

/// The scalar that has the order of a type's values; strings have at most 16 bytes.
pub(super) fn ordered(ty: ColumnType, range: Range) -> Scalar {
    match ty {
        ColumnType::Boolean => Scalar::unsigned(1),
        ColumnType::Varchar(bytes) => Scalar::unsigned(8 * bytes as u8),
        _ => scalar(ty, range),
    }
}

/// The public count of all rows, as a column of one row.
fn all_count(b: &Builder, rows: u64) -> Val<'_> {
    let bits = width(Range { low: 0, high: rows.into() });
    b.number(Scalar::signed(bits), rows.into()).broadcast(Shape::vector(1))
}
