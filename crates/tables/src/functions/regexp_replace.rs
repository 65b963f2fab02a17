//! The SQL function REGEXP_REPLACE.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    regexp::Pattern,
    text::{self, checked, value, varchar},
};
use crate::algebra::Value;
use regex::Captures;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["regexp_replace"],
    arity: 3..=4,
    usage: "REGEXP_REPLACE(text, pattern, other, options)",
    gives: "VARCHAR of the largest length that the result can have",
    doc: r"the text with another one, in which \1 is the first group, in place of the first match; the option g replaces all",
    example: "REGEXP_REPLACE(note, '[0-9]', '#', 'g')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&REPLACE, |of, arguments| {
        let pattern = Pattern::of(arguments, 1, 3, false)?;
        let other = text::literal(arguments, 2)?;
        let most = parts(&other).iter().filter_map(|part| part.err()).max().unwrap_or(0);
        if most > pattern.groups() {
            return Err(arguments.unsupported(
                &format!("REGEXP_REPLACE by group {most} of {}", pattern.groups()),
                r"name groups of the pattern from \1 on, by their opening parentheses; \0 is the whole match",
            ));
        }
        Ok(of.call(vec![text::text(arguments.all[0].clone())], pattern.public(&other)))
    }),
};

/// The letters of a replacement, and the groups that it refers to.
fn parts(other: &[u8]) -> Vec<Result<u8, usize>> {
    let (mut made, mut rest) = (vec![], other);
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        made.push(match (first, behind.first()) {
            (b'\\', Some(digit)) if digit.is_ascii_digit() => {
                rest = &behind[1..];
                Err(usize::from(digit - b'0'))
            }
            (b'\\', Some(b'\\')) => {
                rest = &behind[1..];
                Ok(b'\\')
            }
            _ => Ok(*first),
        });
    }
    made
}

/// The largest number of bytes of a result, for a text of `bytes` bytes.
fn longest(pattern: &Pattern, other: &[u8], bytes: usize) -> usize {
    let parts = parts(other);
    let letters = parts.iter().filter(|part| part.is_ok()).count();
    let groups = parts.len() - letters;
    // Matches do not overlap; an empty one may be before each byte and at the end.
    let most = match (pattern.all, pattern.is_empty()) {
        (false, _) => 1,
        (true, true) => bytes + 1,
        (true, false) => bytes,
    };
    let kept = if pattern.is_empty() { 0 } else { most };
    (bytes + most * letters + groups * bytes).saturating_sub(kept).max(bytes)
}

static REPLACE: Primitive = Primitive {
    name: "REGEXP_REPLACE",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        let (pattern, other) = Pattern::of_public(operands.public);
        Ok(varchar(longest(&pattern, &other, checked(operands, 0)?)))
    },
    plain: |typed, values| {
        let (pattern, other) = Pattern::of_public(typed.operands.public);
        let parts = parts(&other);
        let put = |found: &Captures<'_>| {
            let mut made = vec![];
            for part in &parts {
                match part {
                    Ok(letter) => made.push(*letter),
                    Err(group) => made.extend(found.get(*group).map_or("", |part| part.as_str()).bytes()),
                }
            }
            String::from_utf8_lossy(&made).into_owned()
        };
        let text = String::from_utf8_lossy(value(&values, 0));
        let made = pattern.with(|regex| {
            let limit = if pattern.all { 0 } else { 1 };
            regex.replacen(&text, limit, put).into_owned()
        });
        made.map_or(Value::Null, |made| Value::text(&made))
    },
    lower: by_owners,
    shown: |of, operands, public| {
        let (pattern, other) = Pattern::of_public(public);
        let other = String::from_utf8_lossy(&other).into_owned();
        format!("{}({}, {}, '{other}')", of.name, operands.join(", "), pattern.shown())
    },
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::{in_open, refused},
    };

    #[test]
    fn matches_are_replaced() {
        let text = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(12));
        let replaced = |of: &str, pattern: &str, other: &str, options: &str| {
            in_open("regexp_replace", vec![text(of), text(pattern), text(other), text(options)])
        };
        assert_eq!(replaced("a1b22", "[0-9]+", "#", "c"), Value::text("a#b22"));
        assert_eq!(replaced("a1b22", "[0-9]+", "#", "g"), Value::text("a#b#"));
        assert_eq!(replaced("a1b22", "([a-z])([0-9])", r"\2\1\\$1", "g"), Value::text(r"1a\$12b\$12"));
        assert_eq!(replaced("abc", "", "-", "g"), Value::text("-a-b-c-"));
        assert_eq!(replaced("Übär", "Ä", "a", "gi"), Value::text("Übar"));
        assert!(refused("regexp_replace", &[text("a"), text("a"), text(r"\1")]).is_some());
    }
}
