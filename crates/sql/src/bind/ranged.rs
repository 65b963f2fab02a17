//! Aggregates over frames of RANGE by a distance.
//!
//! A row's frame begins and ends at values of the order's key. Markers at these values are added to
//! the rows, and sorted with them. The running sums at a row's markers are the sums up to its
//! frame's ends, and their difference is the frame's sum:
//!
//! ```text
//! rows        (key, value) and a row number
//! markers     (first value of the row's frame, before equal keys), (last value, behind them)
//! sort        by key: running sums
//! group       by row number, over the rows and their markers: the two sums
//! ```
//!
//! [`super::ranged_extremes`] computes the least and the greatest value, [`super::ranged_ends`] the
//! first and the last one.

use super::Binder;
use crate::{
    Fault,
    logical::{Id, LogicalPlan, OrderKey, filtered, truth},
};
use hushwire_compute::Comparison;
use hushwire_tables::{
    algebra::{
        Arithmetic, Column, ColumnType, Expr, Frame, SetOperation, Value, WindowFunction, common_type, whole,
    },
    functions::coalesce,
};

/// A window's order and its functions.
pub(super) struct Over {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<(Expr, OrderKey)>,
    pub(super) calls: Vec<(Id, WindowFunction)>,
    /// The figures over a frame of RANGE by a distance. They take the place of calls.
    pub(super) ranged: Option<Ranged>,
}

/// An end of a frame of RANGE.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// The end of the partition.
    Partition,
    /// The current row, and all rows equal to it.
    Row,
    /// The rows at a value of the key.
    At(Expr),
}

/// A frame of RANGE: its first and its last end.
pub(super) type Ends = [End; 2];

/// A figure over a frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RangedFigure {
    /// The sum of values that are never NULL.
    Sum(Expr),
    /// The least or the greatest value.
    Extreme { of: Expr, greatest: bool },
    /// The first value that is not NULL from the frame's beginning on, or the last one up to its
    /// end. If the frame has no such value, it is the value of a row outside, or NULL.
    End { of: Expr, first: bool },
}

impl RangedFigure {
    /// The argument of the figure.
    pub(super) fn argument(&self) -> &Expr {
        match self {
            RangedFigure::Sum(of) | RangedFigure::Extreme { of, .. } | RangedFigure::End { of, .. } => of,
        }
    }

    /// The figure over the rows up to the current one.
    pub(super) fn running(&self, frame: Frame) -> WindowFunction {
        match self {
            RangedFigure::Sum(of) => WindowFunction::RunningSum(of.clone(), frame),
            RangedFigure::Extreme { of, greatest } => {
                WindowFunction::Extreme { of: of.clone(), greatest: *greatest, frame }
            }
            RangedFigure::End { of, first } => {
                WindowFunction::Held { of: of.clone(), first: *first, nulls: false, frame }
            }
        }
    }
}

/// Figures over one frame, each with its column.
pub(super) struct Ranged {
    pub(super) ends: Ends,
    pub(super) figures: Vec<(Id, RangedFigure)>,
}

/// The kinds of rows in the order of rows and markers.
pub(super) const FIRST: i128 = 0;
const ROW: i128 = 1;
pub(super) const LAST: i128 = 2;

/// Rows and markers in one table.
pub(super) struct Marked<'a> {
    pub(super) partition: &'a [Id],
    pub(super) ends: &'a Ends,
    /// The key of the order, of a row and of its markers.
    pub(super) place: OrderKey,
    /// The kind of a row.
    pub(super) kind: Id,
    /// The number of a row. The row's markers have the same number.
    pub(super) number: Id,
}

