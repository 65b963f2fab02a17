//! Rows in one order, and sorts to other orders.
//!
//! A [`CellRows`] has columns of one length and a validity bit per row. It remembers the columns by
//! which it is sorted, so that the next operator that needs rows with equal keys together can use
//! this order. Validity is not a key, so a filter keeps the order. Therefore every operator accepts
//! invalid rows in between.

use super::{
    cell::{Cell, LOST},
    numbers::truth,
};
use crate::algebra::ColumnType;
use hushwire_compute::{Builder, Comparison, Op, Scalar, Shape, Tensor, Val};

/// A column by which rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sorted {
    pub(crate) id: u32,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// A key to sort by.
#[derive(Clone, Copy)]
pub(crate) struct CellKey<'b> {
    pub(crate) cell: Cell<'b>,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

impl<'b> CellKey<'b> {
    pub(crate) fn up(cell: Cell<'b>) -> Self {
        CellKey { cell, descending: false, nulls_first: false }
    }

    fn sorted(&self) -> Sorted {
        Sorted { id: self.cell.id, descending: self.descending, nulls_first: self.nulls_first }
    }

    /// The values to order by.
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

/// The columns of rows.
#[derive(Clone)]
pub(crate) struct CellRows<'b> {
    pub(crate) b: &'b Builder,
    pub(crate) rows: u64,
    /// The validity of the rows; all are valid if `None`.
    pub(crate) valid: Option<Val<'b>>,
    pub(crate) columns: Vec<Cell<'b>>,
    /// The columns by which rows are sorted, the first most significant.
    pub(crate) sorted: Vec<Sorted>,
    /// Whether valid rows come before all others.
    pub(crate) packed: bool,
    /// Columns whose values are determined by other columns on valid rows: the columns of a unique
    /// key's partner.
    pub(crate) follows: Vec<(Vec<u32>, Vec<u32>)>,
    /// The columns whose values the order of rows reveals, in addition to the rows' places in
    /// tables: all by which rows were sorted. [`LOST`] represents any column without an identity.
    pub(crate) told: Vec<u32>,
    /// The columns of `told` that an ORDER BY requests, with only projections, filters and limits
    /// above it.
    pub(crate) asked: Vec<u32>,
}

