//! `hushwire table describe`: the findings in files that are to be a table of a query.

use crate::{
    error::Error,
    files::{Replace, RunFiles, is_stream, json_file, reads, stream},
    job_new::quoted,
    read_args::{self, ReadArgs},
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::{
    ColumnSurvey, Depth, Dialect, FoundForm, InferredTable, InputPlace, Misfit, declaration, is_plain_name,
    survey,
};
use hushwire_fault::printable;
use hushwire_files::{FileFormat, matching};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

pub(crate) const HELP: &str = "\
Examples:
  hushwire table describe sales.csv           the columns, their types and why; values that do not fit, by line and form
  hushwire table describe sales.csv --null n/a --decimal , --schema sales.toml
                                              the same with other options, and a schema that `local query --schema` takes
  hushwire table describe 'sales-*.csv.gz' --sample 10000
                                              of the first 10,000 rows of several files that are one table

Values are not shown, but their forms: a for a letter, 9 for a digit. docs/files.md says what to do about which finding.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 4 a file could not be used.";

/// Look at the files of a table before a query takes them. Nothing leaves this machine.
#[derive(Args)]
pub(crate) struct TableArgs {
    #[command(subcommand)]
    command: TableCommand,
}

#[derive(Subcommand)]
enum TableCommand {
    /// Print what is found in files that are one table, column by column with the reason, and write
    /// a schema.
    #[command(arg_required_else_help = true, after_help = HELP)]
    Describe(Box<DescribeArgs>),
}

#[derive(Args)]
struct DescribeArgs {
    /// The files, CSV and other text, also .gz and .zst, Parquet or Arrow; - is text on standard
    /// input; * and ? in a name are several files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The table's name in the schema [default: the first file's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Look at the first N rows only; lengths of text may be larger further on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Write a schema to FILE, for `local query --schema FILE` and as [[tables]] of a job file
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Write what is found for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    read: ReadArgs,
}

/// The findings, for programs.
#[derive(Serialize)]
struct TableReport {
    command: &'static str,
    version: &'static str,
    name: String,
    files: Vec<String>,
    rows: u64,
    /// Whether there may be further rows that were not read.
    sampled: bool,
    format: &'static str,
    /// The character between fields; null for Parquet and Arrow.
    separator: Option<char>,
    /// Whether the first line has the names.
    header: bool,
    compressed: bool,
    remarks: Vec<String>,
    /// Options with which more values of some columns fit their type.
    options: Vec<String>,
    columns: Vec<ColumnReport>,
}

#[derive(Serialize)]
struct ColumnReport {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    nullable: bool,
    values: u64,
    nulls: u64,
    why: String,
    /// The number of values that do not have the type of most values in the column.
    misfits: u64,
    /// The first of these values.
    first_misfits: Vec<MisfitReport>,
    remedy: Option<String>,
}

#[derive(Serialize)]
struct MisfitReport {
    place: String,
    form: String,
}

impl ColumnReport {
    fn new(survey: &ColumnSurvey) -> Self {
        let doubt = survey.doubt();
        let misfit = |m: &Misfit| MisfitReport { place: m.place.clone(), form: m.form.clone() };
        let (misfits, first): (u64, &[Misfit]) = match (survey.spellings().first(), &doubt) {
            (Some(spelling), _) => (survey.values - spelling.fits, &spelling.misfits),
            (None, Some(doubt)) => (doubt.others, doubt.misfits),
            (None, None) => (0, &[]),
        };
        ColumnReport {
            name: survey.column.name.clone(),
            ty: survey.column.ty.to_string(),
            nullable: survey.column.nullable,
            values: survey.values,
            nulls: survey.nulls,
            why: survey.reason(),
            misfits,
            first_misfits: first.iter().map(misfit).collect(),
            remedy: remedy(survey),
        }
    }
}

/// Formats options for a command line.
fn flags(options: &[(&'static str, &'static str)]) -> String {
    options.iter().map(|(name, value)| flag(name, value)).collect::<Vec<_>>().join(" ")
}

/// Formats an option for a shell.
pub(crate) fn flag(name: &str, value: &str) -> String {
    let is_plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b".,%/-:=_".contains(&b));
    if is_plain { format!("--{name} {value}") } else { format!("--{name} \"{value}\"") }
}

