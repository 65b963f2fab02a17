//! Functions of neighbours.

use super::{
    Row,
    expr::{value, wrapped},
    in_order,
};
use crate::algebra::{Expr, Frame, Schema, Value, Window, WindowFunction};
use core::cmp::Ordering;

pub(super) fn windowed(window: &Window, schema: &Schema, to: &Schema, mut rows: Vec<Row>) -> Vec<Row> {
    let partition = |row: &Row| -> Row { window.partition.iter().map(|e| value(e, schema, row)).collect() };
    let within = |a: &Row, b: &Row| in_order(&window.order, schema, a, b);
    rows.sort_by(|a, b| partition(a).cmp(&partition(b)).then_with(|| within(a, b)));
    let parts: Vec<Vec<Row>> =
        rows.chunk_by(|a, b| partition(a) == partition(b)).map(<[Row]>::to_vec).collect();
    let mut out = vec![];
    for part in parts {
        for (i, row) in part.iter().enumerate() {
            let peer = |j: &usize| within(&part[*j], row) == Ordering::Equal;
            let first = (0..=i).find(peer).unwrap_or(i);
            let last = (i..part.len()).rev().find(peer).unwrap_or(i);
            let other = |at: Option<usize>, e: &Expr| {
                at.and_then(|at| part.get(at)).map_or(Value::Null, |row| value(e, schema, row))
            };
            let figure = |(k, (_, function)): (usize, &(String, WindowFunction))| match function {
                WindowFunction::RowNumber => Value::Number(i as i128 + 1),
                WindowFunction::Rank => Value::Number(first as i128 + 1),
                WindowFunction::RunningSum(e, frame) => {
                    let end = if *frame == Frame::Rows { i } else { last };
                    let ty = to.columns()[schema.columns().len() + k].ty;
                    let seen = part[..=end].iter().filter_map(|row| match value(e, schema, row) {
                        Value::Number(n) => Some(n),
                        _ => None,
                    });
                    seen.reduce(|a, b| wrapped(a.wrapping_add(b), ty)).map_or(Value::Null, Value::Number)
                }
                WindowFunction::Lag(e, by) => {
                    let at = usize::try_from(*by).ok().and_then(|by| i.checked_sub(by));
                    other(at, e)
                }
                WindowFunction::Lead(e, by) => {
                    let at = usize::try_from(*by).ok().and_then(|by| i.checked_add(by));
                    other(at, e)
                }
            };
            let figures: Row = window.functions.iter().enumerate().map(figure).collect();
            out.push([row.clone(), figures].concat());
        }
    }
    out
}
