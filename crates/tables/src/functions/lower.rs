//! The SQL function LOWER.

use super::{
    ComputedBy, FnDef, Leaks, Letters, Meaning, Primitive,
    definition::as_call,
    text::{self, checked, of_texts, value, varchar},
    upper::in_open,
};
use crate::lower::bytes::{circuit, in_case, read, write};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["lower", "lcase"],
    arity: 1..=1,
    usage: "LOWER(text)",
    gives: "the text's type",
    doc: "the text in small letters; letters whose small one has more bytes stay",
    example: "LOWER(name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LOWER, of_texts),
};

static LOWER: Primitive = Primitive {
    name: "LOWER",
    strict: true,
    by: ComputedBy::OwnerFirst(Letters::Latin),
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |_, values| in_open(value(&values, 0), false),
    lower: |typed, cells| {
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| write(&in_case(c, &read(&bits[0]), false), bytes)))
    },
    shown: as_call,
};