impl<'b> CellRows<'b> {
    pub(crate) fn valid_or_true(&self) -> Val<'b> {
        self.valid.unwrap_or_else(|| truth(self.b, true).broadcast(Shape::vector(self.rows)))
    }

    /// The columns that the order reveals, if the columns in the same places have other identities.
    pub(crate) fn told_by(&self, columns: &[Cell<'b>]) -> Vec<u32> {
        let place = |id: &u32| self.columns.iter().position(|cell| cell.id == *id && *id != LOST);
        self.told.iter().map(|id| place(id).map_or(LOST, |at| columns[at].id)).collect()
    }

    /// Whether the order of rows reveals columns that are not among the rows' own and that no ORDER
    /// BY requests.
    pub(crate) fn tells_more(&self) -> bool {
        let is_own = |id: &u32| *id != LOST && self.columns.iter().any(|cell| cell.id == *id);
        self.rows > 1 && self.told.iter().any(|id| !self.asked.contains(id) && !is_own(id))
    }

    /// The rows, valid only where a flag is true as well.
    pub(crate) fn kept(self, flag: Val<'b>) -> Self {
        let valid = Some(self.valid.map_or(flag, |valid| valid & flag));
        CellRows { valid, packed: false, ..self }
    }

    /// Transforms all columns, in the same order of rows.
    pub(crate) fn each(&self, mut f: impl FnMut(Val<'b>) -> Val<'b>) -> Self {
        let columns = self.columns.iter().map(|cell| cell.map(&mut f)).collect();
        CellRows { columns, valid: self.valid.map(f), ..self.clone() }
    }

    /// Whether a column is among these columns, or is determined by them.
    pub(super) fn is_known(&self, id: u32, by: &[u32]) -> bool {
        by.contains(&id)
            || self.follows.iter().any(|(from, to)| to.contains(&id) && from.iter().all(|f| by.contains(f)))
    }

    /// The keys that determine all others, if rows with equal keys are adjacent; `None` if they are
    /// not.
    pub(crate) fn groups(&self, keys: &[Cell<'b>]) -> Option<Vec<Cell<'b>>> {
        let mut found: Vec<Cell<'b>> = vec![];
        let mut sorted = self.sorted.iter();
        loop {
            let ids: Vec<u32> = found.iter().map(|cell| cell.id).collect();
            if keys.iter().all(|key| key.id != LOST && self.is_known(key.id, &ids)) {
                return Some(found);
            }
            let next = sorted.next()?.id;
            found.push(*keys.iter().find(|key| key.id == next)?);
        }
    }

    /// Whether valid rows are in the order of keys.
    pub(crate) fn has_order(&self, keys: &[CellKey<'b>]) -> bool {
        let mut sorted = self.sorted.iter();
        let mut seen: Vec<u32> = vec![];
        keys.iter().all(|key| {
            let id = key.cell.id;
            if id != LOST && self.is_known(id, &seen) {
                return true;
            }
            // For a column without NULLs, their place does not matter.
            let same = |s: &Sorted| {
                s.id == id
                    && s.descending == key.descending
                    && (key.cell.null.is_none() || s.nulls_first == key.nulls_first)
            };
            seen.push(id);
            id != LOST && sorted.next().is_some_and(same)
        })
    }

    /// The keys without those that the keys before them determine.
    fn needed(&self, keys: &[CellKey<'b>]) -> Vec<CellKey<'b>> {
        let mut seen: Vec<u32> = vec![];
        let mut needed = vec![];
        for key in keys {
            if key.cell.id == LOST || !self.is_known(key.cell.id, &seen) {
                needed.push(*key);
            }
            seen.push(key.cell.id);
        }
        needed
    }

    /// Sorts by keys, after the flags `first`. Also sorts the columns `more`, which are not the
    /// rows' own but have as many elements.
    pub(crate) fn sort(
        &self,
        first: &[(Val<'b>, bool)],
        keys: &[CellKey<'b>],
        more: &[Cell<'b>],
    ) -> (Self, Vec<Cell<'b>>) {
        let needed = self.needed(keys);
        let values: Vec<_> = first.iter().copied().chain(needed.iter().flat_map(CellKey::values)).collect();
        if values.is_empty() || self.rows < 2 {
            return (self.clone(), more.to_vec());
        }
        let order = self.b.order(&values);
        let moved = |val: Val<'b>| val.permute(order);
        let mut made = self.each(moved);
        made.sorted = needed.iter().map(CellKey::sorted).collect();
        made.packed = false;
        made.told = needed.iter().map(|key| key.cell.id).chain(self.told.iter().copied()).collect();
        made.told.dedup();
        (made, more.iter().map(|cell| cell.map(moved)).collect())
    }

    /// Moves valid rows to the front, in their order, and cuts to `rows` rows.
    pub(crate) fn packed(&self, rows: u64) -> Self {
        let rows = rows.min(self.rows);
        let first = match self.valid {
            Some(valid) if !self.packed && self.rows > 1 => {
                let order = self.b.order(&[(valid, true)]);
                CellRows { packed: true, ..self.each(|val| val.permute(order)) }
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
        CellRows { rows: to - from, ..self.each(|val| val.slice(from, to)) }
    }

    /// For each row, whether its keys differ from those of the row before it.
    pub(crate) fn starts(&self, keys: &[Cell<'b>]) -> Val<'b> {
        let (b, n) = (self.b, self.rows);
        if n == 0 {
            return b.constant(Tensor::zeros(Scalar::Bool, &[0]));
        }
        let first = b.constant(Tensor::from_words(Scalar::Bool, &[1], [1]));
        if n == 1 {
            return first;
        }
        let differs = |key: &Val<'b>| key.slice(1, n).compare(Comparison::NotEqual, key.slice(0, n - 1));
        let keys: Vec<Val<'b>> =
            keys.iter().flat_map(|key| key.null.into_iter().chain([key.canonical()])).collect();
        match keys.iter().map(differs).reduce(|a, c| a | c) {
            Some(differs) => behind(b, first, differs),
            None => behind(b, first, truth(b, false).broadcast(Shape::vector(n - 1))),
        }
    }
}

/// For each row, whether the next row is a start or there is none.
pub(crate) fn ends<'b>(b: &'b Builder, starts: Val<'b>, rows: u64) -> Val<'b> {
    if rows < 2 {
        return starts;
    }
    let last = b.constant(Tensor::from_words(Scalar::Bool, &[1], [1]));
    behind(b, starts.slice(1, rows), last)
}

/// Rows in reverse order.
pub(crate) fn reversed(val: Val<'_>, rows: u64) -> Val<'_> {
    if rows < 2 {
        return val;
    }
    let b = val.builder();
    let one = b.number(Scalar::unsigned(64), 1);
    let from = one.broadcast(Shape::vector(rows)).prefix_sum();
    val.gather(b.number(Scalar::unsigned(64), rows.into()) - from)
}

/// The public row numbers 0, 1, ….
pub(crate) fn places(b: &Builder, rows: u64, scalar: Scalar) -> Val<'_> {
    let one = b.number(scalar, 1);
    one.broadcast(Shape::vector(rows)).prefix_sum() - one
}

/// The same elements as a column of one row.
pub(crate) fn one_row(val: Val<'_>) -> Val<'_> {
    val.reshape(Shape::vector(1))
}

/// One column followed by another.
pub(crate) fn behind<'b>(b: &'b Builder, first: Val<'b>, second: Val<'b>) -> Val<'b> {
    b.apply(Op::Concat(0), &[first, second])
}
