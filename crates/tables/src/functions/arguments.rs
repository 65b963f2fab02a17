//! Arguments of calls, and the rules by which a query's values get types.

use crate::{
    TableError,
    algebra::{Arithmetic, ColumnType, Expr, Schema, Value, castable, common_type},
};
use hushwire_compute::Comparison;

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
    pub(crate) fn exactly<const N: usize>(&self) -> Result<[Expr; N], TableError> {
        self.all.clone().try_into().map_err(|_| self.wrong_count())
    }

    pub(crate) fn wrong_count(&self) -> TableError {
        let cause = format!("{} with {} arguments", self.name, self.all.len());
        TableError::ty(cause, "give it those that it takes")
    }

    /// The error of a form that queries do not support.
    pub(crate) fn unsupported(&self, clause: &str) -> TableError {
        TableError::ty(format!("{clause} is not supported"), "write the query without it")
    }
}

/// The rules by which a query's values get types. A literal is read as a value of its neighbour's
/// type.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The types of all columns.
    pub schema: &'a Schema,
    /// Parses a text as a value of a type.
    pub read: fn(&str, ColumnType) -> Result<Value, TableError>,
}

impl Reader<'_> {
    /// The type of an expression.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn ty(&self, expr: &Expr) -> Result<ColumnType, TableError> {
        Ok(expr.check(self.schema)?.ty)
    }

    /// Reads a string literal as a date, a timestamp or a value of another type.
    ///
    /// # Errors
    /// It is not such a value.
    pub fn read_as(&self, expr: Expr, ty: ColumnType) -> Result<Expr, TableError> {
        match &expr {
            Expr::Literal(Value::Null, _) => Ok(Expr::Literal(Value::Null, ty)),
            Expr::Literal(Value::Text(bytes), ColumnType::Varchar(_)) => {
                let text = String::from_utf8_lossy(bytes);
                match ty {
                    ColumnType::Date | ColumnType::Timestamp => match (self.read)(&text, ty) {
                        Ok(value) => Ok(Expr::Literal(value, ty)),
                        Err(TableError::Type { cause, remedy }) => {
                            let plain = cause == format!("it is no {ty}");
                            let more = if plain { String::new() } else { format!(": {cause}") };
                            Err(TableError::ty(format!("'{text}' is no {ty}{more}"), remedy))
                        }
                        Err(other) => Err(other),
                    },
                    ColumnType::Digest { .. } => Err(TableError::ty(
                        "a column that holds digests is compared with a string",
                        "declare the column as VARCHAR(n): only its owners can make digests",
                    )),
                    _ => Ok(expr),
                }
            }
            _ => Ok(expr),
        }
    }

    /// An integer in 64 bits.
    ///
    /// # Errors
    /// As [`Expr::check`].
    pub fn wide(&self, expr: Expr) -> Result<Expr, TableError> {
        Ok(match self.ty(&expr)? {
            ColumnType::SmallInt | ColumnType::Integer => match expr {
                Expr::Literal(value, _) => Expr::Literal(value, ColumnType::BigInt),
                expr => expr.cast(ColumnType::BigInt),
            },
            _ => expr,
        })
    }

    /// Arithmetic: on integers in 64 bits, on decimals with the fewest digits that literals need.
    ///
    /// # Errors
    /// As [`Expr::check`], for the operands.
    pub fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr) -> Result<Expr, TableError> {
        let (a, b) = self.both(a, b)?;
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

    /// A comparison, in which string literals are read as values of the other operand's type.
    ///
    /// # Errors
    /// The operands have no common type.
    pub fn compared(&self, op: Comparison, a: Expr, b: Expr) -> Result<Expr, TableError> {
        let (a, b) = self.both(a, b)?;
        let (ta, tb) = (self.ty(&a)?, self.ty(&b)?);
        if common_type(ta, tb).is_none() {
            return Err(TableError::ty(format!("{ta} is compared with {tb}"), together([ta, tb])));
        }
        Ok(a.compare(op, b))
    }

    /// Two operands; a literal is read as a value of the other's type.
    fn both(&self, a: Expr, b: Expr) -> Result<(Expr, Expr), TableError> {
        let (ta, tb) = (self.ty(&a)?, self.ty(&b)?);
        Ok((self.read_as(a, tb)?, self.read_as(b, ta)?))
    }

    /// Alternatives in their common type; NULLs become values of it.
    ///
    /// # Errors
    /// They have no common type.
    pub fn united(&self, all: Vec<Expr>) -> Result<Vec<Expr>, TableError> {
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
                    Some(ty) => Some(common_type(ty, next).ok_or_else(|| {
                        let cause = format!("values of {ty} and of {next} in one place");
                        TableError::ty(cause, together([ty, next]))
                    })?),
                    None => Some(next),
                };
            }
        }
        let ty = ty.unwrap_or(ColumnType::Boolean);
        all.into_iter().map(|e| self.read_as(e, ty)).collect()
    }
}

/// An integer literal as a decimal with its own digits, which is narrower than the decimal of any
/// integer.
fn as_decimal(expr: Expr) -> Expr {
    match expr {
        Expr::Literal(Value::Number(n), ty) if ty.is_integer() => {
            let precision = n.unsigned_abs().to_string().len().max(1) as u8;
            Expr::Literal(Value::Number(n), ColumnType::Decimal { precision, scale: 0 })
        }
        other => other,
    }
}

/// The remedy for values of two types without a common one.
#[must_use]
pub fn together(types: [ColumnType; 2]) -> &'static str {
    let [a, b] = types;
    if castable(a, b) || castable(b, a) {
        "cast one of them"
    } else if types.iter().any(|ty| matches!(ty, ColumnType::Digest { .. })) {
        "declare the column as VARCHAR(n): of a digest one knows whether it equals another, and not its string"
    } else {
        "choose values of one kind; none of the two types can be cast to the other"
    }
}
