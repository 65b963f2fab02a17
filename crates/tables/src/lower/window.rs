//! Window functions: scans over rows that are sorted by partition and order.

use super::{
    Lower, Want,
    cell::{Cell, LOST, both, either, extreme, scalar},
    figures::{leaves, ordered, upper},
    group::{counted, ones},
    numbers::{number, resized, width, zeros},
    rows::{CellKey, CellRows, behind, ends, reversed},
};
use crate::algebra::{Column, ColumnType, Expr, Frame, Relation, Window, WindowFunction, sum_range};
use hushwire_compute::{Comparison, Scan, Val};

/// Rows sorted for a window.
struct Sorted<'b> {
    rows: u64,
    /// The largest number of valid rows.
    all: u64,
    valid: Option<Val<'b>>,
    /// The rows at which a partition begins.
    partitions: Val<'b>,
    /// The rows at which a run of rows begins that are equal in the order.
    peers: Val<'b>,
    /// A row's number in its partition, from 1.
    number: Val<'b>,
}

impl<'b> Lower<'b> {
    pub(super) fn windowed(
        &mut self,
        relation: &Relation,
        input: &Relation,
        window: &Window,
    ) -> CellRows<'b> {
        let below: Vec<Want> = window
            .partition
            .iter()
            .map_while(|e| match e {
                Expr::Column(column) => Some(Want { column: *column, descending: false, nulls_first: false }),
                _ => None,
            })
            .collect();
        let rows = self.lower(input, &below);
        let value = |this: &mut Self, e: &Expr| {
            let cell = this.scope(input, &rows).typed(e).spread(rows.rows);
            this.named(cell)
        };
        let partition: Vec<Cell<'b>> = window.partition.iter().map(|e| value(self, e)).collect();
        let order: Vec<CellKey<'b>> = window
            .order
            .iter()
            .map(|key| CellKey {
                cell: value(self, &key.expr),
                descending: key.descending,
                nulls_first: key.nulls_first,
            })
            .collect();
        let arguments: Vec<Option<Cell<'b>>> = window
            .functions
            .iter()
            .map(|(_, function)| function.argument().map(|e| value(self, e)))
            .collect();
        let more: Vec<Cell<'b>> = partition
            .iter()
            .copied()
            .chain(order.iter().map(|key| key.cell))
            .chain(arguments.iter().flatten().copied())
            .collect();
        // Within a partition valid rows come first, so neighbours are valid.
        let ty = ColumnType::Boolean;
        let flag = rows.valid.map(|val| CellKey {
            cell: Cell { val, null: None, ty, range: ty.range(), id: LOST },
            descending: true,
            nulls_first: false,
        });
        let by: Vec<u32> =
            partition.iter().chain(order.iter().map(|key| &key.cell)).map(|cell| cell.id).collect();
        self.window_is_fair(relation, input, &rows, &by);
        let told = by.into_iter().chain(rows.told.iter().copied()).collect();
        let keys: Vec<CellKey<'b>> =
            partition.iter().copied().map(CellKey::up).chain(flag).chain(order.iter().copied()).collect();
        let (mut sorted, more) = if rows.has_order(&keys) {
            self.note("keeps the order of its rows".into());
            (rows, more)
        } else {
            self.note(format!("sorts {} rows by {}", rows.rows, self.told(&keys)));
            let (sorted, more) = rows.sort(&[], &keys, &more);
            // Validity is also a key, but reveals nothing about valid rows.
            (CellRows { told, ..sorted }, more)
        };
        let (partition, rest) = more.split_at(partition.len());
        let (order, arguments_there) = rest.split_at(order.len());
        let partitions = sorted.starts(partition);
        let on = Sorted {
            rows: sorted.rows,
            all: input.rows(),
            valid: sorted.valid,
            partitions,
            peers: sorted.starts(&[partition, order].concat()),
            number: ones(self.b, sorted.rows).scan(Scan::Sum, partitions),
        };
        let mut rest = arguments_there.iter().copied();
        let columns = &relation.schema().columns()[input.schema().columns().len()..];
        for (((_, function), argument), column) in window.functions.iter().zip(arguments).zip(columns) {
            let cell = self.over(&on, function, argument.and_then(|_| rest.next()), column);
            sorted.columns.push(self.named(cell));
        }
        sorted
    }

    fn over(
        &self,
        on: &Sorted<'b>,
        function: &WindowFunction,
        argument: Option<Cell<'b>>,
        column: &Column,
    ) -> Cell<'b> {
        let own = column.expr_type();
        let is =
            |val: Val<'b>, null: Option<Val<'b>>| Cell { val, null, ty: own.ty, range: own.range, id: LOST };
        let bits = width(own.range);
        let last = |frame: Frame, val: Val<'b>| match frame {
            Frame::Rows => val,
            Frame::Peers => on.at_last_peer(self, val),
        };
        match (function, argument) {
            (WindowFunction::Extreme { greatest, frame, .. }, Some(cell)) => {
                let counts = both(on.valid, cell.null.map(|null| !null));
                let ordered = ordered(cell.ty, cell.range);
                let x = cell.val.cast(ordered);
                let neutral = self.b.constant(extreme(ordered, !greatest));
                let x = counts.map_or(x, |counts| self.b.select(counts, x, neutral));
                let scan = if *greatest { Scan::Max } else { Scan::Min };
                let made = last(*frame, x.scan(scan, on.partitions));
                let null =
                    cell.null.map(|null| on.none_seen(both(on.valid, Some(!null)), |val| last(*frame, val)));
                let val = match cell.ty {
                    ColumnType::Boolean => {
                        let val = made.compare(Comparison::NotEqual, number(made, 0));
                        null.map_or(val, |null| val & !null)
                    }
                    _ => made.cast(scalar(cell.ty, cell.range)),
                };
                Cell { val, null, id: LOST, ..cell }
            }
            (WindowFunction::RunningSum(_, frame), Some(cell)) => {
                let last = |val: Val<'b>| last(*frame, val);
                let counts = both(on.valid, cell.null.map(|null| !null));
                let (_, looked_at) = sum_range(cell.range, on.all);
                let x = if looked_at { cell.val } else { resized(cell.val, bits) };
                let x = counts.map_or(x, |counts| self.b.select(counts, x, number(x, 0)));
                let sum_of = |x: Val<'b>| last(x.scan(Scan::Sum, on.partitions));
                let sum = sum_of(resized(x, bits));
                let large = looked_at.then(|| leaves(sum_of(upper(x, on.all))));
                let null = cell.null.map(|null| on.none_seen(both(on.valid, Some(!null)), last));
                is(sum, either(null, large))
            }
            (WindowFunction::Held { first, nulls, frame, .. }, Some(cell)) => {
                let held = |cell: Cell<'b>, from: Val<'b>| cell.map(|val| val.scan(Scan::First, from));
                let cell = Cell { id: LOST, ..cell };
                let (first, last) = (*first, |val: Val<'b>| on.at_last_valid_peer(self, *frame, val));
                let Some(null) = cell.null.filter(|_| !nulls) else {
                    // Valid rows come first in their partition.
                    return if first { held(cell, on.partitions) } else { cell.map(last) };
                };
                let counts = both(on.valid, Some(!null)).expect("one is there");
                let seen = counted(counts, on.rows).scan(Scan::Sum, on.partitions);
                let begins = if first { counts & seen.equals(number(seen, 1)) } else { counts };
                let found = cell.val.scan(Scan::First, on.partitions | begins);
                let none = last(seen.equals(number(seen, 0)));
                let val = last(found);
                let val = if cell.ty == ColumnType::Boolean { val & !none } else { val };
                Cell { val, null: Some(none), ..cell }
            }
            (WindowFunction::Lag(_, by), Some(cell)) => {
                let by = (*by).min(on.rows);
                let moved = cell.map(|val| behind(self.b, zeros(val, by), val.slice(0, on.rows - by)));
                let none = on.number.compare(Comparison::LessOrEqual, number(on.number, by.into()));
                self.neighbour(moved, none)
            }
            (WindowFunction::Lead(_, by), Some(cell)) => {
                let by = (*by).min(on.rows);
                let up = |val: Val<'b>| behind(self.b, val.slice(by, on.rows), zeros(val, by));
                // The row `by` rows later is in the same partition if it has this number.
                let expected = on.number + number(on.number, by.into());
                let wrong = up(on.number).compare(Comparison::NotEqual, expected);
                let none = either(Some(wrong), on.valid.map(|valid| !up(valid))).expect("one is there");
                self.neighbour(cell.map(up), none)
            }
            (WindowFunction::DenseRank, _) => {
                // The values of invalid rows are never used.
                let peers = counted(on.peers, on.rows).scan(Scan::Sum, on.partitions);
                is(resized(peers, bits), None)
            }
            (WindowFunction::Rank, _) => is(resized(on.number.scan(Scan::First, on.peers), bits), None),
            _ => is(resized(on.number, bits), None),
        }
    }

    fn neighbour(&self, moved: Cell<'b>, none: Val<'b>) -> Cell<'b> {
        let val = if moved.ty == ColumnType::Boolean { moved.val & !none } else { moved.val };
        Cell { val, null: either(moved.null, Some(none)), id: LOST, ..moved }
    }
}

