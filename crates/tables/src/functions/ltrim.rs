//! LTRIM.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    text::{self, checked, of_public, shown, value, varchar},
    trim::{cut, trimmed},
};
use crate::lower::bytes::{circuit, front_trimmed, read, write};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ltrim"],
    arity: 1..=2,
    usage: "LTRIM(text, characters)",
    gives: "the text's type",
    doc: "the text without blanks, or without the ASCII characters of a literal, at its front",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LTRIM, trimmed),
};

static LTRIM: Primitive = Primitive {
    name: "LTRIM",
    strict: true,
    cuts_bytes: false,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |typed, values| cut(value(&values, 0), &of_public(typed.operands.public), true, false),
    lower: |typed, cells| {
        let set = of_public(typed.operands.public);
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| {
            let text = read(&bits[0]);

            let text = front_trimmed(c, &text, &set);
            write(&text, bytes)
        }))
    },
    shown,
};
