//! The SQL aggregate AVG.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, as_double},
};
use crate::{
    algebra::{Arithmetic, ColumnType, Expr, ExprType, MAX_DIGITS, Mean, Value, counted, sum_range},
    functions::coalesce,
    lower::{cell::either, divide},
    plain::numbers,
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["avg", "mean"],
    arity: 1..=1,
    usage: "AVG(number)",
    gives: "DECIMAL with four digits more than the number; a DOUBLE stays one",
    doc: "the mean, rounded towards 0",
    example: "AVG(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(&AVG),
};

/// The mean, rounded towards 0. The mean of integers or decimals has four more fractional digits
/// than these, if the type has room.
pub static AVG: Figure = Figure {
    name: "AVG",
    form: FigureForm::Sums,
    argument: |reader, of| {
        // The mean has as many fractional bits as a quotient.
        let of = reader.counted(of)?;
        let narrow = matches!(reader.ty(&of)?, ColumnType::Double { frac: ..32 });
        Ok(if narrow { as_double(of) } else { of })
    },
    check: |checked| {
        checked.number()?;
        let (digits, sum_leaves) = digits_of(checked.of, checked.rows);
        let nullable = checked.nullable || sum_leaves || digits.most.is_some();
        Ok(ExprType { ty: mean_type(checked.of.ty), nullable, range: digits.range })
    },
    plain: |values| {
        let (digits, sum_leaves) = digits_of(values.of, values.most);
        let sum = numbers::sum(values.numbers(), sum_leaves);
        let mean = sum.and_then(|sum| numbers::mean(sum, values.count(), &digits));
        mean.map_or(Value::Null, Value::Number)
    },
    lower: |rows| {
        let null = rows.none();
        let (digits, _) = digits_of(rows.argument_type(), rows.most());
        let (sum, sum_left) = rows.sum(digits.times);
        let range = sum_range(rows.argument().range, rows.most()).0;
        let (mean, mean_left) = divide::mean((sum, range), (rows.count(), rows.counts()), &digits);
        rows.cell(mean, [null, sum_left, mean_left].into_iter().fold(None, either))
    },
    over: |frame, of| {
        let (sum, count) = (frame.sum(of)?, frame.sum(&counted(of))?);
        // Four more digits, as for groups. A sum of more than 19 digits stays a number; a CAST
        // would make it NULL.
        let sum = if frame.rules().ty(&sum)?.is_integer() {
            let digits = ColumnType::Decimal { precision: 19, scale: 0 };
            coalesce(vec![sum, Expr::Literal(Value::Null, digits)])
        } else {
            sum
        };
        Ok(sum.arithmetic(Arithmetic::Divide, count))
    },
};

/// The type of a mean.
fn mean_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Decimal { precision, scale } => ColumnType::Decimal {
            precision: (precision + 4).min(MAX_DIGITS),
            scale: (scale + 4).min(MAX_DIGITS),
        },
        ColumnType::Double { .. } => of,
        _ => ColumnType::Decimal { precision: 23, scale: 4 },
    }
}

/// The digits of the mean of up to `rows` numbers, and whether their sum may be NULL because of its
/// size.
fn digits_of(of: ExprType, rows: u64) -> (Mean, bool) {
    let more = mean_type(of.ty).scale() - of.ty.scale();
    (Mean::new(of.range, more), sum_range(of.range, rows).1)
}
