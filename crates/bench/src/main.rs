//! `hushwire-bench`, which `hushwire bench` starts: a program of its own, since most people never
//! build it.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
