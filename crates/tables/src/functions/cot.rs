//! The SQL function COT.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["cot"],
    arity: 1..=1,
    usage: "COT(number)",
    gives: "DOUBLE",
    doc: "the cotangent of an angle in radians; NULL where it has none",
    example: "COT(x)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let cosine = call("cos", arguments.all.clone(), arguments.reader)?;
        let sine = call("sin", arguments.all.clone(), arguments.reader)?;
        arguments.reader.arithmetic(Arithmetic::Divide, cosine, sine)
    }),
};
