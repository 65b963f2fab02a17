//! `hushwire local query`: SQL over CSV and Parquet files among processes on this machine, each
//! with the files of its owner.

use crate::{
    error::Error,
    files::{self, Passing, RunFiles, is_stream, one_stream, reads},
    log,
    member_cmd::has_aes,
    options::{Between, CommonArgs},
    out, price, progress,
    query_tables::{BoundArgs, Given, QueryTables, member, part, parts as parts_of},
    read_args::ReadArgs,
    run_report::{KindReport, deliver},
    shards::ShardArgs,
    supervisor::run_all,
};
use clap::Args;
use hushwire::LocalJob;
use hushwire::job::{
    Answer, Job, Member, OutputPlace, Parameter, QueryJob, QueryTable, QueryTask, Task, Words, aligned,
    check_output,
};
use std::{fmt::Write, path::PathBuf, time::Instant};

pub(crate) const HELP: &str = "\
Examples:
  hushwire local query --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --sql \"SELECT city, AVG(salary) FROM salaries JOIN people ON person = id GROUP BY city\"
                                      the mean by city; neither owner sees the other's rows
  hushwire local query --table accounts=north.csv@north --table accounts=south.csv@south --sql \"SELECT COUNT(*) FROM accounts\" --out count.csv
                                      one table in two parts; the result in a file
  hushwire local query --table t=t.csv@alice --sql \"SELECT …\" --explain
                                      the plan, its price, and what each member learns; nothing runs

Types of columns are the narrowest that take the files' fields; empty fields of text are NULL, and blanks around fields are dropped. \
docs/files.md says how to read files that are not clean, and `hushwire table describe FILE` what is found in one. Files called .parquet are Parquet, in builds with \
the feature parquet. Column names, types and row counts are public; \
--pad hides how many rows there are below a bound. Members of a job file have them written down: see docs/sql.md.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Ask a question in SQL of CSV and Parquet files. Each owner's process reads its own file; three
/// parties compute on shares of them.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct LocalQueryArgs {
    /// A table, or a part of one: its name, its file (CSV and other text, also .gz and .zst, or
    /// Parquet where its name ends so; - is text on standard input; * and ? in its name are several
    /// files), and who brings it. Files of one table and owner are one part
    #[arg(long = "table", value_name = "NAME=FILE@OWNER", required = true)]
    tables: Vec<String>,
    /// The key of a table: columns of which no two rows have the same values
    #[arg(long, value_name = "TABLE=COLUMN,…")]
    key: Vec<String>,
    /// A file that declares types and keys of tables, and how their files are read: name, columns,
    /// key and dialect of each, as in job files; `hushwire table describe` writes one [default:
    /// types are inferred]
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,
    /// The type of a column, in place of the one that is inferred, as in people.zip=VARCHAR(5)
    #[arg(long = "type", value_name = "TABLE.COLUMN=TYPE")]
    types: Vec<String>,
    /// The query
    #[arg(long, value_name = "QUERY", required_unless_present = "sql_file", conflicts_with = "sql_file")]
    sql: Option<String>,
    /// The file with the query; - is standard input
    #[arg(long, value_name = "FILE")]
    sql_file: Option<PathBuf>,
    /// The value of a parameter of the query, which has :NAME in its place, or ? for each in turn
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Who learns the result
    #[arg(long, value_name = "MEMBER", default_value = "analyst")]
    to: Vec<String>,
    /// The file of the result, CSV or Parquet by its name, which appears when it is whole; - is
    /// standard output, as CSV [default: standard output, as a table for people]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    bounds: BoundArgs,
    /// Show the plan, its price and what each member learns, and run nothing
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    between: Between,
    /// The model of the network between them: none, lan, wan, or rate and round trip as in
    /// 1Gbps,5ms
    #[arg(long, value_name = "NET", default_value = "none")]
    net: String,
    #[command(flatten)]
    shards: ShardArgs,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    read: ReadArgs,
}

