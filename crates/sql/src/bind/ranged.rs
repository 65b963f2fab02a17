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

impl Marked<'_> {
    /// Whether a row is of a kind.
    pub(super) fn is(&self, kind: i128) -> Expr {
        Expr::Column(self.kind).compare(Comparison::Equal, whole(kind))
    }
}

/// A window's expression in the columns of the plan below it.
type Rewritten<'a, 'b> = &'a dyn Fn(&Binder<'b>, &Expr) -> Result<Expr, Fault>;

/// The figures of a frame, each with its column, in three groups.
struct Grouped<'a> {
    sums: Vec<(Id, &'a RangedFigure)>,
    extremes: Vec<(Id, &'a RangedFigure)>,
    at_ends: Vec<(Id, &'a RangedFigure)>,
}

impl<'a> Grouped<'a> {
    fn of(figures: &'a [(Id, RangedFigure)]) -> Self {
        let mut grouped = Grouped { sums: vec![], extremes: vec![], at_ends: vec![] };
        for (id, figure) in figures {
            match figure {
                RangedFigure::Sum(_) => grouped.sums.push((*id, figure)),
                RangedFigure::Extreme { .. } => grouped.extremes.push((*id, figure)),
                RangedFigure::End { .. } => grouped.at_ends.push((*id, figure)),
            }
        }
        grouped
    }

    fn has_sums_alone(&self) -> bool {
        self.extremes.is_empty() && self.at_ends.is_empty()
    }

    /// All figures, in the order of their columns of values.
    fn all(&self) -> impl Iterator<Item = &'a RangedFigure> {
        self.sums.iter().chain(&self.extremes).chain(&self.at_ends).map(|(_, figure)| *figure)
    }
}

/// The column of a figure's values in rows and markers.
struct ValueColumn {
    id: Id,
    of_row: Expr,
    of_marker: Value,
}

/// The columns of the table that has rows and markers.
struct MarkedColumns<'a> {
    /// The columns of the rows alone.
    kept: &'a [Id],
    key: Id,
    place: Id,
    /// The type of `place`.
    ty: ColumnType,
    kind: Id,
    values: &'a [ValueColumn],
}

