//! Expressions as arithmetic on columns.

use super::{
    cell::{Cell, choose, either, is_number, tensor},
    compare::compared,
    divide::{Divisor, divided},
    numbers::{beyond, mirrored, number, resized, truth, width},
    texts,
};
use crate::{
    algebra::{
        Arithmetic, ColumnType, Expr, ExprType, Quotient, Range, Schema, Value, castable_part, greatest,
        tokens,
    },
    functions::{Operands, Typed},
    plain,
};
use hushwire_compute::{Builder, Comparison, Val};

/// A literal: a single public value.
pub(crate) fn literal<'b>(b: &'b Builder, value: &Value, ty: ColumnType) -> Cell<'b> {
    let range = match value {
        Value::Number(n) => Range { low: *n, high: *n },
        _ if is_number(ty) => Range { low: 0, high: 0 },
        _ => ty.range(),
    };
    let val = b.constant(tensor(ty, range, &[], [value].into_iter()));
    let null = value.is_null().then(|| truth(b, true));
    Cell { val, null, ty, range, id: u32::MAX }
}

/// The columns of the rows for which expressions are computed.
pub(crate) struct Scope<'a, 'b> {
    pub(crate) b: &'b Builder,
    pub(crate) schema: &'a Schema,
    pub(crate) columns: &'a [Cell<'b>],
}

