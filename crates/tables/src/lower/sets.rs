//! Combines rows of two relations.

use super::{
    Lower, Want,
    cell::{Cell, LOST, scalar},
    group::Asked,
    group::counted,
    meeting::{Keys, Meeting},
    numbers::{number, truth, zero},
    rows::{CellRows, behind},
};
use crate::algebra::{Relation, SetOperation};
use hushwire_compute::{Comparison, Scan, Shape, Val};

impl<'b> Lower<'b> {
    pub(super) fn set(
        &mut self,
        relation: &Relation,
        operation: SetOperation,
        all: bool,
        sides: [&Relation; 2],
    ) -> CellRows<'b> {
        let [left, right] = sides.map(|side| {
            let rows = self.lower(side, &[]);
            let columns = rows.columns.iter().zip(relation.schema().columns());
            let same = |(cell, column): (&Cell<'b>, &crate::algebra::Column)| {
                let to = column.expr_type();
                Cell { id: LOST, ..cell.united(to.ty, to.range) }
            };
            let cells: Vec<Cell<'b>> = columns.map(same).collect();
            let columns: Vec<Cell<'b>> = cells.into_iter().map(|cell| self.named(cell)).collect();
            let told = rows.told_by(&columns);
            CellRows { columns, sorted: vec![], follows: vec![], told, ..rows }
        });
        match operation {
            SetOperation::Union => {
                let both = self.stacked(&left, &right);
                if all { both } else { self.different(&both) }
            }
            _ => self.partnered(operation, all, &left, &right),
        }
    }

    /// The rows of one relation followed by those of another, whose columns have the same types and
    /// ranges.
    pub(super) fn stacked(&mut self, first: &CellRows<'b>, second: &CellRows<'b>) -> CellRows<'b> {
        let b = self.b;
        let none = |rows: u64| truth(b, false).broadcast(Shape::vector(rows));
        let one = |(a, c): (&Cell<'b>, &Cell<'b>)| {
            let null = (a.null.is_some() || c.null.is_some()).then(|| {
                let [x, y] =
                    [(a, first), (c, second)].map(|(cell, of)| cell.null.unwrap_or_else(|| none(of.rows)));
                behind(b, x, y)
            });
            Cell { val: behind(b, a.val, c.val), null, id: LOST, ..*a }
        };
        let columns: Vec<Cell<'b>> = first.columns.iter().zip(&second.columns).map(one).collect();
        let columns: Vec<Cell<'b>> = columns.into_iter().map(|cell| self.named(cell)).collect();
        let valid = (first.valid.is_some() || second.valid.is_some())
            .then(|| behind(b, first.valid_or_true(), second.valid_or_true()));
        let told = [first.told_by(&columns), second.told_by(&columns)].concat();
        CellRows { told, ..self.unsorted(first.rows + second.rows, valid, columns) }
    }

    /// The pairs, followed by left rows without a partner, beside NULLs.
    pub(super) fn with_lone_left(&mut self, pairs: &CellRows<'b>, alone: &CellRows<'b>) -> CellRows<'b> {
        let b = self.b;
        let nothing = |cell: &Cell<'b>| Cell {
            val: zero(b, scalar(cell.ty, cell.range)).broadcast(Shape::vector(alone.rows)),
            null: Some(truth(b, true).broadcast(Shape::vector(alone.rows))),
            ..*cell
        };
        let right = pairs.columns[alone.columns.len()..].iter().map(nothing);
        let columns = alone.columns.iter().copied().chain(right).collect();
        self.stacked(pairs, &CellRows { columns, ..alone.clone() })
    }

    /// Each different row once.
    fn different(&mut self, rows: &CellRows<'b>) -> CellRows<'b> {
        let order: Vec<Want> = (0..rows.columns.len())
            .map(|column| Want { column, descending: false, nulls_first: false })
            .collect();
        let asked = Asked { aggregates: &[], arguments: &[], figures: &[], min_group: 0, all: rows.rows };
        self.sorted_groups(rows, &rows.columns.clone(), &order, asked)
    }

    /// Left rows that have an equal right row, or that have none. The k-th of equal left rows is
    /// matched with the k-th right one.
    fn partnered(
        &mut self,
        operation: SetOperation,
        all: bool,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
    ) -> CellRows<'b> {
        let none = |rows: u64| truth(self.b, false).broadcast(Shape::vector(rows));
        let flags = l.columns.iter().zip(&r.columns).map(|(a, c)| a.null.is_some() || c.null.is_some());
        let flags: Vec<bool> = flags.collect();
        let keys = |rows: &CellRows<'b>| {
            let key = |(cell, flag): (&Cell<'b>, &bool)| -> Vec<Val<'b>> {
                let null = flag.then(|| cell.null.unwrap_or_else(|| none(rows.rows)));
                null.into_iter().chain([cell.canonical()]).collect()
            };
            Keys::of(rows.columns.iter().zip(&flags).flat_map(key).collect())
        };
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &keys(r), &keys(l), [r.rows, l.rows], &[]);
        let most = l.rows + r.rows;
        let count = |flags| meeting.left(counted(flags, most).scan(Scan::Sum, meeting.groups));
        let partners = count(meeting.of_right(r.valid_or_true()));
        let place = count(meeting.of_left(l.valid_or_true()));
        let has = match (operation, all) {
            (_, true) => place.compare(Comparison::LessOrEqual, partners),
            (_, false) => partners.compare(Comparison::Greater, number(partners, 0)),
        };
        let mut kept = if operation == SetOperation::Intersect { has } else { !has };
        if !all {
            kept = kept & place.equals(number(place, 1));
        }
        let mut made = l.clone().kept(kept);
        made.columns = made.columns.into_iter().map(|cell| self.named(cell)).collect();
        made
    }
}
