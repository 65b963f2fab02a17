//! The SQL function LTRIM.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    trim::{ends, trimmed},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["ltrim"],
    arity: 1..=2,
    usage: "LTRIM(text, characters)",
    gives: "the text's type",
    doc: "the text without blanks, or without the ASCII characters of a literal, at its front",
    example: "LTRIM(note, 'Ro')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&LTRIM, trimmed),
};

static LTRIM: Primitive = ends::<true, false>("LTRIM");
