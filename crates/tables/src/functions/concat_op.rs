//! The SQL function `||`.

use super::{
    FnDef, Leaks, Meaning,
    concat::{after, as_text},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["concat_op"],
    arity: 2..=2,
    usage: "text || text",
    gives: "VARCHAR of the sum of both lengths",
    doc: "one text after the other; numbers and dates as their texts",
    example: "name || '!'",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [first, second] = arguments.exactly()?;
        Ok(after(as_text(first, arguments.reader)?, as_text(second, arguments.reader)?))
    }),
};
