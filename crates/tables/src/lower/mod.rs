//! Lowers relations to computations.
//!
//! Each operator takes the columns and validity of [`CellRows`] and makes new ones. Its shape
//! follows from public row counts alone. An operator that needs an order tells this to the
//! operators below (`wants`). An operator that leaves rows in an order tells this to those above
//! (`CellRows::sorted`). So one sort can serve several operators.

pub(crate) mod bytes;
pub(crate) mod cell;
pub(crate) mod compare;
pub(crate) mod divide;
mod expand;
mod expr;
mod few;
pub(crate) mod figures;
mod group;
mod join;
mod meeting;
pub(crate) mod numbers;
mod partners;
mod rows;
mod sets;
mod texts;
mod ties;
mod window;

use crate::{
    Fault,
    algebra::{Column, Expr, Operator, Relation, Schema, SortKey, Table, TablePart, pairing},
    promises::Promises,
};
use cell::{Cell, LOST, tensor};
use expr::Scope;
use hushwire_compute::{Builder, Member, Shape, Val};
use hushwire_fault::code;
use rows::{CellKey, CellRows};
use std::collections::BTreeMap;
use ties::Tie;

/// A column by which an operator above wants rows sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) column: usize,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
}

/// A line of the plan's text.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) depth: usize,
    pub(crate) operator: String,
    pub(crate) rows: u64,
    pub(crate) remarks: Vec<String>,
}