/// The remedy for a text column that could have a better type.
fn remedy(survey: &ColumnSurvey) -> Option<String> {
    let spellings = survey.spellings();
    if let Some(first) = spellings.first() {
        let values = format!("{} of {} values are {}", first.fits, survey.values, first.family.words());
        return Some(match spellings {
            [one] => match one.null_words(survey.values) {
                [] => format!("{values} with {}", flags(&one.options)),
                words => {
                    let null = flag("null", &words.join(","));
                    format!("{values} with {}; add {null} for the others", flags(&one.options))
                }
            },
            several => {
                let each: Vec<_> = several.iter().take(3).map(|s| flags(&s.options)).collect();
                format!(
                    "{values} with {}: the values do not show which one is meant",
                    each.join(", and with ")
                )
            }
        });
    }
    if survey.has_codes() {
        let (name, ty) = (&survey.column.name, survey.as_numbers().unwrap_or_default());
        let flag = flag("type", &format!("TABLE.{name}={ty}"));
        return Some(format!("if they are numbers, set the type in the schema, or in a query by {flag}"));
    }
    survey.doubt().map(|doubt| doubt.remedy())
}

/// Makes a name for SQL from the name of a file.
fn table_name(path: &std::path::Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let plain: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let plain = plain.trim_matches('_');
    match plain.chars().next() {
        None => "t".to_owned(),
        Some(c) if c.is_ascii_digit() => format!("t{plain}"),
        Some(_) => plain.to_owned(),
    }
}

/// Runs the command.
pub(crate) fn run(args: &TableArgs) -> Result<(), Error> {
    match &args.command {
        TableCommand::Describe(args) => describe(args),
    }
}

fn describe(args: &DescribeArgs) -> Result<(), Error> {
    let dialect = args.read.dialect("", &[])?;
    let mut paths = vec![];
    for path in &args.files {
        let found = if is_stream(path) { Ok(vec![path.clone()]) } else { matching(path) };
        paths.extend(found.map_err(|e| Error::Job(e.into()))?);
    }
    let place = match &paths[..] {
        [path] if is_stream(path) => InputPlace::Table(vec![stream()?], dialect.clone()),
        paths if paths.iter().any(|path| is_stream(path)) => {
            return Err(Error::Usage("standard input is one of several files; give all as files".into()));
        }
        paths => read_args::table(paths, dialect.clone())?,
    };
    let mut run = RunFiles::new(args.replace.force);
    paths.iter().for_each(|path| reads(&mut run, "a file of the table", path));
    let name = args.name.clone().unwrap_or_else(|| paths.first().map_or("t".into(), |path| table_name(path)));
    let schema = args.schema.as_ref().map(|path| run.create("with --schema", path, "a schema", 0o644));
    let schema = schema.transpose()?;
    let json = json_file(&mut run, args.json.as_deref(), "table describe", 0o644)?;
    let table = survey(&[&place], Depth { sample: args.sample, spellings: true })?;
    let report = report(&name, &paths, &table, args.sample);
    if let Some(file) = schema {
        file.write(schema_text(&name, &table, &dialect).as_bytes())?;
    }
    let text = text(&report);
    deliver(Some(text.into_bytes()), &report, json, args.json.as_deref())
}

fn report(name: &str, paths: &[PathBuf], table: &InferredTable, sample: Option<u64>) -> TableReport {
    let form = table.form.clone();
    let none = FoundForm { format: FileFormat::Text, separator: ',', named: true, packed: false };
    let FoundForm { format, separator, named, packed } = form.unwrap_or(none);
    let rows = table.rows.iter().sum();
    let mut options: BTreeMap<&str, &str> = BTreeMap::new();
    let mut words: Vec<&str> = vec![];
    for survey in &table.found {
        match survey.spellings() {
            [one] => {
                options.extend(one.options.iter().copied());
                words.extend(one.null_words(survey.values));
            }
            [] => words.extend(survey.doubt().map(|doubt| doubt.words).unwrap_or_default()),
            _ => {}
        }
    }
    let mut seen = vec![];
    words.retain(|word| {
        !seen.contains(word) && {
            seen.push(*word);
            true
        }
    });
    let options = options.iter().map(|(name, value)| flag(name, value));
    let null = (!words.is_empty()).then(|| flag("null", &words.join(",")));
    // Windows-1252 has all letters of Latin-1.
    let encoding = table.is_garbled.then(|| flag("encoding", "windows-1252"));
    TableReport {
        command: "table describe",
        version: env!("CARGO_PKG_VERSION"),
        name: name.to_owned(),
        files: paths.iter().map(|path| path.display().to_string()).collect(),
        rows,
        sampled: sample.is_some_and(|most| rows >= most),
        format: match format {
            FileFormat::Text => "text",
            FileFormat::Parquet => "parquet",
            FileFormat::Arrow => "arrow",
        },
        separator: (format == FileFormat::Text).then_some(separator),
        header: named,
        compressed: packed,
        remarks: [table.remarks.clone(), table.notes.clone(), quoted_names(table)].concat(),
        options: encoding.into_iter().chain(options).chain(null).collect(),
        columns: table.found.iter().map(ColumnReport::new).collect(),
    }
}

