//! The SQL function DAY, which is also EXTRACT(DAY FROM …).

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    dates::{self, DatePart},
    definition::of_all,
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["day"],
    arity: 1..=1,
    usage: "EXTRACT(DAY FROM date)",
    gives: "INTEGER",
    doc: "the day of a DATE or a TIMESTAMP within its month, 1 to 31",
    example: "EXTRACT(DAY FROM day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&DAY, of_all),
};

static DAY: Primitive = Primitive {
    name: "DAY",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| dates::checked(DatePart::Day, operands),
    plain: |typed, values| dates::value(DatePart::Day, typed, &values),
    lower: |typed, cells| typed.cell(dates::part(DatePart::Day, cells[0], typed.own.range)),
    shown: dates::shown,
};