impl<'b> Binder<'b> {
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
        let figures = Grouped::of(&ranged.figures);
        let markers = self.markers(key.id, &ranged.ends, figures.has_sums_alone(), &rewritten)?;
        let ty = self.type_of_places(key.id, &markers)?;
        let (place, kind) = (self.column("place", ty, true), self.column("kind", ColumnType::BigInt, false));
        let (plan, values) = self.with_values(plan, &figures, &rewritten)?;
        let layout = MarkedColumns { kept: &columns, key: key.id, place, ty, kind, values: &values };
        let plan = self.with_markers(&plan, &layout, markers);
        let place = OrderKey { id: place, ..key };
        let marked = Marked { partition, ends: &ranged.ends, place, kind, number };
        let (of_sums, others) = values.split_at(figures.sums.len());
        let (of_extremes, of_ends) = others.split_at(figures.extremes.len());
        let (mut plan, mut results) = self.sums(plan, &marked, &figures.sums, of_sums)?;
        if !figures.extremes.is_empty() {
            let asked = figures.extremes.iter().zip(of_extremes).map(|((id, figure), value)| {
                (*id, value.id, matches!(figure, RangedFigure::Extreme { greatest: true, .. }))
            });
            let asked: Vec<_> = asked.collect();
            (plan, results) = self.extremes(plan, &marked, &asked, results)?;
        }
        if !figures.at_ends.is_empty() {
            let asked = figures.at_ends.iter().zip(of_ends).map(|((id, figure), value)| {
                (*id, value.id, matches!(figure, RangedFigure::End { first: true, .. }))
            });
            let asked: Vec<_> = asked.collect();
            (plan, results) = self.at_ends(plan, &marked, &asked, results);
        }
        let plan = filtered(plan, [marked.is(ROW)]);
        let own = columns.into_iter().map(|id| (id, Expr::Column(id)));
        Ok(LogicalPlan::Project { input: Box::new(plan), columns: own.chain(results).collect() })
    }

    /// The markers of each row: their kinds and their values of the key.
    fn markers(
        &self,
        key: Id,
        ends: &Ends,
        has_sums_alone: bool,
        rewritten: Rewritten<'_, 'b>,
    ) -> Result<Vec<(i128, Expr)>, Fault> {
        let mut markers = vec![];
        for (kind, end) in [FIRST, LAST].into_iter().zip(ends) {
            match (end, kind) {
                (End::At(at), _) => markers.push((kind, rewritten(self, at)?)),
                // All rows equal to the current row count.
                (End::Row, FIRST) => markers.push((kind, Expr::Column(key))),
                (End::Row, _) if !has_sums_alone => markers.push((kind, Expr::Column(key))),
                (End::Row | End::Partition, _) => {}
            }
        }
        Ok(markers)
    }

    /// The type that has the keys of rows and the values at which markers are.
    fn type_of_places(&self, key: Id, markers: &[(i128, Expr)]) -> Result<ColumnType, Fault> {
        let mut ty = self.columns.of(key).ty;
        for (_, at) in markers {
            ty = common_type(ty, at.check(&self.columns.0)?.ty).unwrap_or(ty);
        }
        Ok(ty)
    }

    /// The column of values of each figure, and the plan with the columns that they read.
    fn with_values(
        &mut self,
        plan: LogicalPlan,
        figures: &Grouped<'_>,
        rewritten: Rewritten<'_, 'b>,
    ) -> Result<(LogicalPlan, Vec<ValueColumn>), Fault> {
        let (mut values, mut more) = (vec![], vec![]);
        for figure in figures.all() {
            let of = rewritten(self, figure.argument())?;
            let ty = of.check(&self.columns.0)?.ty;
            let of_row = match of {
                Expr::Literal(..) => of,
                of => Expr::Column(self.id_of("value", &of, &mut more)?),
            };
            // A marker adds nothing to the sums, and has no value.
            let (id, of_marker) = match figure {
                RangedFigure::Sum(_) => (self.column("added", ty, false), Value::Number(0)),
                RangedFigure::Extreme { .. } | RangedFigure::End { .. } => {
                    (self.column("value", ty, true), Value::Null)
                }
            };
            values.push(ValueColumn { id, of_row, of_marker });
        }
        Ok((plan.extended(more), values))
    }

    /// The rows and their markers in one table, with the columns of the layout.
    fn with_markers(
        &mut self,
        rows: &LogicalPlan,
        layout: &MarkedColumns<'_>,
        markers: Vec<(i128, Expr)>,
    ) -> LogicalPlan {
        let &MarkedColumns { kept, key, place, ty, kind, values } = layout;
        let also = |e: &Expr| e.columns().iter().any(|id| *id != key);
        let moved: Vec<Expr> =
            markers.iter().map(|(_, at)| of_type(at.clone(), ty)).filter(|at| also(at)).collect();
        let all: Vec<Id> =
            kept.iter().copied().chain([place, kind]).chain(values.iter().map(|value| value.id)).collect();
        let mut made = self.branch(rows, layout, &moved, (ROW, Expr::Column(key)));
        let mut rest = markers.len();
        for marker in markers {
            rest -= 1;
            let other = self.branch(rows, layout, &moved, marker);
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
        if made.1 == all {
            return made.0;
        }
        let names = all.iter().zip(&made.1).map(|(id, from)| (*id, Expr::Column(*from)));
        LogicalPlan::Project { input: Box::new(made.0), columns: names.collect() }
    }

    /// The rows, or one marker of each row, and their columns in the order of the layout. `moved`
    /// has the places of markers that read more columns than the key.
    fn branch(
        &mut self,
        rows: &LogicalPlan,
        layout: &MarkedColumns<'_>,
        moved: &[Expr],
        (kind, at): (i128, Expr),
    ) -> (LogicalPlan, Vec<Id>) {
        let mut made: Vec<(Id, Expr)> = layout.kept.iter().map(|id| (*id, Expr::Column(*id))).collect();
        let places = self.column("place", layout.ty, true);
        made.push((places, with_unread(moved.to_vec(), of_type(at, layout.ty))));
        made.push((self.column("kind", ColumnType::BigInt, false), whole(kind)));
        for ValueColumn { id, of_row, of_marker } in layout.values {
            let Column { ty, nullable, .. } = *self.columns.of(*id);
            let column = self.column("added", ty, nullable);
            let of_marker = || Expr::Literal(of_marker.clone(), ty);
            let value = match of_row {
                Expr::Literal(..) if kind != ROW => of_marker(),
                of_row if kind != ROW => with_unread(vec![of_row.clone()], of_marker()),
                of_row => of_row.clone(),
            };
            made.push((column, value));
        }
        let ids = made.iter().map(|(id, _)| *id).collect();
        (LogicalPlan::Project { input: Box::new(rows.clone()), columns: made }, ids)
    }

    /// Adds the running sums of rows and the sums at each row's markers. The results are the sums
    /// over frames.
    fn sums(
        &mut self,
        mut plan: LogicalPlan,
        marked: &Marked<'_>,
        sums: &[(Id, &RangedFigure)],
        values: &[ValueColumn],
    ) -> Result<(LogicalPlan, Vec<(Id, Expr)>), Fault> {
        let (mut running, mut totals, mut at_markers, mut results) = (vec![], vec![], vec![], vec![]);
        for ((id, _), value) in sums.iter().zip(values) {
            let sum = WindowFunction::RunningSum(Expr::Column(value.id), Frame::Peers);
            let ty = self.columns.of(*id).ty;
            let so_far = self.column("so far", ty, false);
            running.push((so_far, sum.clone()));
            let mut at = |this: &mut Self, of: i128| {
                let there =
                    Expr::Case { branches: vec![(marked.is(of), Expr::Column(so_far))], otherwise: None };
                let column = this.column("at marker", ty, true);
                let held = WindowFunction::Extreme { of: there, greatest: true, frame: Frame::Peers };
                at_markers.push((column, held));
                Expr::Column(column)
            };
            let upper = match &marked.ends[1] {
                End::At(_) => at(self, LAST),
                End::Row => Expr::Column(so_far),
                End::Partition => {
                    let total = self.column("total", ty, false);
                    totals.push((total, sum));
                    Expr::Column(total)
                }
            };
            let value = match &marked.ends[0] {
                End::Partition => upper,
                End::Row | End::At(_) => {
                    let lower = at(self, FIRST);
                    self.reader().arithmetic(Arithmetic::Subtract, upper, lower)?
                }
            };
            results.push((*id, value));
        }
        let by_kind = OrderKey { id: marked.kind, descending: false, nulls_first: false };
        let windows = [
            (marked.partition.to_vec(), vec![marked.place, by_kind], running),
            (marked.partition.to_vec(), vec![], totals),
            (vec![marked.number], vec![], at_markers),
        ];
        for (partition, order, calls) in windows {
            if !calls.is_empty() {
                plan = LogicalPlan::Window { input: Box::new(plan), partition, order, calls };
            }
        }
        Ok((plan, results))
    }
}

/// An expression of the places' type.
fn of_type(at: Expr, ty: ColumnType) -> Expr {
    coalesce(vec![at, Expr::Literal(Value::Null, ty)])
}

/// A value that also mentions expressions, which do not change it. Rows mention the columns that
/// markers read, and markers those of rows: an unread column is removed from a plan, and rows of
/// another plan might be numbered differently.
fn with_unread(mentioned: Vec<Expr>, value: Expr) -> Expr {
    if mentioned.is_empty() {
        return value;
    }
    let branches = mentioned.into_iter().map(|e| (truth(false), e)).collect();
    Expr::Case { branches, otherwise: Some(Box::new(value)) }
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
