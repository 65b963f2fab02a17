//! Figures of a group's rows.

use super::{
    Row,
    expr::value,
    numbers::{mean, sum},
};
use crate::algebra::{
    Aggregate, ColumnType, Function, Schema, Value, Variance, average_mean, sum_range, variance_of,
};

/// The figure of a group's rows; all groups together have at most `all` rows.
pub(super) fn figure(aggregate: &Aggregate, schema: &Schema, rows: &[Row], all: u64) -> Value {
    let count = |n: usize| Value::Number(n as i128);
    let Some(argument) = &aggregate.argument else { return count(rows.len()) };
    let of = argument.check(schema).expect("it was checked");
    let mut values: Vec<Value> = rows.iter().map(|row| value(argument, schema, row)).collect();
    values.retain(|v| !v.is_null());
    values.sort();
    if aggregate.distinct {
        values.dedup();
    }
    let numbers = || {
        values.iter().map(|v| match v {
            Value::Number(n) => *n,
            _ => 0,
        })
    };
    let n = values.len() as i128;
    let variance = |by: i128| {
        let variance = variance_of(of, all).expect("it was checked");
        varied(numbers(), by, &variance).map(|made| match of.ty {
            ColumnType::Double { frac } => made >> frac,
            _ => made,
        })
    };
    let made = match aggregate.function {
        Function::CountRows | Function::Count => return count(values.len()),
        _ if values.is_empty() => None,
        Function::Min => return values[0].clone(),
        Function::Max => return values[values.len() - 1].clone(),
        Function::Sum => sum(numbers(), sum_range(of.range, all).1),
        Function::Average => {
            let (digits, looked_at) = average_mean(of, all);
            sum(numbers(), looked_at).and_then(|sum| mean(sum, n, &digits))
        }
        Function::VariancePopulation => variance(n * n),
        Function::VarianceSample if n == 1 => None,
        Function::VarianceSample => variance(n * (n - 1)),
    };
    made.map_or(Value::Null, Value::Number)
}

/// (n Σx² − (Σx)²) / `by`; `None` where it is NULL for its size.
fn varied(numbers: impl Iterator<Item = i128> + Clone, by: i128, of: &Variance) -> Option<i128> {
    let looked_at = of.most_squares.is_some();
    let squares = sum(numbers.clone().map(|x| x * x), looked_at)?;
    if of.most_squares.is_some_and(|most| squares > most) {
        return None;
    }
    let (n, sum) = numbers.fold((0, 0), |(n, sum), x| (n + 1, sum + x));
    mean(n * squares - sum * sum, by, &of.mean)
}
