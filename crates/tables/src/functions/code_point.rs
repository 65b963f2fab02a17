//! The SQL function ASCII.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    definition::as_call,
    text::{checked, number, of_texts, value},
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ascii", "ord", "unicode"],
    arity: 1..=1,
    usage: "ASCII(text)",
    gives: "BIGINT",
    doc: "the number in Unicode of the text's first character; 0 of an empty text",
    example: "ASCII(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&CODE_POINT, of_texts),
};

static CODE_POINT: Primitive = Primitive {
    name: "ASCII",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        checked(operands, 0)?;
        Ok(number(char::MAX as usize))
    },
    plain: |_, values| {
        let text = String::from_utf8_lossy(value(&values, 0)).into_owned();
        Value::Number(text.chars().next().map_or(0, |c| u32::from(c).into()))
    },
    lower: by_owners,
    shown: as_call,
};
