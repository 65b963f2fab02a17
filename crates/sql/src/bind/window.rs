//! Binds window functions.

use super::{
    Binder, Env,
    expr::{Calls, Over},
    sort_key,
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::Id,
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{
        Arithmetic, Column, ColumnType, Expr, Frame, Relation, SortKey, Value, Window, WindowFunction,
    },
    functions::coalesce,
};
use sqlparser::ast::{self, WindowFrameBound as Bound, WindowFrameUnits as Units};

impl<'q> Binder<'q> {
    pub(super) fn windowed(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        name: &str,
        args: Option<Vec<&'q ast::Expr>>,
        over: &'q ast::WindowType,
        at: At,
    ) -> Result<Expr, Fault> {
        if calls.windows.is_none() || calls.inside {
            return Err(fault(at, code::WINDOW_MISPLACED, &[]));
        }
        let spec = named(over, calls.select, at)?;
        // The argument of a window function may contain aggregates, but no window function.
        let windows = calls.windows.take();
        let made = self.over(env, calls, name, args, spec, at);
        calls.windows = windows;
        let (partition, order, call) = made?;
        let mut all = calls.windows.take().unwrap_or_default();
        let expr = self.called(&mut all, &partition, &order, (&name.to_ascii_uppercase(), call), at);
        calls.windows = Some(all);
        expr
    }

    #[expect(clippy::type_complexity, reason = "the three parts of a call, taken apart at once")]
    fn over(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        name: &str,
        args: Option<Vec<&'q ast::Expr>>,
        spec: &'q ast::WindowSpec,
        at: At,
    ) -> Result<(Vec<Expr>, Vec<(Expr, crate::logical::OrderKey)>, Call), Fault> {
        let partition =
            spec.partition_by.iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?;
        let mut order = vec![];
        for key in &spec.order_by {
            order.push((self.expr(env, calls, &key.expr)?, sort_key(key, 0)?));
        }
        let no = |clause: &str| Err(unsupported(at, clause));
        let frame = frame(spec, !order.is_empty(), at)?;
        if is_whole(spec) && !matches!(name, "row_number" | "rank" | "dense_rank" | "lag" | "lead") {
            // The frame is the whole partition, so the order does not matter.
            order.clear();
        }
        let star = args.is_none();
        let mut of = vec![];
        for arg in args.unwrap_or_default() {
            of.push(self.expr(env, calls, arg)?);
        }
        let one = || Expr::Literal(Value::Number(1), ColumnType::BigInt);
        let call = match (name, &of[..], star) {
            ("row_number", [], false) => Call::One(WindowFunction::RowNumber),
            ("rank", [], false) => Call::One(WindowFunction::Rank),
            ("dense_rank", [], false) => Call::One(WindowFunction::DenseRank),
            ("min" | "max", [of], false) => {
                Call::One(WindowFunction::Extreme { of: of.clone(), greatest: name == "max", frame })
            }
            ("sum", [of], false) => Call::One(WindowFunction::RunningSum(of.clone(), frame)),
            ("count", [], true) => Call::One(WindowFunction::RunningSum(one(), frame)),
            ("count", [of], false) => Call::One(WindowFunction::RunningSum(counted(of), frame)),
            ("avg", [of], false) => Call::Mean(
                WindowFunction::RunningSum(of.clone(), frame),
                WindowFunction::RunningSum(counted(of), frame),
            ),
            ("lag" | "lead", [of, rest @ ..], false) => {
                let by = match rest.first() {
                    None => 1,
                    Some(Expr::Literal(Value::Number(n), ty)) if ty.is_integer() && *n >= 0 => *n as u64,
                    Some(_) => return no("LAG or LEAD by what is no literal"),
                };
                let neighbour = |of: Expr| match name {
                    "lag" => WindowFunction::Lag(of, by),
                    _ => WindowFunction::Lead(of, by),
                };
                match rest {
                    [] | [_] => Call::One(neighbour(of.clone())),
                    [_, default] => Call::Or(neighbour(of.clone()), neighbour(one()), default.clone()),
                    _ => return no("LAG or LEAD with more than three arguments"),
                }
            }
            _ => {
                let function = format!("{name} OVER");
                return Err(fault(at, code::FUNCTION_UNSUPPORTED, &[("function", &function)]));
            }
        };
        Ok((partition, order, call))
    }

