//! The SQL function TAN.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["tan"],
    arity: 1..=1,
    usage: "TAN(number)",
    gives: "DOUBLE",
    doc: "the tangent of an angle in radians; NULL where it has none",
    example: "TAN(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let sine = call("sin", arguments.all.clone(), arguments.reader)?;
        let cosine = call("cos", arguments.all.clone(), arguments.reader)?;
        arguments.reader.arithmetic(Arithmetic::Divide, sine, cosine)
    }),
};
