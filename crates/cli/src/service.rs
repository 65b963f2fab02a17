//! `hushwire serve`, `service`, `data`, `audit` and `local up`. They pass their arguments to
//! `hushwire-service`, which is both a party that stays up and its client.

use crate::error::Error;
use clap::Args;
use std::{ffi::OsString, os::unix::process::CommandExt, path::PathBuf, process::Command};

/// The name of the program, which is in the same directory as this one.
const PROGRAM: &str = "hushwire-service";

/// The arguments that follow, read by the other program.
#[derive(Args)]
pub(crate) struct ServiceArgs {
    /// Arguments of the program hushwire-service; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Replaces this process by the other program, with `first` before the arguments. Signals, streams
/// and the exit code are then those of the other program.
pub(crate) fn run(first: Option<&str>, args: &ServiceArgs) -> Result<(), Error> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(PROGRAM)));
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let cause = Command::new(&program).args(first).args(&args.args).exec();
    let remedy = match cause.kind() {
        std::io::ErrorKind::NotFound => {
            "the service is a program of its own, built by `cargo build --release -p hushwire-service` in a checkout of \
             the source, or installed by `cargo install --path crates/service`"
        }
        _ => "check its permissions, or build it again with `cargo build --release -p hushwire-service`",
    };
    Err(Error::file("start", &program, cause, remedy))
}
