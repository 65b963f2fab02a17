//! The `hushwire` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(hushwire_cli::run(std::env::args_os().collect(), None))
}
