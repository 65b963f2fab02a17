//! SECOND.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{modulo, of_day},
    slice::whole,
};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["second"],
    arity: 1..=1,
    usage: "EXTRACT(SECOND FROM timestamp)",
    gives: "BIGINT",
    doc: "the second of a TIMESTAMP, 0 to 59",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let units = arguments.reader.arithmetic(
            Arithmetic::DivideWhole,
            of_day(of, arguments.reader)?,
            whole(1000000),
        )?;
        modulo(units, 60, arguments.reader)
    }),
};
