//! Parameters in a query's text: `:name`, or `?` for the next one.
//!
//! A parameter may be written in place of a literal, and is read as one. Its value is public, and
//! the plan may depend on it as on any number of the query's text.

use crate::{
    Fault, cell,
    error::{At, refused_at},
};
use hushwire_tables::algebra::{ColumnType, Value};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A parameter and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without the colon.
    pub name: String,
    /// Its type.
    pub ty: ColumnType,
    /// Its value, of that type. It is not NULL.
    pub value: Value,
}

/// The tokens of the literal for a value that is not NULL.
fn tokens(value: &Value, ty: ColumnType) -> Vec<Token> {
    let text = cell::show(value, ty);
    match ty {
        ColumnType::Boolean => vec![Token::make_keyword(&text.to_uppercase())],
        ColumnType::Date => vec![Token::make_keyword("DATE"), Token::SingleQuotedString(text)],
        ColumnType::Timestamp => vec![Token::make_keyword("TIMESTAMP"), Token::SingleQuotedString(text)],
        ColumnType::Varchar(_) => vec![Token::SingleQuotedString(text)],
        _ => match text.strip_prefix('-') {
            None => vec![Token::Number(text, false)],
            Some(digits) => {
                let digits = Token::Number(digits.to_owned(), false);
                vec![Token::LParen, Token::Minus, digits, Token::RParen]
            }
        },
    }
}

/// The text of a literal, with quotes doubled.
pub(crate) fn literal(value: &Value, ty: ColumnType) -> String {
    let text = |token: Token| match token {
        Token::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
        other => other.to_string(),
    };
    tokens(value, ty).into_iter().map(text).collect::<Vec<_>>().join(" ")
}

/// The tokens of a query with literals in place of its parameters.
pub(crate) fn filled(all: Vec<TokenWithSpan>, parameters: &[Parameter]) -> Result<Vec<TokenWithSpan>, Fault> {
    let names: Vec<String> = parameters.iter().map(|parameter| format!(":{}", parameter.name)).collect();
    let (mut made, mut turn) = (Vec::with_capacity(all.len()), 0);
    let mut rest = all.into_iter().peekable();
    while let Some(token) = rest.next() {
        let span = token.span;
        let found = match (&token.token, rest.peek().map(|next| &next.token)) {
            (Token::Colon, Some(Token::Word(word))) if word.quote_style.is_none() => {
                let found = parameters.iter().find(|parameter| parameter.name == word.value);
                let unknown = || {
                    let cause = format!("no parameter is called :{}", word.value);
                    refused_at(
                        At::from(span),
                        cause,
                        format!("declare it under [parameters], or write {}", names.join(", ")),
                    )
                };
                let found = found.ok_or_else(unknown)?;
                rest.next();
                found
            }
            (Token::Question, _) => next(parameters, &mut turn, At::from(span))?,
            (Token::Placeholder(text), _) if text == "?" => next(parameters, &mut turn, At::from(span))?,
            _ => {
                made.push(token);
                continue;
            }
        };
        made.extend(tokens(&found.value, found.ty).into_iter().map(|token| TokenWithSpan { token, span }));
    }
    Ok(made)
}

/// The parameter of the next `?`.
fn next<'p>(parameters: &'p [Parameter], turn: &mut usize, at: At) -> Result<&'p Parameter, Fault> {
    *turn += 1;
    parameters.get(*turn - 1).ok_or_else(|| {
        let cause = format!("this is ? number {turn}, and there are {} parameters", parameters.len());
        refused_at(at, cause, "declare another parameter, or name one as :name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Options, relation, relation_with};
    use hushwire_tables::{
        Query,
        algebra::{Column, Schema, Table, TablePart},
    };

    fn catalog() -> Catalog {
        let columns = [
            Column::new("a", ColumnType::Integer),
            Column::new("d", ColumnType::Date),
            Column::new("w", ColumnType::Varchar(3)),
            Column::new("f", ColumnType::Boolean),
            Column::new("m", ColumnType::Decimal { precision: 9, scale: 2 }),
        ];
        let parts = vec![TablePart { owner: "o".into(), rows: 4 }];
        let schema = Schema(columns.to_vec());
        Catalog::new(vec![Table { name: "t".into(), schema, parts, padded: false, unique: vec![] }])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn parameter(name: &str, ty: ColumnType, text: &str) -> Parameter {
        let value = cell::read(text, ty).unwrap_or_else(|e| panic!("{e}"));
        Parameter { name: name.into(), ty, value }
    }

    #[test]
    fn parameters_are_literals() {
        let decimal = ColumnType::Decimal { precision: 9, scale: 2 };
        let all = [
            parameter("least", ColumnType::Integer, "-5"),
            parameter("since", ColumnType::Date, "2020-02-29"),
            parameter("ward", ColumnType::Varchar(3), "it"),
            parameter("flag", ColumnType::Boolean, "true"),
            parameter("rate", decimal, "-0.50"),
        ];
        for (with, without) in [
            ("a > :least AND d >= :since", "a > (-5) AND d >= DATE '2020-02-29'"),
            ("a > ? AND d >= ? AND w = ?", "a > (-5) AND d >= DATE '2020-02-29' AND w = 'it'"),
            ("f = :flag AND m * :rate < 3 -- :none", "f = TRUE AND m * (-0.50) < 3"),
            ("w = ':since' AND w <> :ward", "w = ':since' AND w <> 'it'"),
            ("d::DATE = :since", "d::DATE = DATE '2020-02-29'"),
        ] {
            let query = |condition: &str| format!("SELECT COUNT(*) AS n FROM t WHERE {condition}");
            let made = relation_with(&query(with), &catalog(), Options::default(), &all);
            let literal = relation(&query(without), &catalog(), Options::default());
            let [made, literal] = [made, literal].map(|relation| {
                let relation = relation.unwrap_or_else(|e| panic!("{with}: {e}"));
                Query::new("q", &relation, &["o"]).unwrap_or_else(|e| panic!("{e}"))
            });
            assert!(made.computation() == literal.computation(), "{with}");
        }
    }

    #[test]
    fn parameters_that_there_are_not_are_named_with_their_place() {
        let all = [parameter("least", ColumnType::Integer, "3")];
        let refused = |sql: &str, all: &[Parameter]| {
            let error = relation_with(sql, &catalog(), Options::default(), all).err();
            error.unwrap_or_else(|| panic!("{sql} was taken")).to_string()
        };
        let error = refused("SELECT a FROM t WHERE a > :lest", &all);
        assert!(error.starts_with("line 1, column 27: no parameter is called :lest"), "{error}");
        assert!(error.ends_with("or write :least"), "{error}");
        let error = refused("SELECT a FROM t WHERE a > ? AND a < ?", &all);
        assert!(error.contains("this is ? number 2, and there are 1 parameters"), "{error}");
        assert!(refused("SELECT a FROM t WHERE a > :least", &[]).contains("a parameter"));
    }
}
