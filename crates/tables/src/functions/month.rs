//! The SQL function MONTH, which is also EXTRACT(MONTH FROM …).

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    dates::{self, DatePart},
    definition::of_all,
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["month"],
    arity: 1..=1,
    usage: "EXTRACT(MONTH FROM date)",
    gives: "INTEGER",
    doc: "the month of a DATE or a TIMESTAMP, 1 to 12",
    example: "EXTRACT(MONTH FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&MONTH, of_all),
};

static MONTH: Primitive = Primitive {
    name: "MONTH",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| dates::checked(DatePart::Month, operands),
    plain: |typed, values| dates::value(DatePart::Month, typed, &values),
    lower: |typed, cells| typed.cell(dates::part(DatePart::Month, cells[0], typed.own.range)),
    shown: dates::shown,
};
