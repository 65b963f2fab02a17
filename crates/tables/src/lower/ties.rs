//! Rows that are equal in an order, if a limit, a row number or a neighbour depends on their actual
//! order.
//!
//! The actual order may come from keys that no ORDER BY names and the result does not show, such as
//! digests. Two inputs that differ only in the order of such keys would then have different
//! results. A query is refused unless one of these conditions holds:
//!
//! - the actual order is that of the tables' rows, of an ORDER BY below, or of columns that the
//!   result shows;
//! - no two rows are equal in the order, as far as plans can tell: by keys, or by numbers of rows;
//! - rows that are equal in the order are equal in all values that are used.

use super::{Lower, cell::LOST, rows::CellRows};
use crate::{
    Fault,
    algebra::{
        Arithmetic, ColumnType, Expr, Frame, JoinKind, Operator, Relation, SetOperation, Value, Window,
        WindowFunction,
    },
    functions::COALESCE,
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a relation, by index.
type Used = BTreeSet<usize>;

/// For each relation, by its address, the columns that operators above use.
pub(super) type Uses = BTreeMap<usize, Used>;

/// An operator that depends on an actual order, and the columns that this order reveals in addition
/// to the named ones.
pub(crate) struct Tie {
    operator: String,
    told: Vec<u32>,
}

fn all(relation: &Relation) -> Used {
    (0..relation.schema().columns().len()).collect()
}

/// The used columns of a relation and of the relations below it, if all of its columns are shown.
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

/// The columns of a relation's inputs that are used, if these columns of the relation are.
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
        Operator::ByOwner(input, columns) => {
            let width = input.schema().columns().len();
            let own: Used = used.iter().copied().filter(|at| *at < width).collect();
            let made = used.iter().filter_map(|at| columns.get(at.checked_sub(width)?));
            vec![(input.clone(), &own | &with(&mut made.map(|(_, e)| e)))]
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
        // Other set operations compare whole rows, so every column is used.
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

/// The functions whose columns are used.
fn called<'a>(
    input: &Relation,
    window: &'a Window,
    used: &'a Used,
) -> impl Iterator<Item = &'a WindowFunction> {
    let first = input.schema().columns().len();
    let functions = window.functions.iter().enumerate();
    functions.filter(move |(k, _)| used.contains(&(first + k))).map(|(_, (_, function))| function)
}

/// Whether a function distinguishes rows that are equal in its order.
fn tells_apart(function: &WindowFunction) -> bool {
    use WindowFunction::{DenseRank, Extreme, Rank, RowId, RunningSum};
    match function {
        Rank | DenseRank | RowId => false,
        RunningSum(_, frame) | Extreme { frame, .. } => *frame != Frame::Peers,
        _ => true,
    }
}

/// Whether no two rows have the same values in all of these columns.
fn tell_all_apart(relation: &Relation, columns: Used) -> bool {
    if relation.unique().iter().any(|set| set.iter().all(|at| columns.contains(at))) {
        return true;
    }
    match relation.operator() {
        Operator::Window(input, window) => {
            let width = input.schema().columns().len();
            // ROW_NUMBER itself was checked; RowId was not, and gives no order.
            let numbers = |at: &usize| {
                let function = at.checked_sub(width).and_then(|k| window.functions.get(k));
                window.partition.is_empty() && function.is_some_and(|(_, f)| *f == WindowFunction::RowNumber)
            };
            columns.iter().any(numbers)
                || tell_all_apart(input, columns.into_iter().filter(|at| *at < width).collect())
        }
        // A column that the condition fixes to one value counts as one of the columns.
        Operator::Filter(input, condition) => {
            let fixed = match condition {
                Expr::Compare(Comparison::Equal, a, b) => match (a.as_ref(), b.as_ref()) {
                    (Expr::Column(at), Expr::Literal(..)) | (Expr::Literal(..), Expr::Column(at)) => {
                        Some(*at)
                    }
                    _ => None,
                },
                _ => None,
            };
            tell_all_apart(input, columns.into_iter().chain(fixed).collect())
        }
        Operator::Project(input, made) => {
            let same = columns.iter().filter_map(|at| told_by(&made[*at].1, input));
            meets_once(input, columns.iter().map(|at| &made[*at].1)) || tell_all_apart(input, same.collect())
        }
        // Rows of the two sides differ if some column has different values on the two sides.
        Operator::Set { operation: SetOperation::Union, all: true, left, right } => {
            let differs = |at: &usize| match (constants(left, *at), constants(right, *at)) {
                (Some(a), Some(b)) => a.is_disjoint(&b),
                _ => false,
            };
            columns.iter().any(differs)
                && tell_all_apart(left, columns.clone())
                && tell_all_apart(right, columns)
        }
        _ => false,
    }
}

