//! Errors of queries.

use hushwire_compute::TextPlace;
use hushwire_tables::TableError;
use sqlparser::{
    ast::{self, Spanned},
    parser::ParserError,
    tokenizer::{Location, Span},
};
use std::fmt;

/// The reason for which a query is refused, with the place in its text where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    place: Option<TextPlace>,
    cause: String,
    remedy: String,
}

impl SqlError {
    /// An error without a place.
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        SqlError { place: None, cause: cause.into(), remedy: remedy.into() }
    }

    /// An error at a place.
    pub(crate) fn at(place: impl Into<At>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        SqlError { place: place.into().0, cause: cause.into(), remedy: remedy.into() }
    }

    /// A clause or a function that no query here may have.
    pub(crate) fn unsupported(place: impl Into<At>, clause: &str) -> Self {
        SqlError::at(place, format!("{clause} is not supported"), "write the query without it")
    }

    /// The place in the text, where there is one.
    #[must_use]
    pub const fn place(&self) -> Option<TextPlace> {
        self.place
    }

    /// The fault, as a clause.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// A way to mend it, as a clause.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// The place behind a text, where the error is that it ends.
    pub(crate) fn at_end_of(self, text: &str) -> Self {
        if self.place.is_some() || !self.cause.ends_with("EOF") {
            return self;
        }
        let last = text.trim_end().lines().last().unwrap_or_default();
        let place =
            TextPlace { line: text.trim_end().lines().count().max(1), column: last.chars().count() + 1 };
        SqlError { place: Some(place), ..self }
    }

    /// The same at a place, unless it has one.
    pub(crate) fn or_at(self, place: impl Into<At>) -> Self {
        SqlError { place: self.place.or(place.into().0), ..self }
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for SqlError {}

impl From<TableError> for SqlError {
    fn from(e: TableError) -> Self {
        match e {
            TableError::Type { cause, remedy } => SqlError::new(cause, remedy),
            other => SqlError::new(other.to_string(), "correct it"),
        }
    }
}

/// The parser's message ends with its place.
impl From<ParserError> for SqlError {
    fn from(e: ParserError) -> Self {
        let text = match e {
            ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
            ParserError::RecursionLimitExceeded => {
                return SqlError::new(
                    "the query is nested too deeply",
                    "write it with fewer levels of parentheses",
                );
            }
        };
        let placed = text.rsplit_once(" at Line: ").and_then(|(cause, place)| {
            let (line, column) = place.split_once(", Column: ")?;
            let place = TextPlace { line: line.trim().parse().ok()?, column: column.trim().parse().ok()? };
            Some((cause.to_owned(), place))
        });
        let (cause, place) = placed.map_or((text.clone(), None), |(cause, place)| (cause, Some(place)));
        SqlError { place, cause, remedy: "correct it there".into() }
    }
}

/// A place of a query's text, where one is known. All are equal, so that expressions that say the
/// same at two places are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At(pub(crate) Option<TextPlace>);

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

impl Eq for At {}

impl At {
    /// Where an expression begins: at the leftmost of its parts, which is found without a look at
    /// all others.
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
