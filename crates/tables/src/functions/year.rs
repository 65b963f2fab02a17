//! The SQL function YEAR, which is also EXTRACT(YEAR FROM …).

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    dates::{self, DatePart},
    definition::of_all,
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["year"],
    arity: 1..=1,
    usage: "EXTRACT(YEAR FROM date)",
    gives: "INTEGER",
    doc: "the year of a DATE or a TIMESTAMP in the Gregorian calendar",
    example: "EXTRACT(YEAR FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&YEAR, of_all),
};

static YEAR: Primitive = Primitive {
    name: "YEAR",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| dates::checked(DatePart::Year, operands),
    plain: |typed, values| dates::value(DatePart::Year, typed, &values),
    lower: |typed, cells| typed.cell(dates::part(DatePart::Year, cells[0], typed.own.range)),
    shown: dates::shown,
};
