//! Joins of many rows with many, up to a public bound.
//!
//! ```text
//! number of partners of each left row ──► the place of its first pair, a sum
//! pairs 0 … bound − 1 and left rows, sorted by place ──► each left row is copied down to its pairs
//! a pair's number among its left row's ──► the number of a right row in the order of keys
//!                                      ──► a join by number
//! ```
//!
//! S. Krastnikov, F. Kerschbaum, D. Stebila, "Efficient Oblivious Database Joins", PVLDB 13(11),
//! 2020, expands both sides and aligns them. Here the second expansion is a join by the right rows'
//! numbers, which are unique.

use super::{
    Lower,
    cell::both,
    join::Join,
    meeting::{Found, Keys, Meeting},
    numbers::{number, resized, width},
    rows::{CellRows, places},
};
use crate::algebra::{JoinKind, Range, Schema};
use hushwire_compute::{Comparison, Scalar, Scan};

/// The type of the numbers of rows and pairs.
const COUNT: Scalar = Scalar::signed(64);

impl<'b> Lower<'b> {
    pub(super) fn expanded(
        &mut self,
        join: &Join<'_>,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
        bound: u64,
    ) -> CellRows<'b> {
        let r = &self.renamed(r);
        let [l_keys, r_keys] = self.keys(join, l, r);
        let (live_l, live_r) = (Self::live(l, &l_keys), Self::live(r, &r_keys));
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let keys = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &[]);
        let ones = keys.of_right(live_r).cast(COUNT);
        let (of_key, so_far) = (ones.scan(Scan::Sum, keys.groups), ones.prefix_sum());
        let partners = keys.left(of_key);
        let partners = self.b.select(live_l, partners, number(partners, 0));
        let first = keys.left(so_far - of_key);
        let rank = keys.right(so_far) - self.b.number(COUNT, 1);

        let place = partners.prefix_sum() - partners;
        let total = partners.sum();
        self.promise(join.relation, |_| total.compare(Comparison::LessOrEqual, number(total, bound.into())));
        let narrow = width(Range { low: -1, high: bound.max(r.rows).into() });
        let slots = places(self.b, bound, COUNT);
        let key = |val| Keys::of(vec![resized(val, narrow)]);
        self.note(format!("sorts {} rows to {bound} pairs, and {} again", l.rows + bound, r.rows + bound));
        let pairs = Meeting::new(self.b, &key(place), &key(slots), [l.rows, bound], &[]);
        let some = partners.compare(Comparison::Greater, number(partners, 0));
        let starts = pairs.of_right(some);
        let copied = |val| pairs.left(pairs.of_right(val).scan(Scan::First, starts));
        let mut made = self.unsorted(bound, None, vec![]);
        made.columns = l.columns.iter().map(|cell| cell.map(copied)).collect();
        // Pairs follow the left rows, and the pairs of one left row follow the right rows of its
        // key.
        made.told = [l.told.clone(), r.told.clone()].concat();
        let partner = copied(first - place) + slots;
        let by_rank = Meeting::new(self.b, &key(rank), &key(partner), [r.rows, bound], &[]);
        let found = Found::new(by_rank, live_r);
        made.columns
            .extend(r.columns.iter().map(|cell| cell.map(|val| found.meeting.left(found.copied(val)))));
        let mut pass = slots.less(total);
        if let Some(residual) = join.residual {
            let schema = Schema([join.left.schema().columns(), join.right.schema().columns()].concat());
            pass = pass & self.scope_of(&schema, &made).value(residual).spread(bound).val;
        }
        let made = made.kept(pass);

        let columns = l.columns.len();
        let l_met = || both(Some(pairs.met_before(pass, starts)), Some(some)).expect("both are there");
        let r_met = || found.meeting.met(pass);
        let mut rows = match join.kind {
            JoinKind::Semi => return l.clone().kept(l_met()),
            JoinKind::Anti => return l.clone().kept(!l_met()),
            _ => made,
        };
        if matches!(join.kind, JoinKind::Left | JoinKind::Full) {
            rows = self.with_lone_left(&rows, &l.clone().kept(!l_met()));
        }
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
            let met = both(Some(r_met()), Some(live_r)).expect("both are there");
            rows = self.with_lone_right(&rows, &r.clone().kept(!met), columns);
        }
        rows
    }
}
