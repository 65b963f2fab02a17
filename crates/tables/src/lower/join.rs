//! Joins: rows of both sides sorted by key, and what one side's rows bring copied down to the other's.
//!
//! ```text
//! right rows, then left rows ──► sorted by key, stably ──► a live right row starts a copy ──► left rows of its key have it
//! ```
//!
//! Right rows come before left ones of the same key since the sort is stable. A right row is live where it is valid and no key of
//! it is NULL. Left rows go back to the order that they had, unless an operator above wants them by key.

use super::{
    Lower, Want,
    cell::{Cell, both, either, extreme, is_number, resized, scalar, truth, width, zero},
    rows::{Rows, Sorted, behind, ends, reversed},
};
use crate::{
    algebra::{
        ColumnType, Expr, JoinKind, Operator, Pairing, Range, Relation, Schema, by_extremes, common_type,
        is_partnership, pairing,
    },
    plain::unique_promise,
};
use hushwire_compute::{Builder, Comparison, Op, Reduction, Scalar, Scan, Shape, Val};

/// A join as its relation has it.
pub(crate) struct Join<'a> {
    pub(crate) left: &'a Relation,
    pub(crate) right: &'a Relation,
    pub(crate) kind: JoinKind,
    pub(crate) on: &'a [(Expr, Expr)],
    pub(crate) residual: Option<&'a Expr>,
    pub(crate) bound: Option<u64>,
}

/// Keys of one side, in the type of both, and which rows have none.
#[derive(Clone)]
pub(super) struct Keys<'b> {
    pub(super) values: Vec<Val<'b>>,
    pub(super) null: Option<Val<'b>>,
    /// The columns that they are, where they are some as they stand.
    ids: Vec<Option<u32>>,
}

/// Rows of both sides in the order of their keys, the right ones first of each key.
pub(super) struct Meeting<'b> {
    b: &'b Builder,
    order: Option<Val<'b>>,
    /// Where another key begins.
    pub(super) groups: Val<'b>,
    right: u64,
    all: u64,
}

