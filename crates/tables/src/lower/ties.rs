//! Rows that an order leaves equal, where a limit, a row's number or a neighbour goes by the order at hand.
//!
//! That order may be the one of keys which nobody named in an ORDER BY and the result does not show, digests among them: two inputs that differ
//! in the order of such keys alone would have different results. A query is refused where none of these holds:
//!
//! - the order at hand is that of the tables' rows, of what an ORDER BY below names, or of columns that the result shows;
//! - no two rows are equal in what they are ordered by;
//! - rows that are equal in it are equal in all that is used of them.

use super::{Lower, cell::LOST, rows::Rows};
use crate::{
    Fault,
    algebra::{Expr, Frame, Operator, Relation, SetOperation, Window, WindowFunction},
};
use hushwire_fault::code;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a relation by their places.
type Used = BTreeSet<usize>;

/// Of each relation, by its address, the columns that those above it use.
pub(super) type Uses = BTreeMap<usize, Used>;

/// An operator that goes by an order at hand, and the columns that this order tells beside those that were named.
pub(crate) struct Tie {
    operator: String,
    told: Vec<u32>,
}

fn all(relation: &Relation) -> Used {
    (0..relation.schema().columns().len()).collect()
}

/// The columns of a relation, all of which are shown, and of those that it stands on which are used.
pub(super) fn uses(relation: &Relation) -> Uses {
    let mut known = Uses::new();
    let mut next = vec![(relation.clone(), all(relation))];
    while let Some((relation, used)) = next.pop() {
        let is_new = !known.contains_key(&relation.address());
        let own = known.entry(relation.address()).or_default();
        let before = own.len();
        own.extend(used);
        if is_new || own.len() > before {
            next.extend(below(&relation, own));
        }
    }
    known
}

/// The columns that a relation's inputs give for those that are used of it.
fn below(relation: &Relation, used: &Used) -> Vec<(Relation, Used)> {
    let with = |exprs: &mut dyn Iterator<Item = &Expr>| -> Used { exprs.flat_map(Expr::columns).collect() };
    let sides = |left: &Relation, right: &Relation, used: Used| {
        let count = left.schema().columns().len();
        let of_right: Used = used.iter().filter_map(|at| at.checked_sub(count)).collect();
        let of_left = used.into_iter().filter(|at| *at < count).collect();
        vec![(left.clone(), of_left), (right.clone(), of_right)]
    };
    match relation.operator() {
        Operator::Scan(_) | Operator::Values(_) => vec![],
        Operator::Project(input, columns) => {
            vec![(input.clone(), with(&mut used.iter().map(|at| &columns[*at].1)))]
        }
        Operator::Filter(input, condition) => {
            vec![(input.clone(), used | &with(&mut [condition].into_iter()))]
        }
        Operator::Join { left, right, on, residual, .. } => {
            let mut both = sides(left, right, used | &with(&mut residual.iter()));
            both[0].1.extend(with(&mut on.iter().map(|(a, _)| a)));
            both[1].1.extend(with(&mut on.iter().map(|(_, b)| b)));
            both
        }
        Operator::Cross(left, right) => sides(left, right, used.clone()),
        Operator::Aggregate { input, keys, aggregates, .. } => {
            let figures = used.iter().filter_map(|at| aggregates.get(at.checked_sub(keys.len())?));
            let figures = figures.filter_map(|aggregate| aggregate.argument.as_ref());
            vec![(input.clone(), with(&mut keys.iter().map(|(_, e)| e).chain(figures)))]
        }
        Operator::Distinct(input) => vec![(input.clone(), all(input))],
        Operator::OrderBy(input, keys) => {
            vec![(input.clone(), used | &with(&mut keys.iter().map(|key| &key.expr)))]
        }
        Operator::Limit { input, .. } => vec![(input.clone(), used.clone())],
        // Elsewhere rows are compared, so that every column counts.
        Operator::Set { operation: SetOperation::Union, all: true, left, right } => {
            vec![(left.clone(), used.clone()), (right.clone(), used.clone())]
        }
        Operator::Set { left, right, .. } => vec![(left.clone(), all(left)), (right.clone(), all(right))],
        Operator::Window(input, window) => {
            let own = used.iter().copied().filter(|at| *at < input.schema().columns().len()).collect();
            let functions = called(input, window, used).filter_map(WindowFunction::argument);
            let keys = window.partition.iter().chain(window.order.iter().map(|key| &key.expr));
            vec![(input.clone(), &with(&mut keys.chain(functions)) | &own)]
        }
    }
}

