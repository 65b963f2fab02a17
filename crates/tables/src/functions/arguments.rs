//! Arguments of calls, and the rules by which a query's values get types.

use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Schema, Value, common_type},
    error::types_differ,
};
use core::fmt::Display;
use hushwire_compute::Comparison;
use hushwire_fault::code;

/// The arguments of a call, bound and in order.
pub struct Arguments<'a> {
    /// The function, by the name that the query calls.
    pub name: &'a str,
    /// The arguments.
    pub all: Vec<Expr>,
    /// The rules of the query.
    pub reader: Reader<'a>,
}

impl Arguments<'_> {
    /// The arguments, if there are exactly `N`.
    pub(crate) fn exactly<const N: usize>(&self) -> Result<[Expr; N], Fault> {
        self.all.clone().try_into().map_err(|_| self.wrong_count(N))
    }

    pub(crate) fn wrong_count(&self, expected: impl Display) -> Fault {
        let places: [(_, &dyn Display); 3] =
            [("function", &self.name), ("found", &self.all.len()), ("expected", &expected)];
        Fault::filled(code::ARGUMENTS, &places)
    }

    /// The error for a form that queries do not support, with a replacement.
    pub(crate) fn unsupported(&self, clause: &str, remedy: &str) -> Fault {
        Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)])
    }
}

/// The rules by which a query's values get types. A literal is read as a value of its neighbour's
/// type.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The types of all columns.
    pub schema: &'a Schema,
    /// Parses a text as a value of a type.
    pub read: fn(&str, ColumnType) -> Result<Value, Fault>,
}

