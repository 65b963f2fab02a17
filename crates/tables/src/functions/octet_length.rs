//! The SQL function OCTET_LENGTH.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    text::{checked, number, of_texts, value},
};
use crate::{
    algebra::Value,
    lower::{
        bytes::{as_number, circuit, count, is_some, read},
        numbers::width,
    },
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["octet_length", "strlen"],
    arity: 1..=1,
    usage: "OCTET_LENGTH(text)",
    gives: "BIGINT",
    doc: "the number of bytes",
    example: "OCTET_LENGTH(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&OCTET_LENGTH, of_texts),
};

static OCTET_LENGTH: Primitive = Primitive {
    name: "OCTET_LENGTH",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| Ok(number(checked(operands, 0)?)),
    plain: |_, values| Value::Number(value(&values, 0).len() as i128),
    lower: |typed, cells| {
        let made = circuit(&[cells[0].val], |c, bits| {
            let some: Vec<_> = read(&bits[0]).into_iter().map(|byte| is_some(c, byte)).collect();
            count(c, &some)
        });
        typed.cell(as_number(made, width(typed.own.range)))
    },
    shown: as_call,
};
