//! Groups of rows, in one of three ways: rows sorted by keys and scanned, all rows as one group, or
//! a few public keys without a sort.

use super::{
    Lower, Want,
    cell::{Cell, LOST, both},
    figures::{Grouping, SourceRows, figure},
    numbers::{number, resized, truth, width},
    rows::{CellKey, CellRows, Sorted, ends},
};
use crate::{
    aggregates::FigureForm,
    algebra::{Aggregate, Column, ColumnType, Expr, Range, Relation},
};
use hushwire_compute::{Comparison, Scalar, Scan, Shape, Val};

/// The figures that a query requests for its groups.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a, 'b> {
    pub(super) aggregates: &'a [Aggregate],
    pub(super) arguments: &'a [Option<Cell<'b>>],
    /// The columns of the figures.
    pub(super) figures: &'a [Column],
    pub(super) min_group: u64,
    /// A bound on the valid rows of all groups, from the input relation. There may be more lowered
    /// rows, some of them invalid.
    pub(super) all: u64,
}

impl<'a, 'b> Asked<'a, 'b> {
    pub(super) fn each(self) -> impl Iterator<Item = (&'a Aggregate, Option<Cell<'b>>, &'a Column)> {
        let arguments = self.arguments.iter().copied();
        self.aggregates.iter().zip(arguments).zip(self.figures).map(|((a, cell), column)| (a, cell, column))
    }
}

