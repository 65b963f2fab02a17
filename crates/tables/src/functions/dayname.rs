//! The SQL function DAYNAME.

use super::{FnDef, Leaks, Meaning, call, slice::whole};
use crate::algebra::{ColumnType, Expr, Value};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["dayname"],
    arity: 1..=1,
    usage: "DAYNAME(date)",
    gives: "VARCHAR(9)",
    doc: "the English name of the day",
    example: "DAYNAME(day)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let of = call("isodow", arguments.all.clone(), arguments.reader)?;
        let names = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(' ').zip(1..);
        let branch = |(name, n)| {
            let is = arguments.reader.compared(Comparison::Equal, of.clone(), whole(n))?;
            Ok((is, Expr::Literal(Value::text(name), ColumnType::Varchar(9))))
        };
        Ok(Expr::Case { branches: names.map(branch).collect::<Result<_, crate::Fault>>()?, otherwise: None })
    }),
};
