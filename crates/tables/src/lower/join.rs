//! Joins. Rows of both sides are sorted by key, and values of one side's rows are copied down to
//! the other's.
//!
//! Left rows return to their former order, unless an operator above needs them by key.

use super::{
    Lower, Want,
    cell::{Cell, both, either, is_number, scalar},
    meeting::{Found, Keys, Meeting},
    numbers::{resized, truth, width, zero},
    rows::{CellRows, Sorted, behind},
};
use crate::algebra::{ColumnType, Expr, JoinKind, Pairing, Relation, Schema, by_extremes, is_partnership};
use hushwire_compute::{Shape, Val};

/// A join in its relation's form.
pub(crate) struct Join<'a> {
    /// The operator itself; its sides may be swapped in `left` and `right`.
    pub(crate) relation: &'a Relation,
    pub(crate) left: &'a Relation,
    pub(crate) right: &'a Relation,
    pub(crate) kind: JoinKind,
    pub(crate) on: &'a [(Expr, Expr)],
    pub(crate) residual: Option<&'a Expr>,
}

impl<'b> Lower<'b> {
    pub(super) fn join(&mut self, join: &Join<'_>, found: Option<Pairing>, wants: &[Want]) -> CellRows<'b> {
        let Join { relation, left, right, kind, on, residual } = *join;
        let count = left.schema().columns().len();
        let below: Vec<Want> = wants.iter().copied().take_while(|want| want.column < count).collect();
        let l = self.lower(left, &below);
        let r = self.lower(right, &[]);
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
                let turned = Join { relation, left, right, kind, on: &on, residual: residual.as_ref() };
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

    /// If an operator above wants an order by the keys, whether each key is descending in it.
    fn wanted(
        join: &Join<'_>,
        l: &CellRows<'b>,
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
        // Right rows are also in this order, if their keys have the left columns' form.
        if keys.as_they_stand.contains(&false) {
            return None;
        }
        let order: Vec<usize> = wants.iter().map_while(key_of).take(ids.len()).collect();
        let mut each = order.clone();
        each.sort_unstable();
        each.dedup();
        (each.len() == ids.len()).then(|| (order, wants[..ids.len()].to_vec()))
    }

    /// Joins with a right side whose keys are unique.
    fn unique_join(
        &mut self,
        join: &Join<'_>,
        l: &CellRows<'b>,
        r: &CellRows<'b>,
        wants: &[Want],
    ) -> CellRows<'b> {
        let r = &self.renamed(r);
        let [mut l_keys, mut r_keys] = self.keys(join, l, r);
        let outer = matches!(join.kind, JoinKind::Right | JoinKind::Full);
        let by_key = Self::wanted(join, l, &l_keys, wants).filter(|_| !outer && !self.tags);
        let mut down = vec![];
        if let Some((order, wanted)) = &by_key {
            for keys in [&mut l_keys, &mut r_keys] {
                keys.values = order.iter().map(|k| keys.values[*k]).collect();
                keys.ids = order.iter().map(|k| keys.ids[*k]).collect();
            }
            down = wanted.iter().map(|want| want.descending).collect();
        }
        let (rows, all) = ([r.rows, l.rows], l.rows + r.rows);
        let meeting = if self.tags {
            self.note(format!(
                "joins {all} rows of both sides by tags, which show parties 1 and 2 how many rows of either side have one key"
            ));
            let live = [(r, &r_keys), (l, &l_keys)].map(|(rows, keys)| keys.present(rows.valid));
            Meeting::by_tags(self.b, &r_keys, &l_keys, rows, live)
        } else {
            self.note(format!("sorts {all} rows of both sides"));
            Meeting::new(self.b, &r_keys, &l_keys, rows, &down)
        };
        let found = Found::new(meeting, Self::live(r, &r_keys));
        self.promise(join.relation, |_| found.unique());
        let meeting = &found.meeting;
        let here = |val: Val<'b>| if by_key.is_some() { val } else { meeting.left(val) };
        let there = |val: Val<'b>| if by_key.is_some() { meeting.of_left(val) } else { val };
        let mut made = l.each(there);
        if by_key.is_some() {
            made.rows = l.rows + r.rows;
            made.valid = Some(meeting.of_left(l.valid_or_true()));
            made.packed = false;
            // The order also holds for right rows: other operators use keys to find where groups
            // begin.
            for ((id, left), right) in l_keys.ids.iter().zip(&l_keys.values).zip(&r_keys.values) {
                let key = meeting.sorted(behind(self.b, *right, *left));
                for cell in made.columns.iter_mut().filter(|cell| Some(cell.id) == *id) {
                    cell.val = key;
                }
            }
            let ids = l_keys.ids.iter().flatten();
            made.told = ids.clone().chain(&l.told).copied().collect();
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
                let alone = r.clone().kept(!r_keys.met(meeting, valid));
                if join.kind == JoinKind::Full {
                    without(&mut made.columns[columns..], pass);
                } else {
                    made = made.kept(pass);
                }
                self.with_lone_right(&made, &alone, columns)
            }
        }
    }

    /// The pairs, followed by right rows without a partner, beside NULLs.
    pub(super) fn with_lone_right(
        &mut self,
        pairs: &CellRows<'b>,
        alone: &CellRows<'b>,
        columns: usize,
    ) -> CellRows<'b> {
        let nothing = |cell: &Cell<'b>| {
            let zeros = zero(self.b, scalar(cell.ty, cell.range)).broadcast(Shape::vector(alone.rows));
            let null = truth(self.b, true).broadcast(Shape::vector(alone.rows));
            Cell { val: zeros, null: Some(null), ..*cell }
        };
        let left = pairs.columns[..columns].iter().map(nothing);
        let columns = left.chain(alone.columns.iter().copied()).collect();
        let alone = CellRows { columns, ..alone.clone() };
        self.stacked(pairs, &alone)
    }

    /// On valid rows, a right key equals the left key, so they get one identity.
    fn same_keys(&self, join: &Join<'_>, made: &mut CellRows<'b>) {
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
}

/// Sets values to NULL in rows without a partner.
fn without<'b>(columns: &mut [Cell<'b>], pass: Val<'b>) {
    for cell in columns {
        let null = either(cell.null, Some(!pass));
        let val = if cell.ty == ColumnType::Boolean { cell.val & pass } else { cell.val };
        *cell = Cell { val, null, ..*cell };
    }
}
