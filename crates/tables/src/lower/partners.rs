//! Rows that have a partner, or none, without pairs.

use super::{
    Lower,
    cell::{both, extreme, scalar},
    join::Join,
    meeting::{Found, Meeting},
    rows::{Rows, behind},
};
use crate::{
    algebra::{ColumnType, Expr, JoinKind, Operator, Relation, Schema},
    plain::unique_promise,
};
use hushwire_compute::{Comparison, Scalar, Scan, Shape};

impl<'b> Lower<'b> {
    /// Left rows with or without a partner, where the right side is the `left` of this join and the left side's keys are unique.
    pub(super) fn kept_unique(&mut self, turned: &Join<'_>, l: &Rows<'b>, r: &Rows<'b>) -> Rows<'b> {
        let [l_keys, r_keys] = self.keys(turned, l, r);
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &[]);
        let found = Found::new(meeting, Self::live(r, &r_keys));
        self.check_unique(turned, &found);
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

    /// Left rows with or without a partner, of any number. A comparison besides is one with the least or the greatest of a key's right
    /// rows.
    pub(super) fn partners(
        &mut self,
        join: &Join<'_>,
        l: &Rows<'b>,
        r: &Rows<'b>,
        compared: Option<(Comparison, Expr, Expr)>,
    ) -> Rows<'b> {
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

    /// The one bit of whether a promise of unique keys holds, unless the operators below see to it.
    pub(super) fn check_unique(&mut self, join: &Join<'_>, found: &Found<'b>) {
        let columns: Option<Vec<usize>> = join
            .on
            .iter()
            .map(|(_, key)| match key {
                Expr::Column(at) => Some(*at),
                _ => None,
            })
            .collect();
        let promise = match promised(join.right, &columns.unwrap_or_default()) {
            None => return,
            Some((table, set)) => match table.operator() {
                Operator::Scan(table) => unique_promise(&table.name, &table.schema, &set),
                _ => unreachable!("promises are of tables"),
            },
        };
        self.promise(promise, found.unique());
    }
}

/// The table, and its columns, whose promise makes these columns unique; none where operators do.
fn promised<'a>(relation: &'a Relation, columns: &[usize]) -> Option<(&'a Relation, Vec<usize>)> {
    let covers = |set: &Vec<usize>| set.iter().all(|at| columns.contains(at));
    match relation.operator() {
        Operator::Scan(table) => {
            let set = table.unique.iter().find(|set| covers(set));
            set.map(|set| (relation, set.clone()))
        }
        Operator::Project(input, exprs) => {
            let below: Vec<usize> = columns
                .iter()
                .filter_map(|at| match exprs[*at].1 {
                    Expr::Column(at) => Some(at),
                    _ => None,
                })
                .collect();
            promised(input, &below)
        }
        Operator::Filter(input, _) | Operator::OrderBy(input, _) | Operator::Limit { input, .. } => {
            promised(input, columns)
        }
        // Its own columns come after the input's.
        Operator::Window(input, _) => {
            let count = input.schema().columns().len();
            let own: Vec<usize> = columns.iter().copied().filter(|at| *at < count).collect();
            promised(input, &own)
        }
        Operator::Join { left, right, .. } | Operator::Cross(left, right) => {
            let count = left.schema().columns().len();
            let own: Vec<usize> = columns.iter().copied().filter(|at| *at < count).collect();
            let shifted: Vec<usize> = columns.iter().filter_map(|at| at.checked_sub(count)).collect();
            promised(left, &own).or_else(|| promised(right, &shifted))
        }
        Operator::Set { left, .. } => promised(left, columns),
        Operator::Values(_) | Operator::Aggregate { .. } | Operator::Distinct(_) => None,
    }
}
