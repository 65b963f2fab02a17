//! What to run before a commit that touches one crate.

use std::process::Command;
use std::time::Instant;

use crate::tree;

/// Runs formatting, lints and tests of a crate, and tells which crates depend on it.
pub(crate) fn run(given: &str, filter: Option<&str>) -> Result<(), String> {
    let directory = tree::directory(given)?;
    let package = tree::package(&directory);
    let package = package.as_str();
    let lints: &[&str] = &["--all-targets", "--quiet", "--", "-D", "warnings"];
    let filters: Vec<&str> = ["--quiet"].into_iter().chain(filter).collect();
    let features = if directory == "xtask" { [].as_slice() } else { &["--all-features"] };
    step("formatting", &["fmt", "-p", package, "--", "--check"], &[], &[])?;
    step("lints", &["clippy", "-p", package], features, lints)?;
    step("tests", &["test", "-p", package], features, &filters)?;
    let (tests, others): (Vec<_>, Vec<_>) =
        tree::dependents(&directory)?.into_iter().partition(|(_, tests_alone)| *tests_alone);
    println!("depend on it: {}", list(&others));
    println!("depend on it in tests: {}", list(&tests));
    Ok(())
}

fn list(crates: &[(String, bool)]) -> String {
    let names: Vec<&str> = crates.iter().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { "none".into() } else { names.join(" ") }
}

fn step(name: &str, command: &[&str], features: &[&str], rest: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let line = [command, features, rest].concat();
    let begin = Instant::now();
    let status = Command::new(cargo).current_dir(tree::root()).args(&line).status();
    let passed = status.map_err(|error| format!("cannot run cargo: {error}"))?.success();
    if !passed {
        return Err(format!("{name} failed: cargo {}", line.join(" ")));
    }
    println!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}
