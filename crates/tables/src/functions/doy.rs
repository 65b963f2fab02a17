//! The SQL function DOY.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, day_number},
    call,
};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["doy", "dayofyear"],
    arity: 1..=1,
    usage: "EXTRACT(DOY FROM date)",
    gives: "BIGINT",
    doc: "the day of the year, 1 to 366",
    example: "EXTRACT(DOY FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let reader = arguments.reader;
        let of = dated(of, reader)?;
        let year = call("year", vec![of.clone()], reader)?;
        let first = call("make_date", vec![year, whole(1), whole(1)], reader)?;
        let days =
            reader.arithmetic(Arithmetic::Subtract, day_number(of, reader)?, day_number(first, reader)?)?;
        reader.arithmetic(Arithmetic::Add, days, whole(1))
    }),
};
