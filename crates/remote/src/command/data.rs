//! `hushwire data`.

use super::{
    ListArgs, Reach, out,
    out::word,
    pair,
    ranges::{DeclaredRange, declare, range},
};
use crate::{ArrayData, DataFile, Put, Service, put};
use clap::{Args, Subcommand};
use hushwire_fault::{Fault, code};
use hushwire_kinds::{Job, QueryTable, StoredTable, count};
use hushwire_policy::{moment_text, read_moment};
use hushwire_seal::{BlakeName, PART_ROWS, Person, SchemaColumn, StoredColumn, dataset::DataDescription};
use hushwire_session::{InputPlace, Member, suggest};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// The commands on data sets.
#[derive(Subcommand)]
pub enum DataCommand {
    /// Share a table, a model or a network's input to the three parties, sealed
    Put(Box<PutArgs>),
    /// List data sets that you may see
    List(ListArgs),
    /// Describe a data set: all that the parties know of it
    Describe(DataArgs),
    /// Let a tenant, or jobs of a digest, use a data set
    Grant(GrantArgs),
    /// Take a grant back
    Revoke(RevokeArgs),
    /// Delete a data set: its key first, then its parts
    Delete(DataArgs),
}

/// A file on its way to the parties.
#[derive(Args)]
pub struct PutArgs {
    /// The file: a table as CSV, or Parquet by a name that ends in .parquet; with --job a model or
    /// an array
    #[arg(required_unless_present_any = ["resume", "inputs"], conflicts_with = "resume", value_name = "FILE")]
    file: Option<PathBuf>,
    /// A file with [[tables]]: name, columns, and key where rows are unique
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present_any = ["resume", "job"],
        conflicts_with_all = ["resume", "job"]
    )]
    schema: Option<PathBuf>,
    /// The table of the schema; the only one, by default
    #[arg(long, conflicts_with = "job")]
    table: Option<String>,
    /// The job file of an inference or a computation: the file is an input of it
    #[arg(long, value_name = "FILE", requires = "data", conflicts_with = "resume")]
    job: Option<PathBuf>,
    /// The data set's name in that job, as in `data:NAME`
    #[arg(long, value_name = "NAME", requires = "job")]
    data: Option<String>,
    /// The file of an input by its name in the job, as calibration=x.npy; as often as there are
    /// such
    #[arg(long = "input", value_name = "NAME=FILE", requires = "job", value_parser = pair)]
    inputs: Vec<(String, String)>,
    /// An input as text, by its name in the job, as range=-1,1
    #[arg(long = "value", value_name = "NAME=TEXT", requires = "job", value_parser = pair)]
    values: Vec<(String, String)>,
    /// The name that people give the data set; the table's or --data, by default
    #[arg(long)]
    name: Option<String>,
    /// Your file of keys: you sign what the data set is
    #[arg(long, value_name = "FILE", required_unless_present = "resume", conflicts_with = "resume")]
    keys: Option<PathBuf>,
    /// Store this many rows, and hide how many of them there are
    #[arg(long, value_name = "ROWS", conflicts_with = "job")]
    padded: Option<u64>,
    /// The line of an earlier version of this data set
    #[arg(long, requires = "version")]
    line: Option<BlakeName>,
    /// Its version in that line
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    version: Option<u64>,
    /// A range that all values of a column of whole numbers are in, as days=1..365: it is public
    #[arg(long = "range", value_name = "COLUMN=LEAST..GREATEST", conflicts_with = "job", value_parser = range)]
    ranges: Vec<DeclaredRange>,
    /// The date or time at which it may not be used any more
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// Go on with a put that was cut, from the directory that it left
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Where sealed parts are kept until the parties have them; beside the file, by default
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    parts: Option<PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

/// A data set.
#[derive(Args)]
pub struct DataArgs {
    /// The data set's id
    id: BlakeName,
    #[command(flatten)]
    reach: Reach,
}

