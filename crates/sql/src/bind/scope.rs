//! Resolves names to columns. A name denotes a column of the nearest scope that has it. Names of
//! enclosing scopes are allowed only in WHERE, where they correlate a subquery.

use super::Binder;
use crate::{
    Fault,
    error::{At, fault, refused_at, unsupported},
    logical::Id,
};
use hushwire_fault::code;
use sqlparser::ast::Ident;

/// A column's names.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) table: Option<String>,
    pub(super) name: String,
    pub(super) id: Id,
    /// Whether `*` omits the column, because it is the second of two columns that USING merged.
    pub(super) merged: bool,
}

/// The columns of a FROM, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(pub(super) Vec<Name>);

impl Scope {
    /// A scope of columns, qualified by a table's name.
    pub(super) fn of(table: Option<&str>, columns: &[(String, Id)]) -> Scope {
        let name = |(name, id): &(String, Id)| Name {
            table: table.map(str::to_owned),
            name: name.clone(),
            id: *id,
            merged: false,
        };
        Scope(columns.iter().map(name).collect())
    }
}

/// A scope, with the enclosing scopes.
#[derive(Clone, Copy)]
pub(super) struct Env<'e> {
    pub(super) scope: &'e Scope,
    pub(super) outer: Option<&'e Env<'e>>,
    /// The clause, if it must not name columns of enclosing scopes. Only WHERE may correlate.
    pub(super) barred: Option<&'static str>,
}

impl<'e> Env<'e> {
    /// A scope without enclosing scopes.
    pub(super) const fn alone(scope: &'e Scope) -> Self {
        Env { scope, outer: None, barred: None }
    }
}

/// Whether an identifier denotes a name. In quotes, case matters.
pub(super) fn means(ident: &Ident, name: &str) -> bool {
    if ident.quote_style.is_some() { ident.value == name } else { ident.value.eq_ignore_ascii_case(name) }
}

impl Binder<'_> {
    /// The named column, in the nearest scope that has it.
    pub(super) fn resolve(&mut self, env: &Env<'_>, path: &[Ident]) -> Result<Id, Fault> {
        let (table, column) = match path {
            [column] => (None, column),
            [table, column] => (Some(table), column),
            _ => {
                let cause = "a name of more than two parts";
                return Err(refused_at(path[0].span, cause, "write column, or table.column"));
            }
        };
        let at: At = path[0].span.into();
        let shown = path.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let mut around = Some(env);
        let mut barred = None;
        while let Some(env) = around {
            let is = |name: &&Name| {
                means(column, &name.name)
                    && table.is_none_or(|t| name.table.as_ref().is_some_and(|n| means(t, n)))
                    && !(name.merged && table.is_none())
            };
            let mut found = env.scope.0.iter().filter(is);
            if let Some(name) = found.next() {
                if found.any(|other| other.id != name.id) {
                    return Err(fault(at, code::COLUMN_AMBIGUOUS, &[("column", &shown)]));
                }
                if let Some(clause) = barred {
                    let clause = format!("a column of the query around in {clause} of a subquery");
                    let remedy = "compare it by = in the WHERE of the subquery, or join the table in FROM";
                    return Err(unsupported(at, &clause, remedy));
                }
                self.named.insert(name.id, at);
                return Ok(name.id);
            }
            barred = barred.or(env.barred);
            around = env.outer;
        }
        let mut known: Vec<String> = env.scope.0.iter().map(|name| name.name.clone()).collect();
        known.dedup();
        let remedy = if known.is_empty() {
            "name tables in FROM".to_owned()
        } else if known.len() > 24 {
            "check its spelling".to_owned()
        } else {
            format!("name one of {}", known.join(", "))
        };
        // Other databases read such quotes as a text.
        let as_text = match column.quote_style {
            Some('"') if table.is_none() => format!(", or write '{}' if it is a text", column.value),
            _ => String::new(),
        };
        let remedy = remedy + &as_text;
        Err(fault(at, code::COLUMN_UNKNOWN, &[("column", &shown), ("remedy", &remedy)]))
    }
}
