//! `hushwire job`: what a job asks of its members, before any of them takes part.

use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file, reads},
    member_cmd::unknown_kind,
    out,
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::{ComputeTask, Job, Prepared, PsiTask, PsiTries, Task, Terms};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Examples:
  hushwire job show job.toml                 what is computed, of whose data, and who learns what; and its digest
  hushwire job digest job.toml >> allowed.txt
                                             allows it, for --allow-file allowed.txt of `hushwire party` and `client`

The digest covers the job's terms: the kind, the computation, the protocol, the inputs with their types and owners, and who learns \
what. For a query these are the SQL, min-group, join-bound, tag-joins, the tables with columns, keys and owners, and the recipients. \
It covers neither row counts, instances and lengths that the job file binds, nor batches, threads, memory, addresses and labels.";

/// Look at a job before taking part: its terms, and the digest by which operators allow it. Nothing of a member's own is read.
#[derive(Args)]
pub(crate) struct JobArgs {
    #[command(subcommand)]
    command: JobCommand,
}

#[derive(Subcommand)]
enum JobCommand {
    /// Print the digest of a job's terms and nothing else.
    #[command(
        after_help = "Example:\n  hushwire party job.toml --config party0.toml --allow $(hushwire job digest job.toml)"
    )]
    Digest(DigestArgs),
    /// Show the terms of a job, one in a line, and their digest.
    #[command(after_help = "Example:\n  hushwire job show job.toml --json -")]
    Show(ShowArgs),
}

#[derive(Args)]
struct DigestArgs {
    /// The job file; - is standard input
    #[arg(value_name = "JOB.toml")]
    job: PathBuf,
}

#[derive(Args)]
struct ShowArgs {
    /// The job file; - is standard input
    #[arg(value_name = "JOB.toml")]
    job: PathBuf,
    /// Write them for programs to FILE; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    replace: Replace,
}

/// The terms of a job for programs.
#[derive(Serialize)]
struct TermsReport<'a> {
    command: &'static str,
    version: &'static str,
    digest: String,
    kind: &'a str,
    /// Names and texts, in order.
    terms: &'a [(&'static str, String)],
    /// Of an intersection that withstands malicious parties: the keys that each of them can try.
    #[serde(skip_serializing_if = "Option::is_none")]
    tries: Option<[PsiTries; 2]>,
}

/// The terms of a job, and the keys that parties of an intersection can try.
struct Shown {
    terms: Terms,
    tries: Option<[PsiTries; 2]>,
}

/// The job in a file.
fn shown(path: &Path) -> Result<Shown, Error> {
    let mut tries = None;
    let terms = match Job::read(path)? {
        Job::Circuit(job) => Prepared::new(&job)?.terms(),
        Job::AesCtr(job) => job.terms(),
        Job::Psi(job) => {
            let task = PsiTask::new(&job)?;
            tries = task.tries();
            task.terms()
        }
        Job::Compute(job) => ComputeTask::new(&job)?.terms(),
        #[cfg(feature = "sql")]
        Job::Query(job) => hushwire::job::QueryTask::new(&job)?.terms(),
        #[cfg(feature = "nn")]
        Job::Infer(job) => hushwire::job::InferTask::new(&job)?.terms(),
        _ => return Err(unknown_kind()),
    };
    Ok(Shown { terms, tries })
}

/// Prints what was asked for.
pub(crate) fn run(args: &JobArgs) -> Result<(), Error> {
    match &args.command {
        JobCommand::Digest(args) => out::line(shown(&args.job)?.terms.digest()),
        JobCommand::Show(args) => {
            let mut files = RunFiles::new(args.replace.force);
            reads(&mut files, "the job file", &args.job);
            let file = json_file(&mut files, args.json.as_deref(), "job show", 0o644)?;
            let Shown { terms, tries } = shown(&args.job)?;
            let digest = terms.digest().to_string();
            let lines: String = tries.iter().flatten().map(|tries| format!("tries: {tries}\n")).collect();
            let text = format!("{terms}{lines}digest: {digest}\n");
            let report = TermsReport {
                command: "job show",
                version: env!("CARGO_PKG_VERSION"),
                digest,
                kind: terms.kind(),
                terms: terms.list(),
                tries,
            };
            deliver(Some(text.into_bytes()), &report, file, args.json.as_deref())
        }
    }
}
