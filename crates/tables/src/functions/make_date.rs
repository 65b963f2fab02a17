//! The SQL function MAKE_DATE.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    calendar::{days, month_days},
    definition::as_call,
    real::value,
};
use crate::{
    algebra::{ColumnType, Expr, ExprType, Value},
    fixed::{Fixed, Wide},
    lower::{
        cell::Cell,
        numbers::{resized, width},
    },
};
use hushwire_compute::Val;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["make_date"],
    arity: 3..=3,
    usage: "MAKE_DATE(year, month, day)",
    gives: "DATE",
    doc: "the date of the years 1 to 9999; NULL if there is none",
    example: "MAKE_DATE(2024, n, 15)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&MAKE_DATE, |of, arguments| {
        let number = |e: &Expr| match e {
            Expr::Literal(Value::Null, _) => Expr::Literal(Value::Null, ColumnType::Integer),
            e => e.clone(),
        };
        Ok(of.call(arguments.all.iter().map(number).collect(), vec![]))
    }),
};

static MAKE_DATE: Primitive = Primitive {
    name: "MAKE_DATE",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        if operands.types.iter().any(|t| !t.ty.is_integer()) {
            return Err(operands.refused("give it whole numbers"));
        }
        Ok(ExprType { ty: ColumnType::Date, nullable: true, range: ColumnType::Date.range() })
    },
    plain: |_, values| {
        value(&values, |x| {
            let within = |n: i128, most: i128| (1..=most).contains(&n);
            let there = within(x[0], 9999) && within(x[1], 12) && within(x[2], month_days(x[0], x[1]));
            there.then(|| days(x[0], x[1], x[2]))
        })
    },
    lower: |typed, cells| {
        let x = [0, 1, 2].map(|place| {
            let val = cells[place].val;
            let bits = val.ty().map_or(64, |ty| ty.scalar.bits() as u8).max(32);
            Wide(resized(val, bits))
        });
        let bits = x.iter().filter_map(|x| x.0.ty()).map(|ty| ty.scalar.bits() as u8).max().unwrap_or(64);
        let x = x.map(|x| Wide(resized(x.0, bits)));
        let out = beyond(x[0], x[0].same(9999)) | beyond(x[1], x[1].same(12));
        // The number of days is looked up for a valid month only.
        let month = Fixed::choose(out, x[1].same(1), x[1]);
        let year = Fixed::choose(out, x[0].same(1), x[0]);
        let out = out | beyond(x[2], month_days(year, month));
        let made = Fixed::choose(out, year.same(0), days(year, month, x[2]));
        Cell { null: Some(out), ..typed.cell(resized(made.0, width(typed.own.range))) }
    },
    shown: as_call,
};

/// Whether a number is outside 1 to `most`.
fn beyond<'b>(of: Wide<'b>, most: Wide<'b>) -> Val<'b> {
    of.below(of.same(1)) | most.below(of)
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn days_that_are_not_there_are_null() {
        let column = |name| Column::new(name, ColumnType::Integer).nullable();
        let given = [
            (
                column("y"),
                numbers([Some(1970), Some(2024), Some(2023), Some(9999), Some(0), Some(2000), None]),
            ),
            (column("m"), numbers([Some(1), Some(2), Some(2), Some(12), Some(1), Some(13), Some(1)])),
            (column("d"), numbers([Some(1), Some(29), Some(29), Some(31), Some(1), Some(1), Some(1)])),
        ];
        let expected = [Some(0), Some(19_782), None, Some(2_932_896), None, None, None];
        assert_eq!(values("make_date", &given, &[]), numbers(expected));
    }
}