/// The column that an expression is an injective function of: the column itself, its negative, a
/// sum or a product with a literal, or a cast that loses nothing.
fn told_by(expr: &Expr, of: &Relation) -> Option<usize> {
    let is_exact = |at: usize| {
        use ColumnType::{BigInt, Decimal, Integer, SmallInt};
        matches!(of.schema().columns()[at].ty, SmallInt | Integer | BigInt | Decimal { .. })
    };
    match expr {
        Expr::Column(at) => Some(*at),
        Expr::Negate(inner) => told_by(inner, of).filter(|at| is_exact(*at)),
        Expr::Arithmetic(by, a, b) => {
            let ((inner, Expr::Literal(literal, _)) | (Expr::Literal(literal, _), inner)) =
                (a.as_ref(), b.as_ref())
            else {
                return None;
            };
            // Such arithmetic is exact.
            let keeps = match by {
                Arithmetic::Add | Arithmetic::Subtract => matches!(literal, Value::Number(_)),
                Arithmetic::Multiply => matches!(literal, Value::Number(n) if *n != 0),
                _ => false,
            };
            told_by(inner, of).filter(|at| keeps && is_exact(*at))
        }
        Expr::Cast(inner, to) => match inner.as_ref() {
            Expr::Column(at) if holds(of.schema().columns()[*at].ty, *to) => Some(*at),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a cast from one type to another is injective.
fn holds(from: ColumnType, to: ColumnType) -> bool {
    use ColumnType::{BigInt, Date, Decimal, Integer, SmallInt, Timestamp, Varchar};
    let digits = match from {
        SmallInt => 5,
        Integer => 10,
        BigInt => 19,
        Varchar(most) => return matches!(to, Varchar(other) if other >= most),
        Date => return matches!(to, Date | Timestamp),
        _ => return from == to,
    };
    match to {
        Integer => digits <= 10,
        BigInt => true,
        Decimal { precision, scale } => precision - scale >= digits,
        _ => from == to,
    }
}

/// Whether a relation is a full join whose keys, taken from the side that is present, distinguish
/// all rows. This holds if keys are unique and never NULL on both sides, so that each is the key of
/// one row.
fn meets_once<'e>(relation: &Relation, columns: impl Iterator<Item = &'e Expr>) -> bool {
    let Operator::Join { kind: JoinKind::Full, left, right, on, residual: None, .. } = relation.operator()
    else {
        return false;
    };
    let width = left.schema().columns().len();
    let there: BTreeSet<(usize, usize)> =
        columns.filter_map(either_column).map(|(a, b)| (a.min(b), a.max(b))).collect();
    let (mut of_left, mut of_right) = (Used::new(), Used::new());
    for pair in on {
        let (Expr::Column(a), Expr::Column(b)) = pair else { return false };
        let sides = [&left.schema().columns()[*a], &right.schema().columns()[*b]];
        let whole = sides.iter().all(|column| !column.nullable && column.ty == sides[0].ty);
        if !whole || !there.contains(&(*a, b + width)) {
            return false;
        }
        of_left.insert(*a);
        of_right.insert(*b);
    }
    tell_all_apart(left, of_left) && tell_all_apart(right, of_right)
}

/// The two columns of an expression that takes the one that is not NULL.
fn either_column(expr: &Expr) -> Option<(usize, usize)> {
    let column = |e: &Expr| if let Expr::Column(at) = e { Some(*at) } else { None };
    match expr {
        Expr::Call(call) if *call.primitive == COALESCE => match &call.operands[..] {
            [a, b] => Some((column(a)?, column(b)?)),
            _ => None,
        },
        Expr::Case { branches, otherwise: Some(otherwise) } => {
            let [(when, then)] = &branches[..] else { return None };
            let (of, kept) = match when {
                Expr::IsNull(of) => (of, otherwise.as_ref()),
                Expr::Not(not) => match not.as_ref() {
                    Expr::IsNull(of) => (of, then),
                    _ => return None,
                },
                _ => return None,
            };
            let is_other = column(of) == column(kept);
            is_other.then_some((column(then)?, column(otherwise)?))
        }
        _ => None,
    }
}

/// The set of values of a column, if it consists of literals.
fn constants(relation: &Relation, column: usize) -> Option<BTreeSet<Value>> {
    match relation.operator() {
        Operator::Project(input, made) => match &made[column].1 {
            Expr::Literal(value, _) => Some(BTreeSet::from([value.clone()])),
            Expr::Column(from) => constants(input, *from),
            _ => None,
        },
        Operator::Set { operation: SetOperation::Union, all: true, left, right } => {
            Some(&constants(left, column)? | &constants(right, column)?)
        }
        _ => None,
    }
}

impl<'b> Lower<'b> {
    /// Checks that a limit does not select rows by an order that the query does not specify.
    pub(super) fn limit_is_fair(&mut self, limit: &Relation, input: &Relation, rows: &CellRows<'b>) {
        let used = self.uses.get(&limit.address()).cloned().unwrap_or_else(|| all(limit));
        self.note_ties(limit, input, rows, (&[], &Used::new()), &used);
    }

    /// Checks that no window function depends on such an order, if rows are ordered by these
    /// columns.
    pub(super) fn window_is_fair(
        &mut self,
        relation: &Relation,
        input: &Relation,
        rows: &CellRows<'b>,
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
            let exprs = window.partition.iter().chain(window.order.iter().map(|key| &key.expr));
            let places: Used = exprs.filter_map(|expr| told_by(expr, input)).collect();
            self.note_ties(relation, input, rows, (by, &places), &own.chain(arguments).collect());
        }
    }

    /// Records what the actual order reveals for rows that are equal in `by` and in the ORDER BY
    /// below. `by` are columns of the order, and columns that it tells apart.
    fn note_ties(
        &mut self,
        operator: &Relation,
        input: &Relation,
        rows: &CellRows<'b>,
        (by, places): (&[u32], &Used),
        used: &Used,
    ) {
        let named = [by, &rows.asked].concat();
        let is_named = |id: u32| id != LOST && rows.is_known(id, &named);
        let all_named = |mut places: std::collections::btree_set::Iter<'_, usize>| {
            places.all(|at| is_named(rows.columns[*at].id))
        };
        let of_names: Used = (0..rows.columns.len()).filter(|at| is_named(rows.columns[*at].id)).collect();
        if rows.rows < 2 || all_named(used.iter()) || tell_all_apart(input, &of_names | places) {
            return;
        }
        let told: Vec<u32> = rows.told.iter().copied().filter(|id| !is_named(*id)).collect();
        if !told.is_empty() {
            self.ties.push(Tie { operator: crate::explain::operator(operator), told });
        }
    }
}

impl CellRows<'_> {
    /// The error for a plan that depends on an order of columns that its result does not show.
    pub(crate) fn unfair(&self, ties: &[Tie]) -> Option<Fault> {
        let is_shown = |id: &u32| *id != LOST && self.columns.iter().any(|cell| cell.id == *id);
        let tie = ties.iter().find(|tie| !tie.told.iter().all(is_shown))?;
        Some(Fault::filled(code::ORDER_UNFAIR, &[("operation", &tie.operator)]))
    }
}
