//! PIVOT whose text takes the values from the column: `PIVOT (SUM(n) FOR city IN (ANY))`.
//!
//! The values name columns of the result, so they are public and part of the query's text. If one
//! owner has the column, a program can read the values from the owner's file and write them into
//! the query.

use crate::{dialect::Words, parameter::literal};
use core::ops::Range;
use hushwire_tables::algebra::{ColumnType, Value};
use sqlparser::{
    keywords::Keyword,
    tokenizer::{Location, Token, Tokenizer},
};

/// A PIVOT without a list of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPivot {
    /// The column whose values become columns.
    pub column: String,
    /// The place of ANY in the query's text, in bytes.
    place: Range<usize>,
}

/// The byte at a place of a text, whose lines and characters count from 1.
fn byte_of(text: &str, at: Location) -> usize {
    let before = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(before(at.line)).map(str::len).sum();
    let line = text.get(start..).unwrap_or_default();
    start + line.chars().take(before(at.column)).map(char::len_utf8).sum::<usize>()
}

/// Finds the PIVOTs of a query whose values are ANY, in order. The list is empty if the text is not
/// SQL.
#[must_use]
pub fn open_pivots(sql: &str) -> Vec<OpenPivot> {
    let tokens = Tokenizer::new(&Words, sql).tokenize_with_location().unwrap_or_default();
    let tokens: Vec<_> = tokens.iter().filter(|t| !matches!(t.token, Token::Whitespace(_))).collect();
    let is = |token: &Token, wanted: Keyword| matches!(token, Token::Word(word) if word.keyword == wanted);
    let mut found = vec![];
    for six in tokens.windows(6) {
        let [first, name, within, open, any, close] = six else { continue };
        let (true, Token::Word(column)) = (is(&first.token, Keyword::FOR), &name.token) else { continue };
        let in_parentheses = (&open.token, &close.token) == (&Token::LParen, &Token::RParen);
        if in_parentheses && is(&within.token, Keyword::IN) && is(&any.token, Keyword::ANY) {
            let place = byte_of(sql, any.span.start)..byte_of(sql, any.span.end);
            found.push(OpenPivot { column: column.value.clone(), place });
        }
    }
    found
}

/// A query with lists of values in its open PIVOTs. `pivots` has those of [`open_pivots`], in
/// order.
#[must_use]
pub fn with_values(sql: &str, pivots: &[(OpenPivot, ColumnType, Vec<Value>)]) -> String {
    let mut text = sql.to_owned();
    for (pivot, ty, values) in pivots.iter().rev() {
        let list: Vec<String> = values.iter().map(|value| literal(value, *ty)).collect();
        text.replace_range(pivot.place.clone(), &list.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_is_found_and_filled() {
        let sql = "SELECT * FROM (SELECT 'ü' AS u, f, k FROM t)\n PIVOT (SUM(k) FOR f IN (ANY)) -- FOR x IN (ANY)\n\
                   UNION ALL SELECT * FROM s PIVOT (COUNT(*) FOR \"My Day\" in ( any ) )";
        let found = open_pivots(sql);
        let names: Vec<&str> = found.iter().map(|pivot| pivot.column.as_str()).collect();
        assert_eq!(names, ["f", "My Day"]);
        let values = [
            (ColumnType::Varchar(4), vec![Value::text("it's"), Value::text("é")]),
            (ColumnType::Date, vec![Value::Number(0)]),
        ];
        let filled: Vec<_> =
            found.into_iter().zip(values).map(|(pivot, (ty, all))| (pivot, ty, all)).collect();
        let made = with_values(sql, &filled);
        assert!(made.contains("FOR f IN ('it''s', 'é')) -- FOR x IN (ANY)"), "{made}");
        assert!(made.ends_with("in ( DATE '1970-01-01' ) )"), "{made}");
        assert_eq!(open_pivots(&made), []);
    }

    #[test]
    fn other_words_are_no_pivots() {
        for sql in ["SELECT a FROM t WHERE a IN (ANY)", "SELECT 'FOR f IN (ANY)'", "FOR f IN (ANY, 1)", "'"] {
            assert_eq!(open_pivots(sql), [], "{sql}");
        }
    }
}
