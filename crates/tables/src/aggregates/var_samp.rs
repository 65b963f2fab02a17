//! The SQL aggregate VAR_SAMP.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, counted_truths},
    var_pop::{in_the_clear, on_shares, over, variance},
};
use crate::{
    algebra::{Arithmetic, Value, whole},
    lower::numbers::number,
};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["var_samp", "variance"],
    arity: 1..=1,
    usage: "VAR_SAMP(number)",
    gives: "as VAR_POP",
    doc: "the same over one less than the number of values; NULL of one value",
    example: "VAR_SAMP(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(&VAR_SAMP),
};

/// The sum of square distances over n − 1, computed as n Σx² − (Σx)² over n (n − 1); NULL for one
/// row.
pub static VAR_SAMP: Figure = Figure {
    name: "VAR_SAMP",
    form: FigureForm::SumsOfMore,
    argument: counted_truths,
    check: |checked| variance(checked, true),
    plain: |values| match values.count() {
        1 => Value::Null,
        n => in_the_clear(values, n * (n - 1)),
    },
    lower: |rows| on_shares(rows, |n| n - number(n, 1), |by| Some(by.equals(number(by, 0)))),
    over: |frame, of| over(frame, of, |rules, count| rules.arithmetic(Arithmetic::Subtract, count, whole(1))),
};
