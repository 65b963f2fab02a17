//! The SQL function STARTS_WITH.

use super::{FnDef, Leaks, Meaning, call};
use crate::algebra::{Expr, Value, whole};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["starts_with", "prefix"],
    arity: 2..=2,
    usage: "STARTS_WITH(text, part)",
    gives: "BOOLEAN",
    doc: "whether the text begins with the part",
    example: "STARTS_WITH(name, 'Anna')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [text, part] = arguments.exactly()?;
        match &part {
            Expr::Literal(Value::Text(bytes), _) => Ok(like(text, escaped(bytes) + "%")),
            _ => {
                let place = call("strpos", vec![text, part], arguments.reader)?;
                arguments.reader.compared(Comparison::Equal, place, whole(1))
            }
        }
    }),
};

/// A public text, escaped as a part of a pattern.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .flat_map(|c| ['\\'].into_iter().filter(move |_| matches!(c, '%' | '_' | '\\')).chain([c]))
        .collect()
}

/// Whether a text matches a pattern that is escaped by a backslash.
pub(super) fn like(of: Expr, pattern: String) -> Expr {
    Expr::Like { of: Box::new(super::text::text(of)), pattern, escape: Some('\\') }
}
