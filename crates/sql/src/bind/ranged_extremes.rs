//! The least and the greatest value over frames of RANGE by a distance.
//!
//! The rows and the markers of [`super::ranged`] are in one order, in which a row's frame consists
//! of the rows between its two markers. For each k, one column has the extreme of the 2^k rows up
//! to each row, and one that of the 2^k rows from it on. Each is computed from two extremes of half
//! the length. A frame of 2^k to 2^(k+1) rows has the extreme of two: the extreme of the 2^k rows
//! from its first marker on, and the extreme of the 2^k rows up to its last one.
//!
//! ```text
//! rows        a b c d e f g      the frame of c to g has 5 rows
//!                 └─────┘        the 4 rows from its first one on
//!                   └─────┘      the 4 rows up to its last one
//! ```

use super::{
    Binder,
    ranged::{End, FIRST, LAST, Marked},
};
use crate::{
    Fault,
    error::At,
    logical::{Id, LogicalPlan, OrderKey, emit},
};
use hushwire_compute::Comparison;
use hushwire_tables::algebra::{Arithmetic, ColumnType, Expr, Frame, WindowFunction, whole};

/// A requested extreme: its column, the column of values, and whether it is the greatest.
pub(super) type ExtremeKey = (Id, Id, bool);

/// Columns of one extreme: of 2^k rows up to a row, and of 2^k rows from it on, for each k.
struct Levels {
    up_to: Vec<Expr>,
    from: Vec<Expr>,
}

fn case(branches: Vec<(Expr, Expr)>) -> Expr {
    Expr::Case { branches, otherwise: None }
}

