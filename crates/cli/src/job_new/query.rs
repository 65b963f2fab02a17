//! A job of a query: tables by the schemas and row counts that their owners tell, or by files that
//! are here.

use super::{
    OutArgs, deliver,
    toml_lines::{JobLines, of_lines, quoted},
};
use crate::{
    error::Error,
    files::{self, RunFiles, is_stream, one_stream, reads},
    query_tables::{BoundArgs, Given, QueryTables, member, parts},
    read_args::ReadArgs,
};
use clap::Args;
use hushwire::job::{Member, Pad, QueryJob, QueryPartOf, QueryTable, QueryTask, RunValues};
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct QueryArgs {
    /// A part of a table, and who brings it: the number of its rows, with a schema of the table, or
    /// a file that is here
    #[arg(long = "table", value_name = "NAME=ROWS|FILE@OWNER", required = true)]
    tables: Vec<String>,
    /// A file that declares types and keys of tables, as `hushwire table describe --schema` writes
    /// it at an owner
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,
    /// The key of a table: columns of which no two rows have the same values
    #[arg(long, value_name = "TABLE=COLUMN,…")]
    key: Vec<String>,
    /// The type of a column, in place of the one that is inferred or declared
    #[arg(long = "type", value_name = "TABLE.COLUMN=TYPE")]
    types: Vec<String>,
    /// The query
    #[arg(long, value_name = "QUERY", required_unless_present = "sql_file", conflicts_with = "sql_file")]
    sql: Option<String>,
    /// The file with the query; - is standard input
    #[arg(long, value_name = "FILE")]
    sql_file: Option<PathBuf>,
    /// Who learns the result
    #[arg(long, value_name = "MEMBER", default_value = "analyst")]
    to: Vec<String>,
    #[command(flatten)]
    bounds: BoundArgs,
    #[command(flatten)]
    out: OutArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// Returns the number of rows of a part of a table, if `--table` gives a number and no file.
fn counted(text: &str) -> Option<(&str, u64, &str)> {
    let (table, rest) = text.split_once('=')?;
    let (rows, owner) = rest.rsplit_once('@')?;
    Some((table, rows.parse().ok()?, owner))
}

impl QueryArgs {
    /// Returns all tables with their parts.
    fn query_tables(
        &self,
        schema: &[QueryTable],
        run: &mut RunFiles,
    ) -> Result<(QueryTables, Vec<Given>), Error> {
        let of_files: Vec<String> =
            self.tables.iter().filter(|text| counted(text).is_none()).cloned().collect();
        let mut given: Vec<Given> = parts(&of_files, &self.read, schema)?;
        for part in &given {
            part.paths.iter().for_each(|path| reads(run, format!("a part of table {}", part.table), path));
        }
        let named = |text: &&String| {
            let table = text.split_once('.').map(|(table, _)| table);
            given.iter().any(|part| Some(part.table.as_str()) == table)
        };
        let types: Vec<String> = self.types.iter().filter(named).cloned().collect();
        let mut found = QueryTables::new(&mut given, schema, &types, self.bounds.pad)?;
        for (name, rows, owner) in self.tables.iter().filter_map(|text| counted(text)) {
            let rows = self.bounds.pad.rows(rows);
            let rows = rows.ok_or_else(|| Error::Usage(format!("--pad: table {name} has more rows")))?;
            let part = QueryPartOf { owner: member("--table", owner)?, rows };
            if let Some(table) = found.tables.iter_mut().find(|table| table.name == name) {
                table.parts.push(part);
                continue;
            }
            let declared = schema.iter().find(|table| table.name == name).ok_or_else(|| {
                let how = "its owner writes one with `hushwire table describe FILE --schema`";
                Error::Usage(format!("--table {name}: no --schema declares its columns; {how}"))
            })?;
            let padded = self.bounds.pad != Pad::None;
            found.tables.push(QueryTable { parts: vec![part], padded, ..declared.clone() });
        }
        found.set_keys(&self.key)?;
        Ok((found, given))
    }
}

pub(super) fn run(args: &QueryArgs) -> Result<(), Error> {
    let files = [("--sql-file".to_owned(), args.sql_file.as_deref())];
    let schemas = args.schema.iter().map(|path| ("--schema".to_owned(), Some(path.as_path())));
    one_stream("standard input", files.into_iter().chain(schemas))?;
    let mut run = RunFiles::new(args.out.replace.force);
    args.schema.iter().filter(|path| !is_stream(path)).for_each(|path| run.reads("the schema", path));
    args.sql_file.iter().for_each(|path| reads(&mut run, "the query", path));
    let sql = match (&args.sql, &args.sql_file) {
        (Some(sql), _) => files::query(sql)?,
        (None, Some(path)) => files::text(path)?,
        (None, None) => return Err(Error::Usage("write the query with --sql".into())),
    };
    let schema =
        args.schema.iter().map(|path| QueryTable::schema(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let to = args.to.iter().map(|name| member("--to", name)).collect::<Result<Vec<_>, _>>()?;
    let (mut found, given) = args.query_tables(&schema, &mut run)?;
    let sql = found.listed(&sql, &given)?;
    found.take_partners(&sql);
    let job = QueryJob {
        now: hushwire_kinds::query_now(&sql),
        sql,
        to,
        min_group: args.bounds.min_group,
        join_bound: args.bounds.join_bound,
        tag_joins: args.bounds.tag_join,
        shards: 1,
        tables: std::mem::take(&mut found.tables),
        parameters: vec![],
        values: RunValues::default(),
    };
    QueryTask::new(&job).map_err(|e| found.explained(e, &job.sql))?;
    found.tell_doubts(&job.sql);
    deliver(lines(&job), &args.out, run)
}

fn lines(job: &QueryJob) -> JobLines {
    let mut lines = JobLines::new("query", "the tables");
    lines.put(&format!("sql = {}", of_lines(&job.sql)));
    let all = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
    lines.put(&format!("to = [{}]", all(&job.to.iter().map(Member::key).collect::<Vec<_>>())));
    if let Some(now) = &job.now {
        lines.put(&format!("now = {}", quoted(now)));
    }
    if job.min_group > 0 {
        lines.put(&format!("min-group = {}", job.min_group));
    }
    if let Some(bound) = job.join_bound {
        lines.put(&format!("join-bound = {bound}"));
    }
    if job.tag_joins {
        lines.put("tag-joins = true");
    }
    for table in &job.tables {
        lines.put(&format!("\n[[tables]]\nname = {}\ncolumns = [", quoted(&table.name)));
        table.columns.iter().for_each(|column| lines.put(&format!("    {},", quoted(column))));
        lines.put("]");
        if !table.key.is_empty() {
            lines.put(&format!("key = [{}]", all(&table.key)));
        }
        if table.padded {
            lines.put("padded = true");
        }
        let options = table.dialect.options();
        if !options.is_empty() {
            let option = |(name, values): &(&str, Vec<String>)| match &values[..] {
                [one] => format!("{name} = {}", quoted(one)),
                many => format!("{name} = [{}]", all(many)),
            };
            let options: Vec<String> = options.iter().map(option).collect();
            lines.put(&format!("dialect = {{ {} }}", options.join(", ")));
        }
        let part = |part: &QueryPartOf| format!("{} {}", part.owner.key(), part.rows);
        lines.put(&format!("parts = [{}]", all(&table.parts.iter().map(part).collect::<Vec<_>>())));
    }
    lines
}
