//! Values of computations on the command line: the places of inputs and outputs, and the lengths of
//! symbols.

use crate::{
    error::Error,
    files::{is_stream, one_stream, stream},
    read_args::ReadArgs,
};
use clap::Args;
use hushwire::job::{
    ComputeJob, Dialect, InputPlace, Member, OutputForm, OutputPlace, PublicPlace, is_table, nearest,
};
use hushwire_block::Wiped;
use hushwire_compute::{Computation, Visibility};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The options of every command that runs a computation on values.
#[derive(Args)]
pub(crate) struct ValueArgs {
    /// Where an input lies: a column of a CSV file, several columns of a matrix as in x=a.csv:p,q,
    /// a NumPy file, or a file of records, least significant byte first; - is standard input.
    /// Without a column, that of the input's name
    #[arg(long = "in", value_name = "[OWNER/]NAME=FILE[:COLUMN]")]
    inputs: Vec<String>,
    /// An input's elements themselves; other users see them in process lists
    #[arg(long, value_name = "[OWNER/]NAME=A,B,…")]
    value: Vec<String>,
    /// The length that a symbol stands for, where no input says it
    #[arg(long, value_name = "NAME=NUMBER")]
    symbol: Vec<String>,
    /// The file to write an output to, which appears when it is whole: CSV or an array of NumPy
    /// where it is called .csv or .npy, else records. Others are printed
    #[arg(long, value_name = "NAME=FILE")]
    out: Vec<String>,
    #[command(flatten)]
    read: Box<ReadArgs>,
}

/// Splits `NAME=REST`. An error shows the right form.
fn pair<'a>(option: &str, text: &'a str, form: &str) -> Result<(&'a str, &'a str), Error> {
    text.split_once('=').ok_or_else(|| Error::Usage(format!("{option} {text:?}: write {form}")))
}

/// The error of a name that is not among the known names.
fn unknown(option: &str, name: &str, known: &[&str]) -> Error {
    let near =
        nearest(name, known.iter().copied()).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Error::Usage(format!("{option}: there is no {name:?} among {known}{near}"))
}

impl ValueArgs {
    /// Refuses standard input for two inputs, or for an input and the computation `file`. It does
    /// so before anything is read.
    pub(crate) fn streams(&self, file: &Path) -> Result<(), Error> {
        let inputs = self.inputs.iter().filter_map(|whole| whole.split_once('='));
        let inputs = inputs.map(|(name, rest)| (format!("--in {name}"), Some(located(rest).0)));
        one_stream(
            "standard input",
            std::iter::once(("the computation".to_owned(), Some(file))).chain(inputs),
        )
    }

    /// Returns every input's place, by name.
    ///
    /// Inputs in `public` have a place already.
    pub(crate) fn inputs(
        &self,
        computation: &Computation,
        public: &BTreeMap<String, PublicPlace>,
    ) -> Result<BTreeMap<String, InputPlace>, Error> {
        let mut all = BTreeMap::new();
        let names: Vec<&str> = computation.inputs().map(|(name, _)| name).collect();
        let mut put = |option: &str, whole: &str, place: &dyn Fn(&str, &str) -> Result<InputPlace, Error>| {
            let (which, rest) = pair(option, whole, "owner/name=data.csv:column")?;
            let name = input(option, computation, which)?;
            if all.insert(name.to_owned(), place(name, rest)?).is_some() {
                return Err(Error::Usage(format!("{option}: input {name} is given twice")));
            }
            Ok(())
        };
        for whole in &self.inputs {
            put("--in", whole, &|name, text| place(name, text, self.read.dialect(name, &names)?))?;
        }
        for whole in &self.value {
            put("--value", whole, &|_, text| Ok(InputPlace::Values(Wiped::new(text.to_owned()))))?;
        }
        let missing =
            computation.inputs().find(|(name, _)| !all.contains_key(*name) && !public.contains_key(*name));
        missing.map_or(Ok(all), |(name, ty)| {
            let owner = match ty.visibility {
                Visibility::Private(of) => format!("{}/", computation.members()[usize::from(of.0)]),
                _ => String::new(),
            };
            Err(Error::Usage(format!(
                "input {name}: {ty} has no values; give them as in --in {owner}{name}=data.csv:{name}"
            )))
        })
    }

    /// Sets the owners of secret inputs. They come before the names of inputs, and are members of
    /// the computation or of the job.
    pub(crate) fn owners(&self, computation: &Computation, job: &mut ComputeJob) -> Result<(), Error> {
        let all = self.inputs.iter().map(|whole| ("--in", whole));
        for (option, whole) in all.chain(self.value.iter().map(|whole| ("--value", whole))) {
            let (which, _) = pair(option, whole, "owner/name=data.csv:column")?;
            let name = input(option, computation, which)?;
            let ty = computation.inputs().find(|(input, _)| *input == name).map(|(_, ty)| ty);
            if ty.is_none_or(|ty| ty.visibility != Visibility::Secret) {
                continue;
            }
            let Some((owner, _)) = which.split_once('/') else {
                if job.owners.contains_key(name) {
                    continue;
                }
                let what =
                    format!("{option} {which}: input {name} is secret; say who brings it: party0/{name}");
                return Err(Error::Usage(what));
            };
            let member = match owner.parse() {
                Ok(member) => member,
                // The job says which of its members a member of the computation is.
                Err(_) => match (job.members.get(owner), job.protocol.has_clients()) {
                    (Some(member), _) => member.clone(),
                    (None, true) => Member::Client(owner.to_owned()),
                    (None, false) => match computation.members().iter().position(|m| m == owner) {
                        Some(i @ 0..2) => Member::Party(i as u8),
                        _ => {
                            let what = format!("{option} {which}: protocol {} has no clients", job.protocol);
                            return Err(Error::Usage(format!(
                                "{what}; write party0/{name} or party1/{name}"
                            )));
                        }
                    },
                },
            };
            job.owners.insert(name.to_owned(), member);
        }
        Ok(())
    }