impl LocalQueryArgs {
    /// Returns the parts of tables. At most one of their files is a stream.
    fn given(&self, schema: &[QueryTable]) -> Result<Vec<Given>, Error> {
        let parts = self.tables.iter().map(|text| part(text)).collect::<Result<Vec<_>, Error>>()?;
        let files = [("--sql-file".to_owned(), self.sql_file.as_deref())];
        let schemas = self.schema.iter().map(|path| ("--schema".to_owned(), Some(path.as_path())));
        let tables = parts.iter().map(|(table, path, _)| (format!("--table {table}"), Some(*path)));
        one_stream("standard input", files.into_iter().chain(schemas).chain(tables))?;
        let outs = [("--out", self.out.as_deref()), ("--json", self.common.json.as_deref())];
        one_stream("standard output", outs)?;
        parts_of(&self.tables, &self.read, schema)
    }

    /// Returns the tables, with the types and row counts of the files.
    fn declared(&self, given: &mut [Given], schema: &[QueryTable]) -> Result<QueryTables, Error> {
        let mut found = QueryTables::new(given, schema, &self.types, self.bounds.pad)?;
        found.set_keys(&self.key)?;
        Ok(found)
    }

    /// Returns the job with its plan.
    fn task(&self, given: &mut [Given], schema: &[QueryTable]) -> Result<QueryTask, Error> {
        let sql = match (&self.sql, &self.sql_file) {
            (Some(sql), _) => files::query(sql)?,
            (None, Some(path)) => files::text(path)?,
            (None, None) => return Err(Error::Usage("write the query with --sql".into())),
        };
        let to = self.to.iter().map(|name| member("--to", name)).collect::<Result<_, _>>()?;
        let mut found = self.declared(given, schema)?;
        let sql = found.listed(&sql, given)?;
        found.take_partners(&sql);
        let tables = std::mem::take(&mut found.tables);
        let BoundArgs { min_group, join_bound, tag_join: tag_joins, .. } = self.bounds;
        // All members run here, so that one clock holds for all.
        let now = hushwire_kinds::query_now(&sql);
        let (values, parameters) = Parameter::of_values(&self.params)?;
        // A question mark stands for each in turn, whatever its name.
        let is_used = |name: &&String| sql.contains(&format!(":{name}")) || sql.contains('?');
        if let Some(odd) = values.parameters.keys().find(|name| !is_used(name)) {
            return Err(Error::Usage(format!(
                "--param {odd}: the query has no :{odd}; write it where the value stands, or leave the option out"
            )));
        }
        let shards = self.shards.shards.unwrap_or(1);
        let job =
            QueryJob { sql, to, min_group, join_bound, tag_joins, now, shards, tables, parameters, values };
        let task = QueryTask::new(&job).map_err(|e| found.explained(e, &job.sql))?;
        found.tell_doubts(&job.sql);
        Ok(task)
    }
}

