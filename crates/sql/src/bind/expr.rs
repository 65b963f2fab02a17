//! Binds expressions: resolves names to columns and unifies types.

use super::{
    Binder, Env,
    literal::{interval, literal, moved, typed},
    subquery::Subquery,
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported, widths},
    logical::{Id, OrderKey, truth},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Aggregate, Arithmetic, ColumnType, Expr, Value, WindowFunction},
    functions::{Reader, coalesce},
};
use sqlparser::ast::{self, BinaryOperator as B, UnaryOperator as U};

/// A window's order and its functions.
pub(super) struct Over {
    pub(super) partition: Vec<Expr>,
    pub(super) order: Vec<(Expr, OrderKey)>,
    pub(super) calls: Vec<(Id, WindowFunction)>,
}

/// The calls in an expression that stand for columns which other operators make.
pub(super) struct Calls<'q> {
    /// The name of a clause that takes no aggregates.
    clause: Option<&'static str>,
    pub(super) aggregates: Vec<(Id, Aggregate)>,
    pub(super) windows: Option<Vec<Over>>,
    pub(super) subqueries: Option<Vec<Subquery>>,
    pub(super) inside: bool,
    pub(super) select: Option<&'q ast::Select>,
}

impl<'q> Calls<'q> {
    /// No calls are allowed in this clause.
    pub(super) const fn none(clause: &'static str) -> Self {
        Calls {
            clause: Some(clause),
            aggregates: vec![],
            windows: None,
            subqueries: None,
            inside: false,
            select: None,
        }
    }

    /// Only subqueries are allowed.
    pub(super) const fn subqueries(clause: &'static str) -> Self {
        Calls {
            clause: Some(clause),
            aggregates: vec![],
            windows: None,
            subqueries: Some(vec![]),
            inside: false,
            select: None,
        }
    }

    /// All calls are allowed, with the windows that a SELECT names.
    pub(super) const fn all(select: &'q ast::Select) -> Self {
        Calls {
            clause: None,
            aggregates: vec![],
            windows: Some(vec![]),
            subqueries: Some(vec![]),
            inside: false,
            select: Some(select),
        }
    }

    /// Refuses an aggregate where none is allowed.
    pub(super) fn aggregate(&self, at: At) -> Result<(), Fault> {
        let misplaced = |clause: &str, remedy: &str| {
            Err(fault(at, code::AGGREGATE_MISPLACED, &[("clause", &clause), ("remedy", &remedy)]))
        };
        match (self.clause, self.inside) {
            (Some(clause), _) => misplaced(clause, "write it in the list or in HAVING"),
            (None, true) => misplaced("an aggregate", "aggregate in a derived table first"),
            (None, false) => Ok(()),
        }
    }
}

impl<'q> Binder<'q> {
    /// The type of an expression.
    pub(super) fn ty(&self, expr: &Expr, at: At) -> Result<ColumnType, Fault> {
        Ok(placed(expr.check(&self.columns.0), at)?.ty)
    }

    /// An expression that is a truth value.
    pub(super) fn condition(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        expr: &'q ast::Expr,
    ) -> Result<Expr, Fault> {
        let at = At::of(expr);
        let expr = self.expr(env, calls, expr)?;
        match self.ty(&expr, at)? {
            ColumnType::Boolean => Ok(expr),
            ty => Err(fault(at, code::CONDITION, &[("type", &ty)])),
        }
    }

    /// An expression.
    pub(super) fn expr(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        expr: &'q ast::Expr,
    ) -> Result<Expr, Fault> {
        let at = At::of(expr);
        self.deeper(at)?;
        let made = self.unchecked(env, calls, expr, at)?;
        self.depth -= 1;
        self.within_size(&made, at)?;
        self.ty(&made, at)?;
        Ok(made)
    }

