//! The SQL function INITCAP.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    definition::as_call,
    text::{checked, of_texts, value, varchar},
    upper::cased,
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["initcap"],
    arity: 1..=1,
    usage: "INITCAP(text)",
    gives: "the text's type",
    doc: "the text with the first letter of each word as a capital and all others as small letters",
    example: "INITCAP(note)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&INITCAP, of_texts),
};

static INITCAP: Primitive = Primitive {
    name: "INITCAP",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |_, values| {
        let text = String::from_utf8_lossy(value(&values, 0)).into_owned();
        let mut within = false;
        let one = |c: char| {
            let made = cased(c, !within);
            within = c.is_alphanumeric();
            made
        };
        Value::text(&text.chars().map(one).collect::<String>())
    },
    lower: by_owners,
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::in_open,
    };

    /// The results of PostgreSQL.
    #[test]
    fn words_begin_with_capitals() {
        let of =
            |text: &str| in_open("initcap", vec![Expr::literal(Value::text(text), ColumnType::Varchar(40))]);
        assert_eq!(of("hello wORLD, o'neil"), Value::text("Hello World, O'Neil"));
        assert_eq!(of("élan vital 2nd"), Value::text("Élan Vital 2nd"));
    }
}
