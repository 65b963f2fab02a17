//! `hushwire bench`: hands its arguments to `hushwire-bench`, the program that measures.

use crate::error::Error;
use clap::Args;
use std::{ffi::OsString, os::unix::process::CommandExt, path::PathBuf, process::Command};

/// The name of the program, which is in the same directory as this one.
const PROGRAM: &str = "hushwire-bench";

/// The arguments that follow `bench`, read by the other program.
#[derive(Args)]
pub(crate) struct BenchArgs {
    /// A benchmark and its options; `hushwire bench --help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "BENCH")]
    args: Vec<OsString>,
}

/// Replaces this process by the other program, so that signals, streams and the exit code are those
/// of the other program.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Error> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(PROGRAM)));
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let cause = Command::new(&program).args(&args.args).exec();
    let remedy = match cause.kind() {
        std::io::ErrorKind::NotFound => {
            "benchmarks are a program of their own, built by `cargo build --release -p hushwire-bench` in a checkout of \
             the source, or installed by `cargo install --path crates/bench`"
        }
        _ => "check its permissions, or build it again with `cargo build --release -p hushwire-bench`",
    };
    Err(Error::file("start", &program, cause, remedy))
}
