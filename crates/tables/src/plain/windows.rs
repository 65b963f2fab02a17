//! Evaluates window functions.

use super::{Row, expr::value, in_order, numbers};
use crate::algebra::{Expr, Frame, Relation, Value, Window, WindowFunction, sum_range};
use core::cmp::Ordering;

pub(super) fn windowed(window: &Window, input: &Relation, mut rows: Vec<Row>) -> Vec<Row> {
    let schema = input.schema();
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
            let figure = |(_, function): &(String, WindowFunction)| match function {
                WindowFunction::RowNumber | WindowFunction::RowId => Value::Number(i as i128 + 1),
                WindowFunction::Rank => Value::Number(first as i128 + 1),
                WindowFunction::DenseRank => {
                    let rank =
                        1 + part[..=i].windows(2).filter(|two| within(&two[0], &two[1]).is_ne()).count();
                    Value::Number(rank as i128)
                }
                WindowFunction::Extreme { of, greatest, frame } => {
                    let end = if *frame == Frame::Rows { i } else { last };
                    let values = part[..=end].iter().map(|row| value(of, schema, row));
                    let values = values.filter(|value| !value.is_null());
                    let found = if *greatest { values.max() } else { values.min() };
                    found.unwrap_or(Value::Null)
                }
                WindowFunction::RunningSum(e, frame) => {
                    let end = if *frame == Frame::Rows { i } else { last };
                    let of = e.check(schema).expect("it was checked");
                    let seen: Vec<i128> = part[..=end]
                        .iter()
                        .filter_map(|row| match value(e, schema, row) {
                            Value::Number(n) => Some(n),
                            _ => None,
                        })
                        .collect();
                    let looked_at = sum_range(of.range, input.rows()).1;
                    let sum = numbers::sum(seen.iter().copied(), looked_at);
                    sum.filter(|_| !seen.is_empty()).map_or(Value::Null, Value::Number)
                }
                WindowFunction::Held { of, first: is_first, nulls, frame } => {
                    let end = if *frame == Frame::Rows { i } else { last };
                    let mut values = part[..=end].iter().map(|row| value(of, schema, row));
                    let counts = |value: &Value| *nulls || !value.is_null();
                    let found = if *is_first { values.find(counts) } else { values.rfind(counts) };
                    found.unwrap_or(Value::Null)
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
            let figures: Row = window.functions.iter().map(figure).collect();
            out.push([row.clone(), figures].concat());
        }
    }
    out
}
