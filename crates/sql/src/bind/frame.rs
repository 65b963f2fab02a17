//! Binds windows: partitions, an order, and a frame. A frame's ends are numbers of rows, or
//! distances of the order's key. A window may refer to a named window of the SELECT.

use super::{
    Binder, Env,
    expr::Calls,
    interval::is_interval,
    ranged::{End, Ends},
    sort_key,
};
use crate::{
    Fault,
    error::{At, refused_at, unsupported},
    logical::OrderKey,
};
use hushwire_tables::algebra::{Arithmetic, Expr, Frame};
use sqlparser::ast::{self, WindowFrameBound as Bound, WindowFrameUnits as Units};

/// An end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The first row of the partition.
    First,
    /// This many rows after the current row. 0 is the current row, and with RANGE also all rows
    /// equal to it.
    Row(i128),
    /// The last row of the partition.
    Last,
    /// Rows within a distance of the current row's key.
    Distance,
}

/// A window: partitions, an order, and a frame.
#[derive(Clone)]
pub(super) struct Spec {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<(Expr, OrderKey)>,
    /// Whether rows that are equal in the order are distinguished.
    pub(super) frame: Frame,
    pub(super) start: Edge,
    pub(super) end: Edge,
    /// The ends of a frame, if they are given by a distance.
    pub(super) ends: Option<Ends>,
}

impl Spec {
    /// The same frame without rows after the current one, if possible. A frame that ends with the
    /// partition becomes one of the reverse order.
    pub(super) fn begun(&self) -> Spec {
        if self.ends.is_some() {
            return self.clone();
        }
        match (self.start, self.end) {
            (Edge::First, Edge::Last) => Spec { order: vec![], frame: Frame::Peers, ..self.clone() },
            (start, Edge::Last) => {
                let turned = |(expr, key): &(Expr, OrderKey)| {
                    let key = OrderKey { descending: !key.descending, nulls_first: !key.nulls_first, ..*key };
                    (expr.clone(), key)
                };
                let end = match start {
                    Edge::Row(n) => Edge::Row(-n),
                    other => other,
                };
                Spec {
                    order: self.order.iter().map(turned).collect(),
                    start: Edge::First,
                    end,
                    ..self.clone()
                }
            }
            _ => self.clone(),
        }
    }

    /// Whether the frame is the whole partition.
    pub(super) fn is_whole(&self) -> bool {
        (self.start, self.end) == (Edge::First, Edge::Last)
    }
}

impl<'q> Binder<'q> {
    /// Binds a window that is named or written out.
    pub(super) fn spec(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        over: &'q ast::WindowType,
        at: At,
    ) -> Result<Spec, Fault> {
        let parts = named(over, calls.select, at)?;
        let partition = parts.partition.iter().map(|e| self.expr(env, calls, e));
        let partition = partition.collect::<Result<Vec<_>, _>>()?;
        let mut order: Vec<(Expr, OrderKey)> = vec![];
        for key in parts.order {
            order.push((self.expr(env, calls, &key.expr)?, sort_key(key, 0)?));
        }
        let (frame, start, end) = frame(parts.frame, !order.is_empty(), at)?;
        let ends = match parts.frame {
            Some(of) if [start, end].contains(&Edge::Distance) => {
                Some(self.ends(env, calls, of, &order, at)?)
            }
            _ => None,
        };
        Ok(Spec { partition, order, frame, start, end, ends })
    }

    /// The ends of a frame by a distance, as values of the order's key.
    fn ends(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        frame: &'q ast::WindowFrame,
        order: &[(Expr, OrderKey)],
        at: At,
    ) -> Result<Ends, Fault> {
        let [(key, direction)] = order else {
            let clause = "RANGE by a distance without one key in ORDER BY";
            let remedy = "order by one number, date or time: OVER (ORDER BY day RANGE BETWEEN INTERVAL '6' DAY PRECEDING AND CURRENT ROW)";
            return Err(unsupported(at, clause, remedy));
        };
        let mut end = |bound: &'q Bound| {
            let (by, is_before) = match bound {
                Bound::CurrentRow => return Ok(End::Row),
                Bound::Preceding(None) | Bound::Following(None) => return Ok(End::Partition),
                Bound::Preceding(Some(by)) => (by, true),
                Bound::Following(Some(by)) => (by, false),
            };
            let back = is_before != direction.descending;
            let moved = if is_interval(by) {
                let by = self.interval(env, calls, by)?;
                self.moved(key.clone(), by, back, at)?
            } else {
                let by = self.expr(env, &mut Calls::none("a frame"), by)?;
                if !by.columns().is_empty() {
                    let clause = "RANGE by a distance that is a column";
                    let remedy = "write a number or an INTERVAL, or join the table with itself on the distance and group";
                    return Err(unsupported(at, clause, remedy));
                }
                let op = if back { Arithmetic::Subtract } else { Arithmetic::Add };
                self.arithmetic(op, key.clone(), by, at)?
            };
            Ok(End::At(moved))
        };
        let last = frame.end_bound.as_ref().map_or(Ok(End::Row), &mut end)?;
        Ok([end(&frame.start_bound)?, last])
    }
}

