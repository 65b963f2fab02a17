//! The SQL function REGEXP_EXTRACT.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    regexp::Pattern,
    text::{self, checked, value, varchar},
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["regexp_extract", "regexp_substr"],
    arity: 2..=4,
    usage: "REGEXP_EXTRACT(text, pattern, group, options)",
    gives: "the text's type",
    doc: "the first part of the text that matches, or the part that a group of the pattern matches, counted from 1; empty if none matches",
    example: "REGEXP_EXTRACT(note, '[0-9]+')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&EXTRACT, |of, arguments| {
        let pattern = Pattern::of(arguments, 1, 3, false)?;
        let group = if arguments.all.len() > 2 { text::literal_number(arguments, 2, 0)? } else { 0 };
        if group > pattern.groups() as i128 {
            return Err(arguments.unsupported(
                &format!("REGEXP_EXTRACT of group {group} of {}", pattern.groups()),
                "count the groups of the pattern from 1, by their opening parentheses; 0 is the whole match",
            ));
        }
        let behind = group.to_string();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], pattern.public(behind.as_bytes())))
    }),
};

static EXTRACT: Primitive = Primitive {
    name: "REGEXP_EXTRACT",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |typed, values| {
        let (pattern, group) = Pattern::of_public(typed.operands.public);
        let group: usize = String::from_utf8_lossy(&group).parse().unwrap_or_default();
        let text = String::from_utf8_lossy(value(&values, 0));
        let found = pattern.with(|regex| {
            let found = regex.captures(&text)?;
            Some(found.get(group)?.as_str().to_owned())
        });
        Value::text(&found.flatten().unwrap_or_default())
    },
    lower: by_owners,
    shown: |of, operands, public| {
        let (pattern, group) = Pattern::of_public(public);
        let group = String::from_utf8_lossy(&group).into_owned();
        format!("{}({}, {}, {group})", of.name, operands.join(", "), pattern.shown())
    },
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::{in_open, int, refused},
    };

    #[test]
    fn the_first_match_and_its_groups() {
        let text = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(40));
        let extract = |of: &str, n| in_open("regexp_extract", vec![text(of), text(r"(\w+)@(\w+)"), int(n)]);
        assert_eq!(extract("x: anna@shop, b@c", 0), Value::text("anna@shop"));
        // A letter of a pattern is an ASCII letter, as in RE2.
        assert_eq!(extract("x: änna@shop", 1), Value::text("nna"));
        assert_eq!(extract("x: anna@shop", 2), Value::text("shop"));
        assert_eq!(extract("none", 1), Value::text(""));
        assert!(refused("regexp_extract", &[text("a"), text("(a)"), int(2)]).is_some());
    }
}
