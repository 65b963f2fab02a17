//! The SQL function NVL2.

use super::{FnDef, Leaks, Meaning};
use crate::algebra::Expr;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["nvl2"],
    arity: 3..=3,
    usage: "NVL2(value, some, none)",
    gives: "the values' common type",
    doc: "the second value where the first is not NULL, else the third; never NULL by itself",
    example: "NVL2(nothing, 1, 0)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [of, some, none] = arguments.exactly()?;
        let mut values = arguments.reader.united(vec![some, none])?;
        let otherwise = values.pop().map(Box::new);
        Ok(Expr::Case { branches: vec![(of.is_null().not(), values.swap_remove(0))], otherwise })
    }),
};