impl Binder<'_> {
    /// Adds the extremes over the frames of rows to a plan. Their columns are those of the results.
    pub(super) fn extremes(
        &mut self,
        plan: LogicalPlan,
        marked: &Marked<'_>,
        asked: &[ExtremeKey],
        mut results: Vec<(Id, Expr)>,
    ) -> Result<(LogicalPlan, Vec<(Id, Expr)>), Fault> {
        let ascending = |id| OrderKey { id, descending: false, nulls_first: false };
        // The number orders equal rows and markers. Their order does not matter.
        let order = vec![marked.place, ascending(marked.kind), ascending(marked.number)];
        // Each marker's contribution to the frame's extreme, for each requested extreme.
        let (mut plan, picked) = match marked.ends {
            [End::Partition, _] => self.running(plan, marked, order, asked, LAST),
            [_, End::Partition] => {
                let turned = |key: OrderKey| OrderKey {
                    descending: !key.descending,
                    nulls_first: !key.nulls_first,
                    ..key
                };
                let order = order.into_iter().map(turned).collect();
                self.running(plan, marked, order, asked, FIRST)
            }
            _ => {
                let (plan, position, levels) = self.levels(plan, marked, &order, asked)?;
                let ends = [(FIRST, "first"), (LAST, "last")];
                let calls = ends.map(|(kind, name)| {
                    let id = self.column(name, ColumnType::BigInt, true);
                    let of = case(vec![(marked.is(kind), Expr::Column(position))]);
                    (id, WindowFunction::Extreme { of, greatest: true, frame: Frame::Peers })
                });
                let [first, last] = [calls[0].0, calls[1].0].map(Expr::Column);
                let plan = self.of_each_row(plan, marked, calls.to_vec());
                // The length also counts the markers.
                let length = self.reader().arithmetic(Arithmetic::Subtract, last, first)?;
                let length = self.reader().arithmetic(Arithmetic::Add, length, whole(1))?;
                let of_level = |columns: &[Expr]| {
                    let levels = columns.iter().enumerate().rev().map(|(k, column)| {
                        let reached = length.clone().compare(Comparison::GreaterOrEqual, whole(1 << k));
                        (reached, column.clone())
                    });
                    case(levels.collect())
                };
                let picked = levels.iter().map(|Levels { up_to, from }| {
                    case(vec![(marked.is(LAST), of_level(up_to)), (marked.is(FIRST), of_level(from))])
                });
                (plan, picked.collect())
            }
        };
        let mut calls = vec![];
        for ((id, value, greatest), of) in asked.iter().zip(picked) {
            let made = self.column("extreme", self.columns.of(*value).ty, true);
            calls.push((made, WindowFunction::Extreme { of, greatest: *greatest, frame: Frame::Peers }));
            results.push((*id, Expr::Column(made)));
        }
        plan = self.of_each_row(plan, marked, calls);
        Ok((plan, results))
    }

    /// Functions of a row and its markers together.
    fn of_each_row(
        &self,
        plan: LogicalPlan,
        marked: &Marked<'_>,
        calls: Vec<(Id, WindowFunction)>,
    ) -> LogicalPlan {
        LogicalPlan::Window { input: Box::new(plan), partition: vec![marked.number], order: vec![], calls }
    }

    /// The extremes of all rows up to the markers of a kind.
    fn running(
        &mut self,
        plan: LogicalPlan,
        marked: &Marked<'_>,
        order: Vec<OrderKey>,
        asked: &[ExtremeKey],
        kind: i128,
    ) -> (LogicalPlan, Vec<Expr>) {
        let (mut calls, mut picked) = (vec![], vec![]);
        for (_, value, greatest) in asked {
            let id = self.column("so far", self.columns.of(*value).ty, true);
            let of = Expr::Column(*value);
            calls.push((id, WindowFunction::Extreme { of, greatest: *greatest, frame: Frame::Rows }));
            let here = marked.is(kind);
            picked.push(case(vec![(here, Expr::Column(id))]));
        }
        let partition = marked.partition.to_vec();
        (LogicalPlan::Window { input: Box::new(plan), partition, order, calls }, picked)
    }

    /// The place of each row in the order, and the extremes of 2^k rows.
    fn levels(
        &mut self,
        plan: LogicalPlan,
        marked: &Marked<'_>,
        order: &[OrderKey],
        asked: &[ExtremeKey],
    ) -> Result<(LogicalPlan, Id, Vec<Levels>), Fault> {
        let rows =
            emit(&plan, &[("number".into(), marked.number)], &self.columns, self.catalog, self.options)?
                .rows();
        let window = |plan, calls| LogicalPlan::Window {
            input: Box::new(plan),
            partition: marked.partition.to_vec(),
            order: order.to_vec(),
            calls,
        };
        let position = self.column("position", ColumnType::BigInt, false);
        let mut plan = window(plan, vec![(position, WindowFunction::RowNumber)]);
        let mut all: Vec<Levels> = vec![];
        for (_, value, _) in asked {
            let of = vec![Expr::Column(*value)];
            all.push(Levels { up_to: of.clone(), from: of });
        }
        let mut length = 1u64;
        while 2 * length <= rows {
            let (mut calls, mut made) = (vec![], vec![]);
            for ((_, value, greatest), levels) in asked.iter().zip(&mut all) {
                let ty = self.columns.of(*value).ty;
                let [before, behind] = ["before", "behind"].map(|name| self.column(name, ty, true));
                let [up_to, from] = [&levels.up_to, &levels.from].map(|of| of[of.len() - 1].clone());
                calls.push((before, WindowFunction::Lag(up_to.clone(), length)));
                calls.push((behind, WindowFunction::Lead(from.clone(), length)));
                let name = if *greatest { "greatest" } else { "least" };
                for (own, other, columns) in
                    [(up_to, before, &mut levels.up_to), (from, behind, &mut levels.from)]
                {
                    let both = self.call(name, vec![own, Expr::Column(other)], At::default())?;
                    let id = self.column("extreme", ty, true);
                    made.push((id, both));
                    columns.push(Expr::Column(id));
                }
            }
            plan = window(plan, calls).extended(made);
            length *= 2;
        }
        Ok((plan, position, all))
    }
}
