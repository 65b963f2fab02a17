//! `hushwire psi`: a few keys against a large published list. The owner publishes the list once and
//! answers queries. The asker learns which of its keys are in the list.

mod answer;
mod link;
mod secret;

use crate::{
    error::Error,
    files::{Replace, RunFiles, is_stream, reads, unnamed},
    log, out, progress,
    read_args::ReadArgs,
};
use clap::{Args, Subcommand};
use hushwire::job::{Dialect, Fault, Stamp, read_once, refuse_once, size};
use hushwire_fault::{Who, code};
use hushwire_files::{Access, FileError, Rows, check_output, is_parquet, write_parquet, write_rows};
use hushwire_psi::{
    KeyColumn, KeySpec, LeftOut, PsiError, Set, TableKeys,
    oprf::{List, ListRefusal, ListTerms, PublishError, ask, digest, publish},
};
use link::{LinkArgs, OprfSide};
use secret::Secret;
use std::{
    fs,
    io::BufWriter,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

pub(crate) const HELP: &str = "\
Examples:
  hushwire psi publish --in customers.csv --key email --normalise email --secret customers.key --out customers.list
  hushwire psi answer --secret customers.key --listen 0.0.0.0:7000 --identity owner.pem --pin sha256:…
  hushwire psi query --in mine.csv --key mail --normalise email --list customers.list --connect 10.0.0.2:7000 \\
      --identity mine.pem --pin sha256:… --out known.csv

The owner of a large set publishes a list of it once, 6 bytes a key that say nothing to anybody, and answers whoever has the list \
and a key of its own: 64 bytes for each key asked. Who asks learns which of its keys are in the list, and the owner how many were \
asked. `hushwire keys init` makes the identities and prints the pins. docs/psi.md says what is hidden.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 3 the peer or the network failed, 4 a file could not be used, \
5 refused because it would not be safe.";

/// A few keys against a large published list.
#[derive(Args)]
pub(crate) struct OprfArgs {
    #[command(subcommand)]
    command: OprfCommand,
}

#[derive(Subcommand)]
enum OprfCommand {
    /// Publish a list of a large set, under a secret key that is made where it is not there.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire psi publish --in customers.csv --key email --secret customers.key --out customers.list"
    )]
    Publish(PublishArgs),
    /// Answer queries to a list, several at the same time.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire psi answer --secret customers.key --listen 0.0.0.0:7000 --identity owner.pem --pin sha256:…"
    )]
    Answer(answer::AnswerArgs),
    /// Learn which keys of a small file are in a list.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire psi query --in mine.csv --key email --list customers.list --connect 10.0.0.2:7000 --identity mine.pem --pin sha256:…"
    )]
    Query(QueryArgs),
}

/// The keys of a file.
#[derive(Args)]
struct KeyArgs {
    /// The file, CSV or other text, also .gz and .zst, or Parquet or Arrow by its name; of publish,
    /// - is text on standard input
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// The column with the keys; given several times, the columns that make a key together
    #[arg(long, value_name = "NAME", required = true)]
    key: Vec<String>,
    /// The form in which keys are compared, the same for the list and who asks: trim, "nfc case",
    /// "accents case", email, phone:+49, date, number, iban, exact
    #[arg(long, value_name = "FORM", default_value = "trim")]
    normalise: Vec<String>,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Args)]
struct PublishArgs {
    #[command(flatten)]
    keys: KeyArgs,
    /// The file of the secret key, made if it is not there; whoever has it can try out keys on the
    /// list
    #[arg(long, value_name = "FILE")]
    secret: PathBuf,
    /// The file to write the list to; - is standard output
    #[arg(long, value_name = "LIST")]
    out: PathBuf,
    /// The threads that compute [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct QueryArgs {
    #[command(flatten)]
    keys: KeyArgs,
    /// The list, as its owner published it
    #[arg(long, value_name = "LIST")]
    list: PathBuf,
    /// The address on which the owner listens
    #[arg(long, value_name = "ADDRESS", value_parser = hushwire::job::address)]
    connect: String,
    #[command(flatten)]
    link: LinkArgs,
    /// The time to wait for the owner, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
    /// The file to write the rows to whose keys are in the list, Parquet if it is called
    /// .parquet; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    replace: Replace,
}

/// Runs the command.
pub(crate) fn run(args: &OprfArgs) -> Result<(), Error> {
    match &args.command {
        OprfCommand::Publish(args) => publish_list(args),
        OprfCommand::Answer(args) => answer::run(args),
        OprfCommand::Query(args) => query(args),
    }
}