/// Who may use a data set.
#[derive(Args)]
pub struct GrantArgs {
    /// The data set's id
    id: BlakeName,
    /// A tenant, or the digest of a job's terms
    #[arg(long = "for", value_name = "TENANT|DIGEST")]
    whom: String,
    /// The date or time at which the grant ends
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// Whose grant ends.
#[derive(Args)]
pub struct RevokeArgs {
    /// The data set's id
    id: BlakeName,
    /// The tenant or digest
    #[arg(long = "for", value_name = "TENANT|DIGEST")]
    whom: String,
    #[command(flatten)]
    reach: Reach,
}

/// Parses a date or time of an option.
pub(super) fn moment(text: &str) -> Result<u64, Fault> {
    read_moment(text).ok_or_else(|| {
        let cause = format!("{text:?} is neither a date nor a time");
        Fault::usage("reading --expires", cause, "write it as 2026-12-01 or 2026-12-01T10:00:00Z")
    })
}

impl DataCommand {
    pub(super) fn run(self) -> Result<(), Fault> {
        let grants = |id: &BlakeName, to: &str| format!("{}/grants/{to}", Service::data_path(id));
        match self {
            Self::Put(args) => args.run(),
            Self::List(args) => list(&args.reach),
            Self::Describe(DataArgs { id, reach }) => {
                let views: Vec<Value> = reach.service()?.get(&Service::data_path(&id))?;
                if reach.json { out::json(&views) } else { describe(&views) }
            }
            Self::Grant(GrantArgs { id, whom, expires, reach }) => {
                let expires = expires.as_deref().map(moment).transpose()?.map(moment_text);
                let body = json!({ "expires": expires });
                reach.service()?.each(|party| party.put(&grants(&id, &whom), &body))?;
                reach.done(format_args!("{whom} may use it at all parties"))
            }
            Self::Revoke(RevokeArgs { id, whom, reach }) => {
                reach.service()?.each(|party| party.delete(&grants(&id, &whom)))?;
                reach.done(format_args!("{whom} may not use it any more"))
            }
            Self::Delete(DataArgs { id, reach }) => {
                reach.service()?.each(|party| party.delete(&Service::data_path(&id)))?;
                reach.done("all parties delete it")
            }
        }
    }
}

fn list(reach: &Reach) -> Result<(), Fault> {
    let views: Vec<Value> = reach.service()?.get("/v1/datasets")?;
    if reach.json {
        return out::json(&views);
    }
    let of = |view: &Value| view["datasets"].as_array().cloned().unwrap_or_default();
    let mut rows = vec![];
    for data in of(&views[0]) {
        // The output gives the state at a party that lacks the data set, or has not got as far.
        let state = |view: &Value| {
            let same = of(view).into_iter().find(|other| other["id"] == data["id"]);
            same.map_or("absent".to_owned(), |data| word(&data["state"]))
        };
        let states: Vec<_> = views.iter().map(state).collect();
        let alike = states.iter().all(|state| *state == states[0]);
        let state = if alike { states[0].clone() } else { states.join("/") };
        let [name, rows_of, version, id] = ["name", "rows", "version", "id"].map(|field| word(&data[field]));
        rows.push(vec![name, rows_of, version, state, id]);
    }
    out::table(&["name", "rows", "version", "state", "id"], &rows)
}

fn describe(views: &[Value]) -> Result<(), Fault> {
    let first = &views[0];
    out::fields(first, &["name", "id", "line", "version", "owner", "rows", "created", "expires"])?;
    let states: Vec<_> = views.iter().map(|view| word(&view["state"])).collect();
    out::line(format_args!("state    {}", states.join(" ")))?;
    for column in first["schema"].as_array().into_iter().flatten() {
        let range = match (column["min"].as_i64(), column["max"].as_i64()) {
            (Some(min), Some(max)) => format!(", {min} to {max}"),
            _ => String::new(),
        };
        out::line(format_args!("column   {} {}{range}", word(&column["name"]), word(&column["type"])))?;
    }
    for grant in first["grants"].as_array().into_iter().flatten() {
        out::line(format_args!("grant    {} until {}", word(&grant["to"]), word(&grant["expires"])))?;
    }
    Ok(())
}

impl PutArgs {
    fn run(self) -> Result<(), Fault> {
        let service = self.reach.service()?;
        let data = match (&self.resume, &self.file, &self.schema, &self.keys) {
            (Some(dir), ..) => DataFile::open(dir)?,
            (None, Some(file), Some(schema), Some(keys)) => self.sealed(&service, file, schema, keys)?,
            (None, _, None, Some(keys)) => self.sealed_arrays(&service, keys)?,
            _ => return Err(Fault::internal("putting a data set", "its options were not checked")),
        };
        let told = Mutex::new(Instant::now());
        let put = put(&service, &data, |sent, of| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.elapsed() > Duration::from_secs(1) {
                *told = Instant::now();
                out::note(format_args!("sent {} of {} MiB", sent >> 20, of.div_ceil(1 << 20)));
            }
        });
        let put = put.map_err(|e| {
            let again = format!("then run `hushwire data put --resume {}`", self.dir().display());
            let remedy = format!("{}; {again}", e.remedy());
            e.remedied(remedy)
        })?;
        // All parties have it. That is reported before the parts are removed here.
        if self.reach.json {
            out::json(&put)?;
        } else {
            let Put { id, line, version, rows, .. } = put;
            out::line(format_args!("id       {id}\nline     {line}\nversion  {version}\nrows     {rows}"))?;
        }
        data.remove()
    }

    /// The directory of the sealed parts.
    fn dir(&self) -> PathBuf {
        let beside = |file: &PathBuf| {
            let mut name = file.file_name().unwrap_or_default().to_owned();
            name.push(".sealed");
            file.with_file_name(name)
        };
        let dir = self.resume.clone().or_else(|| self.parts.clone());
        let first = self.inputs.first().map(|(_, file)| PathBuf::from(file));
        dir.or_else(|| self.file.as_ref().or(first.as_ref()).map(beside)).unwrap_or_default()
    }