/// The parts of a window. A named window may have given some of them.
struct WindowParts<'q> {
    partition: &'q [ast::Expr],
    order: &'q [ast::OrderByExpr],
    frame: Option<&'q ast::WindowFrame>,
}

fn named<'q>(
    over: &'q ast::WindowType,
    select: Option<&'q ast::Select>,
    at: At,
) -> Result<WindowParts<'q>, Fault> {
    let by_name = |name: &ast::Ident, depth: usize| by_name(name, select, depth, at);
    match over {
        ast::WindowType::WindowSpec(spec) => of_spec(spec, select, 0, at),
        ast::WindowType::NamedWindow(name) => by_name(name, 0),
    }
}

/// LOCAL: the longest chain of named windows that refer to others.
const LONGEST_CHAIN: usize = 64;

fn by_name<'q>(
    name: &ast::Ident,
    select: Option<&'q ast::Select>,
    depth: usize,
    at: At,
) -> Result<WindowParts<'q>, Fault> {
    let windows = select.map_or(&[][..], |select| &select.named_window);
    let found = windows.iter().find(|w| w.0.value.eq_ignore_ascii_case(&name.value));
    match found.map(|w| &w.1) {
        _ if depth > LONGEST_CHAIN => {
            Err(unsupported(at, "windows that name each other", "write the window out behind OVER"))
        }
        Some(ast::NamedWindowExpr::WindowSpec(spec)) => of_spec(spec, select, depth + 1, at),
        Some(ast::NamedWindowExpr::NamedWindow(other)) => by_name(other, select, depth + 1, at),
        None => {
            let cause = format!("no window is called {}", name.value);
            Err(refused_at(name.span, cause, "declare it with WINDOW"))
        }
    }
}

fn of_spec<'q>(
    spec: &'q ast::WindowSpec,
    select: Option<&'q ast::Select>,
    depth: usize,
    at: At,
) -> Result<WindowParts<'q>, Fault> {
    let mut parts = match &spec.window_name {
        Some(name) => by_name(name, select, depth, at)?,
        None => WindowParts { partition: &[], order: &[], frame: None },
    };
    if !spec.partition_by.is_empty() {
        parts.partition = &spec.partition_by;
    }
    if !spec.order_by.is_empty() {
        parts.order = &spec.order_by;
    }
    parts.frame = spec.window_frame.as_ref().or(parts.frame);
    Ok(parts)
}

/// The frame: whether it distinguishes equal rows, and its ends.
fn frame(frame: Option<&ast::WindowFrame>, ordered: bool, at: At) -> Result<(Frame, Edge, Edge), Fault> {
    let Some(frame) = frame else {
        let end = if ordered { Edge::Row(0) } else { Edge::Last };
        return Ok((Frame::Peers, Edge::First, end));
    };
    let by_rows = match frame.units {
        Units::Rows => Frame::Rows,
        Units::Range => Frame::Peers,
        Units::Groups => {
            let clause = "GROUPS in a frame";
            let remedy = "number the groups by DENSE_RANK in a derived table, and write RANGE BETWEEN n PRECEDING AND CURRENT ROW by that number";
            return Err(unsupported(at, clause, remedy));
        }
    };
    let number = |expr: &ast::Expr| match expr {
        ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(digits, _), .. }) => {
            digits.parse::<i128>().ok().filter(|n| *n <= 1 << 40)
        }
        _ => None,
    };
    let edge = |bound: &Bound| {
        let rows = |expr: &ast::Expr, sign: i128| match number(expr) {
            _ if by_rows == Frame::Peers => Ok(Edge::Distance),
            Some(n) => Ok(Edge::Row(sign * n)),
            None => {
                let clause = "ROWS by what is no whole number";
                let remedy = "count rows, as in ROWS BETWEEN 3 PRECEDING AND CURRENT ROW; a distance of values is RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW";
                Err(unsupported(at, clause, remedy))
            }
        };
        Ok::<Edge, Fault>(match bound {
            Bound::CurrentRow => Edge::Row(0),
            Bound::Preceding(None) => Edge::First,
            Bound::Following(None) => Edge::Last,
            Bound::Preceding(Some(n)) => rows(n, -1)?,
            Bound::Following(Some(n)) => rows(n, 1)?,
        })
    };
    let start = edge(&frame.start_bound)?;
    let end = frame.end_bound.as_ref().map_or(Ok(Edge::Row(0)), edge)?;
    if start == Edge::Last || end == Edge::First {
        return Err(unsupported(
            at,
            "a frame that ends before it begins",
            "write the earlier end first: ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        ));
    }
    // Without an order, all rows are equal.
    if !ordered && by_rows == Frame::Peers {
        return Ok((by_rows, Edge::First, Edge::Last));
    }
    Ok((by_rows, start, end))
}