impl KeyArgs {
    /// Returns the columns and forms on which results depend, in words.
    fn named(&self) -> String {
        let (columns, forms) = (&self.key, &self.normalise);
        let input = crate::files::absolute(&self.input);
        let options = self.dialect().map(|dialect| dialect.options()).unwrap_or_default();
        let read = if options.is_empty() { String::new() } else { format!(", read with {options:?}") };
        format!("keys {columns:?} in the forms {forms:?} of {input}{read}")
    }

    /// Returns the dialect of the file.
    fn dialect(&self) -> Result<Dialect, Error> {
        self.read.dialect("", &[])
    }

    /// Returns the rows of the file.
    fn rows(&self) -> Result<Rows<'static>, Error> {
        let dialect = self.dialect()?;
        let rows = match is_stream(&self.input) {
            true => Rows::with(&self.input, std::io::stdin(), &dialect),
            false => Rows::open_all(std::slice::from_ref(&self.input), &dialect),
        };
        rows.map_err(of_file)
    }

    fn spec(&self) -> Result<KeySpec, Error> {
        let forms = match self.normalise.as_slice() {
            [one] => vec![one; self.key.len()],
            forms => forms.iter().collect(),
        };
        if forms.len() != self.key.len() {
            let (keys, forms) = (self.key.len(), forms.len());
            return Err(Error::Usage(format!("--normalise: a key of {keys} columns has {forms} forms")));
        }
        let columns = self.key.iter().zip(forms).map(|(name, form)| {
            let normal = form.parse().map_err(|e| Error::Usage(format!("--normalise: {e}")))?;
            Ok(KeyColumn { name: name.clone(), normal })
        });
        KeySpec::new(columns.collect::<Result<_, Error>>()?).map_err(|e| Error::Usage(format!("--key: {e}")))
    }

    /// Reads the distinct keys of the file, and the forms in which they are compared.
    fn read_set(&self) -> Result<(Set<[u8; 32]>, String), Error> {
        let spec = self.spec()?;
        let forms: Vec<_> = spec.columns().iter().map(|column| column.normal.agreed()).collect();
        let mut rows = self.rows()?;
        let keys = TableKeys::from_rows(&self.input, &mut rows, &spec).map_err(of_file)?;
        rows.remarks().iter().for_each(|remark| log::note!("note: {remark}"));
        let LeftOut { empty, malformed, first_malformed } = keys.left_out();
        if empty > 0 {
            log::note!("{empty} of {} rows have no key", keys.rows());
        }
        if let Some(place) = first_malformed {
            let (of, forms) = (keys.rows(), self.normalise.join(", "));
            log::note!(
                "{malformed} of {of} rows have a key that is not of its form ({forms}); the first is in {place}"
            );
        }
        Ok((Set::new(keys, digest), forms.join("; ")))
    }
}

fn of_file(e: impl Into<PsiError>) -> Error {
    match e.into() {
        PsiError::File(FileError { access: Access::Read, path, place, cause, remedy }) => {
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            Error::file("read", &path, format!("{place}{cause}"), remedy)
        }
        e => e.fault().during("writing the result").into(),
    }
}

