//! HOUR.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{modulo, of_day},
    slice::whole,
};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["hour"],
    arity: 1..=1,
    usage: "EXTRACT(HOUR FROM timestamp)",
    gives: "BIGINT",
    doc: "the hour of a TIMESTAMP, 0 to 23",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let units = arguments.reader.arithmetic(
            Arithmetic::DivideWhole,
            of_day(of, arguments.reader)?,
            whole(3600000000),
        )?;
        modulo(units, 24, arguments.reader)
    }),
};
