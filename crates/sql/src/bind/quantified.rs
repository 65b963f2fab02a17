//! IN, ANY and ALL with a subquery.

use super::{
    Binder, Env,
    expr::Calls,
    selected::Empty,
    subquery::{Inner, RowPair, Sort, three_valued},
};
use crate::{
    Fault,
    error::{At, fault, unsupported, widths},
    logical::{Id, LogicalPlan, filtered, truth},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::algebra::{ColumnType, Expr};
use sqlparser::ast;

/// LOCAL: the most ways in which a row may match a row of a subquery: three values that may be NULL
/// on both sides. Each way becomes a subquery.
const MOST_WAYS: usize = 27;

impl<'q> Binder<'q> {
    /// Whether a value is among the values of a subquery.
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

    /// Whether a tuple of values is among the rows of a subquery.
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
        let Inner { plan, columns, on, .. } = inner;
        let (mut nullable, mut pairs) = (false, vec![]);
        for (left, (_, right)) in left.into_iter().zip(columns) {
            let nulls = [self.columns.may_be_null(&left)?, self.columns.of(right).nullable];
            nullable |= nulls.contains(&true);
            // Checks its types.
            self.compared(Comparison::Equal, left.clone(), Expr::Column(right), at)?;
            pairs.push(RowPair { left, right, nulls });
        }
        Ok(self.stand_in(calls, (ColumnType::Boolean, nullable), Sort::Row(pairs), (plan, on), at))
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
        // A comparison holds for all values if its opposite holds for none.
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

    /// Whether a row of values that may be NULL is among the rows of a subquery. The answer is
    /// unsure if a row there has equal values or NULL on either side in each place, with at least
    /// one NULL. Each such combination becomes a subquery of its own.
    pub(super) fn attach_rows(
        &mut self,
        mut item: LogicalPlan,
        (plan, on): (&LogicalPlan, &[Expr]),
        (id, pairs): (Id, &[RowPair]),
        at: At,
    ) -> Result<LogicalPlan, Fault> {
        /// The way in which two values match.
        #[derive(Clone, Copy)]
        enum Alike {
            Equal,
            LeftNull,
            RightNull,
        }
        let mut ways = vec![vec![]];
        for pair in pairs {
            let alike = [Some(Alike::Equal), pair.nulls[0].then_some(Alike::LeftNull)];
            let alike = alike.into_iter().chain([pair.nulls[1].then_some(Alike::RightNull)]).flatten();
            ways = alike
                .flat_map(|one| ways.iter().map(move |way| [&way[..], &[one]].concat()).collect::<Vec<_>>())
                .collect();
            if ways.len() > MOST_WAYS {
                let clause = "NOT IN, or IN as a value, of so many values that may be NULL";
                let remedy = "write NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.y = a.y), or EXISTS";
                return Err(unsupported(at, clause, remedy));
            }
        }
        let (mut found, mut unsure) = (truth(false), truth(false));
        for way in ways {
            let (mut rows, mut on, mut here) = (plan.clone(), on.to_vec(), truth(true));
            for (pair, alike) in pairs.iter().zip(&way) {
                match alike {
                    Alike::Equal => {
                        let right = Expr::Column(pair.right);
                        on.push(self.compared(Comparison::Equal, pair.left.clone(), right, at)?);
                    }
                    Alike::LeftNull => here = here.and(pair.left.clone().is_null()),
                    Alike::RightNull => rows = filtered(rows, [Expr::Column(pair.right).is_null()]),
                }
            }
            let there = self.column("there", ColumnType::Boolean, false);
            item = self.marked(item, rows, on, there, at)?;
            match way.iter().all(|alike| matches!(alike, Alike::Equal)) {
                true => found = Expr::Column(there),
                false => unsure = unsure.or(here.and(Expr::Column(there))),
            }
        }
        Ok(item.extended(vec![(id, three_valued(found, unsure))]))
    }
}
