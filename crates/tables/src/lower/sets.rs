//! Combines rows of two relations: UNION, INTERSECT, EXCEPT, and rows of an outer join.

use super::{
    Lower, Want,
    cell::{Cell, LOST, scalar},
    group::{Asked, counted},
    meeting::{Keys, Meeting},
    numbers::{number, truth, zero},
    rows::{CellRows, behind},
};
use crate::algebra::{Relation, SetOperation};
use hushwire_compute::{Comparison, Scan, Shape, Val};

impl<'b> Lower<'b> {
    /// The rows of UNION, INTERSECT or EXCEPT. Without `all`, each different row occurs once.
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
            let columns: Vec<Cell<'b>> = columns
                .map(|(cell, column)| {
                    let to = column.expr_type();
                    self.named(Cell { id: LOST, ..cell.united(to.ty, to.range) })
                })
                .collect();
            let told = rows.told_by(&columns);
            CellRows { columns, sorted: vec![], follows: vec![], told, ..rows }
        });
        match operation {
            SetOperation::Union => {
                let both = self.stacked(&left, &right);
                if all { both } else { self.different(&both) }
            }
            SetOperation::Intersect | SetOperation::Except => self.partnered(operation, all, &left, &right),
        }
    }

    /// The rows of one relation followed by those of another, whose columns have the same types and
    /// ranges.
    pub(super) fn stacked(&mut self, first: &CellRows<'b>, second: &CellRows<'b>) -> CellRows<'b> {
        let b = self.b;
        let nulls = |cell: &Cell<'b>, rows: u64| {
            cell.null.unwrap_or_else(|| truth(b, false).broadcast(Shape::vector(rows)))
        };
        let columns: Vec<Cell<'b>> = first
            .columns
            .iter()
            .zip(&second.columns)
            .map(|(upper, lower)| {
                let null = (upper.null.is_some() || lower.null.is_some())
                    .then(|| behind(b, nulls(upper, first.rows), nulls(lower, second.rows)));
                self.named(Cell { val: behind(b, upper.val, lower.val), null, id: LOST, ..*upper })
            })
            .collect();
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

    /// The rows of INTERSECT or EXCEPT: left rows that have an equal right row, or that have none.
    /// With `all`, the k-th of equal left rows needs a k-th right one. Without it, the first of
    /// equal left rows is kept.
    fn partnered(
        &mut self,
        operation: SetOperation,
        all: bool,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
    ) -> CellRows<'b> {
        let none = |rows: u64| truth(self.b, false).broadcast(Shape::vector(rows));
        let nullable: Vec<bool> =
            l.columns.iter().zip(&r.columns).map(|(l, r)| l.null.is_some() || r.null.is_some()).collect();
        let keys = |rows: &CellRows<'b>| {
            let key = |(cell, nullable): (&Cell<'b>, &bool)| -> Vec<Val<'b>> {
                let null = nullable.then(|| cell.null.unwrap_or_else(|| none(rows.rows)));
                null.into_iter().chain([cell.canonical()]).collect()
            };
            Keys::of(rows.columns.iter().zip(&nullable).flat_map(key).collect())
        };
        let most = l.rows + r.rows;
        self.note(format!("sorts {most} rows of both sides"));
        let meeting = Meeting::new(self.b, &keys(r), &keys(l), [r.rows, l.rows], &[]);
        let count = |flags| meeting.left(counted(flags, most).scan(Scan::Sum, meeting.groups));
        let partners = count(meeting.of_right(r.valid_or_true()));
        let place = count(meeting.of_left(l.valid_or_true()));
        let has = if all {
            place.compare(Comparison::LessOrEqual, partners)
        } else {
            partners.compare(Comparison::Greater, number(partners, 0))
        };
        let mut kept = if operation == SetOperation::Intersect { has } else { !has };
        if !all {
            kept = kept & place.equals(number(place, 1));
        }
        l.clone().kept(kept)
    }
}
