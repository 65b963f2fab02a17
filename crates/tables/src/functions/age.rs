//! AGE.

use super::{FnDef, Leaks, Meaning};
use hushwire_fault::{Fault, code};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["age"],
    arity: 1..=2,
    usage: "AGE(last, first)",
    gives: "–",
    doc: "is refused: its months have no length; DATE_SUB counts them",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|_| {
        let clause = "AGE, whose months have no length of their own";
        let remedy = "write DATE_SUB('year', first, last) or DATE_SUB('month', first, last)";
        Err(Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]))
    }),
};
