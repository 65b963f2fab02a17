//! The SQL function RTRIM.

use super::{
    FnDef, Leaks, Meaning, Primitive,
    trim::{ends, trimmed},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["rtrim"],
    arity: 1..=2,
    usage: "RTRIM(text, characters)",
    gives: "the text's type",
    doc: "the text without blanks, or without the ASCII characters of a literal, at its end",
    example: "RTRIM(note, 'st')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&RTRIM, trimmed),
};

static RTRIM: Primitive = ends::<false, true>("RTRIM");
