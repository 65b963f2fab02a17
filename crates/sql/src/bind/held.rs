//! FIRST_VALUE, LAST_VALUE and NTH_VALUE: values of certain rows of a frame.

use super::{
    frame::{Edge, Spec},
    ranged::{Ends, RangedFigure},
    window::InWindow,
};
use crate::{Fault, error::unsupported};
use hushwire_compute::Comparison;
use hushwire_tables::{
    aggregates::OverFrame,
    algebra::{Expr, Frame, WindowFunction, counted, when, whole},
};

impl InWindow<'_, '_> {
    /// The first or the last value of the frame; NULL if there is none. `nulls` tells whether NULLs
    /// count as values.
    pub(super) fn held(&mut self, of: &Expr, first: bool, nulls: bool) -> Result<Expr, Fault> {
        let value = self.at_end(of, first, nulls)?;
        let Spec { start, end, ends, .. } = &self.spec;
        let is_before = matches!(start, Edge::First | Edge::Row(..=0));
        let is_behind = matches!(end, Edge::Last | Edge::Row(0..));
        let has_row = ends.is_none() && is_before && is_behind;
        let is_sure = has_row && (nulls || *start == Edge::First && matches!(end, Edge::Row(0) | Edge::Last));
        if is_sure {
            return Ok(value);
        }
        self.counting(&if nulls { whole(1) } else { counted(of) }, 1, value)
    }

    /// The n-th value of the frame, counted from 1; NULL if the frame has fewer.
    pub(super) fn nth(&mut self, of: &Expr, n: i128, nulls: bool) -> Result<Expr, Fault> {
        let mut spec = Spec { frame: Frame::Rows, ..self.spec.clone() };
        // The n-th value is the first of the values n - 1 rows further on, among the rows that
        // count.
        let (counts, moved) = if nulls {
            (whole(1), self.neighbour(&spec, of, n - 1)?)
        } else {
            spec.partition.push(of.clone().is_null());
            let moved = self.neighbour(&spec, of, n - 1)?;
            (counted(of), when(of.clone().is_null().not(), moved))
        };
        let value = self.at_end(&moved, true, nulls)?;
        self.counting(&counts, n, value)
    }

    /// The value if at least `least` rows of the frame count, else NULL.
    fn counting(&mut self, counts: &Expr, least: i128, value: Expr) -> Result<Expr, Fault> {
        let count = self.sum(counts)?;
        Ok(when(self.compared(Comparison::GreaterOrEqual, count, whole(least))?, value))
    }

    /// The first or the last value of a frame that has one.
    fn at_end(&mut self, of: &Expr, first: bool, nulls: bool) -> Result<Expr, Fault> {
        if let Some(ends) = self.spec.ends.clone() {
            return self.at_distance(&ends, of, first, nulls);
        }
        let spec = self.spec.clone();
        if first {
            return self.first_of(&spec, of, nulls);
        }
        match spec.end {
            // The last row of a partition is the first one of the reverse order.
            Edge::Last => {
                let turned = Spec { start: Edge::Row(0), ..spec }.begun();
                self.first_of(&Spec { end: Edge::Last, start: Edge::First, ..turned }, of, nulls)
            }
            Edge::Row(0) => {
                let frame = spec.frame;
                let call = WindowFunction::Held { of: of.clone(), first: false, nulls, frame };
                self.call(&spec, call)
            }
            Edge::Row(n) => {
                self.refuse_ranges()?;
                let turned = Spec { start: Edge::Row(-n), end: Edge::Last, ..spec };
                let turned = turned.begun();
                let turned = Spec { start: Edge::Row(-n), end: Edge::Last, ..turned };
                self.first_of(&turned, of, nulls)
            }
            _ => Err(self.unknown()),
        }
    }

    /// The first or the last value of a frame by a distance.
    fn at_distance(&mut self, ends: &Ends, of: &Expr, first: bool, nulls: bool) -> Result<Expr, Fault> {
        let spec = self.spec.clone();
        let value = self.over_distance(&spec, ends, RangedFigure::End { of: of.clone(), first })?;
        if !nulls || !self.binder.columns.may_be_null(of)? {
            return Ok(value);
        }
        // The nearest value that is not NULL is the frame's value if the nearest row has a value.
        let is_there = self.over_distance(&spec, ends, RangedFigure::End { of: counted(of), first })?;
        Ok(when(self.compared(Comparison::Equal, is_there, whole(1))?, value))
    }

    /// The first value of a frame that has one.
    fn first_of(&mut self, spec: &Spec, of: &Expr, nulls: bool) -> Result<Expr, Fault> {
        let held = |frame| WindowFunction::Held { of: of.clone(), first: true, nulls, frame };
        match (spec.start, spec.end) {
            // The frame's end does not change its first value.
            (Edge::First, _) if nulls => self.call(spec, held(Frame::Rows)),
            (Edge::First, Edge::Row(0)) => self.call(spec, held(spec.frame)),
            (Edge::First, Edge::Last) => {
                // The first value that is not NULL, taken at the last row.
                let so_far = self.call(spec, held(Frame::Rows))?;
                let turned = Spec { start: Edge::Row(0), end: Edge::Last, ..spec.clone() }.begun();
                let last = WindowFunction::Held { of: so_far, first: true, nulls: true, frame: Frame::Rows };
                self.call(&turned, last)
            }
            // The first of the rows that are equal in the order.
            (Edge::Row(0), _) if nulls && spec.frame == Frame::Peers => {
                let equal = spec.order.iter().map(|(key, _)| key.clone());
                let partition = spec.partition.iter().cloned().chain(equal).collect();
                self.call(&Spec { partition, ..spec.clone() }, held(Frame::Rows))
            }
            (Edge::Row(0), _) if nulls => Ok(of.clone()),
            (Edge::Row(n @ ..0), _) if nulls => {
                self.refuse_ranges()?;
                let by = n.unsigned_abs() as u64;
                let first = self.call(spec, held(Frame::Rows))?;
                let before = self.call(spec, WindowFunction::Lag(of.clone(), by))?;
                let is_there = self.call(spec, WindowFunction::Lag(whole(1), by))?;
                self.choose(is_there.is_null(), first, before)
            }
            (Edge::Row(n), _) if nulls => {
                self.refuse_ranges()?;
                self.call(spec, WindowFunction::Lead(of.clone(), n as u64))
            }
            _ if spec.frame == Frame::Rows => {
                // For each row, the next value from that row on that is not NULL.
                let turned = Spec { start: Edge::Row(0), end: Edge::Last, ..spec.clone() }.begun();
                let of = of.clone();
                let next = WindowFunction::Held { of, first: false, nulls: false, frame: Frame::Rows };
                let next = self.call(&turned, next)?;
                self.first_of(spec, &next, true)
            }
            _ => Err(unsupported(
                self.at,
                "IGNORE NULLS over RANGE from a row on",
                "write ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING, or filter the rows WHERE a IS NOT NULL in a derived table",
            )),
        }
    }
}