    /// Seals the inputs of a job.
    fn sealed_arrays(&self, service: &Service, keys: &Path) -> Result<DataFile, Fault> {
        let (Some(path), Some(data)) = (&self.job, &self.data) else {
            return Err(Fault::internal("putting a data set", "its options were not checked"));
        };
        let person = Person::read(keys)?;
        let job = Job::read(path)?;
        let mut inputs = BTreeMap::new();
        let member = job.data_set(data)?;
        if let Some(file) = &self.file {
            inputs.insert(first_input(&job, &member)?, InputPlace::File(file.clone()));
        }
        let files = self.inputs.iter().map(|(name, file)| (name, place(name, file)));
        let values = self.values.iter().map(|(name, text)| (name, InputPlace::Values(text.clone().into())));
        for (name, place) in files.chain(values) {
            if inputs.insert(name.clone(), place).is_some() {
                let cause = format!("input {name} is given twice");
                return Err(Fault::usage("putting a data set", cause, "name one place of it"));
            }
        }
        ArrayData {
            job: &job,
            data,
            name: self.name.as_deref().unwrap_or(data),
            inputs: &inputs,
            line: self.line,
            version: self.version.unwrap_or(1),
            expires: self.expires.as_deref().map(moment).transpose()?,
        }
        .seal(service, &self.dir(), person.sign())
    }

    fn sealed(&self, service: &Service, file: &Path, schema: &Path, keys: &Path) -> Result<DataFile, Fault> {
        let person = Person::read(keys)?;
        let declared = self.declared(schema)?;
        let place = InputPlace::File(file.to_path_buf());
        let rows = self.padded.map_or_else(|| count(&place).map(|(rows, _)| rows), Ok)?;
        let padded = self.padded.is_some();
        let table = StoredTable::new(&declared.name, &declared.columns, &declared.key, padded)?;
        let layout = table.layout(rows).into_iter();
        let inputs = layout.map(|column| StoredColumn::of_table(column.name, column.bits));
        let inputs: Vec<_> = inputs.collect();
        let mut columns: Vec<_> = table.declarations().iter().map(|text| column(text)).collect();
        let ranges = declare(&self.ranges, &mut columns, &inputs)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let description = DataDescription {
            name: self.name.clone().unwrap_or_else(|| declared.name.clone()),
            line: self.line,
            version: self.version.unwrap_or(1),
            group: service.group().to_owned(),
            schema: columns,
            keys: if declared.key.is_empty() { vec![] } else { vec![declared.key] },
            inputs,
            created: now,
            expires: self.expires.as_deref().map(moment).transpose()?,
        };
        DataFile::seal(&self.dir(), description, service.keys()?, person.sign(), |take| {
            let mut left = rows;
            let read = table.read(&place, rows, &mut |_, planes| {
                let here = left.min(PART_ROWS);
                left -= here;
                ranges.iter().try_for_each(|range| range.check(here, &planes))?;
                take(here, planes)
            })?;
            // Padding hides the number of rows.
            Ok(if padded { rows } else { read })
        })
    }

    /// The table that the schema declares.
    fn declared(&self, schema: &Path) -> Result<QueryTable, Fault> {
        let mut tables = QueryTable::schema(schema)?;
        let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
        let (cause, remedy) = match &self.table {
            Some(name) => match tables.iter().position(|table| table.name == *name) {
                Some(at) => return Ok(tables.swap_remove(at)),
                None => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    (format!("it declares no table {name}"), suggest::remedy(name, &names))
                }
            },
            None if tables.len() == 1 => return Ok(tables.swap_remove(0)),
            None => {
                let cause = format!("it declares {} tables: {}", tables.len(), names.join(", "));
                (cause, "name one with --table".to_owned())
            }
        };
        Err(Fault::new(code::DATA_SET, format!("reading {}", schema.display()), cause, remedy))
    }
}

/// The place of an input: records of bytes, an array, a model, or the CSV column with its name.
fn place(input: &str, file: &str) -> InputPlace {
    let whole = InputPlace::File(PathBuf::from(file));
    let csv = Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    if csv { InputPlace::Csv(Box::new(whole), vec![input.to_owned()]) } else { whole }
}

/// The input that a file without a name is for.
fn first_input(job: &Job, data: &Member) -> Result<String, Fault> {
    match job {
        Job::Infer(job) if job.owner == *data => Ok("model".to_owned()),
        Job::Infer(job) if job.client == *data => Ok("input".to_owned()),
        _ => {
            let cause = "the job does not tell which input the file is";
            Err(Fault::usage("putting a data set", cause, "name it: --input NAME=FILE"))
        }
    }
}

/// A declaration, such as `days SMALLINT NOT NULL`, as a column of a manifest.
fn column(declaration: &str) -> SchemaColumn {
    let (name, ty) = declaration.split_once(' ').unwrap_or((declaration, ""));
    let bare = ty.strip_suffix(" NOT NULL");
    SchemaColumn {
        name: name.to_owned(),
        ty: bare.unwrap_or(ty).to_owned(),
        nullable: bare.is_none(),
        min: None,
        max: None,
        ascii: false,
    }
}