/// Returns a remark on names that a query must quote.
fn quoted_names(table: &InferredTable) -> Vec<String> {
    let odd = table.columns.iter().map(|column| &column.name).filter(|name| !is_plain_name(name));
    let odd: Vec<String> = odd.map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    if odd.is_empty() {
        return vec![];
    }
    vec![format!("queries must write these names with their quotes: {}", odd.join(", "))]
}

/// Returns the report for people.
fn text(report: &TableReport) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", line.trim_end());
    };
    let form = match report.separator {
        None if report.format == "arrow" => "Arrow".to_owned(),
        None => "Parquet".to_owned(),
        Some(separator) => {
            let between = match separator {
                '\t' => "tabs".to_owned(),
                separator => format!("{separator:?}").replace('\'', "\""),
            };
            let names = if report.header { "names in the first line" } else { "no names, so c1, c2 …" };
            let packed = if report.compressed { "compressed text" } else { "text" };
            format!("{packed}, {between} between fields, {names}")
        }
    };
    let rows = match (report.rows, report.sampled) {
        (rows, true) => format!("the first {rows} rows"),
        (1, false) => "1 row".to_owned(),
        (rows, false) => format!("{rows} rows"),
    };
    let columns = match report.columns.len() {
        1 => "1 column".to_owned(),
        n => format!("{n} columns"),
    };
    line(format!("{}: {rows} of {columns}; {form}", report.files.join(", ")));
    report.remarks.iter().for_each(|remark| line(format!("note: {}", printable(remark))));
    let declared =
        |column: &ColumnReport| format!("{}{}", column.ty, if column.nullable { "" } else { " NOT NULL" });
    let wide = |of: &dyn Fn(&ColumnReport) -> String| {
        report.columns.iter().map(|column| of(column).chars().count()).max().unwrap_or(0)
    };
    let shown = |column: &ColumnReport| printable(&column.name).into_owned();
    let (names, types) = (wide(&shown).max(6), wide(&declared).max(4));
    line(format!("\n{:names$}  {:types$}  why", "column", "type"));
    for column in &report.columns {
        line(format!("{:names$}  {:types$}  {}", shown(column), declared(column), column.why));
        for misfit in &column.first_misfits {
            line(format!("{:names$}    does not fit: {}, of the form {}", "", misfit.place, misfit.form));
        }
        let shown = column.first_misfits.len() as u64;
        if column.misfits > shown {
            line(format!("{:names$}    and {} more", "", column.misfits - shown));
        }
        column.remedy.iter().for_each(|remedy| line(format!("{:names$}    {}", "", printable(remedy))));
    }
    if !report.options.is_empty() {
        line(format!("\ntry it with {}", report.options.join(" ")));
    }
    text
}

/// Returns a schema, with the dialect in which the files are read.
fn schema_text(name: &str, table: &InferredTable, dialect: &Dialect) -> String {
    let columns: Vec<String> =
        table.columns.iter().map(|column| format!("    {},\n", quoted(&declaration(column)))).collect();
    let mut text = format!("[[tables]]\nname = {}\ncolumns = [\n{}]\n", quoted(name), columns.concat());
    text.push_str(
        "# key = [\"…\"]      columns of which no two rows have the same values, which joins need\n",
    );
    let options = dialect.options();
    if !options.is_empty() {
        let option = |(name, values): &(&str, Vec<String>)| match &values[..] {
            [one] => format!("{name} = {}", quoted(one)),
            all => {
                format!("{name} = [{}]", all.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", "))
            }
        };
        let options: Vec<String> = options.iter().map(option).collect();
        text.push_str(&format!("dialect = {{ {} }}\n", options.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn tables_are_called_as_their_files() {
        for (path, name) in
            [("a/sales-2026.csv.gz", "sales_2026"), ("2026.csv", "t2026"), ("-", "t"), ("ü.csv", "t")]
        {
            assert_eq!(table_name(Path::new(path)), name, "{path}");
        }
    }
}
