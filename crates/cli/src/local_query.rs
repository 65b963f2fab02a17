//! `hushwire local query`: SQL over CSV and Parquet files among processes of this machine, each
//! with its owner's files.

use crate::{
    error::Error,
    files::{self, Passing, RunFiles, is_stream, one_stream, reads},
    log,
    member_cmd::has_aes,
    options::{Between, CommonArgs},
    out, price, progress,
    run_report::{KindReport, deliver},
    supervisor::run_all,
};
use clap::Args;
use hushwire::LocalJob;
use hushwire::job::{
    Answer, Fault, InputPlace, Job, Member, OutputPlace, Pad, Parameter, QueryJob, QueryPartOf, QueryTable,
    QueryTask, Task, Words, aligned, check_output, count, declaration, infer,
};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
    time::Instant,
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire local query --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --sql \"SELECT city, AVG(salary) FROM salaries JOIN people ON person = id GROUP BY city\"
                                      the mean by city; neither owner sees the other's rows
  hushwire local query --table accounts=north.csv@north --table accounts=south.csv@south --sql \"SELECT COUNT(*) FROM accounts\" --out count.csv
                                      one table in two parts; the result in a file
  hushwire local query --table t=t.csv@alice --sql \"SELECT …\" --explain
                                      the plan, its price, and what each member learns; nothing runs

Types of columns are the narrowest that take the files' fields; empty fields of CSV are NULL. Files called .parquet are Parquet, in builds with \
the feature parquet. Column names, types and row counts are public; \
--pad hides how many rows there are below a bound. Members of a job file have them written down: see docs/sql.md.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 a party or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// Ask a question in SQL of CSV and Parquet files. Each owner's process reads its own file; three
/// parties compute on shares of them.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct LocalQueryArgs {
    /// A table, or a part of one: its name, its file (CSV, or Parquet where its name ends so; - is
    /// CSV on standard input), and who brings it
    #[arg(long = "table", value_name = "NAME=FILE@OWNER", required = true)]
    tables: Vec<String>,
    /// The key of a table: columns of which no two rows have the same values
    #[arg(long, value_name = "TABLE=COLUMN,…")]
    key: Vec<String>,
    /// The file that declares types and keys of tables: name, columns and key of each, as in job
    /// files [default: types are inferred]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
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
    /// The public number of rows of each part: none for its own, 2^k for the next power of two, or
    /// a number
    #[arg(long, value_name = "ROWS", default_value = "none")]
    pad: Pad,
    /// Leave out groups of fewer rows than this
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    min_group: u64,
    /// Most pairs of a join neither of whose sides is unique by its keys
    #[arg(long, value_name = "ROWS")]
    join_bound: Option<u64>,
    /// Join by tags of keys where one side's are unique: faster, and parties 1 and 2 learn how many
    /// rows of either side have one key
    #[arg(long)]
    tag_join: bool,
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
    common: CommonArgs,
}

/// `party0` is a party; every other name is a client's.
fn member(option: &str, name: &str) -> Result<Member, Error> {
    let whole = match name.parse::<Member>() {
        Ok(member) => return Ok(member),
        Err(_) => format!("client:{name}"),
    };
    whole.parse().map_err(|e| Error::Usage(format!("{option} {name}: {e}")))
}

/// A part of a table as the command line has it.
struct Given {
    table: String,
    path: PathBuf,
    place: InputPlace,
    owner: Member,
}

/// A part's table, file and owner.
fn part(text: &str) -> Result<(&str, &Path, Member), Error> {
    let form = || Error::Usage(format!("--table {text:?}: write name=file.csv@owner"));
    let (table, rest) = text.split_once('=').ok_or_else(form)?;
    let (path, owner) = rest.rsplit_once('@').ok_or_else(form)?;
    if table.is_empty() || path.is_empty() {
        return Err(form());
    }
    Ok((table, Path::new(path), member("--table", owner)?))
}

impl LocalQueryArgs {
    fn given(&self) -> Result<Vec<Given>, Error> {
        let parts = self.tables.iter().map(|text| part(text)).collect::<Result<Vec<_>, Error>>()?;
        let files = [("--sql-file", self.sql_file.as_deref()), ("--schema", self.schema.as_deref())];
        let files = files.map(|(option, path)| (option.to_owned(), path));
        let tables = parts.iter().map(|(table, path, _)| (format!("--table {table}"), Some(*path)));
        one_stream("standard input", files.into_iter().chain(tables))?;
        let outs = [("--out", self.out.as_deref()), ("--json", self.common.json.as_deref())];
        one_stream("standard output", outs)?;
        let given = parts.into_iter().map(|(table, path, owner)| {
            let place = files::input(path)?;
            Ok(Given { table: table.to_owned(), path: path.to_owned(), place, owner })
        });
        given.collect()
    }

