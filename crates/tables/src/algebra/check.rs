//! Types, NULLs and ranges of expressions.

use super::{
    arithmetic::Arithmetic,
    bounds::arithmetic_range,
    expr::{Call, Expr},
    pattern::tokens,
    types::{ColumnType, MAX_DIGITS, Range, Schema, Value},
    typing::{
        ExprType, FEWER, NARROWER, arithmetic_type, castable, castable_part, common_type, fitted, has_range,
        held, keep_values, rescaled, told, united,
    },
};
use crate::{
    TableError,
    functions::{Operands, Refused},
};

impl Call {
    /// The type of the expression's values, from the types of its operands.
    pub(crate) fn typed(&self, types: &[ExprType]) -> Result<ExprType, Refused> {
        let made = (self.primitive.check)(&Operands { types, public: &self.public })?;
        let of_operands = self.primitive.strict && types.iter().any(|t| t.nullable);
        Ok(ExprType { nullable: made.nullable || of_operands, ..made })
    }
}

fn err(expr: &Expr, schema: &Schema, cause: &str, remedy: &str) -> TableError {
    TableError::ty(format!("{}: {cause}", expr.shown(schema)), remedy)
}

impl Expr {
    /// The type of the expression's values on rows of a schema.
    ///
    /// # Errors
    /// A column does not exist, or an operand has a type that is not accepted.
    pub fn check(&self, schema: &Schema) -> Result<ExprType, TableError> {
        let wrong = |cause: String, remedy: &str| err(self, schema, &cause, remedy);
        let operands = self.operands().iter().map(|e| e.check(schema)).collect::<Result<Vec<_>, _>>()?;
        let nullable = operands.iter().any(|t| t.nullable);
        let truth =
            |nullable| ExprType { ty: ColumnType::Boolean, nullable, range: Range { low: 0, high: 0 } };
        let told = || told(&operands);
        Ok(match self {
            Expr::Column(at) => match schema.columns().get(*at) {
                Some(column) => column.expr_type(),
                None => {
                    let remedy = "columns are counted from 0";
                    return Err(TableError::ty(format!("column {at} of {}", schema.columns().len()), remedy));
                }
            },
            Expr::Literal(value, ty) => {
                if !ty.is_valid() || !value.fits(*ty) {
                    return Err(wrong(format!("no value of {ty}"), "write a value that the type has"));
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
                let remedy =
                    "it takes numbers whose digits behind the point are 38 at most, and dates by days";
                let ty = arithmetic_type(*op, a.ty, b.ty).ok_or_else(|| wrong(told(), remedy))?;
                let range = arithmetic_range(*op, ty, a, b).filter(|range| held(ty).holds(*range));
                let range = range.ok_or_else(|| match ty {
                    ColumnType::Date | ColumnType::Timestamp => wrong(told(), "CAST the number to INTEGER"),
                    _ => wrong(
                        format!("{}, whose result may have more than {MAX_DIGITS} digits", told()),
                        FEWER,
                    ),
                })?;
                let divides = matches!(op, Arithmetic::Divide | Arithmetic::Remainder);
                ExprType { ty, nullable: nullable || divides, range }
            }
            Expr::Negate(_) => {
                let ExprType { ty, range, .. } = operands[0];
                if !ty.is_numeric() {
                    return Err(wrong(told(), "it takes a number"));
                }
                let exact = range.high.checked_neg().zip(range.low.checked_neg());
                let range = fitted(ty, exact.map(|(low, high)| Range { low, high }));
                ExprType { ty, nullable, range }
            }
            Expr::Compare(comparison, ..) => {
                let ty = common_type(operands[0].ty, operands[1].ty)
                    .ok_or_else(|| wrong(told(), "types that are compared have a common one; cast one"))?;
                if !keep_values(ty, &operands) {
                    return Err(wrong(format!("{}, which {ty} does not hold", told()), NARROWER));
                }
                if comparison.orders() && !ty.is_ordered() {
                    return Err(wrong(
                        told(),
                        "digests are equal or not and have no order; declare the column as VARCHAR(n)",
                    ));
                }
                truth(nullable)
            }
            Expr::And(..) | Expr::Or(..) | Expr::Not(_) => {
                if operands.iter().any(|t| t.ty != ColumnType::Boolean) {
                    return Err(wrong(told(), "it takes truth values"));
                }
                truth(nullable)
            }
            Expr::IsNull(_) => truth(false),
            Expr::Case { branches, otherwise } => {
                let conditions = operands.iter().step_by(2).take(branches.len());
                if branches.is_empty() || conditions.clone().any(|t| t.ty != ColumnType::Boolean) {
                    return Err(wrong(told(), "it takes a condition at least, each a truth value"));
                }
                let then = operands.iter().skip(1).step_by(2).take(branches.len());
                let values: Vec<ExprType> =
                    then.chain(operands.last().filter(|_| otherwise.is_some())).copied().collect();
                let one = united(&values)
                    .ok_or_else(|| wrong(told(), "values of branches have one type; cast one"))?;
                if !keep_values(one.ty, &values) {
                    return Err(wrong(format!("{}, which {} does not hold", told(), one.ty), NARROWER));
                }
                ExprType { nullable: one.nullable || otherwise.is_none(), ..one }
            }
            Expr::Cast(_, to) => {
                let from = operands[0];
                if !to.is_valid() || !castable(from.ty, *to) {
                    let remedy = "numbers are cast to numbers, truth values to numbers, dates to timestamps and back, strings to strings";
                    return Err(wrong(format!("{} to {to}", from.ty), remedy));
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
                    return Err(wrong(told(), "values of the list are of that type; cast the other side"));
                }
                truth(nullable || list.contains(&Value::Null))
            }
            Expr::Like { pattern, escape, .. } => {
                let ColumnType::Varchar(_) = operands[0].ty else {
                    return Err(wrong(told(), "it takes a VARCHAR(n)"));
                };
                tokens(pattern, *escape).ok_or_else(|| {
                    wrong("the pattern ends with its escape".into(), "write what is escaped")
                })?;
                truth(nullable)
            }
            Expr::Call(call) => {
                call.typed(&operands).map_err(|Refused { cause, remedy }| wrong(cause, remedy))?
            }
        })
    }

    /// Checks that the expression is a truth value on a schema's rows.
    pub(crate) fn check_truth(&self, schema: &Schema) -> Result<(), TableError> {
        match self.check(schema)?.ty {
            ColumnType::Boolean => Ok(()),
            ty => {
                Err(err(self, schema, &ty.to_string(), "a condition is a truth value, such as a comparison"))
            }
        }
    }
}

/// The longest string type: a list may hold longer strings than the operand's type, and they equal
/// no value.
const fn longest(ty: ColumnType) -> ColumnType {
    match ty {
        ColumnType::Varchar(_) => ColumnType::Varchar(super::types::MAX_TEXT),
        ty => ty,
    }
}
