//! Rows in one order, and other orders of them.
//!
//! A [`Rows`] is columns of one length and a bit a row of whether it is valid. What is sorted, and by which columns, is remembered: the
//! next operator that wants rows of equal keys together finds them so. Validity is no key, so that a filter leaves an order
//! useful; every operator therefore takes invalid rows in between.

use super::{
    cell::{Cell, LOST},
    numbers::truth,
};
use crate::algebra::ColumnType;
use hushwire_compute::{Builder, Comparison, Op, Scalar, Shape, Tensor, Val};

/// A column that rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sorted {
    pub(crate) id: u32,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// A key to sort by.
#[derive(Clone, Copy)]
pub(crate) struct Key<'b> {
    pub(crate) cell: Cell<'b>,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

impl<'b> Key<'b> {
    pub(crate) fn up(cell: Cell<'b>) -> Self {
        Key { cell, descending: false, nulls_first: false }
    }

    fn sorted(&self) -> Sorted {
        Sorted { id: self.cell.id, descending: self.descending, nulls_first: self.nulls_first }
    }

    /// Values to order by.
    pub(crate) fn values(&self) -> Vec<(Val<'b>, bool)> {
        let null = self.cell.null.map(|null| (null, self.nulls_first));
        let value = self.cell.canonical();
        let parts = match self.cell.ty {
            ColumnType::Varchar(17..) => super::texts::numbers(value),
            _ => vec![value],
        };
        null.into_iter().chain(parts.into_iter().map(|v| (v, self.descending))).collect()
    }
}

/// Columns of rows.
#[derive(Clone)]
pub(crate) struct Rows<'b> {
    pub(crate) b: &'b Builder,
    pub(crate) rows: u64,
    /// Which rows are valid; all without it.
    pub(crate) valid: Option<Val<'b>>,
    pub(crate) columns: Vec<Cell<'b>>,
    /// Columns that rows are sorted by, the first most significant.
    pub(crate) sorted: Vec<Sorted>,
    /// Whether valid rows come before all others.
    pub(crate) packed: bool,
    /// Columns whose values follow from others' on valid rows: those of a unique key's partner.
    pub(crate) follows: Vec<(Vec<u32>, Vec<u32>)>,
    /// Columns whose values the order of rows tells beside their places in tables: all that rows were sorted by, [`LOST`] for one under no number.
    pub(crate) told: Vec<u32>,
    /// Those of them that an ORDER BY above all but projections, filters and limits asks for.
    pub(crate) asked: Vec<u32>,
}

