//! The SQL function CONCAT.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, Reader,
    definition::as_call,
    text::{self, checked, value, varchar},
};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, MAX_TEXT, Value},
    error::Refused,
    lower::bytes::{circuit, joined, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["concat"],
    arity: 1..=usize::MAX,
    usage: "CONCAT(value, …)",
    gives: "VARCHAR of the sum of all lengths",
    doc: "the texts of the values that are not NULL, one after the other; `a || b` is NULL where one is",
    example: "CONCAT(name, ', ', n)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let texts = arguments.all.iter().map(|e| {
            let text = as_text(e.clone(), arguments.reader)?;
            let none = Expr::Literal(Value::text(""), ColumnType::Varchar(1));
            Ok(super::coalesce(vec![text, none]))
        });
        let texts = texts.collect::<Result<Vec<_>, Fault>>()?;
        Ok(texts.into_iter().reduce(after).unwrap_or(Expr::Literal(Value::Null, ColumnType::Varchar(1))))
    }),
};

static CONCAT: Primitive = Primitive {
    name: "CONCAT",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let bytes = checked(operands, 0)? + checked(operands, 1)?;
        if bytes > MAX_TEXT.into() {
            let remedy =
                format!("the result has at most {MAX_TEXT} bytes: CAST a text to a shorter VARCHAR(n) first");
            return Err(Refused::operands(operands.types, remedy));
        }
        Ok(varchar(bytes))
    },
    plain: |_, values| Value::Text([value(&values, 0), value(&values, 1)].concat()),
    lower: |typed, cells| {
        let bytes = text::bytes(typed.own.ty);
        typed.cell(circuit(&[cells[0].val, cells[1].val], |c, bits| {
            write(&joined(c, &read(&bits[0]), &read(&bits[1]), bytes), bytes)
        }))
    },
    shown: as_call,
};

/// Joins two texts; NULL if either is NULL.
pub(super) fn after(first: Expr, second: Expr) -> Expr {
    let empty = |e: &Expr| matches!(e, Expr::Literal(Value::Text(bytes), _) if bytes.is_empty());
    match (empty(&first), empty(&second)) {
        (true, _) => second,
        (_, true) => first,
        _ => CONCAT.call(vec![first, second], vec![]),
    }
}

/// A value converted to text.
pub(super) fn as_text(of: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    match reader.ty(&of)? {
        _ if matches!(of, Expr::Literal(Value::Null, _)) => Ok(text::text(of)),
        ColumnType::Varchar(_) => Ok(of),
        _ => super::call("to_text", vec![of], reader),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::values,
    };

    #[test]
    fn texts_follow_each_other() {
        let column = |name, bytes| Column::new(name, ColumnType::Varchar(bytes)).nullable();
        let texts = |all: [Option<&str>; 4]| -> Vec<Value> {
            all.map(|text| text.map_or(Value::Null, Value::text)).to_vec()
        };
        let given = [
            (column("x", 3), texts([Some("abc"), Some(""), Some("é"), None])),
            (column("y", 5), texts([Some("12345"), Some("x"), None, Some("z")])),
        ];
        assert_eq!(values("concat", &given, &[]), texts([Some("abc12345"), Some("x"), Some("é"), Some("z")]));
        assert_eq!(values("concat_op", &given, &[]), texts([Some("abc12345"), Some("x"), None, None]));
    }
}
