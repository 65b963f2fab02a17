//! Types, NULLs and ranges of expressions.

use super::{
    arithmetic::Arithmetic,
    bounds::arithmetic_range,
    expr::{Call, Expr},
    pattern::tokens,
    types::{ColumnType, Range, Schema, Value},
    typing::{
        ExprType, arithmetic_type, castable, castable_part, common_type, fitted, has_range, held,
        keep_values, rescaled, united,
    },
};
use crate::{
    Fault,
    error::{Refused, refused, types_differ},
    functions::Operands,
};
use hushwire_fault::code;

impl Call {
    /// The type of the expression's values, from the types of its operands.
    pub(crate) fn typed(&self, types: &[ExprType]) -> Result<ExprType, Refused> {
        let made = (self.primitive.check)(&Operands { types, public: &self.public })?;
        let of_operands = self.primitive.strict && types.iter().any(|t| t.nullable);
        Ok(ExprType { nullable: made.nullable || of_operands, ..made })
    }
}

impl Expr {
    /// The type of the expression's values on rows of a schema.
    ///
    /// # Errors
    /// A column does not exist, or an operand has a type that is not accepted.
    pub fn check(&self, schema: &Schema) -> Result<ExprType, Fault> {
        let operands = self.operands().iter().map(|e| e.check(schema)).collect::<Result<Vec<_>, _>>()?;
        let nullable = operands.iter().any(|t| t.nullable);
        let truth =
            |nullable| ExprType { ty: ColumnType::Boolean, nullable, range: Range { low: 0, high: 0 } };
        let of_this = |refused: Refused| refused.of(self.shown(schema));
        let wrong = |remedy: &str| of_this(Refused::operands(&operands, remedy));
        Ok(match self {
            Expr::Column(at) => match schema.columns().get(*at) {
                Some(column) => column.expr_type(),
                None => {
                    let cause = format!("column {at} of {}", schema.columns().len());
                    return Err(refused(cause, "count columns from 0"));
                }
            },
            Expr::Literal(value, ty) => {
                if !ty.is_valid() || !value.fits(*ty) {
                    let value = self.shown(schema);
                    let places: [(_, &dyn std::fmt::Display); 3] =
                        [("value", &value), ("type", ty), ("form", &"a value that the type has")];
                    return Err(Fault::filled(code::VALUE, &places));
                }
                let range = match value {
                    Value::Number(n) => Range { low: *n, high: *n },
                    _ if has_range(*ty) => Range { low: 0, high: 0 },
                    _ => ty.range(),
                };
                ExprType { ty: *ty, nullable: value.is_null(), range }
            }
            Expr::Arithmetic(op, ..) => {
                let [a, b] = [operands[0], operands[1]];
                let remedy = match op {
                    Arithmetic::DivideWhole => "give it integers: of other numbers write FLOOR(a / b)",
                    _ if matches!(
                        (a.ty, b.ty),
                        (ColumnType::Varchar(_), _) | (_, ColumnType::Varchar(_))
                    ) =>
                    {
                        "CAST the text: CAST(name AS INTEGER) is NULL where it is no number, and CAST(day AS DATE) reads 2026-11-23; texts are joined by ||"
                    }
                    _ => "give it numbers with at most 38 digits after the point, or a date and days",
                };
                let ty = arithmetic_type(*op, a.ty, b.ty).ok_or_else(|| wrong(remedy))?;
                let range = arithmetic_range(*op, ty, a, b).filter(|range| held(ty).holds(*range));
                let range = range.ok_or_else(|| match ty {
                    ColumnType::Date | ColumnType::Timestamp | ColumnType::Interval => {
                        wrong("CAST the number to INTEGER")
                    }
                    _ => of_this(Refused::digits(&operands, "result")),
                })?;
                let divides =
                    matches!(op, Arithmetic::Divide | Arithmetic::DivideWhole | Arithmetic::Remainder);
                ExprType { ty, nullable: nullable || divides, range }
            }
            Expr::Negate(_) => {
                let ExprType { ty, range, .. } = operands[0];
                if !ty.is_numeric() && ty != ColumnType::Interval {
                    return Err(wrong("give it a number"));
                }
                let exact = range.high.checked_neg().zip(range.low.checked_neg());
                let range = fitted(ty, exact.map(|(low, high)| Range { low, high }));
                ExprType { ty, nullable, range }
            }
            Expr::Compare(comparison, ..) => {
                let types = [operands[0].ty, operands[1].ty];
                let ty = common_type(types[0], types[1])
                    .ok_or_else(|| types_differ(types, &self.shown(schema)))?;
                if !keep_values(ty, &operands) {
                    return Err(of_this(Refused::narrow(&operands, ty)));
                }
                if comparison.orders() && !ty.is_ordered() {
                    return Err(of_this(Refused::no_order(&operands)));
                }
                truth(nullable)
            }
            Expr::And(..) | Expr::Or(..) | Expr::Not(_) => {
                if operands.iter().any(|t| t.ty != ColumnType::Boolean) {
                    return Err(wrong("give it truth values"));
                }
                truth(nullable)
            }
            Expr::IsNull(_) => truth(false),
            Expr::Case { branches, otherwise } => {
                let conditions = operands.iter().step_by(2).take(branches.len());
                if branches.is_empty() || conditions.clone().any(|t| t.ty != ColumnType::Boolean) {
                    return Err(wrong("give it at least one condition, and truth values as conditions"));
                }
                let then = operands.iter().skip(1).step_by(2).take(branches.len());
                let values: Vec<ExprType> =
                    then.chain(operands.last().filter(|_| otherwise.is_some())).copied().collect();
                let one =
                    united(&values).ok_or_else(|| wrong("cast the values of its branches to one type"))?;
                if !keep_values(one.ty, &values) {
                    return Err(of_this(Refused::narrow(&operands, one.ty)));
                }
                ExprType { nullable: one.nullable || otherwise.is_none(), ..one }
            }
            Expr::Cast(_, to) => {
                let from = operands[0];
                if !to.is_valid() || !castable(from.ty, *to) {
                    let remedy = "cast numbers to numbers, truth values to numbers, dates to timestamps and back, strings to strings";
                    return Err(wrong(remedy));
                }
                let range = match from.ty {
                    _ if !has_range(*to) => to.range(),
                    ColumnType::Boolean => {
                        fitted(*to, rescaled(ColumnType::Integer, Range { low: 0, high: 1 }, *to))
                    }
                    ty => match castable_part(from, *to) {
                        Some(part) => rescaled(ty, part, *to).unwrap_or_else(|| to.range()),
                        None => fitted(*to, rescaled(ty, from.range, *to)),
                    },
                };
                // A number that does not fit the type is cast to NULL.
                let nullable = nullable || castable_part(from, *to).is_some();
                ExprType { ty: *to, nullable, range }
            }
            Expr::InList(_, list) => {
                let ty = operands[0].ty;
                if list.iter().any(|value| !value.fits(longest(ty))) {
                    return Err(wrong("write values of that type in the list, or cast the other side"));
                }
                truth(nullable || list.contains(&Value::Null))
            }
            Expr::Like { pattern, escape, .. } => {
                let ColumnType::Varchar(_) = operands[0].ty else {
                    return Err(wrong("give it a VARCHAR(n)"));
                };
                tokens(pattern, *escape).ok_or_else(|| {
                    let cause = format!("{}: the pattern ends with its escape", self.shown(schema));
                    refused(cause, "write the escaped character")
                })?;
                truth(nullable)
            }
            Expr::Call(call) => call.typed(&operands).map_err(of_this)?,
        })
    }

    /// Checks that the expression is a truth value on a schema's rows.
    pub(crate) fn check_truth(&self, schema: &Schema) -> Result<(), Fault> {
        match self.check(schema)?.ty {
            ColumnType::Boolean => Ok(()),
            ty => Err(Fault::filled(code::CONDITION, &[("type", &ty)])),
        }
    }
}

/// The longest string type. A list may hold longer strings than the operand's type, which equal no
/// value.
const fn longest(ty: ColumnType) -> ColumnType {
    match ty {
        ColumnType::Varchar(_) => ColumnType::Varchar(super::types::MAX_TEXT),
        ty => ty,
    }
}
