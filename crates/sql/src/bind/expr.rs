//! Binds expressions: resolves names to columns and unifies types. Aggregates, window functions and
//! subqueries within an expression are replaced by columns. [`Calls`] collects them for the
//! operators that make these columns.

use super::{
    Binder, Env,
    instead::of_operator,
    interval::is_interval,
    literal::{literal, typed},
    ranged::Over,
    scope::means,
    subquery::Subquery,
};
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported, widths},
    logical::{Id, Ids, truth},
};
use hushwire_compute::Comparison;
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Aggregate, Arithmetic, ColumnType, Expr, MAX_TEXT, Relation, Schema, Value, WindowFunction},
    functions::{Reader, coalesce},
    plain::{Tables, evaluate},
};
use sqlparser::ast::{self, BinaryOperator as B, UnaryOperator as U};

/// A window function within groups, from which a figure is computed. Its partitions are the groups,
/// split further by `partition`.
pub(super) struct Staged {
    pub(super) id: Id,
    pub(super) partition: Vec<Expr>,
    /// The keys, and whether each is descending.
    pub(super) order: Vec<(Expr, bool)>,
    pub(super) call: WindowFunction,
}

/// The calls in an expression that are replaced by columns of other operators.
pub(super) struct Calls<'q> {
    /// The name of a clause that takes no aggregates.
    clause: Option<&'static str>,
    pub(super) aggregates: Vec<(Id, Aggregate)>,
    pub(super) staged: Vec<Staged>,
    /// The columns of GROUPING calls, each with its arguments.
    pub(super) levels: Vec<(Vec<Expr>, Id)>,
    /// The aliases of the list that are being resolved.
    open: Vec<&'q str>,
    pub(super) windows: Option<Vec<Over>>,
    pub(super) subqueries: Option<Vec<Subquery>>,
    pub(super) inside: bool,
    /// The bytes that an enclosing CAST allows for a text.
    pub(super) room: Option<u16>,
    pub(super) select: Option<&'q ast::Select>,
}

impl<'q> Calls<'q> {
    /// No calls are allowed in this clause.
    pub(super) fn none(clause: &'static str) -> Self {
        Calls {
            clause: Some(clause),
            aggregates: vec![],
            staged: vec![],
            levels: vec![],
            open: vec![],
            windows: None,
            subqueries: None,
            inside: false,
            room: None,
            select: None,
        }
    }

    /// Only subqueries are allowed, and names of the SELECT's list.
    pub(super) fn subqueries(clause: &'static str, select: &'q ast::Select) -> Self {
        Calls { subqueries: Some(vec![]), select: Some(select), ..Calls::none(clause) }
    }

    /// All calls are allowed, with the windows that a SELECT names.
    pub(super) fn all(select: &'q ast::Select) -> Self {
        Calls { clause: None, windows: Some(vec![]), ..Calls::subqueries("", select) }
    }

    /// The columns that replace calls.
    pub(super) fn made(&self) -> Ids {
        let of_over = |over: &Over| over.made().collect::<Vec<Id>>();
        let windows = self.windows.iter().flatten().flat_map(of_over);
        let subqueries = self.subqueries.iter().flatten().map(|sub| sub.id);
        let aggregates = self.aggregates.iter().map(|(id, _)| *id);
        let levels = self.levels.iter().map(|(_, id)| *id);
        windows.chain(subqueries).chain(aggregates).chain(levels).collect()
    }