impl<'b> Keys<'b> {
    pub(super) fn of(values: Vec<Val<'b>>) -> Self {
        Keys { ids: vec![None; values.len()], values, null: None }
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
                let parts = match key.ty().map(|ty| ty.scalar) {
                    Some(Scalar::Bits(129..)) => super::texts::numbers(*key),
                    _ => vec![*key],
                };
                parts.into_iter().map(move |part| (part, down.get(k).copied().unwrap_or(false)))
            })
            .collect();
        let order = (n + m > 1).then(|| b.order(&directed));
        let sorted = |val: Val<'b>| order.map_or(val, |order| val.permute(order));
        let keys = keys.iter().map(|key| Cell {
            val: sorted(*key),
            null: None,
            ty: ColumnType::Digest,
            range: ColumnType::Digest.range(),
            id: u32::MAX,
        });
        let all = Rows {
            b,
            rows: n + m,
            valid: None,
            columns: vec![],
            sorted: vec![],
            packed: false,
            follows: vec![],
        };
        Meeting { b, order, groups: all.starts(&keys.collect::<Vec<_>>()), right: n, all: n + m }
    }

    fn zeros(&self, like: Val<'b>, rows: u64) -> Val<'b> {
        match like.ty() {
            Some(ty) => zero(self.b, ty.scalar).broadcast(Shape::vector(rows)),
            None => like,
        }
    }

    fn sorted(&self, val: Val<'b>) -> Val<'b> {
        self.order.map_or(val, |order| val.permute(order))
    }

    /// What right rows bring, zeros in left ones.
    pub(super) fn of_right(&self, val: Val<'b>) -> Val<'b> {
        self.sorted(behind(self.b, val, self.zeros(val, self.all - self.right)))
    }

    /// What left rows bring, zeros in right ones.
    pub(super) fn of_left(&self, val: Val<'b>) -> Val<'b> {
        self.sorted(behind(self.b, self.zeros(val, self.right), val))
    }

    fn as_they_came(&self, val: Val<'b>) -> Val<'b> {
        self.order.map_or(val, |order| val.permute(self.b.apply(Op::Invert, &[order])))
    }

    /// The left rows' values, in the order in which they came.
    pub(super) fn left(&self, val: Val<'b>) -> Val<'b> {
        self.as_they_came(val).slice(self.right, self.all)
    }

    /// The right rows' values, in the order in which they came.
    pub(super) fn right(&self, val: Val<'b>) -> Val<'b> {
        self.as_they_came(val).slice(0, self.right)
    }

    /// Which right rows have a flagged left row of their key.
    pub(super) fn met(&self, flags: Val<'b>) -> Val<'b> {
        self.met_before(flags, self.groups)
    }

    /// Which right rows have a flagged left row before the next start.
    pub(super) fn met_before(&self, flags: Val<'b>, starts: Val<'b>) -> Val<'b> {
        let flags = self.of_left(flags).cast(Scalar::unsigned(1));
        let last = ends(self.b, starts, self.all);
        let [flags, last] = [flags, last].map(|val| reversed(val, self.all));
        let seen = reversed(flags.scan(Scan::Max, last), self.all);
        self.right(seen.compare(Comparison::NotEqual, super::cell::number(seen, 0)))
    }
}

/// What was found of right rows for left ones.
pub(super) struct Found<'b> {
    pub(super) meeting: Meeting<'b>,
    /// A live right row of its key stands before it.
    matched: Val<'b>,
    /// Where a copy starts.
    starts: Val<'b>,
    live: Val<'b>,
}

impl<'b> Found<'b> {
    pub(super) fn new(meeting: Meeting<'b>, live: Val<'b>) -> Self {
        let live = meeting.of_right(live);
        let starts = meeting.groups | live;
        Found { matched: live.scan(Scan::First, starts), starts, live, meeting }
    }

    /// Whether no key has two live right rows: as many are live as there are keys with one.
    fn unique(&self) -> Val<'b> {
        let last = ends(self.meeting.b, self.meeting.groups, self.meeting.all);
        let [rows, keys] = [self.live, last & self.matched].map(|flags| flags.reduce(Reduction::Count, 0));
        rows.equals(keys)
    }

    pub(super) fn copied(&self, val: Val<'b>) -> Val<'b> {
        self.meeting.of_right(val).scan(Scan::First, self.starts)
    }
}

impl<'b> Lower<'b> {
    pub(super) fn join(&mut self, join: &Join<'_>, wants: &[Want]) -> Rows<'b> {
        let Join { left, right, kind, on, residual, bound } = *join;
        let count = left.schema().columns().len();
        let below: Vec<Want> = wants.iter().copied().take_while(|want| want.column < count).collect();
        let l = self.lower(left, &below);
        let r = self.lower(right, &[]);
        let found = pairing(left, right, on, bound);
        if found != Some(Pairing::RightUnique) && is_partnership(left, right, kind, residual) {
            let compared = residual.and_then(|e| by_extremes(left, right, e));
            return self.partners(join, &l, &r, compared);
        }
        match found.expect("the algebra asks for a bound") {
            Pairing::RightUnique => self.unique_join(join, &l, &r, wants),
            Pairing::LeftUnique => {
                let on: Vec<_> = on.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
                let width = right.schema().columns().len();
                let residual =
                    residual.map(|e| e.mapped(&|at| if at < count { at + width } else { at - count }));
                let kind = match kind {
                    JoinKind::Left => JoinKind::Right,
                    JoinKind::Right => JoinKind::Left,
                    other => other,
                };
                let (left, right) = (right, left);
                let turned = Join { left, right, kind, on: &on, residual: residual.as_ref(), bound };
                let mut rows = if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
                    return self.kept_unique(&turned, &r, &l);
                } else {
                    self.unique_join(&turned, &r, &l, &[])
                };
                rows.columns.rotate_left(width);
                rows
            }
            Pairing::Bound(bound) => self.expanded(join, &l, &r, bound),
        }
    }

    pub(super) fn keys(&self, join: &Join<'_>, l: &Rows<'b>, r: &Rows<'b>) -> [Keys<'b>; 2] {
        let mut made = [(); 2].map(|()| Keys { values: vec![], null: None, ids: vec![] });
        for (a, b) in join.on {
            let cells = [self.scope(join.left, l).value(a), self.scope(join.right, r).value(b)];
            let ids = cells.map(|cell| cell.id);
            let [x, y] = self.alike(cells[0].spread(l.rows), cells[1].spread(r.rows));
            for (keys, (cell, id)) in made.iter_mut().zip([(x, ids[0]), (y, ids[1])]) {
                keys.values.push(cell.canonical());
                keys.null = either(keys.null, cell.null);
                keys.ids.push(Some(id).filter(|id| *id != u32::MAX));
            }
        }
        made
    }

    /// Two columns in one type and width.
    pub(super) fn alike(&self, a: Cell<'b>, b: Cell<'b>) -> [Cell<'b>; 2] {
        let ty = common_type(a.ty, b.ty).expect("it was checked");
        let [a, b] = [a, b].map(|cell| cell.converted(ty));
        if !is_number(ty) {
            return [a, b];
        }
        let range = Range { low: a.range.low.min(b.range.low), high: a.range.high.max(b.range.high) };
        [a, b].map(|cell| cell.with(resized(cell.val, width(range)), ty, range))
    }

    /// Which rows are valid and have all keys.
    pub(super) fn live(rows: &Rows<'b>, keys: &Keys<'b>) -> Val<'b> {
        match both(rows.valid, keys.null.map(|null| !null)) {
            Some(live) => live,
            None => rows.valid_or_true(),
        }
    }

    /// Whether the order by keys is wanted, and which keys count down in it.
    fn wanted(
        join: &Join<'_>,
        l: &Rows<'b>,
        keys: &Keys<'b>,
        wants: &[Want],
    ) -> Option<(Vec<usize>, Vec<Want>)> {
        let columns = join.left.schema().columns().len();
        let key_of = |want: &Want| {
            join.on.iter().position(|(a, b)| {
                *a == Expr::Column(want.column)
                    || (join.kind == JoinKind::Inner
                        && want.column >= columns
                        && *b == Expr::Column(want.column - columns))
            })
        };
        let ids: Option<Vec<u32>> = keys.ids.iter().copied().collect();
        let ids = ids?;
        let known = |id: &u32| l.columns.iter().any(|cell| cell.id == *id);
        let have =
            l.sorted.iter().take(ids.len()).all(|s| ids.contains(&s.id)) && l.sorted.len() >= ids.len();
        if have || !ids.iter().all(known) || keys.null.is_some() || wants.len() < ids.len() {
            return None;
        }
        let order: Vec<usize> = wants.iter().map_while(key_of).take(ids.len()).collect();
        let mut each = order.clone();
        each.sort_unstable();
        each.dedup();
        (each.len() == ids.len()).then(|| (order, wants[..ids.len()].to_vec()))
    }

    /// Pairs with a right side whose keys are unique.
    fn unique_join(&mut self, join: &Join<'_>, l: &Rows<'b>, r: &Rows<'b>, wants: &[Want]) -> Rows<'b> {
        let r = &self.renamed(r);
        let [mut l_keys, mut r_keys] = self.keys(join, l, r);
        let outer = matches!(join.kind, JoinKind::Right | JoinKind::Full);
        let by_key = Self::wanted(join, l, &l_keys, wants).filter(|_| !outer);
        let mut down = vec![];
        if let Some((order, wanted)) = &by_key {
            for keys in [&mut l_keys, &mut r_keys] {
                keys.values = order.iter().map(|k| keys.values[*k]).collect();
                keys.ids = order.iter().map(|k| keys.ids[*k]).collect();
            }
            down = wanted.iter().map(|want| want.descending).collect();
        }
        self.note(format!("sorts {} rows of both sides", l.rows + r.rows));
        let meeting = Meeting::new(self.b, &r_keys, &l_keys, [r.rows, l.rows], &down);
        let found = Found::new(meeting, Self::live(r, &r_keys));
        self.check_unique(join, &found);
        let meeting = &found.meeting;
        let here = |val: Val<'b>| if by_key.is_some() { val } else { meeting.left(val) };
        let there = |val: Val<'b>| if by_key.is_some() { meeting.of_left(val) } else { val };
        let mut made = l.each(there);
        if by_key.is_some() {
            made.rows = l.rows + r.rows;
            made.valid = Some(meeting.of_left(l.valid_or_true()));
            made.packed = false;
            let ids = l_keys.ids.iter().flatten();
            made.sorted = ids
                .zip(&down)
                .map(|(id, down)| Sorted { id: *id, descending: *down, nulls_first: false })
                .collect();
            self.note("leaves rows in the order of keys".into());
        }
        let copied: Vec<Cell<'b>> =
            r.columns.iter().map(|cell| cell.map(|val| here(found.copied(val)))).collect();
        made.columns.extend(copied);
        let nulls = l_keys.null.map(|null| !there(null));
        let matched = both(Some(here(found.matched)), nulls).expect("one is there");
        let schema = Schema([join.left.schema().columns(), join.right.schema().columns()].concat());
        let pass = match join.residual {
            Some(residual) => matched & self.scope_of(&schema, &made).value(residual).spread(made.rows).val,
            None => matched,
        };
        let columns = l.columns.len();
        if let Some(ids) = l_keys.ids.iter().copied().collect::<Option<Vec<u32>>>()
            && (join.kind == JoinKind::Inner || join.residual.is_none())
        {
            made.follows.extend(r.follows.clone());
            made.follows.push((ids, r.columns.iter().map(|cell| cell.id).collect()));
        }
        match join.kind {
            JoinKind::Semi | JoinKind::Anti => {
                made.columns.truncate(columns);
                made.kept(if join.kind == JoinKind::Semi { pass } else { !pass })
            }
            JoinKind::Inner => {
                self.same_keys(join, &mut made);
                made.kept(pass)
            }
            JoinKind::Left => {
                without(&mut made.columns[columns..], pass);
                made
            }
            JoinKind::Right | JoinKind::Full => {
                let valid = both(l.valid, Some(pass)).expect("one is there");
                let alone = r.clone().kept(!meeting.met(valid));
                if join.kind == JoinKind::Full {
                    without(&mut made.columns[columns..], pass);
                } else {
                    made = made.kept(pass);
                }
                self.with_lone_right(&made, &alone, columns)
            }
        }
    }

    /// Rows of pairs, and behind them right rows that have none, beside NULLs.
    pub(super) fn with_lone_right(&mut self, pairs: &Rows<'b>, alone: &Rows<'b>, columns: usize) -> Rows<'b> {
        let nothing = |cell: &Cell<'b>| {
            let zeros = zero(self.b, scalar(cell.ty, cell.range)).broadcast(Shape::vector(alone.rows));
            let null = truth(self.b, true).broadcast(Shape::vector(alone.rows));
            Cell { val: zeros, null: Some(null), ..*cell }
        };
        let left = pairs.columns[..columns].iter().map(nothing);
        let columns = left.chain(alone.columns.iter().copied()).collect();
        let alone = Rows { columns, ..alone.clone() };
        self.stacked(pairs, &alone)
    }

    /// On valid rows a right key is the left one.
    fn same_keys(&self, join: &Join<'_>, made: &mut Rows<'b>) {
        let columns = join.left.schema().columns().len();
        for (a, b) in join.on {
            let (Expr::Column(a), Expr::Column(b)) = (a, b) else { continue };
            let (from, to) = (made.columns[*a], made.columns[columns + b]);
            if from.ty == to.ty {
                let val = if is_number(to.ty) { resized(from.val, width(to.range)) } else { from.val };
                made.columns[columns + b] = Cell { val, null: None, id: from.id, ..to };
            }
        }
    }

    /// Left rows with or without a partner, where the right side is the `left` of this join and the left side's keys are unique.
    fn kept_unique(&mut self, turned: &Join<'_>, l: &Rows<'b>, r: &Rows<'b>) -> Rows<'b> {
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
        let met = found.meeting.met(flags);
        r.clone().kept(if turned.kind == JoinKind::Semi { met } else { !met })
    }

    /// Left rows with or without a partner, of any number. A comparison besides is one with the least or the greatest of a key's right
    /// rows.
    fn partners(
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
    fn check_unique(&mut self, join: &Join<'_>, found: &Found<'b>) {
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

/// Values beside which there is no partner become NULL.
fn without<'b>(columns: &mut [Cell<'b>], pass: Val<'b>) {
    for cell in columns {
        let null = either(cell.null, Some(!pass));
        let val = if cell.ty == ColumnType::Boolean { cell.val & pass } else { cell.val };
        *cell = Cell { val, null, ..*cell };
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
        Operator::Filter(input, _)
        | Operator::OrderBy(input, _)
        | Operator::Limit { input, .. }
        | Operator::Window(input, _) => promised(input, columns),
        Operator::Join { left, right, .. } | Operator::Cross(left, right) => {
            let count = left.schema().columns().len();
            let shifted: Vec<usize> = columns.iter().filter_map(|at| at.checked_sub(count)).collect();
            promised(left, columns).or_else(|| promised(right, &shifted))
        }
        Operator::Set { left, .. } => promised(left, columns),
        Operator::Values(_) | Operator::Aggregate { .. } | Operator::Distinct(_) => None,
    }
}