/// Functions whose columns are used.
fn called<'a>(
    input: &Relation,
    window: &'a Window,
    used: &'a Used,
) -> impl Iterator<Item = &'a WindowFunction> {
    let first = input.schema().columns().len();
    let functions = window.functions.iter().enumerate();
    functions.filter(move |(k, _)| used.contains(&(first + k))).map(|(_, (_, function))| function)
}

/// Whether a function tells rows apart that are equal in its order.
fn tells_apart(function: &WindowFunction) -> bool {
    use WindowFunction::{DenseRank, Extreme, Rank, RunningSum};
    match function {
        Rank | DenseRank => false,
        RunningSum(_, frame) | Extreme { frame, .. } => *frame != Frame::Peers,
        _ => true,
    }
}

impl<'b> Lower<'b> {
    /// Sees to it that a limit keeps no rows by an order that nobody named.
    pub(super) fn limit_is_fair(&mut self, limit: &Relation, input: &Relation, rows: &Rows<'b>) {
        let used = self.uses.get(&limit.address()).cloned().unwrap_or_else(|| all(limit));
        self.note_ties(limit, input, rows, &[], &used);
    }

    /// Sees to it that no function of a window does, where rows are ordered by these columns.
    pub(super) fn window_is_fair(
        &mut self,
        relation: &Relation,
        input: &Relation,
        rows: &Rows<'b>,
        by: &[u32],
    ) {
        let Operator::Window(_, window) = relation.operator() else { return };
        let used = self.uses.get(&relation.address()).cloned().unwrap_or_else(|| all(relation));
        let functions: Vec<_> =
            called(input, window, &used).filter(|function| tells_apart(function)).collect();
        if !functions.is_empty() {
            let own = used.iter().copied().filter(|at| *at < input.schema().columns().len());
            let arguments =
                functions.into_iter().filter_map(WindowFunction::argument).flat_map(Expr::columns);
            self.note_ties(relation, input, rows, by, &own.chain(arguments).collect());
        }
    }

    /// Notes what the order at hand tells where rows are equal in `by`, and in what an ORDER BY below named.
    fn note_ties(&mut self, operator: &Relation, input: &Relation, rows: &Rows<'b>, by: &[u32], used: &Used) {
        let named = [by, &rows.asked].concat();
        let is_named = |id: u32| id != LOST && rows.is_known(id, &named);
        let all_named = |mut places: std::collections::btree_set::Iter<'_, usize>| {
            places.all(|at| is_named(rows.columns[*at].id))
        };
        let is_unique = |set: &Vec<usize>| all_named(set.iter().copied().collect::<Used>().iter());
        if rows.rows < 2 || all_named(used.iter()) || input.unique().iter().any(is_unique) {
            return;
        }
        let told: Vec<u32> = rows.told.iter().copied().filter(|id| !is_named(*id)).collect();
        if !told.is_empty() {
            self.ties.push(Tie { operator: crate::explain::operator(operator), told });
        }
    }
}

impl Rows<'_> {
    /// The error of a plan that goes by an order of columns which are not among its result's.
    pub(crate) fn unfair(&self, ties: &[Tie]) -> Option<Fault> {
        let is_shown = |id: &u32| *id != LOST && self.columns.iter().any(|cell| cell.id == *id);
        let tie = ties.iter().find(|tie| !tie.told.iter().all(is_shown))?;
        Some(Fault::filled(code::ORDER_UNFAIR, &[("operation", &tie.operator)]))
    }
}
