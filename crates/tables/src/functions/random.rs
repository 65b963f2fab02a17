//! The SQL function RANDOM.

use super::{FnDef, Leaks, Meaning};
use hushwire_fault::{Fault, code};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["random", "rand"],
    arity: 0..=1,
    usage: "RANDOM()",
    gives: "–",
    doc: "is refused: members compute one value together, and a random one would differ at each",
    example: "",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|_| {
        let clause = "RANDOM, since all members must compute the same value";
        let remedy = "bring a column of random numbers as a table, or order by a column of your own";
        Err(Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]))
    }),
};
