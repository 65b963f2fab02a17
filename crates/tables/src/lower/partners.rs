//! Semi and anti joins: rows with or without a partner, without making pairs.

use super::{
    Lower,
    cell::{both, extreme, scalar},
    join::Join,
    meeting::{Found, Meeting},
    rows::{CellRows, behind},
};
use crate::algebra::{ColumnType, Expr, JoinKind, Schema};
use hushwire_compute::{Comparison, Scalar, Scan, Shape};

impl<'b> Lower<'b> {
    /// Left rows with or without a partner, if the left side's keys are unique. The right side is
    /// the `left` of this join.
    pub(super) fn kept_unique(
        &mut self,
        turned: &Join<'_>,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
    ) -> CellRows<'b> {
        let [l_keys, r_keys] = self.keys(turned, l, r);
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &[]);
        let found = Found::new(meeting, Self::live(r, &r_keys));
        self.promise(turned.relation, |_| found.unique());
        let mut pairs = l.clone();
        let copied = r.columns.iter().map(|cell| cell.map(|val| found.meeting.left(found.copied(val))));
        pairs.columns.extend(copied);
        let mut flags = Self::live(l, &l_keys) & found.meeting.left(found.matched);
        if let Some(residual) = turned.residual {
            let schema = Schema([turned.left.schema().columns(), turned.right.schema().columns()].concat());
            flags = flags & self.scope_of(&schema, &pairs).value(residual).spread(pairs.rows).val;
        }
        let met = r_keys.met(&found.meeting, flags);
        r.clone().kept(if turned.kind == JoinKind::Semi { met } else { !met })
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
        let [l_keys, r_keys] = self.keys(join, l, r);
        let mut live = Self::live(r, &r_keys);
        let cells = compared.map(|(comparison, a, b)| {
            let a = self.scope(join.left, l).value(&a).spread(l.rows);
            let b = self.scope(join.right, r).value(&b).spread(r.rows);
            (comparison, self.alike(a, b))
        });
        if let Some((_, [_, b])) = &cells {
            live = both(Some(live), b.null.map(|null| !null)).expect("one is there");
        }
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &[]);
        let found = Found::new(meeting, live);
        let mut pass = found.meeting.left(found.matched);
        if let Some((comparison, [a, b])) = cells {
            let ordered = match b.ty {
                ColumnType::Varchar(bytes) => Scalar::unsigned(8 * bytes as u8),
                _ => scalar(b.ty, b.range),
            };
            let most = |greatest: bool| {
                let none = self.b.constant(extreme(ordered, !greatest));
                let x = self.b.select(live, b.val.cast(ordered), none);
                let none = none.broadcast(Shape::vector(l.rows));
                let x = found.meeting.sorted(behind(self.b, x, none));
                let scan = if greatest { Scan::Max } else { Scan::Min };
                found.meeting.left(x.scan(scan, found.meeting.groups))
            };
            let own = a.val.cast(ordered);
            let holds = match comparison {
                Comparison::Less | Comparison::LessOrEqual => own.compare(comparison, most(true)),
                Comparison::Greater | Comparison::GreaterOrEqual => own.compare(comparison, most(false)),
                Comparison::NotEqual => {
                    own.compare(comparison, most(true)) | own.compare(comparison, most(false))
                }
                Comparison::Equal => unreachable!("the algebra makes it a key"),
            };
            pass = pass & holds;
            pass = both(Some(pass), a.null.map(|null| !null)).expect("one is there");
        }
        pass = both(Some(pass), l_keys.null.map(|null| !null)).expect("one is there");
        l.clone().kept(if join.kind == JoinKind::Semi { pass } else { !pass })
    }
}