impl Reader<'_> {
    /// The type of an expression.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn ty(&self, expr: &Expr) -> Result<ColumnType, Fault> {
        Ok(expr.check(self.schema)?.ty)
    }

    /// The value of a type that a literal's text denotes.
    ///
    /// # Errors
    /// If the text is not such a value. The fault repeats the text, which is part of the query.
    pub fn literal(&self, text: &str, ty: ColumnType) -> Result<Value, Fault> {
        (self.read)(text, ty).map_err(|e| {
            let form = e.field("form").unwrap_or_default();
            let (value, remedy) = (format!("'{text}'"), e.remedy());
            let places: [(_, &dyn Display); 4] =
                [("value", &value), ("type", &ty), ("form", &form), ("remedy", &remedy)];
            Fault::filled(e.code(), &places)
        })
    }

    /// Reads a string as a date, a timestamp or a value of any other type.
    ///
    /// # Errors
    /// If it is not such a value.
    pub fn read_as(&self, expr: Expr, ty: ColumnType) -> Result<Expr, Fault> {
        match &expr {
            Expr::Literal(Value::Null, _) => Ok(Expr::Literal(Value::Null, ty)),
            Expr::Literal(Value::Text(bytes), ColumnType::Varchar(_)) => {
                let text = String::from_utf8_lossy(bytes);
                match ty {
                    // A text that contains a time is read as a timestamp.
                    ColumnType::Date if text.contains(':') => {
                        let ty = ColumnType::Timestamp;
                        Ok(Expr::Literal(self.literal(&text, ty)?, ty))
                    }
                    ColumnType::Date | ColumnType::Timestamp | ColumnType::Boolean => {
                        Ok(Expr::Literal(self.literal(&text, ty)?, ty))
                    }
                    ty if ty.is_numeric() => Ok(Expr::Literal(self.literal(&text, ty)?, ty)),
                    ColumnType::Digest { .. } => {
                        Err(types_differ([ty, ColumnType::Varchar(bytes.len() as u16)], &"a comparison"))
                    }
                    _ => Ok(expr),
                }
            }
            _ => Ok(expr),
        }
    }

    /// Converts an integer to 64 bits.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn wide(&self, expr: Expr) -> Result<Expr, Fault> {
        Ok(match self.ty(&expr)? {
            ColumnType::SmallInt | ColumnType::Integer => match expr {
                Expr::Literal(value, _) => Expr::Literal(value, ColumnType::BigInt),
                expr => expr.cast(ColumnType::BigInt),
            },
            _ => expr,
        })
    }

    /// Arithmetic, on integers in 64 bits, and on decimals with as few digits as literals need.
    ///
    /// # Errors
    /// As [`Expr::check`], for the operands.
    pub fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr) -> Result<Expr, Fault> {
        let (a, b) = self.both(a, b)?;
        let (a, b) = (self.counted(a)?, self.counted(b)?);
        let (ta, tb) = (self.ty(&a)?, self.ty(&b)?);
        let decimal = |ty| matches!(ty, ColumnType::Decimal { .. });
        let grows = matches!(op, Arithmetic::Add | Arithmetic::Subtract | Arithmetic::Multiply);
        if ta.is_integer() && tb.is_integer() && grows {
            return Ok(self.wide(a)?.arithmetic(op, b));
        }
        let a = if decimal(tb) { as_decimal(a) } else { a };
        let b = if decimal(ta) { as_decimal(b) } else { b };
        Ok(a.arithmetic(op, b))
    }

    /// An expression as a truth value: a number is true unless it is 0.
    ///
    /// # Errors
    /// If it is neither a truth value nor a number.
    pub fn condition(&self, of: Expr) -> Result<Expr, Fault> {
        match self.ty(&of)? {
            ColumnType::Boolean => Ok(of),
            ty if ty.is_numeric() => {
                let zero = Expr::Literal(Value::Number(0), ColumnType::Integer);
                self.compared(Comparison::NotEqual, of, zero)
            }
            ty => Err(Fault::filled(code::CONDITION, &[("type", &ty)])),
        }
    }

    /// A truth value as the number 1 or 0; any other value is unchanged.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn counted(&self, of: Expr) -> Result<Expr, Fault> {
        let is_null = matches!(of, Expr::Literal(Value::Null, _));
        let is_truth = self.ty(&of)? == ColumnType::Boolean && !is_null;
        Ok(if is_truth { of.cast(ColumnType::Integer) } else { of })
    }

    /// A comparison, in which string literals are read as values of the other operand's type.
    ///
    /// # Errors
    /// If the operands have no common type.
    pub fn compared(&self, op: Comparison, a: Expr, b: Expr) -> Result<Expr, Fault> {
        let (a, b) = self.both(a, b)?;
        let truths = [&a, &b].map(|e| Ok::<_, Fault>(self.ty(e)? == ColumnType::Boolean));
        let (a, b) = match truths {
            [Ok(true), Ok(false)] | [Ok(false), Ok(true)] => (self.counted(a)?, self.counted(b)?),
            _ => (a, b),
        };
        let (ta, tb) = (self.ty(&a)?, self.ty(&b)?);
        if common_type(ta, tb).is_none() {
            return Err(types_differ([ta, tb], &"a comparison"));
        }
        Ok(a.compare(op, b))
    }

    /// Two operands; a literal is read as a value of the other one's type.
    fn both(&self, a: Expr, b: Expr) -> Result<(Expr, Expr), Fault> {
        let (ta, tb) = (self.ty(&a)?, self.ty(&b)?);
        Ok((self.read_as(a, tb)?, self.read_as(b, ta)?))
    }

    /// Alternatives in their common type; NULLs get that type.
    ///
    /// # Errors
    /// If they have no common type.
    pub fn united(&self, all: Vec<Expr>) -> Result<Vec<Expr>, Fault> {
        let mut ty: Option<ColumnType> = None;
        let literal = |e: &Expr| matches!(e, Expr::Literal(Value::Null | Value::Text(_), _));
        let passes = [false, true];
        for of_literals in passes {
            for expr in all.iter().filter(|e| literal(e) == of_literals) {
                if matches!(expr, Expr::Literal(Value::Null, _)) {
                    continue;
                }
                let next = self.ty(expr)?;
                let dated = matches!(ty, Some(ColumnType::Date | ColumnType::Timestamp));
                ty = match ty {
                    Some(ty) if dated && of_literals => Some(ty),
                    Some(ty) => {
                        Some(common_type(ty, next).ok_or_else(|| types_differ([ty, next], &"one place"))?)
                    }
                    None => Some(next),
                };
            }
        }
        let ty = ty.unwrap_or(ColumnType::Boolean);
        all.into_iter().map(|e| self.read_as(e, ty)).collect()
    }
}

/// An integer literal as a decimal with its own digits, which is narrower than a decimal that holds
/// any integer.
fn as_decimal(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(Value::Number(n), ty) if ty.is_integer() => {
            let precision = n.unsigned_abs().to_string().len().max(1) as u8;
            Expr::Literal(Value::Number(n), ColumnType::Decimal { precision, scale: 0 })
        }
        other => other,
    }
}
