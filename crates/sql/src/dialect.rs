//! The words of SQL that queries may have: PostgreSQL's, with the operators and clauses that
//! DuckDB and MySQL add and analysts expect.

use core::any::TypeId;
use sqlparser::{
    ast::{BinaryOperator, Expr, UnaryOperator},
    dialect::{Dialect, DuckDbDialect, PostgreSqlDialect, Precedence},
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::{Token, TokenWithSpan},
};

/// The dialect.
#[derive(Debug)]
pub(crate) struct Words;

/// The dialect whose rules are the default.
const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

/// Leaves out `MATERIALIZED` and `NOT MATERIALIZED` between `AS` and the query of a WITH: each such
/// query is computed once.
pub(crate) fn without_hints(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_space = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    let is_word =
        |token: &TokenWithSpan, keyword| matches!(&token.token, Token::Word(w) if w.keyword == keyword);
    let mut made: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if is_word(&token, Keyword::MATERIALIZED) {
            let before: Vec<usize> = (0..made.len()).rev().filter(|i| !is_space(&made[*i])).take(2).collect();
            let is = |k: usize, keyword| before.get(k).is_some_and(|i| is_word(&made[*i], keyword));
            if is(0, Keyword::AS) {
                continue;
            }
            if is(0, Keyword::NOT) && is(1, Keyword::AS) {
                made.truncate(before[0]);
                continue;
            }
        }
        made.push(token);
    }
    made
}

/// Whether the next two tokens are `**`.
fn is_power(parser: &Parser<'_>) -> bool {
    *parser.peek_token_ref() == Token::Mul && *parser.peek_nth_token_ref(1) == Token::Mul
}

impl Dialect for Words {
    /// Only with the type of DuckDB's dialect do the tokenizer and the parser know `//`.
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        POSTGRES.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        // BigQuery, MySQL and Spark quote with a backtick.
        ch == '`' || POSTGRES.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        POSTGRES.is_identifier_part(ch)
    }

    fn is_reserved_for_identifier(&self, kw: Keyword) -> bool {
        POSTGRES.is_reserved_for_identifier(kw)
    }

    fn is_table_alias(&self, kw: &Keyword, parser: &mut Parser<'_>) -> bool {
        POSTGRES.is_table_alias(kw, parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        POSTGRES.prec_value(precedence)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        if is_power(parser) {
            return Some(Ok(self.prec_value(Precedence::Caret)));
        }
        POSTGRES.get_next_precedence(parser)
    }

    /// A minus before a value binds more tightly than a power: `-2 ** 2` is 4, as in PostgreSQL and
    /// DuckDB.
    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        if *parser.peek_token_ref() != Token::Minus {
            return None;
        }
        parser.advance_token();
        let of = parser.parse_subexpr(self.prec_value(Precedence::Caret));
        Some(of.map(|of| Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(of) }))
    }

    /// `a ** b`, and `a DIV b` of MySQL.
    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        left: &Expr,
        precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        let op = if is_power(parser) {
            parser.advance_token();
            parser.advance_token();
            BinaryOperator::PGExp
        } else if parser.parse_keyword(Keyword::DIV) {
            BinaryOperator::MyIntegerDivide
        } else {
            return None;
        };
        let right = parser.parse_subexpr(precedence);
        Some(right.map(|right| Expr::BinaryOp { left: Box::new(left.clone()), op, right: Box::new(right) }))
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_group_by_with_modifier(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }

    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    fn allow_extract_custom(&self) -> bool {
        true
    }

    fn allow_extract_single_quotes(&self) -> bool {
        true
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        true
    }

    fn supports_empty_projections(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_unicode_string_literal(&self) -> bool {
        true
    }

    fn supports_string_escape_constant(&self) -> bool {
        true
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }

    fn supports_order_by_using_operator(&self) -> bool {
        true
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    fn supports_select_wildcard_exclude(&self) -> bool {
        true
    }

    fn supports_select_wildcard_except(&self) -> bool {
        true
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        true
    }

    fn supports_limit_comma(&self) -> bool {
        true
    }

    fn supports_left_associative_joins_without_parens(&self) -> bool {
        false
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }
}