    fn unchecked(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        expr: &'q ast::Expr,
        at: At,
    ) -> Result<Expr, Fault> {
        use ast::Expr as E;
        let no = |clause: &str| Err(unsupported(at, clause));
        let instead = |clause: &str, remedy: &str| {
            Err(fault(at, code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]))
        };
        if compared_operand(expr).is_some_and(|e| matches!(e, E::Exists { negated: true, .. })) {
            let cause = "NOT EXISTS before a comparison can be read in two ways";
            return Err(refused_at(at, cause, "put what NOT belongs to in parentheses"));
        }
        macro_rules! of {
            ($e:expr) => {
                self.expr(env, calls, $e)?
            };
        }
        Ok(match expr {
            E::Identifier(name) => Expr::Column(self.resolve(env, std::slice::from_ref(name))?),
            E::CompoundIdentifier(path) => Expr::Column(self.resolve(env, path)?),
            E::Nested(inner) => of!(inner),
            E::Value(value) => literal(value)?,
            E::TypedString(value) => {
                let (text, ty, at) = typed(value)?;
                self.read_as(text, ty, at)?
            }
            E::Interval(_) => return no("an interval that is not added to a date"),
            E::BinaryOp { left, op, right } => self.binary(env, calls, left, op, right, at)?,
            E::UnaryOp { op: U::Not, expr } => self.condition(env, calls, expr)?.not(),
            E::UnaryOp { op: U::Plus, expr } => of!(expr),
            E::UnaryOp { op: U::Minus, expr } => match of!(expr) {
                Expr::Literal(Value::Number(n), ty) => Expr::Literal(Value::Number(-n), ty),
                inner => Expr::Negate(Box::new(placed(self.reader().wide(inner), at)?)),
            },
            E::IsNull(e) => self.is_null(env, calls, e)?,
            E::IsNotNull(e) => self.is_null(env, calls, e)?.not(),
            E::IsTrue(e) => coalesce(vec![self.condition(env, calls, e)?, truth(false)]),
            E::IsNotTrue(e) => coalesce(vec![self.condition(env, calls, e)?, truth(false)]).not(),
            E::IsFalse(e) => coalesce(vec![self.condition(env, calls, e)?, truth(true)]).not(),
            E::IsNotFalse(e) => coalesce(vec![self.condition(env, calls, e)?, truth(true)]),
            E::IsUnknown(e) => self.condition(env, calls, e)?.is_null(),
            E::IsNotUnknown(e) => self.condition(env, calls, e)?.is_null().not(),
            E::IsDistinctFrom(a, b) => {
                let (a, b) = (of!(a), of!(b));
                self.same(a, b, at)?.not()
            }
            E::IsNotDistinctFrom(a, b) => {
                let (a, b) = (of!(a), of!(b));
                self.same(a, b, at)?
            }
            E::Between { expr, negated, low, high } => {
                let (expr, low, high) = (of!(expr), of!(low), of!(high));
                let least = self.compared(Comparison::GreaterOrEqual, expr.clone(), low, at)?;
                let most = self.compared(Comparison::LessOrEqual, expr, high, at)?;
                negate(least.and(most), *negated)
            }
            E::InList { expr, list, negated } if matches!(expr.as_ref(), E::Tuple(_)) => {
                let any = list.iter().map(|row| self.rows_equal(env, calls, expr, row, at));
                let any = any.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(Expr::or);
                negate(any.unwrap_or_else(|| truth(false)), *negated)
            }
            E::InList { expr, list, negated } => {
                let expr = of!(expr);
                let list = list.iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?;
                negate(self.in_list(expr, list, at)?, *negated)
            }
            E::InSubquery { expr, subquery, negated } => {
                let left = of!(expr);
                negate(self.in_subquery(env, calls, left, subquery, at)?, *negated)
            }
            E::Exists { subquery, negated } => negate(self.exists(env, calls, subquery, at)?, *negated),
            E::Subquery(query) => self.scalar(env, calls, query, at)?,
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                let of = of!(expr);
                let (Expr::Literal(Value::Text(pattern), _), escape) =
                    (of!(pattern), escape_char.as_ref().map(|e| self.expr(env, calls, e)).transpose()?)
                else {
                    return no("LIKE with a pattern that is no literal");
                };
                let pattern = String::from_utf8_lossy(&pattern).into_owned();
                let escape = match escape {
                    None => None,
                    Some(Expr::Literal(Value::Text(text), _)) if text.len() == 1 => Some(char::from(text[0])),
                    Some(_) => return no("ESCAPE with more than one character"),
                };
                negate(Expr::Like { of: Box::new(of), pattern, escape }, *negated)
            }
            E::ILike { .. } => return no("ILIKE"),
            E::SimilarTo { .. } | E::RLike { .. } => return no("a regular expression"),
            E::AnyOp { .. } => return instead("ANY", "write IN or EXISTS"),
            E::AllOp { .. } => return instead("ALL", "write NOT EXISTS"),
            E::Case { operand, conditions, else_result, .. } => {
                let operand = operand.as_ref().map(|e| self.expr(env, calls, e)).transpose()?;
                self.case(env, calls, operand.as_ref(), conditions, else_result.as_deref(), at)?
            }
            E::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
            } => {
                let ty = column_type(data_type, at)?;
                let inner = of!(expr);
                match &inner {
                    Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, ty),
                    Expr::Literal(Value::Text(text), _) if !matches!(ty, ColumnType::Varchar(_)) => {
                        let text = String::from_utf8_lossy(text);
                        Expr::Literal(placed(self.reader().literal(&text, ty), at)?, ty)
                    }
                    _ => inner.cast(ty),
                }
            }
            E::Cast { .. } | E::Convert { .. } => return no("this kind of cast"),
            E::Extract { field, expr, .. } => {
                let name = match field {
                    ast::DateTimeField::Year => "year",
                    ast::DateTimeField::Month => "month",
                    ast::DateTimeField::Day => "day",
                    other => return no(&format!("EXTRACT({other} …)")),
                };
                let of = of!(expr);
                self.call(name, vec![of], at)?
            }
            E::Substring { expr, substring_from, substring_for, .. } => {
                let mut all = vec![of!(expr)];
                all.push(match substring_from {
                    Some(from) => of!(from),
                    None => Expr::Literal(Value::Number(1), ColumnType::Integer),
                });
                if let Some(length) = substring_for {
                    all.push(of!(length));
                }
                self.call("substring", all, at)?
            }
            E::Function(function) => self.function(env, calls, function, at)?,
            E::Tuple(_) => return no("a row of values"),
            E::Ceil { expr, field: NO_UNIT } => {
                let of = of!(expr);
                self.call("ceil", vec![of], at)?
            }
            E::Floor { expr, field: NO_UNIT } => {
                let of = of!(expr);
                self.call("floor", vec![of], at)?
            }
            E::Ceil { .. } | E::Floor { .. } => return no("CEIL or FLOOR to a unit or to digits"),
            E::Position { .. } => return no("POSITION"),
            E::Trim { .. } => return no("TRIM"),
            E::Overlay { .. } => return no("OVERLAY"),
            E::Collate { .. } => return no("COLLATE"),
            E::AtTimeZone { .. } => return no("AT TIME ZONE"),
            other => return no(&format!("the expression {other}")),
        })
    }

    fn is_null(&mut self, env: &Env<'_>, calls: &mut Calls<'q>, e: &'q ast::Expr) -> Result<Expr, Fault> {
        Ok(self.expr(env, calls, e)?.is_null())
    }

    fn binary(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        left: &'q ast::Expr,
        op: &B,
        right: &'q ast::Expr,
        at: At,
    ) -> Result<Expr, Fault> {
        if let B::And | B::Or = op {
            let (a, b) = (self.condition(env, calls, left)?, self.condition(env, calls, right)?);
            return Ok(if *op == B::And { a.and(b) } else { a.or(b) });
        }
        let turned = |span| match span {
            super::literal::Span::Days(n) => super::literal::Span::Days(-n),
            super::literal::Span::Months(n) => super::literal::Span::Months(-n),
        };
        match (left, op, right) {
            (ast::Expr::Tuple(_), B::Eq | B::NotEq, ast::Expr::Tuple(_)) => {
                let equal = self.rows_equal(env, calls, left, right, at)?;
                return Ok(negate(equal, *op == B::NotEq));
            }
            (_, B::Plus | B::Minus, ast::Expr::Interval(by)) => {
                let by = interval(by)?;
                let expr = self.expr(env, calls, left)?;
                let ty = self.dated(&expr, at)?;
                return moved(expr, ty, if *op == B::Plus { by } else { turned(by) }, at);
            }
            (ast::Expr::Interval(by), B::Plus, _) => {
                let by = interval(by)?;
                let expr = self.expr(env, calls, right)?;
                let ty = self.dated(&expr, at)?;
                return moved(expr, ty, by, at);
            }
            _ => {}
        }
        let (a, b) = (self.expr(env, calls, left)?, self.expr(env, calls, right)?);
        let comparison = match op {
            B::Eq => Some(Comparison::Equal),
            B::NotEq => Some(Comparison::NotEqual),
            B::Lt => Some(Comparison::Less),
            B::LtEq => Some(Comparison::LessOrEqual),
            B::Gt => Some(Comparison::Greater),
            B::GtEq => Some(Comparison::GreaterOrEqual),
            B::Spaceship => return self.same(a, b, at),
            _ => None,
        };
        if let Some(comparison) = comparison {
            return self.compared(comparison, a, b, at);
        }
        let arithmetic = match op {
            B::Plus => Arithmetic::Add,
            B::Minus => Arithmetic::Subtract,
            B::Multiply => Arithmetic::Multiply,
            B::Divide => Arithmetic::Divide,
            B::Modulo => Arithmetic::Remainder,
            other => return Err(fault(at, code::OPERATOR_UNSUPPORTED, &[("operator", other)])),
        };
        self.arithmetic(arithmetic, a, b, at)
    }

    /// Whether two rows of values are equal, pair by pair.
    fn rows_equal(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        left: &'q ast::Expr,
        right: &'q ast::Expr,
        at: At,
    ) -> Result<Expr, Fault> {
        let (ast::Expr::Tuple(left), ast::Expr::Tuple(right)) = (left, right) else {
            return Err(refused_at(at, "a row of values beside one value", "write rows on both sides"));
        };
        if left.len() != right.len() {
            return Err(widths(at, "compared rows", [left.len(), right.len()]));
        }
        let mut all = truth(true);
        for (place, (a, b)) in left.iter().zip(right).enumerate() {
            let (a, b) = (self.expr(env, calls, a)?, self.expr(env, calls, b)?);
            let equal = self.compared(Comparison::Equal, a, b, at)?;
            all = if place == 0 { equal } else { all.and(equal) };
        }
        Ok(all)
    }

    /// The rules for types, over all columns.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { schema: &self.columns.0, read: crate::cell::read }
    }

    fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        placed(self.reader().arithmetic(op, a, b), at)
    }

    fn read_as(&self, expr: Expr, ty: ColumnType, at: At) -> Result<Expr, Fault> {
        placed(self.reader().read_as(expr, ty), at)
    }

    fn dated(&self, expr: &Expr, at: At) -> Result<ColumnType, Fault> {
        match self.ty(expr, at)? {
            ty @ (ColumnType::Date | ColumnType::Timestamp) => Ok(ty),
            ty => Err(refused_at(
                at,
                format!("an interval is added to {ty}"),
                "add it to a DATE or a TIMESTAMP",
            )),
        }
    }

    /// A comparison; string literals are read as values of the other operand's type.
    pub(super) fn compared(&self, op: Comparison, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        placed(self.reader().compared(op, a, b), at)
    }

    /// Whether two values are equal, with NULL equal to NULL.
    fn same(&mut self, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        let nulls = a.clone().is_null().and(b.clone().is_null());
        Ok(coalesce(vec![self.compared(Comparison::Equal, a, b, at)?, nulls]))
    }

    fn in_list(&mut self, expr: Expr, list: Vec<Expr>, at: At) -> Result<Expr, Fault> {
        let ty = self.ty(&expr, at)?;
        let list = list.into_iter().map(|e| self.read_as(e, ty, at)).collect::<Result<Vec<_>, _>>()?;
        let same = |e: &Expr| match (e, ty) {
            (Expr::Literal(value, _), ColumnType::Varchar(_)) => Some(value.clone()),
            (Expr::Literal(value, of), ty) if *of == ty || (of.is_integer() && ty.is_integer()) => {
                Some(value.clone()).filter(|value| value.fits(ty))
            }
            _ => None,
        };
        if let Some(values) = list.iter().map(same).collect::<Option<Vec<Value>>>() {
            return Ok(Expr::InList(Box::new(expr), values));
        }
        let equal = list.into_iter().map(|e| self.compared(Comparison::Equal, expr.clone(), e, at));
        let all = equal.collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().reduce(Expr::or).unwrap_or(truth(false)))
    }

    /// Alternatives in their common type; NULLs become values of it.
    pub(super) fn united(&self, all: Vec<Expr>, at: At) -> Result<Vec<Expr>, Fault> {
        placed(self.reader().united(all), at)
    }

    fn case(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        operand: Option<&Expr>,
        conditions: &'q [ast::CaseWhen],
        otherwise: Option<&'q ast::Expr>,
        at: At,
    ) -> Result<Expr, Fault> {
        let (mut whens, mut values) = (vec![], vec![]);
        for ast::CaseWhen { condition, result } in conditions {
            whens.push(match operand {
                None => self.condition(env, calls, condition)?,
                Some(operand) => {
                    let value = self.expr(env, calls, condition)?;
                    self.compared(Comparison::Equal, operand.clone(), value, at)?
                }
            });
            values.push(self.expr(env, calls, result)?);
        }
        let has_else = otherwise.is_some();
        values.extend(otherwise.map(|e| self.expr(env, calls, e)).transpose()?);
        let mut values = self.united(values, at)?;
        let otherwise = has_else.then(|| values.pop().map(Box::new)).flatten();
        Ok(Expr::Case { branches: whens.into_iter().zip(values).collect(), otherwise })
    }
}

