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

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    /// Days from `date -u -d @…`, with a range of all years and of few.
    #[test]
    fn days_have_it() {
        let day = Column::new("d", ColumnType::Date).nullable();
        let days = [Some(9204), Some(-1), Some(11_016), None];
        for column in [day.clone(), day.within(-400, 11_100)] {
            assert_eq!(
                values("year", &[(column, numbers(days))], &[]),
                numbers([Some(1995), Some(1969), Some(2000), None])
            );
        }
    }
}
