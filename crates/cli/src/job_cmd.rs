//! `hushwire job`: the terms of a job, which its members read before they take part, and new job
//! files.

use crate::{
    error::Error,
    files::{Replace, RunFiles, json_file, reads},
    job_new, out,
    run_report::deliver,
};
use clap::{Args, Subcommand};
use hushwire::job::Job;
use serde::Serialize;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Examples:
  hushwire job show job.toml                 what is computed, of whose data, and who learns what; and its digest
  hushwire job digest job.toml >> allowed.txt
                                             allows it, for --allow-file allowed.txt of `hushwire party` and `client`
  hushwire job new query --sql 'SELECT SUM(n) AS s FROM t' --table t=t.csv@alice --to bob --out job.toml
                                             writes a job file

The digest covers the job's terms: the kind, the computation, the protocol, the inputs with their types and owners, and who learns \
what. For a query these are the SQL, min-group, join-bound, tag-joins, the tables with columns, keys and owners, and the recipients. \
It covers neither row counts, instances and lengths that the job file binds, nor batches, threads, memory, addresses and labels.";

/// Look at a job before taking part: its terms, and the digest by which operators allow it. Nothing
/// of a member's own is read.
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
    /// Write a job file: of a query, a computation, a model, an intersection, a circuit.
    #[command(arg_required_else_help = true, after_help = job_new::HELP)]
    New(job_new::NewArgs),
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

/// The terms of a job, for programs.
#[derive(Serialize)]
struct TermsReport<'a> {
    command: &'static str,
    version: &'static str,
    digest: String,
    kind: &'a str,
    /// Names and texts, in order.
    terms: &'a [(&'static str, String)],
    /// Further lines for the operator.
    #[serde(flatten)]
    beside: serde_json::Map<String, serde_json::Value>,
}

/// Prints the requested part.
pub(crate) fn run(args: &JobArgs) -> Result<(), Error> {
    match &args.command {
        JobCommand::New(args) => job_new::run(args),
        JobCommand::Digest(args) => out::line(Job::read(&args.job)?.terms()?.0.digest()),
        JobCommand::Show(args) => {
            let mut files = RunFiles::new(args.replace.force);
            reads(&mut files, "the job file", &args.job);
            let file = json_file(&mut files, args.json.as_deref(), "job show", 0o644)?;
            let (terms, (lines, beside)) = Job::read(&args.job)?.terms()?;
            let digest = terms.digest().to_string();
            let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let text = format!("{terms}{lines}digest: {digest}\n");
            let report = TermsReport {
                command: "job show",
                version: env!("CARGO_PKG_VERSION"),
                digest,
                kind: terms.kind(),
                terms: terms.list(),
                beside,
            };
            deliver(Some(text.into_bytes()), &report, file, args.json.as_deref())
        }
    }
}