/// A relation that is being lowered.
pub(crate) struct Lower<'b> {
    pub(crate) b: &'b Builder,
    members: BTreeMap<String, Member>,
    /// The tables found so far, and their columns.
    tables: Vec<(Table, CellRows<'b>)>,
    /// For each table, the columns that its owners compute.
    made: Vec<Vec<(Made, Cell<'b>)>>,
    /// The relations that are lowered already: a clone is computed once.
    done: Vec<(Relation, CellRows<'b>)>,
    /// The promises of the relation and, for each checked promise, the bit that says whether it
    /// holds.
    names: Promises,
    promises: Vec<(String, Val<'b>)>,
    notes: Vec<Note>,
    /// The line of each node's operator, for the nodes so far; and the current operator's line.
    lines: Vec<u32>,
    line: usize,
    depth: usize,
    ids: u32,
    uses: ties::Uses,
    ties: Vec<Tie>,
    /// Whether joins with a unique side use tags of keys.
    pub(crate) tags: bool,
}

/// A column that a table's owners compute from their rows.
pub(crate) type Made = (Column, Expr);

/// The parts of a query in addition to its computation.
pub(crate) struct Finished<'b> {
    pub(crate) tables: Vec<Table>,
    pub(crate) made: Vec<Vec<Made>>,
    pub(crate) promises: Vec<(String, Val<'b>)>,
    pub(crate) notes: Vec<Note>,
    pub(crate) lines: Vec<u32>,
    /// The operators that depend on an order that the query does not specify.
    pub(crate) ties: Vec<Tie>,
}

/// The name of a table's input, from the numbers of the table, part and column.
pub(crate) fn input_name(table: usize, part: usize, column: usize) -> String {
    format!("table{table}_part{part}_column{column}")
}

pub(crate) fn null_name(table: usize, part: usize, column: usize) -> String {
    format!("table{table}_part{part}_null{column}")
}

pub(crate) fn valid_name(table: usize, part: usize) -> String {
    format!("table{table}_part{part}_valid")
}

impl<'b> Lower<'b> {
    /// A lowering of a relation, or of a part of it.
    pub(crate) fn new(b: &'b Builder, relation: &Relation) -> Self {
        Lower {
            b,
            members: BTreeMap::new(),
            tables: vec![],
            made: vec![],
            done: vec![],
            names: Promises::of(relation),
            promises: vec![],
            notes: vec![],
            lines: vec![],
            line: 0,
            depth: 0,
            ids: 0,
            uses: ties::uses(relation),
            ties: vec![],
            tags: false,
        }
    }

    pub(crate) fn member(&mut self, name: &str) -> Member {
        *self.members.entry(name.to_owned()).or_insert_with(|| self.b.member(name))
    }

    /// Tables, promises, lines, and each node's line, after everything is lowered.
    ///
    /// # Errors
    /// If a promise of the plan was not checked, or two tables have the same name, by which owners
    /// bring rows.
    pub(crate) fn finish(self) -> Result<Finished<'b>, Fault> {
        let tables: Vec<Table> = self.tables.into_iter().map(|(table, _)| table).collect();
        let Lower { made, names, promises, notes, lines, ties, .. } = self;
        let made = made.into_iter().map(|all| all.into_iter().map(|(made, _)| made).collect()).collect();
        let same = |(at, table): &(usize, &Table)| tables[..*at].iter().any(|other| other.name == table.name);
        if let Some((_, twice)) = tables.iter().enumerate().find(same) {
            let places: [(_, &dyn std::fmt::Display); 2] =
                [("things", &"different tables"), ("name", &twice.name)];
            return Err(Fault::filled(code::NAME_TWICE, &places));
        }
        if let Some(lost) = names.names().find(|name| !promises.iter().any(|(known, _)| known == name)) {
            return Err(Fault::internal("the query", format_args!("the plan does not check {lost}")));
        }
        Ok(Finished { tables, made, promises, notes, lines, ties })
    }

    /// Assigns the nodes since the last call to the operator of this line.
    fn are_of(&mut self, line: usize) {
        self.lines.resize(self.b.len(), line as u32);
    }

    /// The rows of a relation, in any order; `wants` is an order that would help.
    pub(crate) fn lower(&mut self, relation: &Relation, wants: &[Want]) -> CellRows<'b> {
        if let Some((_, rows)) = self.done.iter().find(|(done, _)| done.is(relation)) {
            let (rows, operator) = (rows.clone(), "the same as above".to_owned());
            self.notes.push(Note { depth: self.depth, operator, rows: rows.rows, remarks: vec![] });
            return rows;
        }
        let at = self.notes.len();
        let operator = crate::explain::operator(relation);
        self.notes.push(Note { depth: self.depth, operator, rows: 0, remarks: vec![] });
        let above = std::mem::replace(&mut self.line, at);
        self.are_of(above);
        self.depth += 1;
        let mut rows = self.operator(relation, wants);
        self.depth -= 1;
        self.are_of(at);
        self.line = above;
        if !crate::settle::keeps_order(relation) {
            rows.asked.clear();
        }
        self.notes[at].rows = rows.rows;
        self.done.push((relation.clone(), rows.clone()));
        rows
    }

    fn operator(&mut self, relation: &Relation, wants: &[Want]) -> CellRows<'b> {
        match relation.operator() {
            Operator::Scan(table) => self.scan(table),
            Operator::ByOwner(input, columns) => self.by_owner(input, columns),
            Operator::Values(values) => {
                let count = values.len();
                let column = |(k, column): (usize, &Column)| {
                    let of = column.expr_type();
                    let all = || values.iter().map(move |row| &row[k]);
                    let val = self.b.constant(tensor(of.ty, of.range, &[count], all()));
                    let flags: Vec<_> = all().map(|v| crate::algebra::Value::Boolean(v.is_null())).collect();
                    let truth = crate::algebra::ColumnType::Boolean;
                    let null = column
                        .nullable
                        .then(|| self.b.constant(tensor(truth, truth.range(), &[count], flags.iter())));
                    Cell { val, null, ty: of.ty, range: of.range, id: LOST }
                };
                let columns: Vec<_> = relation.schema().columns().iter().enumerate().map(column).collect();
                let columns = columns.into_iter().map(|cell| self.named(cell)).collect();
                self.unsorted(count as u64, None, columns)
            }
            Operator::Project(input, columns) => {
                let below = |want: &Want| match columns[want.column].1 {
                    Expr::Column(column) => Some(Want { column, ..*want }),
                    _ => None,
                };
                let below: Vec<Want> = wants.iter().map_while(below).collect();
                let rows = self.lower(input, &below);
                let value = |(_, e): &(String, Expr)| self.scope(input, &rows).value(e).spread(rows.rows);
                let cells: Vec<Cell<'b>> = columns.iter().map(value).collect();
                CellRows { columns: cells.into_iter().map(|cell| self.named(cell)).collect(), ..rows }
            }
            Operator::Filter(input, condition) => {
                let rows = self.lower(input, wants);
                let flag = self.scope(input, &rows).value(condition).spread(rows.rows).val;
                rows.kept(flag)
            }
            Operator::Join { left, right, kind, on, residual, bound, one } => {
                let (kind, residual) = (*kind, residual.as_ref());
                let found = pairing(left, right, on, *bound, *one);
                self.join(&join::Join { relation, left, right, kind, on, residual }, found, wants)
            }
            Operator::Cross(left, right) => {
                // Pairs have the left side's order, as far as it is wanted.
                let width = left.schema().columns().len();
                let of_left: Vec<Want> =
                    wants.iter().copied().take_while(|want| want.column < width).collect();
                let (l, r) = (self.lower(left, &of_left), self.lower(right, &[]));
                self.crossed(&l, &r)
            }
            Operator::Aggregate { input, keys, aggregates, min_group, bound } => {
                self.aggregate(relation, input, keys, aggregates, *min_group, *bound, wants)
            }
            Operator::Distinct(input) => {
                let keys: Vec<(String, Expr)> =
                    (0..input.schema().columns().len()).map(|at| (String::new(), Expr::Column(at))).collect();
                self.aggregate(relation, input, &keys, &[], 0, None, wants)
            }
            Operator::OrderBy(input, keys) => self.ordered(input, keys),
            Operator::Limit { input, skip, fetch } => {
                let some = *fetch != Some(0) && *skip < input.rows();
                let is_cut = some && (*skip > 0 || fetch.is_some_and(|fetch| fetch < input.rows()));
                // A limit selects rows: they must not be in an order that only serves an operator
                // above.
                let rows = self.lower(input, if is_cut { &[] } else { wants });
                if is_cut {
                    self.limit_is_fair(relation, input, &rows);
                }
                let end = fetch.map_or(rows.rows, |fetch| fetch.saturating_add(*skip)).min(rows.rows);
                let first = rows.packed(end);
                first.sliced((*skip).min(end), end)
            }
            Operator::Set { operation, all, left, right } => {
                self.set(relation, *operation, *all, [left, right])
            }
            Operator::Window(input, window) => self.windowed(relation, input, window),
        }
    }

    fn scan(&mut self, table: &Table) -> CellRows<'b> {
        if let Some((_, rows)) = self.tables.iter().find(|(known, _)| known == table) {
            return rows.clone();
        }
        let at = self.tables.len();
        let columns = table.schema.columns().iter().enumerate();
        let columns: Vec<_> = columns.map(|(k, column)| self.brought_column(table, at, k, column)).collect();
        let flag = hushwire_compute::Scalar::Bool;
        let valid = table.padded.then(|| self.brought(table, flag, &|part| valid_name(at, part)));
        let columns = columns.into_iter().map(|cell| self.named(cell)).collect();
        let rows = self.unsorted(table.rows(), valid, columns);
        self.tables.push((table.clone(), rows.clone()));
        self.made.push(vec![]);
        rows
    }

    /// Reads an input from each of a table's owners, and puts them one after the other.
    fn brought(
        &mut self,
        table: &Table,
        scalar: hushwire_compute::Scalar,
        name: &dyn Fn(usize) -> String,
    ) -> Val<'b> {
        let part = |(part, of): (usize, &TablePart)| {
            let owner = self.member(&of.owner);
            self.b.input(&name(part), scalar, Shape::vector(of.rows), owner)
        };
        let parts: Vec<Val<'b>> = table.parts.iter().enumerate().map(part).collect();
        if parts.len() == 1 { parts[0] } else { self.b.concat(0, &parts) }
    }

    /// A column of the table number `at`, which owners bring as column `k`.
    fn brought_column(&mut self, table: &Table, at: usize, k: usize, column: &Column) -> Cell<'b> {
        let (of, flag) = (column.expr_type(), hushwire_compute::Scalar::Bool);
        let val = self.brought(table, cell::scalar(of.ty, of.range), &|part| input_name(at, part, k));
        let null = column.nullable.then(|| self.brought(table, flag, &|part| null_name(at, part, k)));
        Cell { val, null, ty: of.ty, range: of.range, id: LOST }
    }

    /// A table's columns, and those that its owners compute, which are further inputs of the table.
    fn by_owner(&mut self, input: &Relation, columns: &[(String, Expr)]) -> CellRows<'b> {
        let mut rows = self.lower(input, &[]);
        let Operator::Scan(table) = input.operator() else { unreachable!("it was checked") };
        let at = self.tables.iter().position(|(known, _)| known == table).expect("it was lowered");
        for (name, expr) in columns {
            let known = self.made[at].iter().find(|((_, known), _)| known == expr).map(|(_, cell)| *cell);
            let cell = known.unwrap_or_else(|| {
                let column = expr.check(input.schema()).expect("it was checked").column(name);
                let k = table.schema.columns().len() + self.made[at].len();
                let cell = self.brought_column(table, at, k, &column);
                let cell = self.named(cell);
                self.made[at].push(((column, expr.clone()), cell));
                cell
            });
            rows.columns.push(cell);
        }
        rows
    }

    fn ordered(&mut self, input: &Relation, keys: &[SortKey]) -> CellRows<'b> {
        let column = |key: &SortKey| match key.expr {
            Expr::Column(column) => {
                Some(Want { column, descending: key.descending, nulls_first: key.nulls_first })
            }
            _ => None,
        };
        let below: Vec<Want> = keys.iter().map_while(column).collect();
        let below = if below.len() == keys.len() { below } else { vec![] };
        let rows = self.lower(input, &below);
        let value = |key: &SortKey| CellKey {
            cell: self.scope(input, &rows).value(&key.expr).spread(rows.rows),
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        let keys: Vec<CellKey<'b>> = keys.iter().map(value).collect();
        let keys: Vec<CellKey<'b>> =
            keys.into_iter().map(|key| CellKey { cell: self.named(key.cell), ..key }).collect();
        let asked = keys.iter().map(|key| key.cell.id).collect();
        if rows.has_order(&keys) {
            self.note("is in that order".into());
            return CellRows { asked, ..rows };
        }
        self.note(format!("sorts {} rows by {}", rows.rows, self.told(&keys)));
        // Valid rows come first, so that a limit is a slice.
        let first: Vec<_> = rows.valid.iter().map(|valid| (*valid, true)).collect();
        let (sorted, _) = rows.sort(&first, &keys, &[]);
        CellRows { packed: true, asked, ..sorted }
    }

    /// All pairs; the left row's number is the more significant one.
    fn crossed(&mut self, left: &CellRows<'b>, right: &CellRows<'b>) -> CellRows<'b> {
        let (n, m) = (left.rows, right.rows);
        let total = n.saturating_mul(m);
        if total == 0 {
            let columns = left.columns.iter().chain(&right.columns).map(|cell| cell.map(|v| v.slice(0, 0)));
            let columns = columns.collect();
            return self.unsorted(0, None, columns);
        }
        let count = rows::places(self.b, total, hushwire_compute::Scalar::unsigned(64));
        let by = numbers::number(count, m.into());
        let right = &self.renamed(right);
        let (l, r) = (left.each(|v| v.gather(count / by)), right.each(|v| v.gather(count % by)));
        let columns = l.columns.iter().chain(&r.columns).copied().collect();
        let follows = [left.follows.clone(), right.follows.clone()].concat();
        let sorted = left.sorted.clone();
        let told = [left.told.clone(), right.told.clone()].concat();
        let valid = cell::both(l.valid, r.valid);
        CellRows { follows, sorted, told, ..self.unsorted(total, valid, columns) }
    }

    fn unsorted(&self, rows: u64, valid: Option<Val<'b>>, columns: Vec<Cell<'b>>) -> CellRows<'b> {
        let packed = valid.is_none();
        let (sorted, follows, told, asked) = (vec![], vec![], vec![], vec![]);
        CellRows { b: self.b, rows, valid, columns, sorted, packed, follows, told, asked }
    }

    fn scope<'a>(&self, input: &'a Relation, rows: &'a CellRows<'b>) -> Scope<'a, 'b> {
        self.scope_of(input.schema(), rows)
    }

    fn scope_of<'a>(&self, schema: &'a Schema, rows: &'a CellRows<'b>) -> Scope<'a, 'b> {
        Scope { b: self.b, schema, columns: &rows.columns }
    }

    /// The column, with a new identity if it has none.
    fn named(&mut self, cell: Cell<'b>) -> Cell<'b> {
        if cell.id != u32::MAX {
            return cell;
        }
        self.ids += 1;
        Cell { id: self.ids, ..cell }
    }

    /// The same columns with new identities: a table may be on both sides.
    fn renamed(&mut self, rows: &CellRows<'b>) -> CellRows<'b> {
        let mut made = rows.clone();
        let mut names: Vec<(u32, u32)> = vec![];
        for cell in &mut made.columns {
            let known = names.iter().find(|(old, _)| *old == cell.id).map(|(_, new)| *new);
            let new = known.unwrap_or_else(|| {
                self.ids += 1;
                names.push((cell.id, self.ids));
                self.ids
            });
            cell.id = new;
        }
        let name = |id: &u32| names.iter().find(|(old, _)| old == id).map(|(_, new)| *new);
        let all = |ids: &[u32]| ids.iter().map(name).collect::<Option<Vec<u32>>>();
        made.follows = made
            .follows
            .iter()
            .filter_map(|(from, to)| Some((all(from)?, to.iter().filter_map(name).collect())))
            .collect();
        made.told = made.told.iter().map(|id| name(id).unwrap_or(LOST)).collect();
        made.sorted =
            made.sorted.iter().map_while(|s| Some(rows::Sorted { id: name(&s.id)?, ..*s })).collect();
        made
    }

    /// Checks an operator's promise, if the plan needs one.
    fn promise(&mut self, operator: &Relation, holds: impl FnOnce(&Self) -> Val<'b>) {
        if let Some(promise) = self.names.of_operator(operator).map(str::to_owned) {
            self.note(format!("checks {promise}"));
            let holds = holds(self);
            self.promises.push((promise, holds));
        }
    }

    /// Adds a remark on the current operator.
    fn note(&mut self, remark: String) {
        let depth = self.depth;
        if let Some(note) = self.notes.iter_mut().rev().find(|note| note.depth + 1 == depth) {
            note.remarks.push(remark);
        }
    }

    fn told(&self, keys: &[CellKey<'b>]) -> String {
        let bits: u32 = keys
            .iter()
            .flat_map(CellKey::values)
            .map(|(v, _)| v.ty().map_or(0, |ty| ty.scalar.bits() as u32))
            .sum();
        format!("{bits} bits of keys")
    }
}