impl<'b> Rows<'b> {
    pub(crate) fn valid_or_true(&self) -> Val<'b> {
        self.valid.unwrap_or_else(|| truth(self.b, true).broadcast(Shape::vector(self.rows)))
    }

    /// The columns that the order tells, where those in the same places have other numbers.
    pub(crate) fn told_by(&self, columns: &[Cell<'b>]) -> Vec<u32> {
        let place = |id: &u32| self.columns.iter().position(|cell| cell.id == *id && *id != LOST);
        self.told.iter().map(|id| place(id).map_or(LOST, |at| columns[at].id)).collect()
    }

    /// Whether the order of rows tells of columns that are not among its own, and that nobody asked for.
    pub(crate) fn tells_more(&self) -> bool {
        let is_own = |id: &u32| *id != LOST && self.columns.iter().any(|cell| cell.id == *id);
        self.rows > 1 && self.told.iter().any(|id| !self.asked.contains(id) && !is_own(id))
    }

    /// Valid only where a flag is true besides.
    pub(crate) fn kept(self, flag: Val<'b>) -> Self {
        let valid = Some(self.valid.map_or(flag, |valid| valid & flag));
        Rows { valid, packed: false, ..self }
    }

    /// All columns made anew, in the same order of rows.
    pub(crate) fn each(&self, mut f: impl FnMut(Val<'b>) -> Val<'b>) -> Self {
        let columns = self.columns.iter().map(|cell| cell.map(&mut f)).collect();
        Rows { columns, valid: self.valid.map(f), ..self.clone() }
    }

    /// Whether a column is one of some, or follows from them.
    pub(super) fn is_known(&self, id: u32, by: &[u32]) -> bool {
        by.contains(&id)
            || self.follows.iter().any(|(from, to)| to.contains(&id) && from.iter().all(|f| by.contains(f)))
    }

    /// Keys, of which the others follow, whose equal rows are neighbours; `None` where they are not all.
    pub(crate) fn groups(&self, keys: &[Cell<'b>]) -> Option<Vec<Cell<'b>>> {
        let mut found: Vec<Cell<'b>> = vec![];
        let mut sorted = self.sorted.iter();
        loop {
            let ids: Vec<u32> = found.iter().map(|cell| cell.id).collect();
            if keys.iter().all(|key| key.id != u32::MAX && self.is_known(key.id, &ids)) {
                return Some(found);
            }
            let next = sorted.next()?.id;
            found.push(*keys.iter().find(|key| key.id == next)?);
        }
    }

    /// Whether valid rows are in the order of keys.
    pub(crate) fn has_order(&self, keys: &[Key<'b>]) -> bool {
        let mut sorted = self.sorted.iter();
        let mut seen: Vec<u32> = vec![];
        keys.iter().all(|key| {
            let id = key.cell.id;
            if id != u32::MAX && self.is_known(id, &seen) {
                return true;
            }
            // A column that has no NULL may have them anywhere.
            let same = |s: &Sorted| {
                s.id == id
                    && s.descending == key.descending
                    && (key.cell.null.is_none() || s.nulls_first == key.nulls_first)
            };
            seen.push(id);
            id != u32::MAX && sorted.next().is_some_and(same)
        })
    }

    /// Keys without those that follow from the ones before.
    fn needed(&self, keys: &[Key<'b>]) -> Vec<Key<'b>> {
        let mut seen: Vec<u32> = vec![];
        let mut needed = vec![];
        for key in keys {
            if key.cell.id == u32::MAX || !self.is_known(key.cell.id, &seen) {
                needed.push(*key);
            }
            seen.push(key.cell.id);
        }
        needed
    }

    /// Sorted by keys; `first` are flags that come before them. `more` are columns beside its own, brought along.
    pub(crate) fn sort(
        &self,
        first: &[(Val<'b>, bool)],
        keys: &[Key<'b>],
        more: &[Cell<'b>],
    ) -> (Self, Vec<Cell<'b>>) {
        let needed = self.needed(keys);
        let values: Vec<_> = first.iter().copied().chain(needed.iter().flat_map(Key::values)).collect();
        if values.is_empty() || self.rows < 2 {
            return (self.clone(), more.to_vec());
        }
        let order = self.b.order(&values);
        let moved = |val: Val<'b>| val.permute(order);
        let mut made = self.each(moved);
        made.sorted = needed.iter().map(Key::sorted).collect();
        made.packed = false;
        made.told = needed.iter().map(|key| key.cell.id).chain(self.told.iter().copied()).collect();
        made.told.dedup();
        (made, more.iter().map(|cell| cell.spread(self.rows).map(moved)).collect())
    }

    /// Valid rows first, in their order, and as many rows as are asked for.
    pub(crate) fn packed(&self, rows: u64) -> Self {
        let rows = rows.min(self.rows);
        let first = match self.valid {
            Some(valid) if !self.packed && self.rows > 1 => {
                let order = self.b.order(&[(valid, true)]);
                Rows { packed: true, ..self.each(|val| val.permute(order)) }
            }
            _ => self.clone(),
        };
        first.sliced(0, rows)
    }

    /// Rows `from..to`.
    pub(crate) fn sliced(&self, from: u64, to: u64) -> Self {
        if (from, to) == (0, self.rows) {
            return self.clone();
        }
        Rows { rows: to - from, ..self.each(|val| val.slice(from, to)) }
    }

    /// Of neighbours in this order: whether a row's keys differ from those of the row before it.
    pub(crate) fn starts(&self, keys: &[Cell<'b>]) -> Val<'b> {
        let (b, n) = (self.b, self.rows);
        let first =
            b.constant(Tensor::from_words(Scalar::Bool, &[n.min(1) as usize], (0..n.min(1)).map(|_| 1)));
        if n < 2 {
            return first;
        }
        let differs = |key: &Val<'b>| key.slice(1, n).compare(Comparison::NotEqual, key.slice(0, n - 1));
        let keys: Vec<Val<'b>> =
            keys.iter().flat_map(|key| key.null.into_iter().chain([key.canonical()])).collect();
        match keys.iter().map(differs).reduce(|a, c| a | c) {
            Some(differs) => b.concat(0, &[first, differs]),
            None => {
                let same = truth(b, false).broadcast(Shape::vector(n - 1));
                b.concat(0, &[first, same])
            }
        }
    }
}

/// Which rows are the last before the next start.
pub(crate) fn ends<'b>(b: &'b Builder, starts: Val<'b>, rows: u64) -> Val<'b> {
    if rows < 2 {
        return starts;
    }
    let last = b.constant(Tensor::from_words(Scalar::Bool, &[1], [1]));
    b.concat(0, &[starts.slice(1, rows), last])
}

/// Rows the other way round.
pub(crate) fn reversed(val: Val<'_>, rows: u64) -> Val<'_> {
    if rows < 2 {
        return val;
    }
    let b = val.builder();
    let one = b.number(Scalar::unsigned(64), 1);
    let from = one.broadcast(Shape::vector(rows)).prefix_sum();
    val.gather(b.number(Scalar::unsigned(64), rows.into()) - from)
}

/// Numbers 0, 1, … of rows, public.
pub(crate) fn places(b: &Builder, rows: u64, scalar: Scalar) -> Val<'_> {
    let one = b.number(scalar, 1);
    one.broadcast(Shape::vector(rows)).prefix_sum() - one
}

/// The same elements as a column of one row.
pub(crate) fn one_row(val: Val<'_>) -> Val<'_> {
    val.reshape(Shape::vector(1))
}

/// Values of one column behind those of another.
pub(crate) fn behind<'b>(b: &'b Builder, first: Val<'b>, second: Val<'b>) -> Val<'b> {
    b.apply(Op::Concat(0), &[first, second])
}
