//! The SQL aggregate AVG.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, as_double},
};
use crate::{
    algebra::{Arithmetic, ColumnType, Expr, ExprType, MAX_DIGITS, Mean, Value, counted, sum_range},
    functions::coalesce,
    lower::{cell::either, divide::mean},
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

/// The mean, rounded towards 0. For integers and decimals it has four more fractional digits.
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
        let (mean, leaves) = digits(checked.of, checked.rows);
        let nullable = checked.nullable || leaves || mean.most.is_some();
        Ok(ExprType { ty: mean_type(checked.of.ty), nullable, range: mean.range })
    },
    plain: |values| {
        let (digits, looked_at) = digits(values.of, values.most);
        let sum = numbers::sum(values.numbers(), looked_at);
        let mean = sum.and_then(|sum| numbers::mean(sum, values.count(), &digits));
        mean.map_or(Value::Null, Value::Number)
    },
    lower: |rows| {
        let null = rows.none();
        let (digits, _) = digits(rows.argument_type(), rows.most());
        let (sum, left) = rows.sum(digits.times);
        let of_sum = sum_range(rows.argument().range, rows.most()).0;
        let (mean, leaves) = mean((sum, of_sum), (rows.count(), rows.counts()), &digits);
        rows.cell(mean, [null, left, leaves].into_iter().fold(None, either))
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

/// The digits of the mean of `rows` numbers, and whether their sum may be NULL because of its size.
fn digits(of: ExprType, rows: u64) -> (Mean, bool) {
    let digits = mean_type(of.ty).scale() - of.ty.scale();
    (Mean::new(of.range, digits), sum_range(of.range, rows).1)
}
