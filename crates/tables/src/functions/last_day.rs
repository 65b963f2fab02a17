//! The SQL function LAST_DAY.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, days_later, first_day},
    call,
};
use crate::algebra::whole;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["last_day"],
    arity: 1..=1,
    usage: "LAST_DAY(date)",
    gives: "DATE",
    doc: "the last day of the month",
    example: "LAST_DAY(born)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let reader = arguments.reader;
        let first = first_day("month", dated(of.clone(), reader)?, reader)?.unwrap_or(of);
        Ok(days_later(call("add_months", vec![first, whole(1)], reader)?, whole(-1)))
    }),
};
