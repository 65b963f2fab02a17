//! Sums over frames of RANGE by a distance.
//!
//! A row's frame begins and ends at values of the order's key. Beside the rows come markers at
//! these values, in one order with them. The running sums at a row's markers are the sums up to its
//! frame's ends, and their difference is the frame's sum:
//!
//! ```text
//! rows        (key, value) and a row number
//! markers     (first value of the row's frame, before equal keys), (last value, behind them)
//! sort        by key: running sums
//! group       by row number, over the rows and their markers: the two sums
//! ```

use super::Binder;
use crate::{
    Fault,
    logical::{Id, LogicalPlan, OrderKey, filtered},
};
use hushwire_compute::Comparison;
use hushwire_tables::{
    algebra::{Arithmetic, ColumnType, Expr, Frame, SetOperation, Value, WindowFunction, common_type},
    functions::coalesce,
};

/// A window's order and its functions.
pub(super) struct Over {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<(Expr, OrderKey)>,
    pub(super) calls: Vec<(Id, WindowFunction)>,
    /// Sums over a frame of RANGE by a distance, in place of calls.
    pub(super) ranged: Option<Ranged>,
}

/// An end of a frame of RANGE.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// The end of the partition.
    Partition,
    /// The row, and all that are equal to it.
    Row,
    /// The rows at a value of the key.
    At(Expr),
}

/// A frame of RANGE: its first and its last end.
pub(super) type Ends = [End; 2];

/// Sums over one frame.
pub(super) struct Ranged {
    pub(super) ends: Ends,
    /// The column of each sum, and what is added: never NULL.
    pub(super) sums: Vec<(Id, Expr)>,
}

fn whole(n: i128) -> Expr {
    Expr::Literal(Value::Number(n), ColumnType::BigInt)
}

/// The kinds of rows in the order of rows and markers.
const FIRST: i128 = 0;
const ROW: i128 = 1;
const LAST: i128 = 2;

impl Binder<'_> {
    /// The sums of a window's frame by distance. `partition` and `key` are columns of the plan.
    pub(super) fn ranged(
        &mut self,
        plan: LogicalPlan,
        partition: &[Id],
        key: OrderKey,
        ranged: &Ranged,
        rewritten: impl Fn(&Self, &Expr) -> Result<Expr, Fault>,
    ) -> Result<LogicalPlan, Fault> {
        let columns = plan.columns();
        let number = self.column("row", ColumnType::BigInt, false);
        let numbered = LogicalPlan::Window {
            input: Box::new(plan),
            partition: vec![],
            order: vec![],
            calls: vec![(number, WindowFunction::RowNumber)],
        };
        let mut markers: Vec<(i128, Expr)> = vec![];
        for (kind, end) in [FIRST, LAST].into_iter().zip(&ranged.ends) {
            match (end, kind) {
                (End::At(at), _) => markers.push((kind, rewritten(self, at)?)),
                // All rows that are equal to the row count.
                (End::Row, FIRST) => markers.push((kind, Expr::Column(key.id))),
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
        let mut added = vec![];
        for (_, of) in &ranged.sums {
            let of = rewritten(self, of)?;
            let column = self.column("added", of.check(&self.columns.0)?.ty, false);
            added.push((column, of));
        }
        let kept: Vec<Id> = columns.iter().copied().chain([number]).collect();
        let all: Vec<Id> =
            kept.iter().copied().chain([place, kind]).chain(added.iter().map(|(id, _)| *id)).collect();
        let branch = |this: &mut Self, of: i128, at: Expr| -> (LogicalPlan, Vec<Id>) {
            let mut made: Vec<(Id, Expr)> = kept.iter().map(|id| (*id, Expr::Column(*id))).collect();
            let mut ids = kept.clone();
            let places = this.column("place", ty, true);
            made.push((places, of_type(at)));
            let kinds = this.column("kind", ColumnType::BigInt, false);
            made.push((kinds, whole(of)));
            ids.extend([places, kinds]);
            for (id, value) in &added {
                let ty = this.columns.of(*id).ty;
                let column = this.column("added", ty, false);
                let value = if of == ROW { value.clone() } else { Expr::Literal(Value::Number(0), ty) };
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
        for ((id, _), (column, _)) in ranged.sums.iter().zip(&added) {
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
        let plan = filtered(plan, [of_kind(ROW)]);
        let own = columns.into_iter().map(|id| (id, Expr::Column(id)));
        Ok(LogicalPlan::Project { input: Box::new(plan), columns: own.chain(results).collect() })
    }
}

impl Over {
    /// A window without functions yet.
    pub(super) fn new(partition: Vec<Expr>, order: Vec<(Expr, OrderKey)>) -> Over {
        Over { partition, order, calls: vec![], ranged: None }
    }
}
