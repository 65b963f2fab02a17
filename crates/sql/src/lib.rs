//! SQL: turns a query's text into [relational algebra](hushwire_tables::algebra), against declared
//! tables.
//!
//! ```text
//! text ── sqlparser ──► its tree ── bind ──► LogicalPlan ── logical ──► emit ──► Relation
//!
//! bind          names, types, subqueries as joins; from the Catalog: tables, columns, parts, keys
//! LogicalPlan   operators, with columns by number
//! logical       joins in order, conditions moved down, unread columns gone
//! ```
//!
//! This crate does no input or output and knows no protocol. Unsupported queries are refused with
//! the clause's name, its line and its column. [`cell`] converts values to and from text, and
//! [`schema`] columns, for readers of files.
#![forbid(unsafe_code)]

mod bind;
mod catalog;
pub mod cell;
#[doc(hidden)]
pub mod clauses;
mod dialect;
mod error;
mod logical;
mod open_pivot;
mod parameter;
pub mod schema;
#[doc(hidden)]
pub mod test_support;
#[cfg(test)]
mod tests;
#[cfg(feature = "tpch")]
pub mod tpch;

pub use catalog::Catalog;
pub use hushwire_tables::Fault;
pub use logical::Options;
pub use open_pivot::{OpenPivot, open_pivots, with_values};
pub use parameter::Parameter;

use bind::{Binder, Written};
use error::{At, of_parser, refused, too_large};
use hushwire_fault::code;
use hushwire_tables::algebra::Relation;
use sqlparser::{
    ast::{Expr, SelectItem, SetExpr, Statement},
    dialect::Dialect,
    parser::Parser,
    tokenizer::Tokenizer,
};

/// LOCAL: the largest length of a query's text.
const LONGEST: usize = 1 << 16;
/// LOCAL: the bytes of stack for the longest chain that a text can contain.
const STACK: usize = 256 << 20;

/// Returns the relation of a query. Its columns have the names of the query's list.
///
/// ```
/// use hushwire_sql::{Catalog, Options, relation};
/// use hushwire_tables::algebra::{Column, ColumnType, TablePart, Schema, Table};
/// let people = Table {
///     name: "people".into(),
///     schema: Schema(vec![
///         Column::new("id", ColumnType::Integer),
///         Column::new("age", ColumnType::SmallInt),
///     ]),
///     parts: vec![TablePart { owner: "bob".into(), rows: 100 }],
///     padded: false,
///     unique: vec![vec![0]],
/// };
/// let catalog = Catalog::new(vec![people])?;
/// let text = "SELECT age, COUNT(*) AS n FROM people GROUP BY age";
/// let made = relation(text, &catalog, Options::default())?;
/// assert_eq!(made.schema().columns()[1].name, "n");
/// let error = relation("SELECT agee FROM people", &catalog, Options::default()).unwrap_err();
/// let told = error.to_string();
/// assert_eq!(told, "line 1, column 8: no column is called agee; name one of id, age");
/// # Ok::<(), hushwire_sql::Fault>(())
/// ```
///
/// # Errors
/// The text is not SQL, is more than one query, names something that does not exist, or has an
/// unsupported clause.
pub fn relation(sql: &str, catalog: &Catalog, options: Options) -> Result<Relation, Fault> {
    relation_with(sql, catalog, options, &[])
}

/// Whether a query may write the name of a column without quotes. The name must be one word, and
/// not a word of SQL.
#[must_use]
pub fn is_plain_name(name: &str) -> bool {
    let dialect = dialect::Words;
    let begins = name.starts_with(|c| dialect.is_identifier_start(c));
    if !begins || !name.chars().all(|c| dialect.is_identifier_part(c)) {
        return false;
    }
    // Some words can be names only in certain places.
    let query = format!("SELECT {name}, t.{name} FROM t WHERE {name} IS NULL GROUP BY {name}");
    let parsed = Parser::parse_sql(&dialect, &query);
    let Ok([Statement::Query(query)]) = parsed.as_deref() else { return false };
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let is_name = |item: &SelectItem| matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_)));
    matches!(&select.projection[..], [first, _] if is_name(first))
}

/// Returns the relation of a query, with these values in place of each `:name`, and of each `?` in
/// turn.
///
/// # Errors
/// As [`relation`], or the query names another parameter.
pub fn relation_with(
    sql: &str,
    catalog: &Catalog,
    options: Options,
    parameters: &[Parameter],
) -> Result<Relation, Fault> {
    if sql.len() > LONGEST {
        let remedy = "check that it is the right text";
        return Err(too_large(At::default(), "the query is longer than 64 KiB", remedy));
    }
    // The parser's stack frames are large, and the depth of a chain of operators equals its length.
    std::thread::scope(|scope| {
        let planner = std::thread::Builder::new().name("planner".into()).stack_size(STACK);
        let planner = planner.spawn_scoped(scope, || planned(sql, catalog, options, parameters));
        let planner =
            planner.map_err(|e| refused(format!("no thread could be started: {e}"), "try again"))?;
        planner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Parses the statements of a text.
fn parsed(sql: &str, parameters: &[Parameter]) -> Result<Vec<Statement>, Fault> {
    let dialect = dialect::Words;
    let tokens = Tokenizer::new(&dialect, sql).tokenize_with_location();
    let tokens = dialect::without_hints(tokens.map_err(|e| of_parser(e.into(), sql))?);
    let tokens = if parameters.is_empty() { tokens } else { parameter::filled(tokens, parameters)? };
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
    parser.parse_statements().map_err(|e| of_parser(e, sql))
}

fn planned(
    sql: &str,
    catalog: &Catalog,
    options: Options,
    parameters: &[Parameter],
) -> Result<Relation, Fault> {
    let statements = parsed(sql, parameters)?;
    let no = |cause: &str| Err(Fault::filled(code::STATEMENT, &[("cause", &cause)]));
    let query = match &statements[..] {
        [Statement::Query(query)] => query,
        [] => return no("there is no query"),
        [_] => return no("the statement is no query"),
        _ => return no("there are several statements"),
    };
    let written = Written::default();
    let mut binder = Binder::new(catalog, options, &written);
    let bound = binder.whole(query)?;
    if options.min_group > 1 && !logical::shows_groups(&bound.plan) {
        return Err(Fault::of(code::GROUPS_ONLY, &[]));
    }
    let needed = logical::needed(&bound.columns);
    let plan = logical::prune(bound.plan, &needed);
    let plan = logical::by_owners(plan, &mut binder.columns, catalog)?;
    let plan = logical::prune(plan, &needed);
    logical::emit(&plan, &bound.columns, &binder.columns, catalog, options)
}
