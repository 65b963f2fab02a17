//! A query that is given as its text, with the tables that it reads.

use crate::{
    error::Error,
    files,
    query_tables::{QueryTables, member, parts},
    read_args::ReadArgs,
};
use clap::Args;
use hushwire::job::{Dialect, Pad, Parameter, QueryJob, QueryPartOf, QueryTable, QueryTask};
use std::path::{Path, PathBuf};

/// The tables of a query that no job file has.
#[derive(Args)]
#[command(next_help_heading = "Tables of a query that is given as its text")]
pub(crate) struct QueryTextArgs {
    /// A file whose columns a table has, and who brings it; its rows are not counted
    #[arg(long = "table", value_name = "NAME=FILE@OWNER")]
    tables: Vec<String>,
    /// A file that declares tables: types, keys and dialects; those without a file need nothing
    /// else
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,
    /// The key of a table: columns of which no two rows have the same values
    #[arg(long, value_name = "TABLE=COLUMN,…")]
    key: Vec<String>,
    /// The type of a column, in place of the one that is inferred
    #[arg(long = "type", value_name = "TABLE.COLUMN=TYPE")]
    types: Vec<String>,
    /// The value of a parameter of the query
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Leave out groups of fewer rows than this
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    min_group: u64,
    /// Most pairs of a join neither of whose sides is unique by its keys
    #[arg(long, value_name = "ROWS")]
    join_bound: Option<u64>,
    /// Join by tags of keys where one side's are unique
    #[arg(long)]
    tag_join: bool,
}

/// Returns the text of a query, if this is not a job file: a file with the ending .sql, or words
/// that name no file.
pub(crate) fn text_of(given: &Path) -> Result<Option<String>, Error> {
    if given.extension().is_some_and(|end| end.eq_ignore_ascii_case("sql")) {
        return files::text(given).map(Some);
    }
    let words = given.to_string_lossy();
    let is_text = words.trim().contains(char::is_whitespace) && !given.exists();
    Ok(is_text.then(|| words.into_owned()))
}

impl QueryTextArgs {
    /// Returns the first of these options that is given, all of which are useless with a job file.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [
            (!self.tables.is_empty(), "--table"),
            (!self.schema.is_empty(), "--schema"),
            (!self.key.is_empty(), "--key"),
            (!self.types.is_empty(), "--type"),
            (!self.params.is_empty(), "--param"),
            (self.min_group > 0, "--min-group"),
            (self.join_bound.is_some(), "--join-bound"),
            (self.tag_join, "--tag-join"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }

    /// Returns the query as a job of `shards` processes for each party.
    pub(crate) fn job(&self, sql: &str, shards: u16) -> Result<QueryJob, Error> {
        let schema =
            self.schema.iter().map(|path| QueryTable::schema(path)).collect::<Result<Vec<_>, _>>()?.concat();
        if self.tables.is_empty() && schema.is_empty() {
            return Err(Error::Usage(
                "the query's tables are unknown; name a file of each with --table NAME=FILE@OWNER, or declare \
                 them in a file for --schema, as `hushwire table describe` writes it"
                    .into(),
            ));
        }
        let mut given = parts(&self.tables, &ReadArgs::default(), &schema)?;
        let mut found = QueryTables::new(&mut given, &schema, &self.types, Pad::None)?;
        for (i, table) in (0..).zip(&schema) {
            if !given.iter().any(|part| part.table == table.name) {
                let owner = member("--schema", &format!("owner{i}"))?;
                let parts = vec![QueryPartOf { owner, rows: 1 }];
                found.tables.push(QueryTable { parts, dialect: Dialect::default(), ..table.clone() });
            }
        }
        found.set_keys(&self.key)?;
        let sql = found.listed(sql, &given)?;
        found.take_partners(&sql);
        let now = hushwire_kinds::query_now(&sql);
        let (values, parameters) = Parameter::of_values(&self.params)?;
        let job = QueryJob {
            to: vec![member("--to", "analyst")?],
            min_group: self.min_group,
            join_bound: self.join_bound,
            tag_joins: self.tag_join,
            tables: std::mem::take(&mut found.tables),
            sql,
            now,
            shards,
            parameters,
            values,
        };
        QueryTask::new(&job).map_err(|e| found.explained(e, &job.sql))?;
        Ok(job)
    }
}
