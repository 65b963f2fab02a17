//! IN, ANY and ALL with a subquery.

use super::{
    Binder, Env,
    expr::Calls,
    selected::Empty,
    subquery::{Inner, Sort},
};
use crate::{
    Fault,
    error::{At, fault, unsupported, widths},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::algebra::{ColumnType, Expr};
use sqlparser::ast;

impl<'q> Binder<'q> {
    /// Whether a value is among those of a subquery.
    pub(super) fn in_subquery(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        left: Expr,
        query: &'q ast::Query,
        at: At,
    ) -> Result<Expr, Fault> {
        let inner = self.inner(env, calls, query, false, at)?;
        let [(_, right)] = inner.columns[..] else {
            return Err(fault(at, code::SUBQUERY_COLUMNS, &[("found", &inner.columns.len())]));
        };
        if inner.correlated(at)? == Some(Empty::One) {
            // There is always exactly one row, so membership is equality.
            let value = self.value_of(calls, inner, at)?;
            return self.compared(Comparison::Equal, left, value, at);
        }
        let Inner { plan, on, .. } = inner;
        // Checks its types.
        self.compared(Comparison::Equal, left.clone(), Expr::Column(right), at)?;
        let nullable = self.columns.may_be_null(&left)? || self.columns.of(right).nullable;
        Ok(self.stand_in(calls, (ColumnType::Boolean, nullable), Sort::In(left, right), (plan, on), at))
    }

    /// Whether values are a row of a subquery.
    pub(super) fn row_in_subquery(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        left: Vec<Expr>,
        query: &'q ast::Query,
        at: At,
    ) -> Result<Expr, Fault> {
        let inner = self.inner(env, calls, query, false, at)?;
        if inner.columns.len() != left.len() {
            return Err(widths(at, "the row and the subquery", [left.len(), inner.columns.len()]));
        }
        if inner.correlated(at)?.is_some() {
            let clause = "a row of values in a correlated aggregate";
            return Err(unsupported(
                at,
                clause,
                "compare each value with a subquery of its own, joined by AND",
            ));
        }
        let Inner { plan, columns, mut on, .. } = inner;
        let mut sure = true;
        for (left, (_, right)) in left.into_iter().zip(columns) {
            sure &= !self.columns.may_be_null(&left)? && !self.columns.of(right).nullable;
            on.push(self.compared(Comparison::Equal, left, Expr::Column(right), at)?);
        }
        Ok(self.stand_in(calls, (ColumnType::Boolean, false), Sort::Row { sure }, (plan, on), at))
    }

    /// `of op ANY (query)`, or ALL.
    pub(super) fn any(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (of, op, all): (Expr, Comparison, bool),
        query: &'q ast::Query,
        at: At,
    ) -> Result<Expr, Fault> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        // For all values a comparison holds where for none its contrary does.
        let contrary = match op {
            Equal => NotEqual,
            NotEqual => Equal,
            Less => GreaterOrEqual,
            LessOrEqual => Greater,
            Greater => LessOrEqual,
            GreaterOrEqual => Less,
        };
        let op = if all { contrary } else { op };
        if op == Equal {
            let found = self.in_subquery(env, calls, of, query, at)?;
            return Ok(if all { found.not() } else { found });
        }
        let inner = self.inner(env, calls, query, false, at)?;
        let [(_, value)] = inner.columns[..] else {
            return Err(fault(at, code::SUBQUERY_COLUMNS, &[("found", &inner.columns.len())]));
        };
        let found = if inner.correlated(at)? == Some(Empty::One) {
            let value = self.value_of(calls, inner, at)?;
            self.compared(op, of, value, at)?
        } else {
            let Inner { plan, on, .. } = inner;
            // Checks its types.
            self.compared(op, of.clone(), Expr::Column(value), at)?;
            self.stand_in(calls, (ColumnType::Boolean, true), Sort::Any(of, op, value), (plan, on), at)
        };
        Ok(if all { found.not() } else { found })
    }
}