impl Binder<'_> {
    /// The figures of a window's frame by a distance. `partition`, `key` and the row number are
    /// columns of the plan.
    pub(super) fn ranged(
        &mut self,
        plan: LogicalPlan,
        partition: &[Id],
        (key, number): (OrderKey, Id),
        ranged: &Ranged,
        rewritten: impl Fn(&Self, &Expr) -> Result<Expr, Fault>,
    ) -> Result<LogicalPlan, Fault> {
        let columns = plan.columns();
        let (mut sums, mut extremes, mut at_ends) = (vec![], vec![], vec![]);
        for (id, figure) in &ranged.figures {
            match figure {
                RangedFigure::Sum(_) => sums.push((*id, figure)),
                RangedFigure::Extreme { .. } => extremes.push((*id, figure)),
                RangedFigure::End { .. } => at_ends.push((*id, figure)),
            }
        }
        let sums_alone = extremes.is_empty() && at_ends.is_empty();
        let mut markers: Vec<(i128, Expr)> = vec![];
        for (kind, end) in [FIRST, LAST].into_iter().zip(&ranged.ends) {
            match (end, kind) {
                (End::At(at), _) => markers.push((kind, rewritten(self, at)?)),
                // All rows equal to the current row count.
                (End::Row, FIRST) => markers.push((kind, Expr::Column(key.id))),
                (End::Row, _) if !sums_alone => markers.push((kind, Expr::Column(key.id))),
                (End::Row | End::Partition, _) => {}
            }
        }
        let key_type = self.columns.of(key.id).ty;
        let mut types = vec![key_type];
        for (_, at) in &markers {
            types.push(at.check(&self.columns.0)?.ty);
        }
        let ty = types.iter().copied().reduce(|a, b| common_type(a, b).unwrap_or(a));
        let ty = ty.unwrap_or(key_type);
        let of_type = |at: Expr| coalesce(vec![at, Expr::Literal(Value::Null, ty)]);

        // The columns of rows and markers in one table.
        let (place, kind) = (self.column("place", ty, true), self.column("kind", ColumnType::BigInt, false));
        let (mut added, mut more) = (vec![], vec![]);
        for (_, figure) in sums.iter().chain(&extremes).chain(&at_ends) {
            let of = rewritten(self, figure.argument())?;
            let ty = of.check(&self.columns.0)?.ty;
            let of = match of {
                Expr::Literal(..) => of,
                of => Expr::Column(self.id_of("value", &of, &mut more)?),
            };
            // A marker adds nothing to the sums, and has no value.
            let (column, at_marker) = match figure {
                RangedFigure::Sum(_) => (self.column("added", ty, false), Value::Number(0)),
                RangedFigure::Extreme { .. } | RangedFigure::End { .. } => {
                    (self.column("value", ty, true), Value::Null)
                }
            };
            added.push((column, of, at_marker));
        }
        let numbered = plan.extended(more);
        // Markers also mention the columns that rows read, and rows the columns that markers read.
        // An unread column is removed from a plan, and rows of another plan might be numbered
        // differently.
        let unread = |of: Vec<Expr>, value: Expr| match of.is_empty() {
            true => value,
            false => {
                let branches = of.into_iter().map(|e| (truth(false), e)).collect();
                Expr::Case { branches, otherwise: Some(Box::new(value)) }
            }
        };
        let also = |e: &Expr| e.columns().iter().any(|id| *id != key.id);
        let moved: Vec<Expr> =
            markers.iter().map(|(_, at)| of_type(at.clone())).filter(|at| also(at)).collect();
        let kept = columns.clone();
        let all: Vec<Id> =
            kept.iter().copied().chain([place, kind]).chain(added.iter().map(|(id, ..)| *id)).collect();
        let branch = |this: &mut Self, of: i128, at: Expr| -> (LogicalPlan, Vec<Id>) {
            let mut made: Vec<(Id, Expr)> = kept.iter().map(|id| (*id, Expr::Column(*id))).collect();
            let mut ids = kept.clone();
            let places = this.column("place", ty, true);
            made.push((places, unread(moved.clone(), of_type(at))));
            let kinds = this.column("kind", ColumnType::BigInt, false);
            made.push((kinds, whole(of)));
            ids.extend([places, kinds]);
            for (id, value, at_marker) in &added {
                let Column { ty, nullable, .. } = *this.columns.of(*id);
                let column = this.column("added", ty, nullable);
                let value = match value {
                    Expr::Literal(..) if of != ROW => Expr::Literal(at_marker.clone(), ty),
                    value if of != ROW => unread(vec![value.clone()], Expr::Literal(at_marker.clone(), ty)),
                    value => value.clone(),
                };
                made.push((column, value));
                ids.push(column);
            }
            let plan = LogicalPlan::Project { input: Box::new(numbered.clone()), columns: made };
            (plan, ids)
        };
        let mut made = branch(self, ROW, Expr::Column(key.id));
        let mut rest = markers.len();
        for (of, at) in markers {
            rest -= 1;
            let other = branch(self, of, at);
            let columns: Vec<Id> = if rest == 0 {
                all.clone()
            } else {
                let like = |id: &Id| self.columns.of(*id).clone();
                let fresh: Vec<_> = all.iter().map(like).collect();
                fresh.into_iter().map(|column| self.columns.add(column)).collect()
            };
            let set = LogicalPlan::Set {
                kind: SetOperation::Union,
                all: true,
                left: (Box::new(made.0), made.1),
                right: (Box::new(other.0), other.1),
                columns: columns.clone(),
            };
            made = (set, columns);
        }
        let mut plan = match made.1 == all {
            true => made.0,
            false => {
                let names = all.iter().zip(&made.1).map(|(id, from)| (*id, Expr::Column(*from)));
                LogicalPlan::Project { input: Box::new(made.0), columns: names.collect() }
            }
        };

        // Running sums of rows, and the sums at each row's markers.
        let order =
            vec![OrderKey { id: place, ..key }, OrderKey { id: kind, descending: false, nulls_first: false }];
        let (mut running, mut totals, mut at_markers, mut results) = (vec![], vec![], vec![], vec![]);
        let of_kind = |of: i128| Expr::Column(kind).compare(Comparison::Equal, whole(of));
        for ((id, _), (column, ..)) in sums.iter().zip(&added) {
            let sum = WindowFunction::RunningSum(Expr::Column(*column), Frame::Peers);
            let ty = self.columns.of(*id).ty;
            let so_far = self.column("so far", ty, false);
            running.push((so_far, sum.clone()));
            let mut at = |this: &mut Self, of: i128| {
                let there =
                    Expr::Case { branches: vec![(of_kind(of), Expr::Column(so_far))], otherwise: None };
                let column = this.column("at marker", ty, true);
                let held = WindowFunction::Extreme { of: there, greatest: true, frame: Frame::Peers };
                at_markers.push((column, held));
                Expr::Column(column)
            };
            let upper = match &ranged.ends[1] {
                End::At(_) => at(self, LAST),
                End::Row => Expr::Column(so_far),
                End::Partition => {
                    let total = self.column("total", ty, false);
                    totals.push((total, sum));
                    Expr::Column(total)
                }
            };
            let value = match &ranged.ends[0] {
                End::Partition => upper,
                End::Row | End::At(_) => {
                    let lower = at(self, FIRST);
                    self.reader().arithmetic(Arithmetic::Subtract, upper, lower)?
                }
            };
            results.push((*id, value));
        }
        let windows = [
            (partition.to_vec(), order, running),
            (partition.to_vec(), vec![], totals),
            (vec![number], vec![], at_markers),
        ];
        for (partition, order, calls) in windows {
            if !calls.is_empty() {
                plan = LogicalPlan::Window { input: Box::new(plan), partition, order, calls };
            }
        }
        let place = OrderKey { id: place, ..key };
        let marked = Marked { partition, ends: &ranged.ends, place, kind, number };
        let (of_extremes, of_ends) = added[sums.len()..].split_at(extremes.len());
        if !extremes.is_empty() {
            let asked = extremes.iter().zip(of_extremes).map(|((id, figure), (value, ..))| {
                (*id, *value, matches!(figure, RangedFigure::Extreme { greatest: true, .. }))
            });
            let asked: Vec<_> = asked.collect();
            (plan, results) = self.extremes(plan, &marked, &asked, results)?;
        }
        if !at_ends.is_empty() {
            let asked = at_ends.iter().zip(of_ends).map(|((id, figure), (value, ..))| {
                (*id, *value, matches!(figure, RangedFigure::End { first: true, .. }))
            });
            let asked: Vec<_> = asked.collect();
            (plan, results) = self.at_ends(plan, &marked, &asked, results);
        }
        let plan = filtered(plan, [of_kind(ROW)]);
        let own = columns.into_iter().map(|id| (id, Expr::Column(id)));
        Ok(LogicalPlan::Project { input: Box::new(plan), columns: own.chain(results).collect() })
    }
}

