//! The SQL function WEEK.

use super::{FnDef, Leaks, Meaning, calendar::thursday, call};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["week", "weekofyear"],
    arity: 1..=1,
    usage: "EXTRACT(WEEK FROM date)",
    gives: "BIGINT",
    doc: "the week of ISO 8601, 1 to 53",
    example: "EXTRACT(WEEK FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let reader = arguments.reader;
        let day = call("doy", vec![thursday(arguments)?], reader)?;
        let week = reader.arithmetic(
            Arithmetic::DivideWhole,
            reader.arithmetic(Arithmetic::Subtract, day, whole(1))?,
            whole(7),
        )?;
        reader.arithmetic(Arithmetic::Add, week, whole(1))
    }),
};
