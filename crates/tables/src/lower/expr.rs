//! Expressions as arithmetic on columns.

use super::{
    cell::{Cell, both, either, is_number, number, resized, tensor, truth, width},
    dates,
    divide::{Divisor, divided},
    rows::LOST,
    texts,
};
use crate::{
    algebra::{Arithmetic, ColumnType, Expr, Range, Schema, Value, castable_part, common_type, held, tokens},
    plain,
};
use hushwire_compute::{Builder, Comparison, Scalar, Val};

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

/// The columns of rows whose expressions are computed.
pub(crate) struct Scope<'a, 'b> {
    pub(crate) b: &'b Builder,
    pub(crate) schema: &'a Schema,
    pub(crate) columns: &'a [Cell<'b>],
}

impl<'b> Scope<'_, 'b> {
    /// The value of an expression that was checked against the schema.
    pub(crate) fn value(&self, expr: &Expr) -> Cell<'b> {
        let own = expr.check(self.schema).expect("it was checked");
        if expr.columns().is_empty() {
            return literal(self.b, &plain::value(expr, self.schema, &[]), own.ty);
        }
        let operands: Vec<Cell<'b>> = match expr {
            Expr::Column(at) => return self.columns[*at],
            _ => expr.operands().into_iter().map(|e| self.value(e)).collect(),
        };
        let null = operands.iter().fold(None, |null, cell| either(null, cell.null));
        let is = |val: Val<'b>| Cell { val, null, ty: own.ty, range: own.range, id: u32::MAX };
        match expr {
            Expr::Column(_) | Expr::Literal(..) => unreachable!("it was answered before"),
            Expr::Arithmetic(op, ..) => self.arithmetic(*op, operands[0], operands[1], &is(operands[0].val)),
            Expr::Negate(_) => is(-operands[0].sized(own.range)),
            Expr::Compare(comparison, ..) => {
                is(self.compared(*comparison, operands[0], operands[1])).definite()
            }
            Expr::And(..) => {
                let [x, y] = [operands[0], operands[1]];
                // NULL unless one is false for sure: both NULL, or one NULL beside a true one.
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
                let chosen = pairs.fold(self.united(last, own.ty, own.range), |rest, pair| {
                    self.choose(pair[0].val, self.united(pair[1], own.ty, own.range), rest)
                });
                Cell { range: own.range, ..chosen }
            }
            Expr::Coalesce(_) => {
                let mut all = operands.into_iter().rev().map(|cell| self.united(cell, own.ty, own.range));
                let last = all.next().expect("it has operands");
                all.fold(last, |rest, cell| match cell.null {
                    Some(null) => {
                        let made = self.choose(null, rest, Cell { null: None, ..cell });
                        Cell { null: both(Some(null), rest.null).filter(|_| rest.null.is_some()), ..made }
                    }
                    None => cell,
                })
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
                        // The cell may know a narrower range than its type says; then none is beyond.
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
                let equal = |v: &Value| self.compared(Comparison::Equal, of, literal(self.b, v, of.ty));
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
            Expr::Substring { from, .. } => {
                let (ColumnType::Varchar(bytes), ColumnType::Varchar(taken)) = (operands[0].ty, own.ty)
                else {
                    unreachable!("it was checked");
                };
                let end = 8 * (bytes - (from - 1));
                is(operands[0].val.part(end - 8 * taken, end))
            }
            Expr::Extract(part, _) => {
                let of = operands[0].converted(ColumnType::Date);
                is(dates::part(*part, of, own.range))
            }
        }
    }

    /// A value of the type and width of others that it is chosen from.
    pub(crate) fn united(&self, cell: Cell<'b>, ty: ColumnType, range: Range) -> Cell<'b> {
        let made = cell.converted(ty);
        let val = if is_number(ty) { made.sized(range) } else { made.val };
        made.with(val, ty, range)
    }

    /// One of two values, which is no longer the column that either of them was.
    fn choose(&self, condition: Val<'b>, yes: Cell<'b>, no: Cell<'b>) -> Cell<'b> {
        let flag = |null: Option<Val<'b>>| null.unwrap_or_else(|| truth(self.b, false));
        let null = (yes.null.is_some() || no.null.is_some())
            .then(|| self.b.select(condition, flag(yes.null), flag(no.null)));
        Cell { val: self.b.select(condition, yes.val, no.val), null, id: LOST, ..yes }
    }

    /// Whether a comparison holds, of what is not NULL.
    pub(crate) fn compared(&self, comparison: Comparison, a: Cell<'b>, b: Cell<'b>) -> Val<'b> {
        let ty = common_type(a.ty, b.ty).expect("it was checked");
        let [a, b] = [a, b].map(|cell| cell.converted(ty));
        if is_number(ty) {
            let bits = width(a.range).max(width(b.range));
            return resized(a.val, bits).compare(comparison, resized(b.val, bits));
        }
        match (ty, comparison) {
            (_, Comparison::Equal | Comparison::NotEqual) => a.val.compare(comparison, b.val),
            (ColumnType::Boolean, _) => {
                let [x, y] = [a.val, b.val].map(|v| v.cast(Scalar::unsigned(1)));
                x.compare(comparison, y)
            }
            _ => texts::compared(comparison, a.val, b.val),
        }
    }

    fn arithmetic(&self, op: Arithmetic, x: Cell<'b>, y: Cell<'b>, to: &Cell<'b>) -> Cell<'b> {
        let numbers = to.ty.is_numeric() && x.ty.is_numeric() && y.ty.is_numeric();
        let same = |cell: Cell<'b>| match (cell.ty, to.ty) {
            _ if numbers => cell.converted(to.ty),
            (ColumnType::Date, ColumnType::BigInt) => cell.converted(ColumnType::Timestamp),
            _ => cell,
        };
        let done = |val: Val<'b>| to.with(resized(val, width(to.range)), to.ty, to.range);
        match (op, to.ty) {
            (Arithmetic::Add, _) => done(same(x).sized(to.range) + same(y).sized(to.range)),
            (Arithmetic::Subtract, _) => done(same(x).sized(to.range) - same(y).sized(to.range)),
            (Arithmetic::Multiply, ColumnType::Double { frac }) => {
                let wide = Range::of_bits(128);
                done((same(x).sized(wide) * same(y).sized(wide)) >> u16::from(frac))
            }
            (Arithmetic::Multiply, _) => done(x.sized(to.range) * y.sized(to.range)),
            (Arithmetic::Divide, ColumnType::Double { frac }) => {
                let (x, y) = (same(x), same(y));
                self.divided(Arithmetic::Divide, x, 1 << frac, y, to)
            }
            (Arithmetic::Divide, ColumnType::Decimal { .. }) => {
                self.divided(op, x, 10i128.pow(u32::from(y.ty.scale()) + 4), y, to)
            }
            (Arithmetic::Divide, _) => self.divided(op, x, 1, y, to),
            (Arithmetic::Remainder, _) => self.divided(op, same(x), 1, same(y), to),
        }
    }

    /// `x times / y` or its remainder, NULL where y is 0.
    fn divided(&self, op: Arithmetic, x: Cell<'b>, times: i128, y: Cell<'b>, to: &Cell<'b>) -> Cell<'b> {
        let end = |n: i128| n.checked_mul(times);
        let range = end(x.range.low).zip(end(x.range.high)).map(|(low, high)| Range { low, high });
        let range = range.unwrap_or(Range::of_bits(128));
        let dividend = resized(x.val, width(range));
        let dividend = if times == 1 { dividend } else { dividend * number(dividend, times) };
        let found = divided(dividend, range, Divisor::Column(y.val, y.range));
        let made = if op == Arithmetic::Divide { found.whole } else { found.rest };
        let divisor = y.val;
        let null = if y.range.low <= 0 && y.range.high >= 0 {
            either(to.null, Some(divisor.equals(number(divisor, 0))))
        } else {
            to.null
        };
        let range = held(to.ty);
        Cell { null, ..to.with(resized(made, width(range)), to.ty, range) }
    }
}

impl Cell<'_> {
    /// A truth value that is false where it is NULL.
    fn definite(self) -> Self {
        match self.null {
            Some(null) => Cell { val: self.val & !null, ..self },
            None => self,
        }
    }
}