fn publish_list(args: &PublishArgs) -> Result<(), Error> {
    args.keys.dialect()?;
    let mut files = RunFiles::new(args.replace.force);
    reads(&mut files, "the set", &args.keys.input);
    let there = args.secret.exists();
    if there {
        files.reads("the secret key", &args.secret);
    }
    // Another secret, other columns or other forms make another list.
    let job = format!("list under {}, {}", crate::files::absolute(&args.secret), args.keys.named());
    let stream = is_stream(&args.out);
    let out = if stream { unnamed()? } else { files.create("with --out", &args.out, &job, 0o644)? };
    let (set, forms) = args.keys.read_set()?;
    // A list without any key would say of every key that it is missing.
    let rows = set.by_row().count();
    if rows > 0 && set.items().is_empty() {
        let cause = format!("none of its {rows} rows has a key in the form {forms}");
        return Err(Error::file("publish", &args.keys.input, cause, "give another --key or --normalise"));
    }
    let secret = match there {
        true => Secret::read(&args.secret)?,
        false => {
            let made =
                Secret { key: hushwire_psi::oprf::ListKey::draw().map_err(of_file)?, forms: forms.clone() };
            files
                .create("with --secret", &args.secret, RunFiles::ONCE, 0o600)?
                .write(made.text().as_bytes())?;
            log::note!("made the secret key {}", args.secret.display());
            made
        }
    };
    if secret.forms != forms {
        let cause = format!("{} is a key of lists in the form {}", args.secret.display(), secret.forms);
        return Err(Error::refused(cause, "give the same --normalise, or another --secret"));
    }
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (threads, items, begun) = (args.threads.map_or(processors, usize::from), set.items(), Instant::now());
    let bar = progress::bar(items.len() as u64, "keys");
    let published =
        publish(&secret.key, items, &forms, threads, |done| bar.set_position(done as u64), out.writer()?);
    bar.finish_and_clear();
    published.map_err(|e| match e {
        PublishError::Io(e) => out.error(&e).into(),
        PublishError::TooLarge => Error::file(
            "use",
            &args.keys.input,
            "it has more keys than a list",
            "split it, and publish several lists",
        ),
        PublishError::Thread => Error::internal("publishing", "a thread ended"),
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    if stream {
        out::file(&out)?;
        log::note!("{} keys published in {seconds:.1} s", items.len());
        return Ok(());
    }
    out.commit()?;
    let bytes = fs::metadata(&args.out).map_or(0, |meta| meta.len());
    log::note!(
        "{} keys published in {seconds:.1} s: {} in {}",
        items.len(),
        size::show(bytes),
        args.out.display()
    );
    Ok(())
}

fn query(args: &QueryArgs) -> Result<(), Error> {
    let dialect = args.keys.dialect()?;
    for (option, path) in [("--in", &args.keys.input), ("--list", &args.list)] {
        if is_stream(path) {
            let what = format!("{option} -: a query reads it more than once; name a file");
            return Err(Error::Usage(what));
        }
        if read_once(path) {
            return Err(refuse_once(path).into());
        }
    }
    let list = List::open(&args.list).map_err(of_file)?;
    let mut files = RunFiles::new(args.replace.force);
    files.reads("the keys", &args.keys.input);
    files.reads("the list", &args.list);
    args.link.reads(&mut files);
    let job = format!("query of the list {}, {}", crate::files::absolute(&args.list), args.keys.named());
    let stream = is_stream(&args.out);
    let out = (!stream).then(|| files.create("with --out", &args.out, &job, 0o600)).transpose()?;
    let as_parquet = out.is_some() && is_parquet(&args.out);
    check_output(&args.out).map_err(of_file)?;
    if !as_parquet {
        args.keys.rows()?.select_all().map_err(of_file)?;
    }
    let stamp = Stamp::of(&args.keys.input);
    let (set, forms) = args.keys.read_set()?;
    if list.forms() != forms {
        let cause = format!("the list has keys in the form {}, and these would be in {forms}", list.forms());
        return Err(Error::Usage(format!("--normalise: {cause}")));
    }
    let terms = ListTerms { public: list.public(), forms };
    let link =
        args.link.prepare(OprfSide::Asker(args.connect.clone(), Duration::from_secs(args.wait)), &terms)?;
    let mut open = link.open()?.ok_or_else(|| link.nobody())?;
    let values = match ask(&mut open.channel, set.items()).map_err(|e| open.failed(e))? {
        Ok(values) => values,
        Err(refusal) => {
            open.confirm()?;
            return Err(refused(refusal, set.items().len()));
        }
    };
    open.confirm()?;
    let found =
        values.iter().map(|value| list.contains(*value)).collect::<Result<Vec<_>, _>>().map_err(of_file)?;
    let flags = set.flags(&found);
    let write = |to: &mut dyn std::io::Write| {
        let path: &Path = &args.keys.input;
        write_rows(path, &mut stamp.rows(path, &dialect)?, &flags, to)
    };
    match out {
        None => {
            let mut text = vec![];
            write(&mut text).map_err(of_file)?;
            out::text(text)?;
        }
        Some(file) => {
            let mut to = BufWriter::new(file.writer()?);
            let written = match as_parquet {
                false => write(&mut to),
                true => stamp
                    .rows(&args.keys.input, &dialect)
                    .and_then(|mut rows| write_parquet(&args.keys.input, &mut rows, &flags, false, &mut to)),
            };
            written.map_err(|e| match e.access {
                Access::Output => file.error(&std::io::Error::other(e.cause)).into(),
                _ => of_file(e),
            })?;
            to.into_inner().map_err(|e| file.error(e.error()))?;
            file.commit()?;
        }
    }
    let common = found.iter().filter(|found| **found).count();
    log::note!("{common} of {} keys are in the list of {}", found.len(), list.items());
    Ok(())
}

fn refused(refusal: ListRefusal, asked: usize) -> Error {
    let (cause, remedy) = match refusal {
        ListRefusal::AtOnce(most) => (
            format!("the owner answers {most} keys at once, and these are {asked}"),
            "split the file, or ask the owner for a larger --most",
        ),
        ListRefusal::ForNow(left) => (
            format!("the owner answers {left} more keys for now, and these are {asked}"),
            "ask again later, or ask the owner for more --per-hour",
        ),
    };
    Fault::new(code::QUERIED, "the query", cause, remedy).by(Who::named("the owner")).into()
}
