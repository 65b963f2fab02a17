//! The SQL aggregate VAR_POP.

use super::{
    AggregateDef, AggregateMeaning, Figure, OverFrame,
    figure::{Checked, FigureForm, FigureRows, FigureValues, counted_truths},
};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, ExprType, MAX_DIGITS, NUMBERS, Range, Value, Variance, counted},
    error::Refused,
    functions::Reader,
    lower::{
        cell::{Cell, either},
        divide::mean,
        numbers::{number, resized},
    },
    plain::numbers,
};
use hushwire_compute::{Comparison, Val};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["var_pop"],
    arity: 1..=1,
    usage: "VAR_POP(number)",
    gives: "DECIMAL with four digits more than a square has; DOUBLE",
    doc: "the mean square distance from the mean",
    example: "VAR_POP(n)",
    distinct: true,
    meaning: AggregateMeaning::Native(&VAR_POP),
};

/// The mean square distance from the mean, rounded towards 0, (n Σx² − (Σx)²) / n², in 128 bits.
/// For integers and decimals it has four more fractional digits than a square has. It is NULL if
/// 128 bits are not enough.
pub static VAR_POP: Figure = Figure {
    name: "VAR_POP",
    form: FigureForm::SumsOfMore,
    argument: counted_truths,
    check: |checked| variance(checked, checked.nullable),
    plain: |values| {
        let n = values.count();
        in_the_clear(values, n * n)
    },
    lower: |rows| {
        let null = rows.none();
        on_shares(rows, |n| n, |_| null)
    },
    over: |frame, of| over(frame, of, |_, count| Ok(count)),
};

/// The digits of the variance of `rows` numbers; `None` if 128 bits do not suffice to compute it.
fn digits(of: ExprType, rows: u64) -> Option<Variance> {
    let ColumnType::Double { frac } = of.ty else {
        let digits = variance_type(of.ty).scale().checked_sub(2 * of.ty.scale())?;
        return Variance::new(of.range, rows, digits);
    };
    let mut made = Variance::new(of.range, rows, 0)?;
    made.mean.range.high >>= frac;
    Some(made)
}

fn variance_type(of: ColumnType) -> ColumnType {
    match of {
        ColumnType::Double { .. } => of,
        _ => ColumnType::Decimal { precision: MAX_DIGITS, scale: (2 * of.scale() + 4).min(MAX_DIGITS) },
    }
}

/// The type of a variance, which may also be NULL because of its size.
pub(super) fn variance(checked: &Checked, nullable: bool) -> Result<ExprType, Refused> {
    checked.number()?;
    let Some(variance) = digits(checked.of, checked.rows) else {
        return Err(Refused::digits(&[checked.of], "squares"));
    };
    let nullable = nullable || variance.may_leave();
    Ok(ExprType { ty: variance_type(checked.of.ty), nullable, range: variance.mean.range })
}

/// Computes (n Σx² − (Σx)²) / `by`; NULL if that is too large.
pub(super) fn in_the_clear(values: &FigureValues<'_>, by: i128) -> Value {
    let of = digits(values.of, values.most).expect("it was checked");
    let squares = numbers::sum(values.numbers().map(|x| x * x), of.most_squares.is_some());
    let squares = squares.filter(|squares| of.most_squares.is_none_or(|most| *squares <= most));
    let made = squares.and_then(|squares| {
        let (n, sum) = values.numbers().fold((0, 0), |(n, sum), x| (n + 1, sum + x));
        numbers::mean(n * squares - sum * sum, by, &of.mean)
    });
    let shifted = |made| match values.of.ty {
        ColumnType::Double { frac } => made >> frac,
        _ => made,
    };
    made.map_or(Value::Null, |made| Value::Number(shifted(made)))
}

/// Computes (n Σx² − (Σx)²) / (n m), where m is `other` of n. `null` flags the results that are
/// NULL, given n m.
pub(super) fn on_shares<'b>(
    rows: &dyn FigureRows<'b>,
    other: impl FnOnce(Val<'b>) -> Val<'b>,
    null: impl FnOnce(Val<'b>) -> Option<Val<'b>>,
) -> Cell<'b> {
    let of = digits(rows.argument_type(), rows.most()).expect("it was checked");
    let (x, n) = (rows.chosen(128), resized(rows.count(), 128));
    let square = |bits: u8| resized(x * x, bits);
    let (squares, left) = rows.sum_of(&square, of.squares, 1);
    let squares = resized(squares, 128);
    let larger = |most| squares.compare(Comparison::Greater, number(squares, most));
    let larger = of.most_squares.map(larger);
    let sum = rows.wrapping_sum(x);
    let other = other(n);
    let (size, by) = (n * squares - sum * sum, n * other);
    let most = rows.counts().high.saturating_mul(rows.counts().high);
    let (made, leaves) = mean((size, NUMBERS), (by, Range { low: 0, high: most }), &of.mean);
    let made = match rows.argument().ty {
        ColumnType::Double { frac } => resized(made, 128) >> u16::from(frac),
        _ => made,
    };
    rows.cell(made, [null(by), left, larger, leaves].into_iter().fold(None, either))
}

/// The variance over a frame of a window.
pub(super) fn over(
    frame: &mut dyn OverFrame,
    of: &Expr,
    other: impl FnOnce(&Reader<'_>, Expr) -> Result<Expr, Fault>,
) -> Result<Expr, Fault> {
    use Arithmetic::{Divide, Multiply, Subtract};
    let square = frame.rules().arithmetic(Multiply, of.clone(), of.clone())?;
    let (sum, squares, count) = (frame.sum(of)?, frame.sum(&square)?, frame.sum(&counted(of))?);
    let rules = frame.rules();
    let other = other(&rules, count.clone())?;
    let all = rules.arithmetic(Multiply, count.clone(), squares)?;
    let size = rules.arithmetic(Subtract, all, rules.arithmetic(Multiply, sum.clone(), sum)?)?;
    let by = rules.arithmetic(Multiply, count, other)?;
    rules.arithmetic(Divide, size, by)
}
