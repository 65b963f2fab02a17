//! The SQL function REGEXP_FULL_MATCH.

use super::{FnDef, Leaks, Meaning, regexp::Pattern, regexp_matches::MATCHES, text};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["regexp_full_match"],
    arity: 2..=3,
    usage: "REGEXP_FULL_MATCH(text, pattern, options)",
    gives: "BOOLEAN",
    doc: "whether all of the text matches a regular expression, also `text SIMILAR TO pattern` and `text ~ pattern`",
    example: "REGEXP_FULL_MATCH(note, 'Room.*')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&MATCHES, |of, arguments| {
        let pattern = Pattern::of(arguments, 1, 2, true)?;
        Ok(of.call(vec![text::text(arguments.all[0].clone())], pattern.public(&[])))
    }),
};
