//! Commands for people who work on the project, as `cargo xtask COMMAND`. The package depends on
//! the standard library alone.
//!
//! ```text
//! test   formatting, lints and tests of one crate, and a list of the crates that depend on it
//! tests  all tests, several programs at a time
//! words  the check of house style, which scripts/test runs
//! wrap   comments of files at 100 columns
//! unify  the manifest that lets `test` use the builds of the whole workspace's tests
//! ```
#![forbid(unsafe_code)]

mod circles;
mod floors;
mod links;
mod names;
mod programs;
mod prose;
mod source;
mod test;
mod tree;
mod unify;
mod words;
mod wrap;

use std::env;
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask COMMAND

  test CRATE [FILTER]   formatting, lints and tests of one crate, and the crates that depend on it
  tests                 all tests of the workspace, several programs at a time
  words [PLACE...]      the check of house style: of crates, `docs`, `scripts`, or everything
  words --count         the number of findings in each place
  wrap FILE...          wraps comments, and paragraphs of Markdown (.md), at 100 columns
  wrap --all            wraps comments of all crates, scripts and manifests
  unify                 writes crates/unify/Cargo.toml, after a change of dependencies

docs/dev/style.md explains the rules of `words`.";

/// The most columns that a line of comment may have.
const COLUMNS: usize = 100;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test", name] => test::run(name, None),
        ["test", name, filter] => test::run(name, Some(filter)),
        ["tests"] => programs::run(),
        ["words", "--count"] => words::count(),
        ["words", names @ ..] => words::check(names),
        ["wrap", "--all"] => wrap::all(),
        ["wrap", files @ ..] if !files.is_empty() => {
            wrap::files(&files.iter().map(Into::into).collect::<Vec<_>>())
        }
        ["unify"] => unify::write(),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        _ => Err(HELP.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
