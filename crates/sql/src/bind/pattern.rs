//! Binds LIKE and regular expressions. The pattern of LIKE must be a literal. ILIKE compares
//! lower-case texts.

use super::{
    Binder, Env,
    expr::{Calls, negate},
};
use crate::{
    Fault,
    error::{At, unsupported},
};
use hushwire_tables::algebra::{ColumnType, Expr, MAX_TEXT, Value};
use sqlparser::ast::{self, Spanned};

/// The remedy for a pattern that is not the same in all rows.
const LITERAL: &str = "write the pattern out, as in LIKE 'a%'; for a part that is a column, STARTS_WITH(text, part), CONTAINS(text, part) or POSITION(part IN text) > 0";

impl<'q> Binder<'q> {
    pub(super) fn pattern(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        expr: &'q ast::Expr,
        at: At,
    ) -> Result<Expr, Fault> {
        use ast::Expr as E;
        let no = |clause: &str, remedy: &str| Err(unsupported(at, clause, remedy));
        let (negated, of, pattern, escape) = match expr {
            E::Like { negated: false, any: true, expr: of, pattern, escape_char }
            | E::ILike { negated: false, any: true, expr: of, pattern, escape_char } => {
                let pattern = if let E::Nested(inner) = pattern.as_ref() { inner } else { pattern };
                let list = match pattern.as_ref() {
                    E::Tuple(list) => &list[..],
                    E::Array(array) => &array.elem[..],
                    one => std::slice::from_ref(one),
                };
                let word = if matches!(expr, E::Like { .. }) { "LIKE" } else { "ILIKE" };
                let escape = escape_char.as_ref().map_or_else(String::new, |e| format!(" ESCAPE {e}"));
                let one = |pattern: &ast::Expr| format!("({of}) {word} {pattern}{escape}");
                let all: Vec<String> = list.iter().map(one).collect();
                let any = self.spelt(&format!("({})", all.join(" OR ")), expr.span())?;
                return self.expr(env, calls, any);
            }
            E::Like { negated, any: false, expr, pattern, escape_char }
            | E::ILike { negated, any: false, expr, pattern, escape_char } => {
                (*negated, expr, pattern, escape_char.as_deref())
            }
            E::SimilarTo { negated, expr, pattern, escape_char: None } => {
                let (of, pattern) = (self.expr(env, calls, expr)?, self.expr(env, calls, pattern)?);
                return self.regular(of, pattern, (*negated, false), at);
            }
            E::RLike { negated, expr, pattern, .. } => {
                // Without anchors, MySQL looks for a match anywhere in the text.
                let (of, pattern) = (self.expr(env, calls, expr)?, self.expr(env, calls, pattern)?);
                return Ok(negate(self.call("regexp_matches", vec![of, pattern], at)?, *negated));
            }
            E::SimilarTo { .. } => {
                return no("SIMILAR TO with ESCAPE", "write a backslash before what stands for itself");
            }
            _ => return no("NOT LIKE with ANY", "write one NOT LIKE for each pattern, joined by AND or OR"),
        };
        let of = self.expr(env, calls, of)?;
        let Expr::Literal(Value::Text(pattern), _) = self.expr(env, calls, pattern)? else {
            return no("LIKE with a pattern that is no literal", LITERAL);
        };
        let escape = match escape.map(|e| self.expr(env, calls, e)).transpose()? {
            None => None,
            Some(Expr::Literal(Value::Text(text), _)) if text.len() == 1 => Some(char::from(text[0])),
            Some(_) => {
                return no("ESCAPE with more than one character", "write one character, as in ESCAPE '!'");
            }
        };
        let (of, pattern) = match expr {
            E::ILike { .. } => {
                let of = self.call("lower", vec![of], at)?;
                let lower = Expr::Literal(Value::Text(pattern), ColumnType::Varchar(MAX_TEXT));
                let Value::Text(pattern) = self.constant(&self.call("lower", vec![lower], at)?)? else {
                    return no("ILIKE with a pattern that is no literal", LITERAL);
                };
                (of, pattern)
            }
            _ => (of, pattern),
        };
        let pattern = String::from_utf8_lossy(&pattern).into_owned();
        Ok(negate(Expr::Like { of: Box::new(of), pattern, escape }, negated))
    }

    /// Whether a whole text matches a regular expression.
    pub(super) fn regular(
        &self,
        of: Expr,
        pattern: Expr,
        (negated, any_case): (bool, bool),
        at: At,
    ) -> Result<Expr, Fault> {
        let options = Expr::Literal(Value::text(if any_case { "i" } else { "c" }), ColumnType::Varchar(1));
        Ok(negate(self.call("regexp_full_match", vec![of, pattern, options], at)?, negated))
    }
}
