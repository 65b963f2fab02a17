//! Figures of a group's rows.

use super::{
    Row,
    expr::{value, wrapped},
};
use crate::algebra::{Aggregate, ColumnType, Function, Schema, Value, average_type, sum_type, variance_type};

pub(super) fn figure(aggregate: &Aggregate, schema: &Schema, rows: &[Row]) -> Value {
    let count = |n: usize| Value::Number(n as i128);
    let Some(argument) = &aggregate.argument else { return count(rows.len()) };
    let ty = argument.check(schema).expect("it was checked").ty;
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
    match aggregate.function {
        Function::CountRows | Function::Count => count(values.len()),
        _ if values.is_empty() => Value::Null,
        Function::Min => values[0].clone(),
        Function::Max => values[values.len() - 1].clone(),
        Function::Sum => {
            let to = sum_type(ty);
            Value::Number(numbers().fold(0, |sum, x| wrapped(sum.wrapping_add(x), to)))
        }
        Function::Average => {
            let to = average_type(ty);
            let sum = numbers().fold(0i128, i128::wrapping_add);
            let sum = if to == ty { wrapped(sum, sum_type(ty)) } else { sum.wrapping_mul(digits(ty, to)) };
            Value::Number(wrapped(sum / n, to))
        }
        Function::VariancePopulation => variance(numbers(), n * n, ty),
        Function::VarianceSample if n == 1 => Value::Null,
        Function::VarianceSample => variance(numbers(), n * (n - 1), ty),
    }
}

/// The power of ten that a mean or a variance has more.
fn digits(of: ColumnType, to: ColumnType) -> i128 {
    10i128.pow((to.scale() - of.scale()).into())
}

fn variance(numbers: impl Iterator<Item = i128>, by: i128, ty: ColumnType) -> Value {
    let to = variance_type(ty);
    let (mut n, mut sum, mut squares) = (0i128, 0i128, 0i128);
    for x in numbers {
        (n, sum, squares) = (n + 1, sum.wrapping_add(x), squares.wrapping_add(x.wrapping_mul(x)));
    }
    let size = n.wrapping_mul(squares).wrapping_sub(sum.wrapping_mul(sum));
    let made = match ty {
        ColumnType::Double { frac } => size.wrapping_div(by) >> frac,
        _ => size.wrapping_mul(10i128.pow((to.scale() - 2 * ty.scale()).into())).wrapping_div(by),
    };
    Value::Number(wrapped(made, to))
}