    /// Refuses an aggregate in a clause that allows none.
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
        self.as_condition(expr, at)
    }

    /// An expression as a truth value: a number is true unless it is 0.
    pub(super) fn as_condition(&self, expr: Expr, at: At) -> Result<Expr, Fault> {
        match self.ty(&expr, at)? {
            ColumnType::Boolean => Ok(expr),
            ty if ty.is_numeric() => {
                let zero = Expr::Literal(Value::Number(0), ColumnType::Integer);
                self.compared(Comparison::NotEqual, expr, zero, at)
            }
            ty => Err(fault(at, code::CONDITION, &[("type", &ty)])),
        }
    }

    /// Resolves a name to a column, or else to the list item with that alias.
    fn named(&mut self, env: &Env<'_>, calls: &mut Calls<'q>, name: &'q ast::Ident) -> Result<Expr, Fault> {
        let unknown = match self.resolve(env, std::slice::from_ref(name)) {
            Ok(id) => return Ok(Expr::Column(id)),
            Err(unknown) if unknown.code() == code::COLUMN_UNKNOWN => unknown,
            Err(other) => return Err(other),
        };
        let items = calls.select.iter().flat_map(|select| &select.projection);
        let aliased = items.into_iter().find_map(|item| match item {
            ast::SelectItem::ExprWithAlias { expr, alias } if means(name, &alias.value) => Some(expr),
            _ => None,
        });
        match aliased {
            Some(expr) if !calls.open.contains(&name.value.as_str()) => {
                calls.open.push(&name.value);
                let made = self.expr(env, calls, expr);
                calls.open.pop();
                made
            }
            _ => Err(unknown),
        }
    }

    /// Binds an expression.
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
        let no = |clause: &str, remedy: &str| Err(unsupported(at, clause, remedy));
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
            E::Identifier(name) => self.named(env, calls, name)?,
            E::CompoundIdentifier(path) => Expr::Column(self.resolve(env, path)?),
            E::Nested(inner) => of!(inner),
            E::Value(value) => literal(value)?,
            E::TypedString(value) => {
                let (text, ty, at) = typed(value)?;
                self.read_as(text, ty, at)?
            }
            E::Interval(_) => {
                let of = self.interval(env, calls, expr)?;
                self.as_micros(of, at)?
            }
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
            E::InSubquery { expr, subquery, negated } if matches!(expr.as_ref(), E::Tuple(_)) => {
                let E::Tuple(row) = expr.as_ref() else {
                    return no("such a row of values", "name the values");
                };
                let row = row.iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?;
                negate(self.row_in_subquery(env, calls, row, subquery, at)?, *negated)
            }
            E::InSubquery { expr, subquery, negated } => {
                let left = of!(expr);
                negate(self.in_subquery(env, calls, left, subquery, at)?, *negated)
            }
            E::Exists { subquery, negated } => negate(self.exists(env, calls, subquery, at)?, *negated),
            E::Subquery(query) => self.scalar(env, calls, query, at)?,
            E::Like { .. } | E::ILike { .. } | E::SimilarTo { .. } | E::RLike { .. } => {
                self.pattern(env, calls, expr, at)?
            }
            E::AnyOp { left, compare_op, right, .. } => {
                self.any_or_all(env, calls, (left, compare_op, right), false, at)?
            }
            E::AllOp { left, compare_op, right } => {
                self.any_or_all(env, calls, (left, compare_op, right), true, at)?
            }
            E::Case { operand, conditions, else_result, .. } => {
                let operand = operand.as_ref().map(|e| self.expr(env, calls, e)).transpose()?;
                self.case(env, calls, operand.as_ref(), conditions, else_result.as_deref(), at)?
            }
            E::Cast { .. } | E::Convert { .. } => self.cast(env, calls, expr, at)?,
            E::Extract { field, expr, .. } => {
                let name = field.to_string().trim_matches('\'').to_ascii_lowercase();
                let name = Expr::Literal(Value::text(&name), ColumnType::Varchar(MAX_TEXT));
                let of = of!(expr);
                self.call("date_part", vec![name, of], at)?
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
            E::Tuple(_) => {
                return no(
                    "a row of values",
                    "compare rows: (a, b) = (1, 2), or (a, b) IN ((1, 2), (3, 4)); in a list, name the values",
                );
            }
            E::Ceil { expr, field: NO_UNIT } => {
                let of = of!(expr);
                self.call("ceil", vec![of], at)?
            }
            E::Floor { expr, field: NO_UNIT } => {
                let of = of!(expr);
                self.call("floor", vec![of], at)?
            }
            E::Ceil { .. } | E::Floor { .. } => {
                return no(
                    "CEIL or FLOOR to a unit or to digits",
                    "write FLOOR(a * 100) / 100, and DATE_TRUNC('month', d) of dates",
                );
            }
            E::Position { expr, r#in } => {
                let (part, of) = (of!(expr), of!(r#in));
                self.call("position", vec![part, of], at)?
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(ast::TrimWhereField::Both) => "trim",
                    Some(ast::TrimWhereField::Leading) => "ltrim",
                    Some(ast::TrimWhereField::Trailing) => "rtrim",
                };
                let mut all = vec![of!(expr)];
                for characters in trim_what.iter().map(AsRef::as_ref).chain(trim_characters.iter().flatten())
                {
                    all.push(of!(characters));
                }
                self.call(name, all, at)?
            }
            E::Overlay { .. } => {
                return no("OVERLAY", "write LEFT(text, n) || part || SUBSTRING(text FROM m)");
            }
            E::Collate { .. } => {
                return no("COLLATE", "order by UPPER(text), or by the text, whose bytes are compared");
            }
            E::AtTimeZone { .. } => {
                return no(
                    "AT TIME ZONE",
                    "times are in UTC: add the distance, as in paid_at + INTERVAL '2' HOUR",
                );
            }
            other => {
                return no(
                    &format!("the expression {other}"),
                    "write it by CASE, comparisons and the functions of docs/reference/sql.md",
                );
            }
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
        match (left, op, right) {
            (ast::Expr::Tuple(_), B::Eq | B::NotEq, ast::Expr::Tuple(_)) => {
                let equal = self.rows_equal(env, calls, left, right, at)?;
                return Ok(negate(equal, *op == B::NotEq));
            }
            (_, B::Plus | B::Minus, by) if is_interval(by) && !is_interval(left) => {
                let of = self.expr(env, calls, left)?;
                let by = self.interval(env, calls, by)?;
                return self.moved(of, by, *op == B::Minus, at);
            }
            (by, B::Plus, _) if is_interval(by) && !is_interval(right) => {
                let by = self.interval(env, calls, by)?;
                let of = self.expr(env, calls, right)?;
                return self.moved(of, by, false, at);
            }
            _ => {}
        }
        let (a, b) = (self.expr(env, calls, left)?, self.expr(env, calls, right)?);
        if let Some((negated, any_case)) = regular(op) {
            return self.regular(a, b, (negated, any_case), at);
        }
        if *op == B::Spaceship {
            return self.same(a, b, at);
        }
        if let Some(comparison) = comparison(op) {
            return self.compared(comparison, a, b, at);
        }
        if *op == B::Divide && self.ty(&a, at)? == ColumnType::Interval {
            let micros = self.arithmetic(Arithmetic::DivideWhole, a.cast(ColumnType::BigInt), b, at)?;
            let step = Expr::Literal(Value::Number(1), ColumnType::Interval);
            return self.arithmetic(Arithmetic::Multiply, micros, step, at);
        }
        let arithmetic = match op {
            B::Plus => Arithmetic::Add,
            B::Minus => Arithmetic::Subtract,
            B::Multiply => Arithmetic::Multiply,
            B::Divide => Arithmetic::Divide,
            B::DuckIntegerDivide | B::MyIntegerDivide => return self.whole_quotient(a, b, at),
            B::PGExp | B::BitwiseXor => return self.call("power", vec![a, b], at),
            B::StringConcat => return self.call("concat_op", vec![a, b], at),
            B::Modulo => Arithmetic::Remainder,
            other => return Err(unknown_operator(other, at)),
        };
        self.arithmetic(arithmetic, a, b, at)
    }

    /// A comparison with some or all values of a query or a list.
    fn any_or_all(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (left, op, right): (&'q ast::Expr, &B, &'q ast::Expr),
        all: bool,
        at: At,
    ) -> Result<Expr, Fault> {
        if let ast::Expr::Nested(inner) = right {
            return self.any_or_all(env, calls, (left, op, inner), all, at);
        }
        let Some(op) = comparison(op) else {
            return Err(unknown_operator(op, at));
        };
        let of = self.expr(env, calls, left)?;
        let list = match right {
            ast::Expr::Subquery(query) => return self.any(env, calls, (of, op, all), query, at),
            ast::Expr::Tuple(list) => &list[..],
            ast::Expr::Array(array) => &array.elem[..],
            ast::Expr::Value(value) if matches!(value.value, ast::Value::SingleQuotedString(_)) => {
                let remedy = "list the values: status IN ('paid', 'open')";
                return Err(unsupported(at, "a text in place of the list of ANY or ALL", remedy));
            }
            one => std::slice::from_ref(one),
        };
        let mut each = vec![];
        for value in list {
            let value = self.expr(env, calls, value)?;
            each.push(self.compared(op, of.clone(), value, at)?);
        }
        let both = if all { Expr::and } else { Expr::or };
        Ok(each.into_iter().reduce(both).unwrap_or(truth(all)))
    }

    /// The integer quotient, rounded towards 0.
    fn whole_quotient(&self, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        let integers = self.ty(&a, at)?.is_integer() && self.ty(&b, at)?.is_integer();
        if integers {
            return self.arithmetic(Arithmetic::DivideWhole, a, b, at);
        }
        let quotient = self.arithmetic(Arithmetic::Divide, a, b, at)?;
        self.call("trunc", vec![quotient], at)
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

    pub(super) fn arithmetic(&self, op: Arithmetic, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        placed(self.reader().arithmetic(op, a, b), at)
    }

    pub(super) fn read_as(&self, expr: Expr, ty: ColumnType, at: At) -> Result<Expr, Fault> {
        placed(self.reader().read_as(expr, ty), at)
    }

    pub(super) fn dated(&self, expr: &Expr, at: At) -> Result<ColumnType, Fault> {
        match self.ty(expr, at)? {
            ty @ (ColumnType::Date | ColumnType::Timestamp) => Ok(ty),
            ty => Err(refused_at(
                at,
                format!("an interval is added to {ty}"),
                "add it to a DATE or a TIMESTAMP",
            )),
        }
    }

    /// A comparison. String literals are read as values of the other operand's type.
    pub(super) fn compared(&self, op: Comparison, a: Expr, b: Expr, at: At) -> Result<Expr, Fault> {
        placed(self.reader().compared(op, a, b), at)
    }

    /// The value of an expression without columns.
    pub(super) fn constant(&self, of: &Expr) -> Result<Value, Fault> {
        let one = Relation::values(Schema::default(), vec![vec![]])?;
        let made = evaluate(&one.project(vec![("constant".into(), of.clone())])?, &Tables::new())?;
        Ok(made.into_iter().flatten().next().unwrap_or(Value::Null))
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

/// Recognizes an operator of regular expressions. Returns whether it is negated, and whether it
/// ignores case.
fn regular(op: &B) -> Option<(bool, bool)> {
    Some(match op {
        B::PGRegexMatch => (false, false),
        B::PGRegexIMatch => (false, true),
        B::PGRegexNotMatch => (true, false),
        B::PGRegexNotIMatch => (true, true),
        _ => return None,
    })
}

fn unknown_operator(op: &B, at: At) -> Fault {
    let fields: [(_, &dyn std::fmt::Display); 2] = [("operator", op), ("remedy", &of_operator(op))];
    fault(at, code::OPERATOR_UNSUPPORTED, &fields)
}

fn comparison(op: &B) -> Option<Comparison> {
    Some(match op {
        B::Eq => Comparison::Equal,
        B::NotEq => Comparison::NotEqual,
        B::Lt => Comparison::Less,
        B::LtEq => Comparison::LessOrEqual,
        B::Gt => Comparison::Greater,
        B::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// The parser's form of CEIL and FLOOR to whole numbers.
const NO_UNIT: ast::CeilFloorKind = ast::CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime);

/// Adds a place to an error.
pub(super) fn placed<T>(made: Result<T, Fault>, at: At) -> Result<T, Fault> {
    made.map_err(|e| e.placed(at.0))
}

pub(super) fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { expr.not() } else { expr }
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
