//! PIVOT and UNPIVOT. They are rewritten as derived tables.

use super::Binder;
use crate::{
    Fault,
    dialect::Words,
    error::{At, of_parser, refused_at, unsupported},
};
use sqlparser::{
    ast::{self, ExprWithAlias, PivotValueSource, Spanned, TableFactor},
    parser::Parser,
    tokenizer::{Span, Token, TokenWithSpan, Tokenizer, Word},
};
use std::cell::OnceCell;

/// Queries that the binder writes. They live as long as the query that is bound.
#[derive(Default)]
pub(crate) struct Written(OnceCell<Box<(ast::Query, Written)>>);

impl Written {
    fn add(&self, query: ast::Query) -> &ast::Query {
        let mut last = self;
        while let Some(next) = last.0.get() {
            last = &next.1;
        }
        &last.0.get_or_init(|| Box::new((query, Written::default()))).0
    }
}

/// Parses a text as a query. All its parts get the place of the clause that it replaces.
fn query_of(text: &str, span: Span) -> Result<ast::Query, Fault> {
    let failed = |e| of_parser(e, text);
    let tokens = Tokenizer::new(&Words, text).tokenize().map_err(|e| failed(e.into()))?;
    let tokens = tokens.into_iter().map(|token| TokenWithSpan { token, span }).collect();
    let mut parser = Parser::new(&Words).with_tokens_with_locations(tokens);
    parser.parse_query().map(|query| *query).map_err(failed)
}

impl<'q> Binder<'q> {
    /// Parses a text as an expression. It gets the place of the expression that it replaces.
    pub(super) fn spelt(&self, text: &str, span: Span) -> Result<&'q ast::Expr, Fault> {
        let query = self.written.add(query_of(&format!("SELECT {text}"), span)?);
        let ast::SetExpr::Select(select) = query.body.as_ref() else { return Err(unread(span)) };
        match &select.projection[..] {
            [ast::SelectItem::UnnamedExpr(expr)] => Ok(expr),
            _ => Err(unread(span)),
        }
    }
}

fn unread(at: impl Into<At>) -> Fault {
    refused_at(at, "this cannot be read", "write it by GROUP BY, CASE and functions of docs/reference/sql.md")
}

/// A name in quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The names of columns in an expression: its words that do not call a function.
fn names(text: &str) -> Vec<String> {
    const NONE: [&str; 20] = [
        "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "NULL", "TRUE", "FALSE", "DISTINCT", "IN",
        "IS", "AS", "FILTER", "WHERE", "ORDER", "BY", "BETWEEN",
    ];
    let tokens = Tokenizer::new(&Words, text).tokenize().unwrap_or_default();
    let tokens: Vec<Token> =
        tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    let mut found: Vec<String> = vec![];
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(Word { value, quote_style, .. }) = token else { continue };
        let calls = tokens.get(at + 1) == Some(&Token::LParen) && quote_style.is_none();
        let is_clause = quote_style.is_none() && NONE.contains(&value.to_ascii_uppercase().as_str());
        if !calls && !is_clause && !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

/// The column name for a value of a PIVOT's list.
fn name_of(value: &ExprWithAlias) -> String {
    match (&value.alias, &value.expr) {
        (Some(alias), _) => alias.value.clone(),
        (None, ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::SingleQuotedString(text), .. })) => {
            text.clone()
        }
        (None, other) => other.to_string(),
    }
}

impl<'q> Binder<'q> {
    /// The query that a PIVOT or an UNPIVOT is rewritten as.
    pub(super) fn pivoted(&mut self, factor: &'q TableFactor) -> Result<&'q ast::Query, Fault> {
        let (span, at) = (factor.span(), At::from(factor));
        let (text, table) = match factor {
            TableFactor::Pivot {
                table,
                aggregate_functions,
                value_column,
                value_source: PivotValueSource::List(values),
                default_on_null: None,
                ..
            } => (pivot(aggregate_functions, value_column, values), table),
            TableFactor::Unpivot {
                table,
                value: ast::Expr::Identifier(value),
                name,
                columns,
                null_inclusion,
                ..
            } => {
                let keeps = matches!(null_inclusion, Some(ast::NullInclusion::IncludeNulls));
                (unpivot(value, name, columns, keeps), table)
            }
            TableFactor::Pivot { .. } => {
                let clause = "PIVOT without a list of values";
                let remedy = "list the values, which name columns and are public: PIVOT (SUM(sales) FOR year IN (2024, 2025)); where one owner has the column, local query and job new query take them from its file: FOR year IN (ANY)";
                return Err(unsupported(at, clause, remedy));
            }
            _ => {
                let clause = "UNPIVOT of several values at once";
                let remedy = "write one value: UNPIVOT (sales FOR month IN (jan, feb))";
                return Err(unsupported(at, clause, remedy));
            }
        };
        let mut query = query_of(&text, span)?;
        let from = match query.body.as_mut() {
            ast::SetExpr::Select(select) => select.from.first_mut(),
            _ => None,
        };
        let Some(from) = from else {
            return Err(unread(at));
        };
        from.relation = table.as_ref().clone();
        Ok(self.written.add(query))
    }
}

fn pivot(figures: &[ExprWithAlias], by: &[ast::Expr], values: &[ExprWithAlias]) -> String {
    let mut used: Vec<String> = by.iter().flat_map(|e| names(&e.to_string())).collect();
    used.extend(figures.iter().flat_map(|figure| names(&figure.expr.to_string())));
    let used: Vec<String> = used.iter().map(|name| quoted(name)).collect();
    let key = match by {
        [one] => one.to_string(),
        all => format!("({})", all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    let mut items = vec![format!("* EXCLUDE ({})", used.join(", "))];
    for value in values {
        for figure in figures {
            let name = match (&figure.alias, figures.len()) {
                (None, 1) => name_of(value),
                (Some(alias), _) => format!("{}_{}", name_of(value), alias.value),
                (None, _) => format!("{}_{}", name_of(value), figure.expr.to_string().to_lowercase()),
            };
            items.push(format!("{} FILTER (WHERE {key} = {}) AS {}", figure.expr, value.expr, quoted(&name)));
        }
    }
    format!("SELECT {} FROM t GROUP BY ALL", items.join(", "))
}

fn unpivot(value: &ast::Ident, name: &ast::Ident, columns: &[ExprWithAlias], keeps_nulls: bool) -> String {
    let text =
        |column: &ExprWithAlias| format!("'{}'", name_of(column).trim_matches('"').replace('\'', "''"));
    let rows: Vec<String> = columns.iter().map(|column| format!("({})", text(column))).collect();
    let whens: Vec<String> =
        columns.iter().map(|column| format!("WHEN {} THEN {}", text(column), column.expr)).collect();
    let out: Vec<String> =
        columns.iter().flat_map(|c| names(&c.expr.to_string())).map(|n| quoted(&n)).collect();
    let kept = if keeps_nulls { String::new() } else { format!(" WHERE {value} IS NOT NULL") };
    format!(
        "SELECT * EXCLUDE ({}), CASE {name} {} END AS {value} FROM t CROSS JOIN (VALUES {}) AS unpivoted({name}){kept}",
        out.join(", "),
        whens.join(" "),
        rows.join(", "),
    )
}
