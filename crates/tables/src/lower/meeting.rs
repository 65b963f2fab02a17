//! Matches rows of two sides by their keys.
//!
//! ```text
//! right rows, then left rows ──► sorted by key, stably ──► a live right row starts a copy
//!                            ──► left rows of its key receive it
//! ```
//!
//! Right rows come before left rows with the same key, since the sort is stable. A right row is
//! live if it is valid and none of its keys is NULL.

use super::{
    Lower,
    cell::{Cell, both, either, is_number},
    join::Join,
    numbers::{number, resized, width, zero, zeros},
    rows::{CellRows, behind, ends, places, reversed},
};
use crate::algebra::{ColumnType, Range, common_type};
use hushwire_compute::{Builder, Comparison, Op, Reduction, Scalar, Scan, Shape, Val};

/// The keys of one side, in the common type, and flags for rows that have no key.
#[derive(Clone)]
pub(super) struct Keys<'b> {
    pub(super) values: Vec<Val<'b>>,
    pub(super) null: Option<Val<'b>>,
    /// The columns that the keys are, for keys that are columns.
    pub(super) ids: Vec<Option<u32>>,
    /// Whether each key has the type and the width of its column.
    pub(super) as_they_stand: Vec<bool>,
}

/// The rows of both sides in the order of their keys; for each key, right rows come first.
pub(super) struct Meeting<'b> {
    b: &'b Builder,
    order: Option<Val<'b>>,
    /// The rows at which another key begins.
    pub(super) groups: Val<'b>,
    right: u64,
    all: u64,
}

impl<'b> Keys<'b> {
    pub(super) fn of(values: Vec<Val<'b>>) -> Self {
        let (ids, as_they_stand) = (vec![None; values.len()], vec![false; values.len()]);
        Keys { values, null: None, ids, as_they_stand }
    }

    /// The rows that are valid and have all keys; `None` if all rows do.
    pub(super) fn present(&self, valid: Option<Val<'b>>) -> Option<Val<'b>> {
        both(valid, self.null.map(|null| !null))
    }

    /// The right rows of these keys that have a flagged left row with the same key. A NULL is
    /// sorted like a key of 0, and matches nothing.
    pub(super) fn met(&self, meeting: &Meeting<'b>, flags: Val<'b>) -> Val<'b> {
        let met = meeting.met(flags);
        both(Some(met), self.null.map(|null| !null)).expect("one is there")
    }
}

