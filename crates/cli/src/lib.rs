//! The `hushwire` command, as a function of its arguments. The program `hushwire` and the Python
//! package only call it.
#![forbid(unsafe_code)]
// Results are printed by `out`, which handles errors of standard output.
#![deny(clippy::print_stdout)]
// Messages are printed by `log`, which ignores errors of standard error.
#![deny(clippy::print_stderr)]

mod args;
mod bench;
mod circuit_cmd;
mod completions;
mod compute_cmd;
mod control;
mod doctor;
mod error;
mod explain;
mod files;
mod help_cmd;
mod init_cmd;
mod job;
mod job_cmd;
mod job_new;
mod keys;
mod local;
mod local_compute;
mod local_files;
#[cfg(feature = "nn")]
mod local_infer;
#[cfg(feature = "sql")]
mod local_query;
mod local_run;
mod log;
mod man;
mod member;
mod member_cmd;
#[cfg(feature = "nn")]
mod model_cmd;
mod model_given;
mod oprf_cmd;
mod options;
mod ot_cmd;
mod out;
mod places;
mod plan_size;
mod price;
mod progress;
mod psi_cmd;
#[cfg(feature = "sql")]
mod query_tables;
mod read_args;
mod report;
mod run_args;
mod run_report;
mod secrecy;
#[cfg(feature = "nn")]
mod serve_cmd;
mod service;
mod shards;
mod supervisor;
#[cfg(feature = "sql")]
mod table_cmd;
mod version;

use args::{Cli, Command, LocalJob};
use clap::{
    CommandFactory, FromArgMatches,
    builder::StyledStr,
    error::{ContextKind, ContextValue},
};
use error::Error;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{
    ffi::{OsStr, OsString},
    io,
    path::Path,
    process,
    sync::OnceLock,
};

/// The words that start this program again, if it is not an executable of its own.
static AGAIN: OnceLock<Vec<OsString>> = OnceLock::new();

/// Returns the command that starts this program again, for a member of a run on this machine.
pub(crate) fn again() -> io::Result<process::Command> {
    match AGAIN.get().map(Vec::as_slice) {
        Some([program, first @ ..]) => {
            let mut command = process::Command::new(program);
            command.args(first);
            Ok(command)
        }
        _ => std::env::current_exe().map(process::Command::new),
    }
}

