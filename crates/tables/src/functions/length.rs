//! The SQL function LENGTH.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    text::{checked, number, of_texts, value},
};
use crate::{
    algebra::{Value, continues},
    lower::{
        bytes::{as_number, begins, circuit, count, read},
        numbers::width,
    },
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["length", "char_length", "character_length", "len"],
    arity: 1..=1,
    usage: "LENGTH(text)",
    gives: "BIGINT",
    doc: "the number of characters",
    example: "LENGTH(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LENGTH, of_texts),
};

static LENGTH: Primitive = Primitive {
    name: "LENGTH",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| Ok(number(checked(operands, 0)?)),
    plain: |_, values| {
        let begun = value(&values, 0).iter().filter(|byte| !continues(**byte)).count();
        Value::Number(begun as i128)
    },
    lower: |typed, cells| {
        let made = circuit(&[cells[0].val], |c, bits| {
            let begun: Vec<_> = read(&bits[0]).into_iter().map(|byte| begins(c, byte)).collect();
            count(c, &begun)
        });
        typed.cell(as_number(made, width(typed.own.range)))
    },
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{numbers, values},
    };

    #[test]
    fn characters_are_counted() {
        let column = Column::new("x", ColumnType::Varchar(9)).nullable();
        let texts = ["", "a", "Ünal", "日本語", "abcdefghi"].map(Value::text);
        let given: Vec<Value> = texts.into_iter().chain([Value::Null]).collect();
        let counts = [Some(0), Some(1), Some(4), Some(3), Some(9), None];
        assert_eq!(values("length", &[(column.clone(), given.clone())], &[]), numbers(counts));
        let bytes = [Some(0), Some(1), Some(5), Some(9), Some(9), None];
        assert_eq!(values("octet_length", &[(column, given)], &[]), numbers(bytes));
    }
}
