//! The SQL function REGEXP_MATCHES.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    regexp::Pattern,
    text::{self, checked, value},
};
use crate::algebra::{ColumnType, ExprType, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["regexp_matches", "regexp_like"],
    arity: 2..=3,
    usage: "REGEXP_MATCHES(text, pattern, options)",
    gives: "BOOLEAN",
    doc: "whether a part of the text matches a regular expression, a literal as in RE2; the option i takes capitals for small letters",
    example: "REGEXP_MATCHES(note, '[0-9]')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&MATCHES, |of, arguments| {
        let pattern = Pattern::of(arguments, 1, 2, false)?;
        Ok(of.call(vec![text::text(arguments.all[0].clone())], pattern.public(&[])))
    }),
};

pub(super) static MATCHES: Primitive = Primitive {
    name: "REGEXP_MATCHES",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        checked(operands, 0)?;
        let ty = ColumnType::Boolean;
        Ok(ExprType { ty, nullable: false, range: ty.range() })
    },
    plain: |typed, values| {
        let (pattern, _) = Pattern::of_public(typed.operands.public);
        let text = String::from_utf8_lossy(value(&values, 0));
        Value::Boolean(pattern.with(|regex| regex.is_match(&text)).unwrap_or_default())
    },
    lower: by_owners,
    shown: |of, operands, public| {
        format!("{}({}, {})", of.name, operands.join(", "), Pattern::of_public(public).0.shown())
    },
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::{in_open, refused},
    };

    fn text(text: &str) -> Expr {
        Expr::literal(Value::text(text), ColumnType::Varchar(512))
    }

    #[test]
    fn parts_of_texts_match_and_whole_texts() {
        let matches = |name: &str, of: &str, pattern: &str, options: &str| {
            in_open(name, vec![text(of), text(pattern), text(options)]) == Value::Boolean(true)
        };
        assert!(matches("regexp_matches", "abc", "b", ""));
        assert!(!matches("regexp_full_match", "abc", "b", ""));
        assert!(matches("regexp_full_match", "abc", "a|.*c", ""));
        assert!(!matches("regexp_matches", "abc", "B", "c"));
        assert!(matches("regexp_matches", "abc", "B", "i"));
        assert!(matches("regexp_matches", "ÜBER", "über", "i"));
        assert!(!matches("regexp_matches", "abc", ".", "l"));
        assert!(!matches("regexp_full_match", "a\nb", "a.b", "n"));
        assert!(matches("regexp_full_match", "a\nb", "a.b", "s"));
    }

    /// The time of a search is proportional to the text, whatever the pattern is.
    #[test]
    fn patterns_that_others_search_for_ages_are_quick() {
        let of = "a".repeat(500);
        let matches = in_open("regexp_matches", vec![text(&of), text("(a*)*(a*)*(a|aa)+$b")]);
        assert_eq!(matches, Value::Boolean(false));
    }

    #[test]
    fn patterns_that_are_none_are_refused_with_the_reason() {
        for pattern in ["(", "(?=a)", r"(a)\1", "a{1000}{1000}{1000}", "[z-a]"] {
            let error = refused("regexp_matches", &[text("a"), text(pattern)]).unwrap();
            assert!(error.to_string().contains("with this pattern"), "{error}");
        }
        assert!(refused("regexp_matches", &[text("a"), text("a"), text("q")]).is_some());
    }
}