/// CEIL and FLOOR to whole numbers, in the parser's form.
const NO_UNIT: ast::CeilFloorKind = ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime);

/// Adds a place to an error.
pub(super) fn placed<T>(made: Result<T, Fault>, at: At) -> Result<T, Fault> {
    made.map_err(|e| e.placed(at.0))
}

fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { expr.not() } else { expr }
}

/// The type that a query's text names.
pub(super) fn column_type(ty: &ast::DataType, at: At) -> Result<ColumnType, Fault> {
    use ast::{CharacterLength, DataType as D, ExactNumberInfo as X};
    let made = match ty {
        D::Boolean | D::Bool => ColumnType::Boolean,
        D::SmallInt(None) | D::Int2(None) => ColumnType::SmallInt,
        D::Int(None) | D::Integer(None) | D::Int4(None) => ColumnType::Integer,
        D::BigInt(None) | D::Int8(None) => ColumnType::BigInt,
        D::Decimal(info) | D::Numeric(info) | D::Dec(info) => {
            let (precision, scale) = match info {
                X::None => (38, 6),
                X::Precision(p) => (*p, 0),
                X::PrecisionAndScale(p, s) => (*p, u64::try_from(*s).unwrap_or(u64::MAX)),
            };
            let small = |n: u64| u8::try_from(n).unwrap_or(u8::MAX);
            ColumnType::Decimal { precision: small(precision), scale: small(scale) }
        }
        D::Date => ColumnType::Date,
        D::Timestamp(None, ast::TimezoneInfo::None | ast::TimezoneInfo::WithoutTimeZone) => {
            ColumnType::Timestamp
        }
        D::Varchar(Some(CharacterLength::IntegerLength { length, .. }))
        | D::CharVarying(Some(CharacterLength::IntegerLength { length, .. }))
        | D::CharacterVarying(Some(CharacterLength::IntegerLength { length, .. }))
        | D::Char(Some(CharacterLength::IntegerLength { length, .. }))
        | D::Character(Some(CharacterLength::IntegerLength { length, .. })) => {
            ColumnType::Varchar(u16::try_from(*length).unwrap_or(u16::MAX))
        }
        D::Double(_) | D::DoublePrecision | D::Float(_) | D::Real => ColumnType::Double { frac: 32 },
        other => return Err(fault(at, code::TYPE_UNSUPPORTED, &[("type", other)])),
    };
    if made.is_valid() {
        Ok(made)
    } else {
        Err(refused_at(at, format!("{ty} cannot be"), "check its digits or its length"))
    }
}

/// The first operand of an expression that binds more tightly than NOT.
fn compared_operand(expr: &ast::Expr) -> Option<&ast::Expr> {
    use ast::{BinaryOperator as B, Expr as E};
    match expr {
        E::BinaryOp { op: B::And | B::Or, .. } => None,
        E::BinaryOp { left: e, .. }
        | E::IsNull(e)
        | E::IsNotNull(e)
        | E::IsTrue(e)
        | E::IsNotTrue(e)
        | E::IsFalse(e)
        | E::IsNotFalse(e)
        | E::IsUnknown(e)
        | E::IsNotUnknown(e)
        | E::IsDistinctFrom(e, _)
        | E::IsNotDistinctFrom(e, _)
        | E::Between { expr: e, .. }
        | E::InList { expr: e, .. }
        | E::InSubquery { expr: e, .. } => Some(e),
        _ => None,
    }
}