/// Splits windows into two lists. The second has windows with a frame by a distance, and those that
/// read columns of such windows; the first is computed before it.
pub(super) fn ranged_last(windows: Vec<Over>) -> (Vec<Over>, Vec<Over>) {
    let (mut early, mut late): (Vec<Over>, Vec<Over>) = (vec![], vec![]);
    for over in windows {
        let reads = over.reads();
        let follows = late.iter().flat_map(Over::made).any(|id| reads.contains(&id));
        if over.ranged.is_some() || follows { late.push(over) } else { early.push(over) }
    }
    (early, late)
}

impl Over {
    /// The columns that it reads.
    fn reads(&self) -> Vec<Id> {
        let calls = self.calls.iter().filter_map(|(_, call)| call.argument());
        let figures = self.ranged.iter().flat_map(|ranged| &ranged.figures).map(|(_, f)| f.argument());
        let keys = self.partition.iter().chain(self.order.iter().map(|(e, _)| e));
        keys.chain(calls).chain(figures).flat_map(Expr::columns).collect()
    }

    /// Whether it has a figure that depends on the order of its rows, including the order of equal
    /// rows.
    pub(super) fn goes_by_order(&self) -> bool {
        let figures = self.ranged.iter().flat_map(|ranged| &ranged.figures);
        figures.into_iter().any(|(_, figure)| !matches!(figure, RangedFigure::Sum(_)))
    }

    /// The columns of its functions.
    pub(super) fn made(&self) -> impl Iterator<Item = Id> {
        let figures = self.ranged.iter().flat_map(|ranged| ranged.figures.iter().map(|(id, _)| *id));
        self.calls.iter().map(|(id, _)| *id).chain(figures)
    }

    /// A window without functions yet.
    pub(super) fn new(partition: Vec<Expr>, order: Vec<(Expr, OrderKey)>) -> Over {
        Over { partition, order, calls: vec![], ranged: None }
    }
}
