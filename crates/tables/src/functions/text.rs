//! Common parts of functions of strings.

use super::{Arguments, Operands, Primitive};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, ExprType, MAX_TEXT, Range, Value, continues},
    error::Refused,
};

/// The number of bytes of a string's type.
pub(super) fn bytes(ty: ColumnType) -> usize {
    match ty {
        ColumnType::Varchar(bytes) => bytes.into(),
        _ => 0,
    }
}

/// The type of a string of at most this many bytes.
pub(super) fn varchar(bytes: usize) -> ExprType {
    let ty = ColumnType::Varchar(bytes.clamp(1, MAX_TEXT.into()) as u16);
    ExprType { ty, nullable: false, range: ty.range() }
}

/// The type of a whole number from 0 to `most`.
pub(super) fn number(most: usize) -> ExprType {
    let range = Range { low: 0, high: most as i128 };
    ExprType { ty: ColumnType::BigInt, nullable: false, range }
}

/// The number of bytes of the operand at this place.
pub(super) fn checked(operands: &Operands<'_>, place: usize) -> Result<usize, Refused> {
    match operands.types[place].ty {
        ColumnType::Varchar(bytes) => Ok(bytes.into()),
        _ => Err(operands.refused("give it a VARCHAR(n): CAST other values to VARCHAR")),
    }
}

/// An argument as a string: a bare NULL gets a string's type.
pub(super) fn text(of: Expr) -> Expr {
    match of {
        Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, ColumnType::Varchar(1)),
        of => of,
    }
}

/// A call on strings.
pub(super) fn of_texts(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    Ok(of.call(arguments.all.iter().cloned().map(text).collect(), vec![]))
}

/// The bytes of an argument that must be a literal. The error's remedy names an alternative.
pub(super) fn literal(arguments: &Arguments<'_>, place: usize) -> Result<Vec<u8>, Fault> {
    match arguments.all.get(place) {
        Some(Expr::Literal(Value::Text(bytes), _)) => Ok(bytes.clone()),
        _ => {
            let clause = format!(
                "{} with a text in place {} that is no literal",
                arguments.name.to_uppercase(),
                place + 1
            );
            Err(arguments
                .unsupported(&clause, "write it out between quotes: it is public, and the same for all rows"))
        }
    }
}

/// The whole number of an argument that must be a literal, at least `least`.
pub(super) fn literal_number(arguments: &Arguments<'_>, place: usize, least: i128) -> Result<i128, Fault> {
    match arguments.all.get(place) {
        Some(Expr::Literal(Value::Number(n), ty)) if ty.is_integer() && *n >= least => Ok(*n),
        _ => {
            let clause = format!(
                "{} with a number in place {} that is no literal from {least} on",
                arguments.name.to_uppercase(),
                place + 1
            );
            Err(arguments
                .unsupported(&clause, "write the number out: it is public, and the same for all rows"))
        }
    }
}

/// Bytes as public arguments.
pub(super) fn public(bytes: &[u8]) -> Vec<i128> {
    bytes.iter().map(|byte| i128::from(*byte)).collect()
}

/// Public arguments as bytes.
pub(super) fn of_public(public: &[i128]) -> Vec<u8> {
    public.iter().map(|n| *n as u8).collect()
}

/// The characters of a text from one place to another, both counted from 0.
pub(super) fn characters(text: &[u8], from: usize, to: usize) -> Vec<u8> {
    let mut begun = 0;
    let within = |byte: &&u8| {
        begun += usize::from(!continues(**byte));
        from < begun && begun <= to
    };
    text.iter().filter(within).copied().collect()
}

/// A string's bytes; empty for any other value.
pub(super) fn value(values: &[Value], place: usize) -> &[u8] {
    match values.get(place) {
        Some(Value::Text(bytes)) => bytes,
        _ => &[],
    }
}

/// A call in a plan, with its public text.
pub(super) fn shown(of: &Primitive, operands: &[String], public: &[i128]) -> String {
    let text = of_public(public);
    format!("{}({}, '{}')", of.name, operands.join(", "), String::from_utf8_lossy(&text))
}
