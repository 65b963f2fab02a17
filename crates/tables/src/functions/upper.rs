//! UPPER.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    text::{self, checked, of_texts, value, varchar},
};
use crate::{
    algebra::Value,
    lower::bytes::{circuit, in_case, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["upper", "ucase"],
    arity: 1..=1,
    usage: "UPPER(text)",
    gives: "the text's type",
    doc: "the text in capitals: of ASCII and of Latin-1, such as é; other characters stay",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&UPPER, of_texts),
};

static UPPER: Primitive = Primitive {
    name: "UPPER",
    strict: true,
    cuts_bytes: false,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |_, values| Value::Text(cased(value(&values, 0), true)),
    lower: |typed, cells| {
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| write(&in_case(c, &read(&bits[0]), true), bytes)))
    },
    shown: as_call,
};

/// A text in capitals or small letters.
pub(super) fn cased(text: &[u8], upper: bool) -> Vec<u8> {
    let mut before = 0;
    let one = |byte: &u8| {
        let low = byte & 0x1f;
        let ascii = byte & 0xc0 == 0x40 && (1..27).contains(&low);
        let latin = before == 0xc3 && byte & 0xc0 == 0x80 && low != 31 && low != 23;
        before = *byte;
        match (ascii || latin, upper) {
            (false, _) => *byte,
            (true, true) => byte & !0x20,
            (true, false) => byte | 0x20,
        }
    };
    text.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::values,
    };

    #[test]
    fn letters_of_ascii_and_latin_1_have_case() {
        let texts = |all: [&str; 5]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let column = Column::new("x", ColumnType::Varchar(12)).nullable();
        let given = [(column, texts(["aZ@[`{z", "éàþ÷ß", "ÉÀÞ×", "", "日本"]))];
        assert_eq!(values("upper", &given, &[]), texts(["AZ@[`{Z", "ÉÀÞ÷ß", "ÉÀÞ×", "", "日本"]));
        assert_eq!(values("lower", &given, &[]), texts(["az@[`{z", "éàþ÷ß", "éàþ×", "", "日本"]));
    }
}
