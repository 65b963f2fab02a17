//! The SQL aggregate SUM.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, counted_truths},
};
use crate::{
    algebra::{ExprType, Value, sum_range, sum_type},
    lower::cell::either,
    plain::numbers,
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["sum"],
    arity: 1..=1,
    usage: "SUM(number)",
    gives: "BIGINT; DECIMAL with ten digits more; DOUBLE",
    doc: "the sum; a truth value counts as 1 or 0",
    example: "SUM(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(&SUM),
};

/// The sum: BIGINT for integers; ten more digits for decimals. It is NULL from about 8.5 · 10^37
/// steps of the last digit on.
pub static SUM: Figure = Figure {
    name: "SUM",
    form: FigureForm::Sums,
    argument: counted_truths,
    check: |checked| {
        checked.number()?;
        let (range, leaves) = sum_range(checked.of.range, checked.rows);
        Ok(ExprType { ty: sum_type(checked.of.ty), nullable: checked.nullable || leaves, range })
    },
    plain: |values| {
        let looked_at = sum_range(values.of.range, values.most).1;
        numbers::sum(values.numbers(), looked_at).map_or(Value::Null, Value::Number)
    },
    lower: |rows| {
        let null = rows.none();
        let (sum, leaves) = rows.sum(1);
        rows.cell(sum, either(null, leaves))
    },
    over: |frame, of| frame.sum(of),
};
