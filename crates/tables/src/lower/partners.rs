//! Semi and anti joins: rows with or without a partner, without making pairs.

use super::{
    Lower,
    cell::{extreme, scalar},
    join::Join,
    meeting::{Found, Meeting},
    rows::{CellRows, behind},
};
use crate::algebra::{ColumnType, Expr, JoinKind, Schema};
use hushwire_compute::{Comparison, Scalar, Scan, Shape, Val};

impl<'b> Lower<'b> {
    /// `rows` with or without a partner among `others`, if the keys of `rows` are unique. `turned`
    /// is the join with its sides swapped: `others` are its left side, and `rows` its right side.
    pub(super) fn kept_unique(
        &mut self,
        turned: &Join<'_>,
        others: &CellRows<'b>,
        rows: &CellRows<'b>,
    ) -> CellRows<'b> {
        let [other_keys, keys] = self.keys(turned, others, rows);
        self.note(format!("sorts {} rows of both sides", others.rows + rows.rows));
        let meeting = Meeting::new(self.b, &keys, &other_keys, [rows.rows, others.rows], &[]);
        let found = Found::new(meeting, Self::live(rows, &keys));
        self.promise(turned.relation, |_| found.unique());
        let mut pairs = others.clone();
        let copied = rows.columns.iter().map(|cell| cell.map(|val| found.meeting.left(found.copied(val))));
        pairs.columns.extend(copied);
        let mut matched = Self::live(others, &other_keys) & found.meeting.left(found.matched);
        if let Some(residual) = turned.residual {
            let schema = Schema([turned.left.schema().columns(), turned.right.schema().columns()].concat());
            matched = matched & self.scope_of(&schema, &pairs).value(residual).spread(pairs.rows).val;
        }
        let met = keys.met(&found.meeting, matched);
        rows.clone().kept(if turned.kind == JoinKind::Semi { met } else { !met })
    }

    /// Left rows with or without a partner, for any number of partners. A further comparison uses
    /// the least or the greatest of a key's right rows.
    pub(super) fn partners(
        &mut self,
        join: &Join<'_>,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
        compared: Option<(Comparison, Expr, Expr)>,
    ) -> CellRows<'b> {
        let not_null = |flag: Val<'b>, null: Option<Val<'b>>| null.map_or(flag, |null| flag & !null);
        let [l_keys, r_keys] = self.keys(join, l, r);
        let mut live = Self::live(r, &r_keys);
        let cells = compared.map(|(comparison, a, b)| {
            let a = self.scope(join.left, l).value(&a).spread(l.rows);
            let b = self.scope(join.right, r).value(&b).spread(r.rows);
            (comparison, self.alike(a, b))
        });
        if let Some((_, [_, b])) = &cells {
            live = not_null(live, b.null);
        }
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &[]);
        let found = Found::new(meeting, live);
        let mut pass = found.meeting.left(found.matched);
        if let Some((comparison, [a, b])) = cells {
            let ordered = match b.ty {
                // `by_extremes` refuses strings of more than 16 bytes.
                ColumnType::Varchar(bytes) => Scalar::unsigned(8 * bytes as u8),
                _ => scalar(b.ty, b.range),
            };
            // For each left row, the greatest or least value of the right rows with its key.
            let end = |greatest: bool| {
                let neutral = self.b.constant(extreme(ordered, !greatest));
                let right = self.b.select(live, b.val.cast(ordered), neutral);
                let left = neutral.broadcast(Shape::vector(l.rows));
                let sorted = found.meeting.sorted(behind(self.b, right, left));
                let scan = if greatest { Scan::Max } else { Scan::Min };
                found.meeting.left(sorted.scan(scan, found.meeting.groups))
            };
            let own = a.val.cast(ordered);
            let holds = match comparison {
                Comparison::Less | Comparison::LessOrEqual => own.compare(comparison, end(true)),
                Comparison::Greater | Comparison::GreaterOrEqual => own.compare(comparison, end(false)),
                Comparison::NotEqual => {
                    own.compare(comparison, end(true)) | own.compare(comparison, end(false))
                }
                Comparison::Equal => unreachable!("the algebra makes it a key"),
            };
            pass = pass & holds;
            pass = not_null(pass, a.null);
        }
        pass = not_null(pass, l_keys.null);
        l.clone().kept(if join.kind == JoinKind::Semi { pass } else { !pass })
    }
}
