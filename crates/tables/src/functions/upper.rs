//! The SQL function UPPER.

use super::{
    ComputedBy, FnDef, Leaks, Letters, Meaning, Primitive,
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
    doc: "the text in capitals; letters whose capital has more bytes, such as ß, stay",
    example: "UPPER(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&UPPER, of_texts),
};

static UPPER: Primitive = Primitive {
    name: "UPPER",
    strict: true,
    by: ComputedBy::OwnerFirst(Letters::Latin),
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |_, values| in_open(value(&values, 0), true),
    lower: |typed, cells| {
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| write(&in_case(c, &read(&bits[0]), true), bytes)))
    },
    shown: as_call,
};

/// A letter in upper or lower case. The letter stays unchanged if its other case has more bytes or
/// is several letters.
pub(super) fn cased(letter: char, upper: bool) -> char {
    let (mut capital, mut small) = (letter.to_uppercase(), letter.to_lowercase());
    let made = if upper { (capital.next(), capital.next()) } else { (small.next(), small.next()) };
    match made {
        (Some(other), None) if other.len_utf8() <= letter.len_utf8() => other,
        _ => letter,
    }
}

/// A text in upper or lower case.
pub(super) fn in_open(text: &[u8], upper: bool) -> Value {
    let text = String::from_utf8_lossy(text).into_owned();
    Value::text(&text.chars().map(|c| cased(c, upper)).collect::<String>())
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::{in_open, values},
    };

    #[test]
    fn parties_know_the_case_of_ascii_and_latin_1() {
        let texts = |all: [&str; 5]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let column = Column::new("x", ColumnType::Varchar(12)).nullable();
        let given = [(column, texts(["aZ@[`{z", "éàþ÷ß", "ÉÀÞ×", "", "日本"]))];
        assert_eq!(values("upper", &given, &[]), texts(["AZ@[`{Z", "ÉÀÞ÷ß", "ÉÀÞ×", "", "日本"]));
        assert_eq!(values("lower", &given, &[]), texts(["az@[`{z", "éàþ÷ß", "éàþ×", "", "日本"]));
    }

    #[test]
    fn owners_know_the_case_of_all_letters() {
        let of =
            |name, text: &str| in_open(name, vec![Expr::literal(Value::text(text), ColumnType::Varchar(40))]);
        assert_eq!(of("upper", "Ωmega ψи straße ÿµ ǆ"), Value::text("ΩMEGA ΨИ STRAßE ŸΜ Ǆ"));
        assert_eq!(of("lower", "ΩMEGA ΨИ Ÿ"), Value::text("ωmega ψи ÿ"));
    }
}
