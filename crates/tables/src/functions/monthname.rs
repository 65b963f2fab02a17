//! The SQL function MONTHNAME.

use super::{FnDef, Leaks, Meaning, call, slice::whole};
use crate::algebra::{ColumnType, Expr, Value};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["monthname"],
    arity: 1..=1,
    usage: "MONTHNAME(date)",
    gives: "VARCHAR(9)",
    doc: "the English name of the month",
    example: "MONTHNAME(day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let of = call("month", arguments.all.clone(), arguments.reader)?;
        let names = "January February March April May June July August September October November December"
            .split(' ')
            .zip(1..);
        let branch = |(name, n)| {
            let is = arguments.reader.compared(Comparison::Equal, of.clone(), whole(n))?;
            Ok((is, Expr::Literal(Value::text(name), ColumnType::Varchar(9))))
        };
        Ok(Expr::Case { branches: names.map(branch).collect::<Result<_, crate::Fault>>()?, otherwise: None })
    }),
};
