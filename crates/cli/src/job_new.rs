//! `hushwire job new`: writes a job file of any kind.

mod circuit;
mod draw;
mod encrypt;
#[cfg(feature = "nn")]
mod infer;
#[cfg(feature = "sql")]
mod query;
mod toml_lines;

use crate::{
    error::Error,
    files::{Replace, RunFiles, is_stream},
    log, out,
};
use clap::{Args, Subcommand};
use hushwire::job::{Job, Member, Protocol};
use hushwire_compute::Visibility;
use std::{
    fs,
    path::{Path, PathBuf},
};
pub(crate) use toml_lines::quoted;
use toml_lines::{JobLines, list};

pub(crate) const HELP: &str = "\
Examples:
  hushwire job new query --sql-file q.sql --schema sales.toml --table sales=1000@alice --table shops=200@bob \\
      --schema shops.toml --key shops=id --to analyst --out job.toml
  hushwire job new compute bill.hwc --member shop=party1 --member client=ann --out job.toml
  hushwire job new psi --key email --normalise email --reveal items --out job.toml
  hushwire job new infer network.hwc --owner hospital --client patient --out job.toml
  hushwire job new circuit less:32 --input a=party0 --input b=alice --output less=bob --out job.toml

A job file is the same at all members, and holds nothing of anybody's data: owners' tables are in it by their columns, types and \
row counts. `hushwire init --job job.toml` writes each member's own file.";

#[derive(Args)]
pub(crate) struct NewArgs {
    #[command(subcommand)]
    kind: NewKind,
}

#[derive(Subcommand)]
enum NewKind {
    /// A job of a query in SQL over several owners' tables.
    #[cfg(feature = "sql")]
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new query --sql 'SELECT SUM(n) AS s FROM t' --table t=t.csv@alice --to bob --out job.toml"
    )]
    Query(Box<query::QueryArgs>),
    /// A job of a computation.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new compute bill.hwc --member shop=party1 --out job.toml"
    )]
    Compute(ComputeArgs),
    /// A job of two parties that find what their files have in common.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new psi --key email --key-b mail --normalise email --out job.toml"
    )]
    Psi(PsiArgs),
    /// A job of a Boolean circuit.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new circuit less:32 --protocol yao --input a=party0 --input b=party1 --output less=party0,party1"
    )]
    Circuit(circuit::CircuitArgs),
    /// A job of a neural network on a client's input.
    #[cfg(feature = "nn")]
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire model plan m.onnx --out network.hwc\n  hushwire job new infer network.hwc --owner hospital --client patient --out job.toml"
    )]
    Infer(infer::InferArgs),
    /// A job that encrypts a client's file, under a key that exists only as shares.
    #[command(
        name = "aes-ctr",
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new aes-ctr --owner alice --out job.toml"
    )]
    Encrypt(encrypt::EncryptArgs),
    /// A job that draws numbers, which all parties learn and none can choose.
    #[command(
        arg_required_else_help = true,
        after_help = "Example:\n  hushwire job new draw --numbers 10 --to 5000 --out job.toml"
    )]
    Draw(draw::DrawArgs),
}

/// Where the file goes.
#[derive(Args)]
struct OutArgs {
    /// The job file to write; - is standard output
    #[arg(long, value_name = "JOB.toml", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    replace: Replace,
}

#[derive(Args)]
struct ComputeArgs {
    /// The computation (.hwc)
    #[arg(value_name = "FILE.hwc")]
    file: PathBuf,
    /// The protocol of the parties: rep3 (three), yao, gmw or two (two)
    #[arg(long, value_name = "NAME", default_value = "rep3", value_parser = protocol)]
    protocol: Protocol,
    /// The member of the job that a member of the computation is: a party or a client [default: the
    /// client, or the party, of that name]
    #[arg(long, value_name = "NAME=MEMBER")]
    member: Vec<String>,
    /// Who brings an input of which the computation does not say it
    #[arg(long, value_name = "INPUT=MEMBER")]
    owner: Vec<String>,
    /// A length that is agreed before the run
    #[arg(long, value_name = "NAME=N")]
    symbol: Vec<String>,
    #[command(flatten)]
    out: OutArgs,
}

