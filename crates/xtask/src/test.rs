//! The checks before a commit that changes one crate.

use std::process::Command;
use std::time::Instant;

use crate::{tree, unify};

/// Runs formatting, lints and tests of a crate, and lists the crates that depend on it.
pub(crate) fn run(given: &str, filter: Option<&str>) -> Result<(), String> {
    let directory = tree::directory(given)?;
    let package = tree::package(&directory);
    let features = unify::features(&directory)?.into_iter().map(|name| format!("{package}/{name}"));
    let features = format!("--features={}", features.collect::<Vec<_>>().join(","));
    let chosen = ["-p", &package, "-p", unify::PACKAGE, &features, "--quiet"];
    step("formatting", &["fmt", "-p", &package, "--", "--check"])?;
    step("lints", &[&["clippy"], chosen.as_slice(), &["--all-targets", "--", "-D", "warnings"]].concat())?;
    let filter: Vec<&str> = filter.into_iter().collect();
    step("tests", &[&["test"], chosen.as_slice(), &filter].concat())?;
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

fn step(name: &str, line: &[&str]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let begin = Instant::now();
    let status = Command::new(cargo).current_dir(tree::root()).args(line).status();
    let passed = status.map_err(|error| format!("cannot run cargo: {error}"))?.success();
    if !passed {
        return Err(format!("{name} failed: cargo {}", line.join(" ")));
    }
    println!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}
