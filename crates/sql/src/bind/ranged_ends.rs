//! The first and the last value of frames of RANGE by a distance.
//!
//! In the order of rows and markers of [`super::ranged`], a frame's first value is the next value
//! after its first marker. Its last value is the one before its last marker. A frame that begins
//! with its partition has no first marker: the partition's first value is carried to the last
//! marker.

use super::{
    Binder,
    ranged::{End, FIRST, LAST, Marked},
};
use crate::logical::{Id, LogicalPlan, OrderKey};
use hushwire_tables::algebra::{Expr, Frame, WindowFunction};

/// A requested value: its column, the column of values, and whether it is the first.
pub(super) type EndKey = (Id, Id, bool);

impl Binder<'_> {
    /// Adds the values at the ends of frames to a plan. Their columns are those of the results.
    pub(super) fn at_ends(
        &mut self,
        mut plan: LogicalPlan,
        marked: &Marked<'_>,
        asked: &[EndKey],
        mut results: Vec<(Id, Expr)>,
    ) -> (LogicalPlan, Vec<(Id, Expr)>) {
        let ascending = |id| OrderKey { id, descending: false, nulls_first: false };
        let turned =
            |key: OrderKey| OrderKey { descending: !key.descending, nulls_first: !key.nulls_first, ..key };
        // Rows with equal keys are ordered by their numbers.
        let order = [marked.place, ascending(marked.kind), ascending(marked.number)];
        for marker in [FIRST, LAST] {
            let (mut held, mut at_rows) = (vec![], vec![]);
            for (id, value, is_first) in asked {
                let opens = marked.ends[usize::from(!is_first)] == End::Partition;
                if (marker == FIRST) != (*is_first != opens) {
                    continue;
                }
                let ty = self.columns.of(*value).ty;
                let [at_marker, at_row] = ["held", "end"].map(|name| self.column(name, ty, true));
                let call = |of, first| WindowFunction::Held { of, first, nulls: false, frame: Frame::Rows };
                held.push((at_marker, call(Expr::Column(*value), opens)));
                let is_marker = marked.is(marker);
                let branches = vec![(is_marker, Expr::Column(at_marker))];
                at_rows.push((at_row, call(Expr::Case { branches, otherwise: None }, true)));
                results.push((*id, Expr::Column(at_row)));
            }
            if held.is_empty() {
                continue;
            }
            let is_reverse = marker == FIRST;
            let order = order.iter().map(|key| if is_reverse { turned(*key) } else { *key }).collect();
            let partition = marked.partition.to_vec();
            plan = LogicalPlan::Window { input: Box::new(plan), partition, order, calls: held };
            // Each row comes right after its marker.
            let kind = ascending(marked.kind);
            let order = vec![if is_reverse { kind } else { turned(kind) }, marked.place];
            let partition = [marked.partition, &[marked.number]].concat();
            plan = LogicalPlan::Window { input: Box::new(plan), partition, order, calls: at_rows };
        }
        (plan, results)
    }
}