/// A key in parts of at most 128 bits.
fn parts(key: Val<'_>) -> Vec<Val<'_>> {
    match key.ty().map(|ty| ty.scalar) {
        Some(Scalar::Bits(129..)) => super::texts::numbers(key),
        _ => vec![key],
    }
}

impl<'b> Meeting<'b> {
    pub(super) fn new(
        b: &'b Builder,
        right: &Keys<'b>,
        left: &Keys<'b>,
        rows: [u64; 2],
        down: &[bool],
    ) -> Self {
        let [n, m] = rows;
        let keys: Vec<Val<'b>> =
            right.values.iter().zip(&left.values).map(|(r, l)| behind(b, *r, *l)).collect();
        let directed: Vec<_> = keys
            .iter()
            .enumerate()
            .flat_map(|(k, key)| {
                parts(*key).into_iter().map(move |part| (part, down.get(k).copied().unwrap_or(false)))
            })
            .collect();
        let order = (n + m > 1).then(|| b.order(&directed));
        Meeting::ordered(b, order, &keys, rows)
    }

    /// Matches by tags of keys instead of a sort; keys come in any order. Missing rows (`live`, if
    /// there may be any) get a key each that no other row has, so nothing reveals their number.
    pub(super) fn by_tags(
        b: &'b Builder,
        right: &Keys<'b>,
        left: &Keys<'b>,
        rows: [u64; 2],
        live: [Option<Val<'b>>; 2],
    ) -> Self {
        let [n, m] = rows;
        let mut keys: Vec<Val<'b>> =
            right.values.iter().zip(&left.values).map(|(r, l)| behind(b, *r, *l)).collect();
        let mut named: Vec<Val<'b>> = vec![];
        if live.iter().any(Option::is_some) {
            let all = |rows| super::numbers::truth(b, true).broadcast(Shape::vector(rows));
            let [here, there] = [live[0].unwrap_or_else(|| all(n)), live[1].unwrap_or_else(|| all(m))];
            let live = behind(b, here, there);
            keys = keys
                .into_iter()
                .map(|key| key.ty().map_or(key, |ty| b.select(live, key, zero(b, ty.scalar))))
                .collect();
            // The numbers begin at 1, since present rows have 0.
            let number = places(b, n + m, Scalar::unsigned(32));
            let number = number + super::numbers::number(number, 1);
            named.push(b.select(live, zero(b, Scalar::unsigned(32)), number));
            keys.push(live);
        }
        named.extend(keys.iter().flat_map(|key| parts(*key)));
        let order = (n + m > 1).then(|| b.meet(&named, n));
        Meeting::ordered(b, order, &keys, rows)
    }

    fn ordered(b: &'b Builder, order: Option<Val<'b>>, keys: &[Val<'b>], [n, m]: [u64; 2]) -> Self {
        let sorted = |val: Val<'b>| order.map_or(val, |order| val.permute(order));
        let keys = keys.iter().map(|key| Cell {
            val: sorted(*key),
            null: None,
            ty: ColumnType::Digest { bits: 64 },
            range: ColumnType::Digest { bits: 64 }.range(),
            id: u32::MAX,
        });
        let all = CellRows {
            b,
            rows: n + m,
            valid: None,
            columns: vec![],
            sorted: vec![],
            packed: false,
            follows: vec![],
            told: vec![],
            asked: vec![],
        };
        Meeting { b, order, groups: all.starts(&keys.collect::<Vec<_>>()), right: n, all: n + m }
    }

    pub(super) fn sorted(&self, val: Val<'b>) -> Val<'b> {
        self.order.map_or(val, |order| val.permute(order))
    }

    /// The right rows' values, with zeros in left rows.
    pub(super) fn of_right(&self, val: Val<'b>) -> Val<'b> {
        self.sorted(behind(self.b, val, zeros(val, self.all - self.right)))
    }

    /// The left rows' values, with zeros in right rows.
    pub(super) fn of_left(&self, val: Val<'b>) -> Val<'b> {
        self.sorted(behind(self.b, zeros(val, self.right), val))
    }

    fn as_they_came(&self, val: Val<'b>) -> Val<'b> {
        self.order.map_or(val, |order| val.permute(self.b.apply(Op::Invert, &[order])))
    }

    /// The left rows' values, in their original order.
    pub(super) fn left(&self, val: Val<'b>) -> Val<'b> {
        self.as_they_came(val).slice(self.right, self.all)
    }

    /// The right rows' values, in their original order.
    pub(super) fn right(&self, val: Val<'b>) -> Val<'b> {
        self.as_they_came(val).slice(0, self.right)
    }

    /// The right rows that have a flagged left row with their key.
    pub(super) fn met(&self, flags: Val<'b>) -> Val<'b> {
        self.met_before(flags, self.groups)
    }

    /// The right rows that have a flagged left row before the next start.
    pub(super) fn met_before(&self, flags: Val<'b>, starts: Val<'b>) -> Val<'b> {
        let flags = self.of_left(flags).cast(Scalar::unsigned(1));
        let last = ends(self.b, starts, self.all);
        let [flags, last] = [flags, last].map(|val| reversed(val, self.all));
        let seen = reversed(flags.scan(Scan::Max, last), self.all);
        self.right(seen.compare(Comparison::NotEqual, number(seen, 0)))
    }
}

/// The right rows that were found for left rows.
pub(super) struct Found<'b> {
    pub(super) meeting: Meeting<'b>,
    /// Whether a live right row with the same key precedes the row.
    pub(super) matched: Val<'b>,
    /// The rows at which a copy starts.
    pub(super) starts: Val<'b>,
    pub(super) live: Val<'b>,
}

impl<'b> Found<'b> {
    pub(super) fn new(meeting: Meeting<'b>, live: Val<'b>) -> Self {
        let live = meeting.of_right(live);
        let starts = meeting.groups | live;
        Found { matched: live.scan(Scan::First, starts), starts, live, meeting }
    }

    /// Whether no key has two live right rows: the number of live rows equals the number of keys
    /// that have one.
    pub(super) fn unique(&self) -> Val<'b> {
        let last = ends(self.meeting.b, self.meeting.groups, self.meeting.all);
        let [rows, keys] = [self.live, last & self.matched].map(|flags| flags.reduce(Reduction::Count, 0));
        rows.equals(keys)
    }

    pub(super) fn copied(&self, val: Val<'b>) -> Val<'b> {
        self.meeting.of_right(val).scan(Scan::First, self.starts)
    }
}

impl<'b> Lower<'b> {
    pub(super) fn keys(&self, join: &Join<'_>, l: &CellRows<'b>, r: &CellRows<'b>) -> [Keys<'b>; 2] {
        let mut made = [(); 2].map(|()| Keys::of(vec![]));
        for (a, b) in join.on {
            let cells = [self.scope(join.left, l).value(a), self.scope(join.right, r).value(b)];
            let [x, y] = self.alike(cells[0].spread(l.rows), cells[1].spread(r.rows));
            for (keys, (cell, was)) in made.iter_mut().zip([(x, cells[0]), (y, cells[1])]) {
                keys.values.push(cell.canonical());
                keys.null = either(keys.null, cell.null);
                keys.ids.push(Some(was.id).filter(|id| *id != u32::MAX));
                let scalars = [cell, was].map(|c| c.val.ty().map(|ty| ty.scalar));
                keys.as_they_stand.push(cell.ty == was.ty && scalars[0] == scalars[1]);
            }
        }
        made
    }

    /// Two columns in a common type and width.
    pub(super) fn alike(&self, a: Cell<'b>, b: Cell<'b>) -> [Cell<'b>; 2] {
        let ty = common_type(a.ty, b.ty).expect("it was checked");
        let [a, b] = [a, b].map(|cell| cell.converted(ty));
        if !is_number(ty) {
            return [a, b];
        }
        let range = Range { low: a.range.low.min(b.range.low), high: a.range.high.max(b.range.high) };
        [a, b].map(|cell| cell.with(resized(cell.val, width(range)), ty, range))
    }

    /// The rows that are valid and have all keys.
    pub(super) fn live(rows: &CellRows<'b>, keys: &Keys<'b>) -> Val<'b> {
        match both(rows.valid, keys.null.map(|null| !null)) {
            Some(live) => live,
            None => rows.valid_or_true(),
        }
    }
}