impl<'b> Lower<'b> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one operator")]
    pub(super) fn aggregate(
        &mut self,
        relation: &Relation,
        input: &Relation,
        keys: &[(String, Expr)],
        aggregates: &[Aggregate],
        min_group: u64,
        bound: Option<u64>,
        wants: &[Want],
    ) -> CellRows<'b> {
        let order = key_order(keys.len(), wants);
        let child: Vec<Want> = order
            .iter()
            .filter_map(|want| match keys[want.column].1 {
                Expr::Column(column) => Some(Want { column, ..*want }),
                _ => None,
            })
            .collect();
        let child = if child.len() == keys.len() { child } else { vec![] };
        let rows = self.lower(input, &child);
        let evaluated = |this: &mut Self, e: &Expr| {
            let cell = this.scope(input, &rows).typed(e).spread(rows.rows);
            this.named(cell)
        };
        let cells: Vec<Cell<'b>> = keys.iter().map(|(_, e)| evaluated(self, e)).collect();
        let arguments: Vec<Option<Cell<'b>>> =
            aggregates.iter().map(|a| a.argument.as_ref().map(|e| evaluated(self, e))).collect();
        let columns = relation.schema().columns();
        let figures = &columns[keys.len()..];
        let asked = Asked { aggregates, arguments: &arguments, figures, min_group, all: input.rows() };
        let made = if keys.is_empty() {
            self.all_rows(&rows, asked)
        } else if let Some(made) = self.few_keys(&rows, &cells, asked) {
            made
        } else {
            self.sorted_groups(&rows, &cells, &order, asked)
        };
        self.promise(relation, |this| match bound.filter(|bound| *bound < made.rows) {
            Some(bound) => {
                let count = made.valid_or_true().reduce(hushwire_compute::Reduction::Count, 0);
                count.compare(Comparison::LessOrEqual, number(count, bound.into()))
            }
            // There are fewer public keys than the bound.
            None => truth(this.b, true),
        });
        match bound.filter(|bound| !keys.is_empty() && *bound < made.rows) {
            Some(bound) => made.packed(bound),
            None => made,
        }
    }

    /// One group of all rows.
    fn all_rows(&mut self, rows: &CellRows<'b>, asked: Asked<'_, 'b>) -> CellRows<'b> {
        let grouping = Grouping::All(self.b);
        let mut made = self.one_row_of(asked.min_group, || grouping.count(rows.valid, rows.rows));
        for (aggregate, argument, column) in asked.each() {
            let (valid, argument, fresh) = self.each_once(rows, &[], aggregate, argument);
            let source = SourceRows { b: self.b, rows: rows.rows, all: asked.all };
            let cell = figure(&grouping, aggregate, column, valid, argument, fresh, source);
            made.columns.push(self.named(cell));
        }
        made
    }

    fn one_row_of(&self, min_group: u64, count: impl FnOnce() -> Val<'b>) -> CellRows<'b> {
        let valid = (min_group > 1).then(|| {
            let count = count();
            is_group(count, min_group)
        });
        CellRows { packed: true, ..self.unsorted(1, valid, vec![]) }
    }

    /// One group per run of equal keys; the last row of a run carries its group.
    pub(super) fn sorted_groups(
        &mut self,
        rows: &CellRows<'b>,
        keys: &[Cell<'b>],
        order: &[Want],
        asked: Asked<'_, 'b>,
    ) -> CellRows<'b> {
        let Asked { aggregates, arguments, min_group, .. } = asked;
        let by: Vec<CellKey<'b>> = order
            .iter()
            .map(|want| CellKey {
                cell: keys[want.column],
                descending: want.descending,
                nulls_first: want.nulls_first,
            })
            .collect();
        let arguments_there: Vec<Cell<'b>> = arguments.iter().flatten().copied().collect();
        let more = [keys, &arguments_there].concat();
        // Distinct arguments are sorted after their keys, so that equal ones are adjacent. The
        // first such order also serves all other figures.
        let first = aggregates.iter().zip(arguments).find_map(|(a, cell)| cell.filter(|_| a.distinct));
        let (rows, more) = match (rows.groups(keys), first) {
            (Some(_), None) => {
                self.note("keeps the order of its rows".into());
                (rows.clone(), more)
            }
            (_, first) => {
                let by = [by.clone(), first.map(CellKey::up).into_iter().collect()].concat();
                self.note(format!("sorts {} rows by {}", rows.rows, self.told(&by)));
                rows.sort(&[], &by, &more)
            }
        };
        let (keys, mut rest) = (more[..keys.len()].to_vec(), more[keys.len()..].iter().copied());
        let arguments: Vec<Option<Cell<'b>>> =
            arguments.iter().map(|a| a.and_then(|_| rest.next())).collect();
        // Figures that need another order sort by the same keys, so that their groups have the same
        // places as here.
        let (runs, by) = match rows.groups(&keys) {
            Some(runs) => {
                let key = |(cell, s): (&Cell<'b>, &Sorted)| CellKey {
                    cell: *cell,
                    descending: s.descending,
                    nulls_first: s.nulls_first,
                };
                let by = runs.iter().zip(&rows.sorted).map(key).collect();
                (runs, by)
            }
            None => (keys.clone(), keys.iter().copied().map(CellKey::up).collect::<Vec<_>>()),
        };
        // No two groups are equal in all of these columns.
        let told = runs.iter().map(|cell| cell.id).collect();
        let starts = rows.starts(&runs);
        let ends = ends(self.b, starts, rows.rows);
        let grouping = Grouping::Sorted(starts);
        let valid = if rows.valid.is_some() || min_group > 1 {
            let count = grouping.count(rows.valid, rows.rows);
            ends & is_group(count, min_group)
        } else {
            ends
        };
        let columns = keys.iter().map(|key| of_valid_rows(*key, &runs, starts, rows.valid)).collect();
        let mut made = CellRows { valid: Some(valid), columns, packed: false, told, ..rows.clone() };
        for (aggregate, argument, column) in (Asked { arguments: &arguments, ..asked }).each() {
            let (valid, argument, fresh) = self.each_once(&rows, &by, aggregate, argument);
            let source = SourceRows { b: self.b, rows: rows.rows, all: asked.all };
            let cell = figure(&grouping, aggregate, column, valid, argument, fresh, source);
            made.columns.push(self.named(cell));
        }
        made
    }

    /// The validity and the argument; for a distinct figure, also whether a row is the first with
    /// its argument in its group.
    ///
    /// A distinct figure gets its own order by keys and argument, and so does a least or greatest
    /// string that is longer than a word. Groups have the same places in every order by these keys.
    fn each_once(
        &mut self,
        rows: &CellRows<'b>,
        keys: &[CellKey<'b>],
        aggregate: &Aggregate,
        argument: Option<Cell<'b>>,
    ) -> (Option<Val<'b>>, Option<Cell<'b>>, Option<Val<'b>>) {
        let Some(cell) = argument else { return (rows.valid, None, None) };
        let counts = |cell: Cell<'b>, valid: Option<Val<'b>>| both(valid, cell.null.map(|null| !null));
        let extreme = match aggregate.figure.form {
            FigureForm::Extreme { greatest } => Some(greatest),
            _ => None,
        };
        if let (Some(greatest), ColumnType::Varchar(17..)) = (extreme, cell.ty) {
            // The rows that count come last; the last of them has the extreme value.
            let last = counts(cell, rows.valid);
            let flag = last.map(|counts| Cell {
                val: counts,
                null: None,
                ty: ColumnType::Boolean,
                range: Range { low: 0, high: 0 },
                id: LOST,
            });
            let value = CellKey { cell, descending: !greatest, nulls_first: true };
            let by = [keys.to_vec(), flag.map(CellKey::up).into_iter().collect(), vec![value]].concat();
            self.note(format!("sorts {} rows by {}", rows.rows, self.told(&by)));
            let (sorted, moved) = rows.sort(&[], &by, &[cell]);
            return (sorted.valid, Some(moved[0]), None);
        }
        if !aggregate.distinct || extreme.is_some() {
            return (rows.valid, Some(cell), None);
        }
        let by = [keys.to_vec(), vec![CellKey::up(cell)]].concat();
        let (sorted, moved) = if rows.has_order(&by) {
            (rows.clone(), vec![cell])
        } else {
            self.note(format!("sorts {} rows by {}", rows.rows, self.told(&by)));
            let more: Vec<Cell<'b>> = by.iter().map(|key| key.cell).collect();
            let (sorted, moved) = rows.sort(&[], &by, &more);
            (sorted, moved[keys.len()..].to_vec())
        };
        // Keys have the same places in every order by keys.
        let runs: Vec<Cell<'b>> = [keys.iter().map(|key| key.cell).collect(), moved.clone()].concat();
        let starts = sorted.starts(&runs);
        let cell = moved[0];
        let fresh = counts(cell, sorted.valid).map_or(starts, |counts| {
            let seen = Grouping::Sorted(starts).count(Some(counts), rows.rows);
            counts & seen.equals(number(seen, 1))
        });
        (sorted.valid, Some(cell), Some(fresh))
    }
}

/// A key whose value in the last row of a run is the value of the run's valid rows. Keys that form
/// runs have this value in all rows of a run. A key that follows from them has it only in valid
/// rows.
fn of_valid_rows<'b>(key: Cell<'b>, runs: &[Cell<'b>], starts: Val<'b>, valid: Option<Val<'b>>) -> Cell<'b> {
    match valid {
        Some(valid) if runs.iter().all(|run| run.id != key.id) => {
            key.map(|val| val.scan(Scan::First, starts | valid))
        }
        _ => key,
    }
}

/// All keys, beginning with those that a wanted order names.
fn key_order(keys: usize, wants: &[Want]) -> Vec<Want> {
    let mut order: Vec<Want> = vec![];
    for want in wants.iter().take_while(|want| want.column < keys) {
        if !order.iter().any(|w| w.column == want.column) {
            order.push(*want);
        }
    }
    for column in 0..keys {
        if !order.iter().any(|w| w.column == column) {
            order.push(Want { column, descending: false, nulls_first: false });
        }
    }
    order
}

/// Whether counts belong to groups that are shown: groups of at least `min_group` rows, and of at
/// least one. Counts are signed numbers. A bound beyond their width is capped at the greatest
/// count, which no count exceeds, so no group is shown.
pub(super) fn is_group<'b>(count: Val<'b>, min_group: u64) -> Val<'b> {
    let bits = count.ty().map_or(64, |ty| ty.scalar.bits() as u32);
    let below = i128::from(min_group.max(1) - 1).min((1i128 << (bits - 1)) - 1);
    count.compare(Comparison::Greater, number(count, below))
}

/// A flag as a number wide enough to count `rows` rows.
pub(super) fn counted<'b>(flag: Val<'b>, rows: u64) -> Val<'b> {
    flag.cast(Scalar::signed(width(Range { low: 0, high: rows.into() })))
}

/// A vector of `rows` ones, wide enough to count them.
pub(super) fn ones<'b>(b: &'b hushwire_compute::Builder, rows: u64) -> Val<'b> {
    let one = truth(b, true).broadcast(Shape::vector(rows));
    resized(counted(one, rows), width(Range { low: 0, high: rows.into() }))
}
