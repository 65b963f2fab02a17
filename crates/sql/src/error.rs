//! Errors of queries, as faults with their place in the query's text.

use crate::bind::of_syntax;
use hushwire_compute::TextPlace;
use hushwire_fault::{Code, Fault, IntoText, code};
use sqlparser::{
    ast::{self, Spanned},
    parser::ParserError,
    tokenizer::{Location, Span},
};
use std::fmt::Display;

/// The fault for a query that is refused for a reason without a code of its own.
pub(crate) fn refused(cause: impl IntoText, remedy: impl IntoText) -> Fault {
    Fault::of(code::QUERY, &[("cause", cause.into_text()), ("remedy", remedy.into_text())])
}

/// The same fault with a place.
pub(crate) fn refused_at(place: impl Into<At>, cause: impl IntoText, remedy: impl IntoText) -> Fault {
    refused(cause, remedy).placed(place.into().0)
}

/// A fault with this code and place.
pub(crate) fn fault(place: impl Into<At>, code: Code, fields: &[(&'static str, &dyn Display)]) -> Fault {
    Fault::filled(code, fields).placed(place.into().0)
}

/// The fault for a clause that is not supported, and what to write instead.
pub(crate) fn unsupported(place: impl Into<At>, clause: &str, remedy: &str) -> Fault {
    fault(place, code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)])
}

/// The fault for rows with different numbers of values.
pub(crate) fn widths(place: impl Into<At>, rows: &str, [left, right]: [usize; 2]) -> Fault {
    fault(place, code::WIDTHS_DIFFER, &[("rows", &rows), ("left", &left), ("right", &right)])
}

/// The fault for a query, or a part of it, that is too large to be planned.
pub(crate) fn too_large(place: impl Into<At>, cause: impl IntoText, remedy: impl IntoText) -> Fault {
    refused_at(place, cause, remedy).coded(code::QUERY_TOO_LARGE)
}

/// The fault for an error of the parser. The parser writes the place at the end of its message, or
/// no place if the query ends too early.
pub(crate) fn of_parser(e: ParserError, query: &str) -> Fault {
    let text = match e {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
        ParserError::RecursionLimitExceeded => {
            let remedy = "write it with fewer levels of parentheses";
            return too_large(At::default(), "the query is nested too deeply", remedy);
        }
    };
    let placed = text.rsplit_once(" at Line: ").and_then(|(cause, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        let place = TextPlace { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? };
        Some((cause, place))
    });
    let (cause, place) = placed.unwrap_or_else(|| {
        let last = query.trim_end().lines().last().unwrap_or_default();
        let line = query.trim_end().lines().count().max(1);
        (&text, TextPlace { line, column: last.chars().count() + 1 })
    });
    let fault = Fault::filled(code::SYNTAX, &[("cause", &cause)]).placed(Some(place));
    match of_syntax(query, cause) {
        Some(remedy) => fault.remedied(remedy),
        None => fault,
    }
}

/// A place in a query's text, if it is known. All places compare as equal, so that equal
/// expressions at two places are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At(pub(crate) Option<TextPlace>);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

impl At {
    /// The place where an expression begins: its leftmost part, found without a visit to all
    /// others.
    pub(crate) fn of(mut expr: &ast::Expr) -> At {
        use ast::Expr as E;
        loop {
            expr = match expr {
                E::BinaryOp { left: inner, .. }
                | E::Nested(inner)
                | E::IsNull(inner)
                | E::IsNotNull(inner)
                | E::UnaryOp { expr: inner, .. }
                | E::Between { expr: inner, .. }
                | E::InList { expr: inner, .. }
                | E::InSubquery { expr: inner, .. }
                | E::Like { expr: inner, .. }
                | E::Cast { expr: inner, .. } => inner,
                other => return other.into(),
            };
        }
    }
}

impl From<Span> for At {
    fn from(span: Span) -> At {
        let Location { line, column } = span.start;
        At((line > 0).then_some(TextPlace { line: line as usize, column: column as usize }))
    }
}

impl<T: Spanned> From<&T> for At {
    fn from(node: &T) -> At {
        node.span().into()
    }
}