    /// The tables, whose types and row counts are those of the files, and the columns without
    /// values.
    fn declared(&self, given: &[Given]) -> Result<(Vec<QueryTable>, Vec<Guess>), Error> {
        let mut names: Vec<&str> = vec![];
        for part in given {
            if !names.contains(&part.table.as_str()) {
                names.push(&part.table);
            }
        }
        let declared = self.schema.as_deref().map(QueryTable::schema).transpose()?.unwrap_or_default();
        let (mut tables, mut guessed) = (vec![], vec![]);
        for name in names {
            let parts: Vec<&Given> = given.iter().filter(|part| part.table == name).collect();
            let files: Vec<&InputPlace> = parts.iter().map(|part| &part.place).collect();
            let known = declared.iter().find(|table| table.name == name);
            let (columns, counts) = match known {
                Some(table) => {
                    (table.columns.clone(), files.iter().map(|file| count(file)).collect::<Result<_, _>>()?)
                }
                None => {
                    let found = infer(&files)?;
                    guessed.extend(found.guessed.into_iter().map(|column| (name.to_owned(), column)));
                    (found.columns.iter().map(declaration).collect(), found.rows)
                }
            };
            let part = |(part, rows): (&&Given, &u64)| {
                let padded = self.pad.rows(*rows).ok_or_else(|| {
                    Error::Usage(format!("--pad: {} has {rows} rows, which are more", part.path.display()))
                })?;
                Ok(QueryPartOf { owner: part.owner.clone(), rows: padded })
            };
            let parts = parts.iter().zip(&counts).map(part).collect::<Result<Vec<_>, Error>>()?;
            let (padded, key) = (self.pad != Pad::None, known.map_or(vec![], |table| table.key.clone()));
            tables.push(QueryTable { name: name.to_owned(), columns, key, parts, padded });
        }
        let mut keyed: Vec<&str> = vec![];
        for text in &self.key {
            let form = || Error::Usage(format!("--key {text:?}: write table=column, or table=column,column"));
            let (name, columns) = text.split_once('=').ok_or_else(form)?;
            let table = tables.iter_mut().find(|table| table.name == name);
            let table = table.ok_or_else(|| Error::Usage(format!("--key: there is no table {name}")))?;
            if keyed.contains(&name) {
                log::note!("note: table {name} has one key: {text} takes the place of the --key before it");
            }
            keyed.push(name);
            table.key = columns.split(',').map(|column| column.trim().to_owned()).collect();
        }
        Ok((tables, guessed))
    }

    /// The job, planned.
    fn task(&self, given: &[Given]) -> Result<QueryTask, Error> {
        let sql = match (&self.sql, &self.sql_file) {
            (Some(sql), _) => sql.clone(),
            (None, Some(path)) => files::text(path)?,
            (None, None) => return Err(Error::Usage("write the query with --sql".into())),
        };
        let to = self.to.iter().map(|name| member("--to", name)).collect::<Result<_, _>>()?;
        let (tables, guessed) = self.declared(given)?;
        let (min_group, join_bound, tag_joins) = (self.min_group, self.join_bound, self.tag_join);
        // All members run here, by one clock.
        let now = hushwire_kinds::query_now(&sql);
        let (values, parameters) = Parameter::of_values(&self.params)?;
        let job = QueryJob { sql, to, min_group, join_bound, tag_joins, now, tables, parameters, values };
        Ok(QueryTask::new(&job).map_err(|e| with_guesses(e, &job.sql, &guessed))?)
    }
}

/// A column without any value, whose type nobody gave: its table's name and its own.
type Guess = (String, String);

/// A refusal of a query that may be due to columns without any value, whose type nobody gave.
fn with_guesses(e: Fault, sql: &str, guessed: &[Guess]) -> Fault {
    let sql = sql.to_lowercase();
    let named = guessed.iter().filter(|(_, column)| sql.contains(&column.to_lowercase()));
    let named: Vec<String> = named.map(|(table, column)| format!("{table}.{column}")).collect();
    let Some((last, others)) = named.split_last() else { return e };
    let (of, their) = match others {
        [] => (format!("column {last} has no values and was taken"), "its type"),
        _ => {
            (format!("columns {} and {last} have no values and were taken", others.join(", ")), "their types")
        }
    };
    let remedy = format!("{}; {of} for VARCHAR(1): give {their} with --schema FILE", e.remedy());
    e.remedied(remedy)
}

/// Runs the query.
pub(crate) fn run(args: &LocalQueryArgs) -> Result<(), Error> {
    let begun = Instant::now();
    let backend = args.common.backend()?;
    let shape = crate::options::net(&args.net)?;
    let given = args.given()?;
    args.out.as_deref().map(check_output).transpose()?;
    let task = args.task(&given)?;
    let job = task.job().clone();
    if args.explain {
        return out::text(explained(&task, has_aes(backend))?);
    }
    let mut run = RunFiles::new(args.common.replace.force);
    for part in &given {
        reads(&mut run, format!("a part of table {}", part.table), &part.path);
    }
    for (role, path) in [("the query", &args.sql_file), ("the schema", &args.schema)] {
        path.iter().for_each(|path| reads(&mut run, role, path));
    }
    let passing = args.out.as_deref().filter(|path| is_stream(path)).map(|_| Passing::new()).transpose()?;
    let out = passing.as_ref().map(Passing::file).or_else(|| args.out.clone());
    if let (Some(path), None) = (&args.out, &passing) {
        run.check("with --out", path, &task.writer())?;
    }
    let json = args.common.json_file(&mut run, "local query")?;
    let mut local = LocalJob::new(&task).transport(args.between.kind()?).shape(shape).backend(backend);
    local = local.force(args.common.replace.force);
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
    let bar = progress::bar(0, "operators");
    // Planned a second time only where somebody looks.
    let course = if bar.is_hidden() { vec![] } else { task.course()? };
    let phases = ["reading the files", "the query"];
    let ended = run_all(local, &Job::Query(job.clone()), Member::to_string, phases, &bar, |done, of| {
        bar.set_length(of);
        bar.set_position(done);
        bar.set_message(progress::under_way(&course, done).map_or(String::new(), progress::cut));
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

/// The plan, its price over three networks, and who learns what.
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
