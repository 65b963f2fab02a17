//! The SQL function EPOCH.

use super::{
    FnDef, Leaks, Meaning,
    calendar::{dated, day_number, micros},
};
use crate::algebra::{Arithmetic, ColumnType, Expr, Value, whole};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["epoch"],
    arity: 1..=1,
    usage: "EXTRACT(EPOCH FROM timestamp)",
    gives: "DECIMAL with six digits after the point; BIGINT for a DATE",
    doc: "the seconds since 1970-01-01 00:00",
    example: "EXTRACT(EPOCH FROM at)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        let reader = arguments.reader;
        let of = dated(of, reader)?;
        if reader.ty(&of)? == ColumnType::Date {
            return reader.arithmetic(Arithmetic::Multiply, day_number(of, reader)?, whole(86_400));
        }
        // A DECIMAL with six fractional digits has the same steps.
        let step = Expr::Literal(Value::Number(1), ColumnType::Decimal { precision: 6, scale: 6 });
        reader.arithmetic(Arithmetic::Multiply, micros(of, reader)?, step)
    }),
};