impl<'b> Scope<'_, 'b> {
    /// The value of a checked expression.
    pub(crate) fn value(&self, expr: &Expr) -> Cell<'b> {
        let own = expr.check(self.schema).expect("it was checked");
        if expr.columns().is_empty() {
            return literal(self.b, &plain::value(expr, self.schema, &[]), own.ty);
        }
        let operands: Vec<Cell<'b>> = expr.operands().into_iter().map(|e| self.value(e)).collect();
        let null = operands.iter().fold(None, |null, cell| either(null, cell.null));
        let is = |val: Val<'b>| Cell { val, null, ty: own.ty, range: own.range, id: u32::MAX };
        match expr {
            Expr::Column(at) => self.columns[*at],
            Expr::Literal(value, ty) => literal(self.b, value, *ty),
            Expr::Arithmetic(op, a, b) => {
                let types = [a, b].map(|e| e.check(self.schema).expect("it was checked"));
                self.arithmetic(*op, operands[0], operands[1], types, &is(operands[0].val))
            }
            Expr::Negate(_) => is(-operands[0].sized(own.range)),
            Expr::Compare(comparison, ..) => is(compared(*comparison, operands[0], operands[1])).definite(),
            Expr::And(..) => {
                let [x, y] = [operands[0], operands[1]];
                // NULL unless one is certainly false: both are NULL, or one is NULL and the other
                // is true.
                let unsure = |x: Cell<'b>, y: Cell<'b>| {
                    x.null.map(|null| null & (y.null.map_or(y.val, |n| n | y.val)))
                };
                Cell { null: either(unsure(x, y), unsure(y, x)), ..is(x.val & y.val) }
            }
            Expr::Or(..) => {
                let any = operands[0].val | operands[1].val;
                Cell { null: null.map(|null| null & !any), ..is(any) }
            }
            Expr::Not(_) => is(!operands[0].val).definite(),
            Expr::IsNull(_) => {
                let val = operands[0].null.unwrap_or_else(|| truth(self.b, false));
                Cell { null: None, ..is(val) }
            }
            Expr::Case { branches, otherwise } => {
                let none = || literal(self.b, &Value::Null, own.ty);
                let last = if otherwise.is_some() { operands[operands.len() - 1] } else { none() };
                let pairs = operands.chunks_exact(2).take(branches.len()).rev();
                let chosen = pairs.fold(last.united(own.ty, own.range), |rest, pair| {
                    choose(pair[0].val, pair[1].united(own.ty, own.range), rest)
                });
                Cell { range: own.range, ..chosen }
            }
            Expr::Cast(inner, to) => {
                let of = operands[0];
                let made = of.converted(*to);
                let val = if is_number(*to) { made.sized(own.range) } else { made.val };
                let typed = inner.check(self.schema).expect("it was checked");
                match castable_part(typed, *to) {
                    None => Cell { val, ..is(val) },
                    Some(part) => {
                        let beyond = |by: Comparison, end: i128| of.val.compare(by, number(of.val, end));
                        let low = (part.low > of.range.low).then(|| beyond(Comparison::Less, part.low));
                        let high =
                            (part.high < of.range.high).then(|| beyond(Comparison::Greater, part.high));
                        // The cell may have a narrower range than its type; then no value is out of
                        // range.
                        let none = || of.val.compare(Comparison::NotEqual, of.val);
                        let out = either(low, high).unwrap_or_else(none);
                        Cell {
                            val: self.b.select(out, number(val, 0), val),
                            null: either(null, Some(out)),
                            ..is(val)
                        }
                    }
                }
            }
            Expr::InList(_, list) => {
                let of = operands[0];
                let known = list.iter().filter(|v| !v.is_null() && v.fits(of.ty));
                let equal = |v: &Value| compared(Comparison::Equal, of, literal(self.b, v, of.ty));
                let any = known.map(equal).reduce(|a, b| a | b).unwrap_or_else(|| truth(self.b, false));
                if !list.contains(&Value::Null) {
                    return is(any).definite();
                }
                let any = null.map_or(any, |null| any & !null);
                Cell { null: Some(!any), ..is(any) }
            }
            Expr::Like { pattern, escape, .. } => {
                let tokens = tokens(pattern, *escape).expect("it was checked");
                is(texts::like(operands[0], &tokens)).definite()
            }
            Expr::Call(call) => {
                let types = call.operands.iter().map(|e| e.check(self.schema)).collect::<Result<Vec<_>, _>>();
                let types = types.expect("it was checked");
                let operands_of = Operands { types: &types, public: &call.public };
                let made = (call.primitive.lower)(&Typed { operands: operands_of, own }, &operands);
                let of_operands = null.filter(|_| call.primitive.strict);
                Cell { null: either(of_operands, made.null), ..made }
            }
        }
    }

    /// The value in the range from the check, which determines whether it may be too large.
    pub(crate) fn typed(&self, expr: &Expr) -> Cell<'b> {
        let (cell, own) = (self.value(expr), expr.check(self.schema).expect("it was checked"));
        if is_number(own.ty) { cell.with(cell.sized(own.range), own.ty, own.range) } else { cell }
    }

    fn arithmetic(
        &self,
        op: Arithmetic,
        x: Cell<'b>,
        y: Cell<'b>,
        [a, b]: [ExprType; 2],
        to: &Cell<'b>,
    ) -> Cell<'b> {
        let numbers = to.ty.is_numeric() && x.ty.is_numeric() && y.ty.is_numeric();
        let same = |cell: Cell<'b>| match (cell.ty, to.ty) {
            _ if numbers => cell.converted(to.ty),
            (ColumnType::Date, ColumnType::Interval | ColumnType::Timestamp) => {
                cell.converted(ColumnType::Timestamp)
            }
            _ => cell,
        };
        let done = |val: Val<'b>| to.with(resized(val, width(to.range)), to.ty, to.range);
        match (op, to.ty) {
            (Arithmetic::Add, _) => done(same(x).sized(to.range) + same(y).sized(to.range)),
            (Arithmetic::Subtract, _) => done(same(x).sized(to.range) - same(y).sized(to.range)),
            (Arithmetic::Multiply, ColumnType::Double { frac }) => {
                done(scaled_product(same(x), same(y), frac, to.range))
            }
            (Arithmetic::Multiply, _) => done(x.sized(to.range) * y.sized(to.range)),
            (Arithmetic::Divide | Arithmetic::DivideWhole, _) => {
                let by = Quotient::new(to.ty, a, b).expect("it was checked");
                let [x, y] = [x, y].map(|c| if let ColumnType::Double { .. } = to.ty { same(c) } else { c });
                self.quotient(x, y, &by, to)
            }
            (Arithmetic::Remainder, _) => {
                let (x, y) = (same(x), same(y));
                let found = divided(x.val, x.range, Divisor::Column(y.val, y.range));
                Cell { null: either(to.null, self.is_zero(y)), ..done(found.rest) }
            }
        }
    }

    /// Whether a divisor is 0, if that is possible.
    fn is_zero(&self, y: Cell<'b>) -> Option<Val<'b>> {
        (y.range.low <= 0 && y.range.high >= 0).then(|| y.val.equals(number(y.val, 0)))
    }

    /// The quotient `x / y` by long division; NULL if y is 0 or the quotient is too large.
    fn quotient(&self, x: Cell<'b>, y: Cell<'b>, by: &Quotient, to: &Cell<'b>) -> Cell<'b> {
        let times = |val: Val<'b>, range: Range, times: i128| {
            let range =
                Range { low: range.low.saturating_mul(times), high: range.high.saturating_mul(times) };
            let val = resized(val, width(range));
            (if times == 1 { val } else { val * number(val, times) }, range)
        };
        let divided = |(val, range): (Val<'b>, Range)| divided(val, range, Divisor::Column(y.val, y.range));
        let found = divided(times(x.val, x.range, by.first));
        let large = by.most.map(|most| beyond(found.whole, most));
        let bits = width(to.range);
        let rests = mirrored(y.range);
        let (mut whole, mut rest) = (resized(found.whole, bits), found.rest);
        for more in &by.more {
            let next = divided(times(rest, rests, *more));
            whole = whole * number(whole, *more) + resized(next.whole, bits);
            rest = next.rest;
        }
        let null = [to.null, self.is_zero(y), large].into_iter().fold(None, either);
        Cell { null, ..to.with(whole, to.ty, to.range) }
    }
}

/// A product in steps of 2^-frac, as in [`plain::numbers::product`].
fn scaled_product<'b>(x: Cell<'b>, y: Cell<'b>, frac: u8, to: Range) -> Val<'b> {
    if let Some(whole) = greatest(x.range).checked_mul(greatest(y.range)) {
        // A product of small factors may be below one step, but needs enough bits to be shifted.
        let whole = mirrored(Range { low: 0, high: whole.max(1 << frac) });
        return (x.sized(whole) * y.sized(whole)) >> u16::from(frac);
    }
    // The factor to split is the one whose lower bits times the other factor fit in 128 bits.
    let (x, y) = if greatest(x.range).checked_mul(1 << frac).is_some() { (x, y) } else { (y, x) };
    let upper = resized(y.val >> u16::from(frac), width(to));
    let cut = resized(y.val, 128);
    let lower = cut - ((cut >> u16::from(frac)) * number(cut, 1 << frac));
    let x_wide = resized(x.val, 128);
    resized((x_wide * lower) >> u16::from(frac), width(to)) + x.sized(to) * upper
}

impl Cell<'_> {
    /// A truth value, with false in place of NULL.
    fn definite(self) -> Self {
        match self.null {
            Some(null) => Cell { val: self.val & !null, ..self },
            None => self,
        }
    }
}