/// Runs the query.
pub(crate) fn run(args: &LocalQueryArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    let shape = crate::options::net(&args.net)?;
    let schema =
        args.schema.iter().map(|path| QueryTable::schema(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let mut given = args.given(&schema)?;
    args.out.as_deref().map(check_output).transpose()?;
    let task = args.task(&mut given, &schema)?;
    let job = task.job().clone();
    if args.explain {
        return out::text(explained(&task, has_aes(backend))?);
    }
    let mut run = RunFiles::new(args.common.replace.force);
    for part in &given {
        part.paths.iter().for_each(|path| reads(&mut run, format!("a part of table {}", part.table), path));
    }
    args.sql_file.iter().for_each(|path| reads(&mut run, "the query", path));
    args.schema.iter().for_each(|path| reads(&mut run, "the schema", path));
    let passing = args.out.as_deref().filter(|path| is_stream(path)).map(|_| Passing::new()).transpose()?;
    let out = passing.as_ref().map(Passing::file).or_else(|| args.out.clone());
    if let (Some(path), None) = (&args.out, &passing) {
        run.check("with --out", path, &task.writer())?;
    }
    let json = args.common.json_file(&mut run, "local query")?;
    let transport = args.between.kind()?;
    let members = || {
        let mut local = LocalJob::new(&task).transport(transport).shape(shape).backend(backend);
        local = local.force(args.common.replace.force).shards(job.shards);
        let read: Vec<&str> = task.query().tables().iter().map(|table| table.name.as_str()).collect();
        for part in given.iter().filter(|part| read.contains(&part.table.as_str())) {
            local = local.bring(part.owner.clone(), &part.table, part.place.clone());
        }
        for (i, who) in job.to.iter().enumerate() {
            let place = match &out {
                Some(path) if i == 0 => OutputPlace::Csv(path.clone()),
                Some(_) => OutputPlace::Discard,
                None => OutputPlace::Show,
            };
            local = local.keep(who.clone(), "result", place);
        }
        local
    };
    let bar = progress::bar(0, "operators");
    // The plan is only made a second time if somebody watches the bar.
    let course = if bar.is_hidden() { vec![] } else { task.course()? };
    let phases = ["reading the files", "the query"];
    let whole = Job::Query(job.clone());
    let ended = args.shards.retry.run(|| {
        run_all(members(), &whole, Member::to_string, phases, &bar, |done, of| {
            bar.set_length(of);
            bar.set_position(done);
            bar.set_message(progress::under_way(&course, done).map_or(String::new(), progress::cut));
        })
    })?;
    bar.finish_and_clear();
    let mut learnt = Answer::default();
    for answer in ended.iter().map(|process| &process.outcome.learnt).filter(|answer| answer.count.is_some())
    {
        if learnt.count.is_some_and(|count| Some(count) != answer.count) {
            return Err(Error::internal("comparing results", "those who learn it found different ones"));
        }
        if learnt.rows.is_empty() {
            learnt = answer.clone();
        }
    }
    let how = (args.between.transport.as_str(), shape, backend);
    let (of_kind, members) = (task.report(&learnt), task.agreement().members());
    let report = KindReport::new("local query", of_kind, begun, how, members, &ended);
    let rows = learnt.count.map_or(String::new(), |count| match count {
        1 => "1 row; ".to_owned(),
        count => format!("{count} rows; "),
    });
    log::note!("{}", report.for_people(&rows, "", ""));
    let price = task.price(has_aes(backend))?;
    log::note!("predicted: {}", price::over(&price, shape));
    if let Some(passing) = passing {
        let told = passing.show();
        deliver(None, &report, json, args.common.json.as_deref())?;
        return told;
    }
    if let Some(path) = &args.out {
        log::note!("the result is in {}", path.display());
    }
    let printed = args.out.is_none().then(|| aligned(&learnt).into_bytes());
    deliver(printed, &report, json, args.common.json.as_deref())
}

/// Returns the plan, its price over three networks, and who learns what.
fn explained(task: &QueryTask, aes: bool) -> Result<String, Error> {
    let mut text = task.query().explain(None);
    let price = task.price(aes)?;
    let mut line = |s: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{s}");
    };
    price::everywhere(&price).into_iter().for_each(&mut line);
    let to: Vec<String> = task.job().to.iter().map(ToString::to_string).collect();
    for member in task.agreement().members() {
        let learns = if task.job().to.contains(&member) {
            "the result, and nothing more"
        } else {
            "nothing of rows or of the result"
        };
        let tags = match member {
            Member::Party(1 | 2) if task.query().shows_tags() => {
                " but how often keys of joins by tags repeat"
            }
            _ => "",
        };
        line(format!("{member} learns {learns}{tags}"));
    }
    line(format!("the result goes to {}", to.join(", ")));
    line(format!("members may allow it by the digest of its terms, {}", task.terms().digest()));
    Ok(text)
}