    fn called(
        &mut self,
        all: &mut Vec<Over>,
        partition: &[Expr],
        order: &[(Expr, crate::logical::OrderKey)],
        (name, call): (&str, Call),
        at: At,
    ) -> Result<Expr, Fault> {
        let mut one = |binder: &mut Self, call: WindowFunction| -> Result<Expr, Fault> {
            let place = all.iter().position(|over| over.partition == partition && over.order == order);
            let place = place.unwrap_or_else(|| {
                all.push(Over { partition: partition.to_vec(), order: order.to_vec(), calls: vec![] });
                all.len() - 1
            });
            if let Some((id, _)) = all[place].calls.iter().find(|(_, other)| *other == call) {
                return Ok(Expr::Column(*id));
            }
            let id = binder.window_column(partition, order, (name, &call), at)?;
            all[place].calls.push((id, call));
            Ok(Expr::Column(id))
        };
        match call {
            Call::One(call) => one(self, call),
            Call::Or(value, there, default) => {
                let (value, there) = (one(self, value)?, one(self, there)?);
                let mut both = self.united(vec![default, value], at)?;
                let otherwise = both.pop().map(Box::new);
                Ok(Expr::Case { branches: vec![(there.is_null(), both.swap_remove(0))], otherwise })
            }
            Call::Mean(sum, count) => {
                let (sum, count) = (one(self, sum)?, one(self, count)?);
                let ty = self.ty(&sum, at)?;
                // Four more digits, as for an average. A sum of more than 19 digits is not NULL, as
                // it would be after a CAST.
                let sum = if ty.is_integer() {
                    let digits = ColumnType::Decimal { precision: 19, scale: 0 };
                    coalesce(vec![sum, Expr::Literal(Value::Null, digits)])
                } else {
                    sum
                };
                Ok(sum.arithmetic(Arithmetic::Divide, count))
            }
        }
    }

    fn window_column(
        &mut self,
        partition: &[Expr],
        order: &[(Expr, crate::logical::OrderKey)],
        (name, call): (&str, &WindowFunction),
        at: At,
    ) -> Result<Id, Fault> {
        let key = |(expr, key): &(Expr, crate::logical::OrderKey)| SortKey {
            expr: expr.clone(),
            descending: key.descending,
            nulls_first: key.nulls_first,
        };
        let window = Window {
            partition: partition.to_vec(),
            order: order.iter().map(key).collect(),
            functions: vec![(name.to_owned(), call.clone())],
        };
        let none = Relation::values(self.columns.0.clone(), vec![])?;
        let made = none.window(window).map_err(|e| e.placed(at.0))?;
        let Some(column) = made.schema().columns().last() else { unreachable!("a window adds a column") };
        // A sum may be NULL for its size, except a sum of ones.
        let sums = matches!(call, WindowFunction::RunningSum(of, _) if !counts(of));
        let column = Column { range: None, nullable: column.nullable || sums, ..column.clone() };
        Ok(self.columns.add(column))
    }
}

/// The functions that a call expands to.
enum Call {
    One(WindowFunction),
    /// A sum divided by a count.
    Mean(WindowFunction, WindowFunction),
    /// A neighbour's value, a function that is NULL exactly if there is no such neighbour, and the
    /// value for that case.
    Or(WindowFunction, WindowFunction, Expr),
}

/// Whether the function's sum is a count.
fn counts(of: &Expr) -> bool {
    match of {
        Expr::Case { branches, otherwise } => {
            otherwise.iter().map(AsRef::as_ref).chain(branches.iter().map(|b| &b.1)).all(counts)
        }
        other => matches!(other, Expr::Literal(..)),
    }
}

/// 1 for each value that is not NULL, so that the sum is a count.
fn counted(of: &Expr) -> Expr {
    let number = |n| Expr::Literal(Value::Number(n), ColumnType::BigInt);
    let branches = vec![(of.clone().is_null(), number(0))];
    Expr::Case { branches, otherwise: Some(Box::new(number(1))) }
}

fn named<'q>(
    over: &'q ast::WindowType,
    select: Option<&'q ast::Select>,
    at: At,
) -> Result<&'q ast::WindowSpec, Fault> {
    match over {
        ast::WindowType::WindowSpec(spec) if spec.window_name.is_none() => Ok(spec),
        ast::WindowType::WindowSpec(_) => Err(unsupported(at, "a window that builds on a named one")),
        ast::WindowType::NamedWindow(name) => {
            let windows = select.map_or(&[][..], |select| &select.named_window);
            let found = windows.iter().find(|w| w.0.value.eq_ignore_ascii_case(&name.value));
            match found.map(|w| &w.1) {
                Some(ast::NamedWindowExpr::WindowSpec(spec)) => Ok(spec),
                Some(_) => Err(unsupported(at, "a window that is another one")),
                None => {
                    let cause = format!("no window is called {}", name.value);
                    Err(refused_at(name.span, cause, "declare it with WINDOW"))
                }
            }
        }
    }
}

/// Whether a frame explicitly covers all rows of a partition.
fn is_whole(spec: &ast::WindowSpec) -> bool {
    spec.window_frame.as_ref().is_some_and(|frame| {
        frame.units != Units::Groups
            && frame.start_bound == Bound::Preceding(None)
            && frame.end_bound == Some(Bound::Following(None))
    })
}

/// The frame: the rows up to this one, or all.
fn frame(spec: &ast::WindowSpec, ordered: bool, at: At) -> Result<Frame, Fault> {
    let Some(frame) = &spec.window_frame else { return Ok(Frame::Peers) };
    let here = matches!(frame.end_bound, None | Some(Bound::CurrentRow));
    match (frame.units, &frame.start_bound) {
        (Units::Rows, Bound::Preceding(None)) if here && ordered => Ok(Frame::Rows),
        (Units::Range, Bound::Preceding(None)) if here => Ok(Frame::Peers),
        _ if is_whole(spec) => Ok(Frame::Peers),
        _ => Err(unsupported(at, "a frame other than from the first row to this one or to the last")),
    }
}