impl<'b> Sorted<'b> {
    /// Whether there is no flagged row among those up to a row, as `last` finds them.
    fn none_seen(&self, flags: Option<Val<'b>>, last: impl Fn(Val<'b>) -> Val<'b>) -> Val<'b> {
        let seen = counted(flags.expect("one is there"), self.rows);
        let seen = last(seen.scan(Scan::Sum, self.partitions));
        seen.equals(number(seen, 0))
    }

    /// The value of the last valid row that is equal in the order, or of the row itself.
    fn at_last_valid_peer(&self, lower: &Lower<'b>, frame: Frame, val: Val<'b>) -> Val<'b> {
        let peers = match (frame, self.valid) {
            (Frame::Rows, _) => return val,
            (Frame::Peers, Some(valid)) if self.rows > 1 => {
                let [now, before] = [valid.slice(1, self.rows), valid.slice(0, self.rows - 1)];
                let changes = behind(lower.b, self.peers.slice(0, 1), now ^ before);
                self.peers | changes
            }
            (Frame::Peers, _) => self.peers,
        };
        let last = reversed(ends(lower.b, peers, self.rows), self.rows);
        reversed(reversed(val, self.rows).scan(Scan::First, last), self.rows)
    }

    /// The value of the last row that is equal in the order.
    fn at_last_peer(&self, lower: &Lower<'b>, val: Val<'b>) -> Val<'b> {
        let last = reversed(ends(lower.b, self.peers, self.rows), self.rows);
        reversed(reversed(val, self.rows).scan(Scan::First, last), self.rows)
    }
}
