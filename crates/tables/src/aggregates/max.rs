//! The SQL aggregate MAX.

use super::{AggregateDef, AggregateMeaning, Figure, min::extreme};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["max"],
    arity: 1..=1,
    usage: "MAX(value)",
    gives: "the value's type",
    doc: "the greatest value",
    example: "MAX(price)",
    distinct: true,
    meaning: AggregateMeaning::Native(&MAX),
};

/// The greatest value.
pub static MAX: Figure = extreme("MAX", true);
