//! `hushwire-bench`, which `hushwire bench` starts. It is a program of its own, because most people
//! never build it.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