/// Runs a command line, whose first word is the program's name, and returns its exit code. From
/// then on the process belongs to the command: its limits, its panics and its standard streams.
/// `again` are the words that start the program again, if it is not an executable of its own.
#[must_use]
pub fn run(args: Vec<OsString>, again: Option<Vec<OsString>>) -> u8 {
    if let Some(again) = again {
        // A process runs only one command line.
        let _ = AGAIN.set(again);
    }
    secrecy::keep_memory_private();
    files::outlive_the_largest();
    end_on_panic();
    allow_many_files();
    let command = match started_by_us(&args).map_or_else(|| by_a_person(args), Ok) {
        Ok(command) => command,
        Err(code) => return code,
    };
    let result = match command {
        Command::Local { job: LocalJob::AesCtr(args) } => local::aes_ctr(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Serve(args) => service::run(Some("serve"), &args),
        Command::Service(args) => service::run(None, &args),
        Command::Data(args) => service::run(Some("data"), &args),
        Command::Audit(args) => service::run(Some("audit"), &args),
        Command::Local { job: LocalJob::Up(args) } => service::run(Some("local-up"), &args),
        Command::Circuit(args) => circuit_cmd::run(&args),
        Command::Compute(args) => compute_cmd::run(&args),
        Command::Local { job: LocalJob::Run(args) } => local_run::run(&args),
        Command::Local { job: LocalJob::Compute(args) } => local_compute::run(&args),
        Command::Local { job: LocalJob::Files(args) } => local_files::run(&args),
        Command::Local { job: LocalJob::Psi(args) } => psi_cmd::run(&args),
        #[cfg(feature = "sql")]
        Command::Local { job: LocalJob::Query(args) } => local_query::run(&args),
        #[cfg(feature = "nn")]
        Command::Local { job: LocalJob::Infer(args) } => local_infer::run(&args),
        #[cfg(feature = "nn")]
        Command::Model(args) => model_cmd::run(&args),
        #[cfg(feature = "nn")]
        Command::ServeModel(args) => serve_cmd::serve(&args),
        #[cfg(feature = "nn")]
        Command::AskModel(args) => serve_cmd::ask(&args),
        #[cfg(feature = "sql")]
        Command::Table(args) => table_cmd::run(&args),
        Command::Init(args) => init_cmd::run(&args),
        Command::Job(args) => job_cmd::run(&args),
        Command::PlanSize(args) => plan_size::run(&args),
        Command::Party(args) => member_cmd::party(&args),
        Command::Client(args) => member_cmd::client(&args),
        Command::Ot(args) => ot_cmd::run(&args),
        Command::Psi(args) => oprf_cmd::run(&args),
        Command::Keys(args) => keys::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Help(args) => help_cmd::run(&args, Cli::command()),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Member { .. } => member::main(),
    };
    match result {
        Ok(()) => 0,
        Err(e) => {
            log::failed(&e);
            out::failed(&e);
            e.code()
        }
    }
}

/// Applies to the command and all its subcommands: `-2` is then refused as a number, not as an
/// unknown option.
fn numbers(command: clap::Command) -> clap::Command {
    command.allow_negative_numbers(true).mut_subcommands(numbers)
}

/// Removes the advice to write `--` before an unknown option, because no file has a name like an
/// option.
fn without_dashes(mut refusal: clap::Error) -> clap::Error {
    let is_of_dashes = |tip: &StyledStr| tip.to_string().contains("'-- ");
    if let Some(ContextValue::StyledStrs(tips)) = refusal.get(ContextKind::Suggested)
        && tips.iter().any(is_of_dashes)
    {
        refusal.remove(ContextKind::Suggested);
    }
    refusal
}

/// Returns the command that the command line asks for. If the command line is wrong or asks for
/// help, returns the exit code after printing.
fn by_a_person(args: Vec<OsString>) -> Result<Command, u8> {
    let args = with_run(args);
    out::start(&args);
    let parsed = numbers(Cli::command()).try_get_matches_from(args).map_err(without_dashes);
    match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            log::start(&cli.log);
            Ok(cli.command)
        }
        Err(e) if e.use_stderr() => {
            // There is no place to report a failure here.
            let _ = e.print();
            out::failed(&Error::Usage(e.to_string().trim_end().to_owned()));
            Err(2)
        }
        Err(e) => Err(match out::with(|_| e.print()) {
            Ok(()) => 0,
            Err(e) => {
                log::failed(&e);
                e.code()
            }
        }),
    }
}

/// Expands `hushwire local JOB.toml`, which is short for `hushwire local run JOB.toml`.
fn with_run(mut args: Vec<OsString>) -> Vec<OsString> {
    let flags = args.iter().skip(1).take_while(|arg| arg.as_encoded_bytes().starts_with(b"-")).count();
    let (command, job) = (args.get(1 + flags), args.get(2 + flags));
    let is_job = job.is_some_and(|job| Path::new(job).extension() == Some(OsStr::new("toml")));
    if command.is_some_and(|command| command == "local") && is_job {
        args.insert(2 + flags, "run".into());
    }
    args
}

/// Recognizes a process that this program started, by its arguments. It does not build the whole
/// command line, which takes two megabytes in each process.
fn started_by_us(args: &[OsString]) -> Option<Command> {
    let mut args = args.iter().skip(1).map(|arg| arg.to_str());
    let (command, index) = (args.next()??, args.next()??);
    (command == member::COMMAND).then_some(())?;
    Some(Command::Member { index: index.parse().ok()?, name: args.next()??.to_owned() })
}

/// The exit code of a process that ends because of a bug.
const PANICKED: i32 = 101;

/// Makes a panic in one thread end the process, so that no other thread waits for it. A decoder
/// that gives up on a file is no bug.
fn end_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if hushwire::job::panic_is_caught() {
            return;
        }
        report(info);
        process::exit(PANICKED);
    }));
}

/// Raises the limit of open files: each lane is a connection, and many threads need more than the
/// usual 1024.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If this is refused, a few threads still work.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_file_needs_no_run() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (given, wanted) in [
            ("hushwire local job.toml --json -", "hushwire local run job.toml --json -"),
            ("hushwire -v local a/b.toml", "hushwire -v local run a/b.toml"),
            ("hushwire local run job.toml", "hushwire local run job.toml"),
            ("hushwire local psi --a a.toml", "hushwire local psi --a a.toml"),
            ("hushwire party job.toml", "hushwire party job.toml"),
        ] {
            assert_eq!(with_run(words(given)), words(wanted));
        }
    }
}