#[derive(Args)]
struct PsiArgs {
    /// The column with the keys, of both files; given several times, the columns that make a key
    /// together
    #[arg(long, value_name = "NAME", required = true)]
    key: Vec<String>,
    /// The same of party 1's file, where it has other names
    #[arg(long, value_name = "NAME")]
    key_b: Vec<String>,
    /// The form in which keys are compared: trim, "nfc case", "accents case", email, phone:+49,
    /// date, number, iban, exact
    #[arg(long, value_name = "FORM")]
    normalise: Vec<String>,
    /// The result: items, flags, size, sum:COLUMN,count or columns:NAME,NAME
    #[arg(long, value_name = "WHAT", default_value = "items")]
    reveal: String,
    /// Who learns it: party0 or party1 [default: both, where they may]
    #[arg(long, value_name = "PARTY")]
    to: Option<String>,
    #[command(flatten)]
    out: OutArgs,
}

fn protocol(name: &str) -> Result<Protocol, String> {
    name.parse().map_err(|e: hushwire::job::suggest::Unknown| e.to_string())
}

/// Writes the job file.
pub(crate) fn run(args: &NewArgs) -> Result<(), Error> {
    match &args.kind {
        #[cfg(feature = "sql")]
        NewKind::Query(args) => query::run(args),
        NewKind::Compute(args) => compute(args),
        NewKind::Psi(args) => psi(args),
        NewKind::Circuit(args) => circuit::run(args),
        #[cfg(feature = "nn")]
        NewKind::Infer(args) => infer::run(args),
        NewKind::Encrypt(args) => encrypt::run(args),
        NewKind::Draw(args) => draw::run(args),
    }
}

/// Checks the text of a job as members will read it, writes it, and prints the next step.
fn deliver(lines: JobLines, args: &OutArgs, mut run: RunFiles) -> Result<(), Error> {
    let text = lines.text();
    let place = if is_stream(&args.out) { Path::new("job.toml") } else { &args.out };
    let job = Job::parse(&text, place)?;
    let members = job.agreement()?.members();
    let digest = job.terms()?.0.digest();
    if is_stream(&args.out) {
        out::text(&text)?;
    } else {
        run.create("with --out", &args.out, RunFiles::ONCE, 0o644)?.write(text.as_bytes())?;
    }
    let named: Vec<String> = members.iter().map(ToString::to_string).collect();
    let (job, path) = (job.kind(), place.display());
    let parties = members.iter().filter(|member| matches!(member, Member::Party(_))).count();
    log::note!(
        "{path} is a job of kind {job} for {}, with the digest {digest}.\n\
         Give all members this file. Each sets itself up with `hushwire init --job {path}`; the {parties} parties then run\n\
         `hushwire party {path} --config partyN.toml`, and clients `hushwire client {path} --config NAME.toml`.",
        named.join(", ")
    );
    Ok(())
}

/// Splits NAME=VALUE.
fn pair<'a>(option: &str, text: &'a str, form: &str) -> Result<(&'a str, &'a str), Error> {
    let both = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    both.ok_or_else(|| Error::Usage(format!("{option} {text:?}: write {form}")))
}

/// Parses a party, or a client by its name, in the form of job files.
fn member(option: &str, name: &str) -> Result<Member, Error> {
    let member = name.parse().or_else(|_| format!("client:{name}").parse());
    member.map_err(|e| Error::Usage(format!("{option} {name}: {e}")))
}

/// Returns a path as seen from the directory of `job`, if the path lies below it.
fn from(job: &Path, path: &Path) -> PathBuf {
    let dir = job.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
    let (Ok(dir), Ok(whole)) = (fs::canonicalize(dir), fs::canonicalize(path)) else {
        return path.to_owned();
    };
    whole.strip_prefix(&dir).map_or(whole.clone(), Path::to_owned)
}