    /// Returns lengths, by symbol.
    pub(crate) fn symbols(&self, computation: &Computation) -> Result<BTreeMap<String, u64>, Error> {
        symbols(&self.symbol, Some(computation))
    }

    /// Returns every output's file, by name.
    pub(crate) fn outputs(&self, computation: &Computation) -> Result<BTreeMap<String, OutputPlace>, Error> {
        let names: Vec<&str> = computation.outputs().iter().map(|output| output.name.as_str()).collect();
        let mut all = BTreeMap::new();
        for whole in &self.out {
            let (name, file) = pair("--out", whole, "name=result.csv")?;
            if !names.contains(&name) {
                return Err(unknown("--out", name, &names));
            }
            if is_stream(Path::new(file)) {
                let what = format!("--out {name}=-: outputs without a file are printed; leave it out");
                return Err(Error::Usage(what));
            }
            let path = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
            let place = if is_csv(&path) {
                OutputPlace::Csv(path)
            } else {
                let output = computation.outputs().iter().find(|output| output.name == name);
                let scalar = output.map(|output| computation.node(output.value).ty.scalar);
                scalar.map(|scalar| OutputForm::of(name, scalar, &path)).transpose()?;
                OutputPlace::File(path)
            };
            if all.insert(name.to_owned(), place).is_some() {
                return Err(Error::Usage(format!("--out: output {name} is given twice")));
            }
        }
        Ok(all)
    }
}

/// Parses `NAME=NUMBER` for symbols. The names are checked if the computation is known already.
pub(crate) fn symbols(
    given: &[String],
    computation: Option<&Computation>,
) -> Result<BTreeMap<String, u64>, Error> {
    let names = computation.map(|c| c.symbols().iter().map(String::as_str).collect::<Vec<_>>());
    let mut all = BTreeMap::new();
    for whole in given {
        let (name, number) = pair("--symbol", whole, "name=number, as in n=1000")?;
        if let Some(names) = names.as_ref().filter(|names| !names.contains(&name)) {
            return Err(unknown("--symbol", name, names));
        }
        let number = number.parse::<u64>().map_err(|e| {
            let cause = match e.kind() {
                std::num::IntErrorKind::PosOverflow => "no length is so large".to_owned(),
                _ => format!("a length is a whole number, as in {name}=1000"),
            };
            Error::Usage(format!("--symbol {whole:?}: {cause}"))
        })?;
        all.insert(name.to_owned(), number);
    }
    Ok(all)
}

/// Returns the input of `[owner/]name`.
fn input<'a>(option: &str, computation: &'a Computation, which: &str) -> Result<&'a str, Error> {
    let (owner, name) = match which.split_once('/') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, which),
    };
    let names: Vec<&str> = computation.inputs().map(|(name, _)| name).collect();
    let Some((name, ty)) = computation.inputs().find(|(input, _)| *input == name) else {
        return Err(unknown(option, name, &names));
    };
    let declared = match ty.visibility {
        Visibility::Private(of) => Some(computation.members()[usize::from(of.0)].as_str()),
        _ => None,
    };
    match (owner, declared) {
        (Some(owner), Some(declared)) if owner != declared => Err(Error::Usage(format!(
            "{option} {which}: input {name} is declared from {declared}; write {declared}/{name}"
        ))),
        _ => Ok(name),
    }
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"))
}

/// Splits `FILE[:COLUMN,…]` into the file and the columns.
fn located(text: &str) -> (&Path, Option<&str>) {
    let whole = Path::new(text);
    match text.rsplit_once(':') {
        Some((file, columns)) if !whole.exists() => (Path::new(file), Some(columns)),
        _ => (whole, None),
    }
}

/// Returns the place of `FILE[:COLUMN,…]`; `-` is standard input.
fn place(name: &str, text: &str, dialect: Dialect) -> Result<InputPlace, Error> {
    let (file, columns) = located(text);
    let from = if is_stream(file) { stream()? } else { InputPlace::File(file.to_owned()) };
    let columns = match columns {
        Some(columns) => columns.split(',').map(str::to_owned).collect(),
        None if is_table(file) => vec![name.to_owned()],
        None => return Ok(from),
    };
    let from = if dialect.is_default() { from } else { InputPlace::Table(vec![from], dialect) };
    Ok(InputPlace::Csv(Box::new(from), columns))
}
