//! The SQL function REVERSE.

use super::{
    ComputedBy, FnDef, Leaks, Letters, Meaning, Primitive,
    definition::as_call,
    text::{self, checked, of_texts, value, varchar},
};
use crate::{
    algebra::Value,
    lower::bytes::{circuit, front_trimmed, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["reverse"],
    arity: 1..=1,
    usage: "REVERSE(text)",
    gives: "the text's type",
    doc: "the characters in reverse",
    example: "REVERSE(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&REVERSE, of_texts),
};

static REVERSE: Primitive = Primitive {
    name: "REVERSE",
    strict: true,
    by: ComputedBy::OwnerFirst(Letters::Ascii),
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |_, values| {
        Value::text(&String::from_utf8_lossy(value(&values, 0)).chars().rev().collect::<String>())
    },
    lower: |typed, cells| {
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| {
            let turned: Vec<_> = read(&bits[0]).into_iter().rev().collect();
            // After the reversal, the padding is in front.
            write(&front_trimmed(c, &turned, &[0]), bytes)
        }))
    },
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::values,
    };

    #[test]
    fn characters_come_in_reverse() {
        let texts = |all: [&str; 3]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let given = [(Column::new("x", ColumnType::Varchar(5)).nullable(), texts(["abc", "", "abcde"]))];
        assert_eq!(values("reverse", &given, &[]), texts(["cba", "", "edcba"]));
    }
}