/// Returns the path as text, for a job file at the path of `out`. A path that leaves the directory
/// of the job file gets a warning. Without that directory, the error names it and not the path,
/// which is right.
fn beside(out: &OutArgs, path: &Path) -> Result<String, Error> {
    let job = if is_stream(&out.out) { Path::new("job.toml") } else { &out.out };
    if let Some(dir) = job.parent().filter(|dir| *dir != Path::new("")) {
        fs::metadata(dir).map_err(|e| Error::io("write", job, &e))?;
    }
    let path = from(job, path);
    if path.is_absolute() {
        log::warn(format!("the job names {} by its whole path; copy it beside the job file", path.display()));
    }
    Ok(path.to_string_lossy().into_owned())
}

fn compute(args: &ComputeArgs) -> Result<(), Error> {
    if is_stream(&args.file) {
        return Err(Error::Usage("FILE.hwc: members read the file of the computation; name one".into()));
    }
    let mut run = RunFiles::new(args.out.replace.force);
    run.reads("the computation", &args.file);
    let computation = hushwire::job::ComputationSource::File(args.file.clone()).load()?;
    let mut lines = JobLines::new("compute", "the computation");
    lines.put(&format!("protocol = {}", quoted(&args.protocol.to_string())));
    lines.put(&format!("computation = {}", quoted(&beside(&args.out, &args.file)?)));
    let known = |option: &str, name: &str, all: &[&str]| match all.contains(&name) {
        true => Ok(()),
        false => Err(Error::Usage(format!("{option} {name}: the computation has {}", all.join(", ")))),
    };
    let members: Vec<&str> = computation.members().iter().map(String::as_str).collect();
    let inputs: Vec<&str> = computation.inputs().map(|(name, _)| name).collect();
    let tables =
        [("--member", "members", &args.member, &members), ("--owner", "owners", &args.owner, &inputs)];
    for (option, table, given, names) in tables {
        lines.table(
            table,
            given
                .iter()
                .map(|text| {
                    let (name, who) = pair(option, text, "name=party0, or name=alice")?;
                    known(option, name, names)?;
                    Ok((name.to_owned(), quoted(&member(option, who)?.key())))
                })
                .collect::<Result<_, Error>>()?,
        );
    }
    let symbols: Vec<(String, String)> = args
        .symbol
        .iter()
        .map(|text| {
            let (name, length) = pair("--symbol", text, "name=number, as in n=1000")?;
            let length: u64 =
                length.parse().map_err(|e| Error::Usage(format!("--symbol {text}: {e}; write n=1000")))?;
            Ok((name.to_owned(), length.to_string()))
        })
        .collect::<Result<_, Error>>()?;
    lines.table("symbols", symbols);
    let public: Vec<&str> = computation
        .inputs()
        .filter(|(_, ty)| ty.visibility == Visibility::Public)
        .map(|(name, _)| name)
        .collect();
    if !public.is_empty() {
        let names = public.join(", ");
        log::note!(
            "note: the public inputs {names} need values, which all members have alike, under [public]"
        );
    }
    deliver(lines, &args.out, run)
}

fn psi(args: &PsiArgs) -> Result<(), Error> {
    let mut lines = JobLines::new("psi", "the intersection");
    match &args.key_b[..] {
        [] => lines.put(&format!("key = {}", list(&args.key))),
        other => lines.put(&format!("keys = [{}, {}]", list(&args.key), list(other))),
    }
    if !args.normalise.is_empty() {
        lines.put(&format!("normalise = {}", list(&args.normalise)));
    }
    lines.put(&format!("reveal = {}", quoted(&args.reveal)));
    if let Some(to) = &args.to {
        lines.put(&format!("to = {}", quoted(to)));
    }
    lines.put("# Each party's file says where its rows are: [inputs] csv = { file = \"rows.csv\" }");
    deliver(lines, &args.out, RunFiles::new(args.out.replace.force))
}
