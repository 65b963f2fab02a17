//! Runs the tests of the whole workspace, several programs at a time, since many of their tests
//! wait.
//!
//! `cargo test` runs one program after the other. The test programs of the command line and of the
//! service spend most of their time waiting for limits and for processes, and leave the cores to
//! others.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

/// The options with which all tests are built, so that no crate is built twice.
const SELECTION: [&str; 3] = ["test", "--workspace", "--all-features"];

/// A test program, and the folder of its package, in which it runs.
#[derive(Debug, PartialEq, Eq)]
struct Program {
    file: PathBuf,
    package: PathBuf,
    /// The package's name.
    crate_name: String,
}

impl Program {
    /// The package and the target, for example `cli all`.
    fn name(&self) -> String {
        let part =
            |path: &Path| path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let target = part(&self.file);
        let target = target.rsplit_once('-').map_or(&*target, |(target, _)| target);
        format!("{} {target}", part(&self.package))
    }
}

/// Runs all tests, and the examples of the documentation. Prints the result of each program, the
/// output of those that fail, and at the end the programs that took longest. Programs that took
/// longest the last time begin first.
///
/// # Errors
/// If a build or a test failed.
pub(crate) fn run() -> Result<(), String> {
    let messages = cargo(&["--no-run", "--message-format=json-render-diagnostics"])?;
    let mut programs = found(&messages);
    if programs.is_empty() {
        return Err("cargo named no program of tests".into());
    }
    let kept = target().join("times-of-tests");
    let before = fs::read_to_string(&kept).unwrap_or_default();
    programs.sort_by_key(|program| std::cmp::Reverse(time_before(&before, &program.name())));

    let cores = thread::available_parallelism().map_or(2, usize::from);
    let (queue, ended) = (Mutex::new(programs.iter()), Mutex::new(vec![]));
    let examples_ran = thread::scope(|scope| {
        // This starts at once, since cargo lets no other process build in the meantime.
        let examples = scope.spawn(examples);
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut queue| queue.next());
                    let Some(program) = next else { break };
                    let start = Instant::now();
                    let passed = of_program(program, cores);
                    if let Ok(mut ended) = ended.lock() {
                        ended.push((start.elapsed(), program.name(), passed));
                    }
                }
            });
        }
        examples.join().unwrap_or_else(|_| Err("the thread of examples failed".into()))
    })?;
    let mut ended = ended.into_inner().map_err(|_| "a thread of this command failed")?;
    ended.sort_by(|a, b| b.cmp(a));
    let lines = ended.iter().map(|(time, name, _)| format!("{} {name}\n", time.as_millis()));
    // The times are only a hint for the next run, which also works without them.
    let _ = fs::write(kept, lines.collect::<String>());
    for (time, name, _) in ended.iter().take(8) {
        println!("{:5.1} s  {name}", time.as_secs_f64());
    }
    let mut failed: Vec<&str> = ended.iter().filter(|(.., ok)| !ok).map(|(_, name, _)| &**name).collect();
    if !examples_ran {
        failed.push("examples of the documentation");
    }
    if failed.is_empty() {
        println!("{} programs of tests passed", ended.len());
        return Ok(());
    }
    Err(format!("tests failed: {}", failed.join(", ")))
}

/// Runs a test program. Prints its result, or all its output if it fails.
fn of_program(program: &Program, cores: usize) -> bool {
    output_of(program, cores).unwrap_or_else(|error| {
        println!("\n== {}: it does not start: {error}", program.name());
        false
    })
}

fn output_of(program: &Program, cores: usize) -> io::Result<bool> {
    let threads = env::var("RUST_TEST_THREADS").unwrap_or_else(|_| (2 * cores).to_string());
    // The output goes to a file. A process that a test left behind would keep a pipe open.
    let kept = target().join("tests").join(program.name().replace(' ', "-") + ".txt");
    fs::create_dir_all(kept.with_file_name(""))?;
    let file = File::create(&kept)?;
    let status = Command::new(&program.file)
        .arg("--quiet")
        .current_dir(&program.package)
        .env("CARGO_MANIFEST_DIR", &program.package)
        .env("CARGO_PKG_NAME", &program.crate_name)
        .env("RUST_TEST_THREADS", threads)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()?;
    let output = fs::read(&kept)?;
    let output = String::from_utf8_lossy(&output);
    if status.success() {
        let result = output.lines().rev().find(|line| line.starts_with("test result:"));
        println!("{}: {}", program.name(), result.unwrap_or("it printed no result"));
    } else {
        println!("\n== {} ({status})\n{output}", program.name());
    }
    Ok(status.success())
}

/// Runs the examples of the documentation; returns whether they pass.
fn examples() -> Result<bool, String> {
    let status = Command::new(cargo_program()).args(SELECTION).args(["--doc", "--quiet"]).status();
    status.map(|status| status.success()).map_err(|e| format!("cannot start cargo: {e}"))
}

fn cargo_program() -> String {
    env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// The output of cargo with these options, in addition to the common ones.
fn cargo(more: &[&str]) -> Result<String, String> {
    let mut command = Command::new(cargo_program());
    command.args(SELECTION).args(more).stderr(Stdio::inherit());
    let Output { status, stdout, .. } = command.output().map_err(|e| format!("cannot start cargo: {e}"))?;
    if !status.success() {
        return Err("the tests do not build".into());
    }
    String::from_utf8(stdout).map_err(|_| "cargo printed no text".into())
}

/// The test programs among cargo's messages, which are one JSON object per line.
fn found(messages: &str) -> Vec<Program> {
    let profile = |line: &str| Some(line.split_once("\"profile\":{")?.1.split_once('}')?.0.to_owned());
    let of_test = |line: &&str| profile(line).is_some_and(|profile| profile.contains("\"test\":true"));
    let program = |line: &str| {
        let file = PathBuf::from(field(line, "executable")?);
        let package = PathBuf::from(field(line, "manifest_path")?).parent()?.to_owned();
        let crate_name = crate_name(field(line, "package_id")?, &package);
        Some(Program { file, package, crate_name })
    };
    messages.lines().filter(of_test).filter_map(program).collect()
}

/// The package's name in its id: `path+file:///crates/cli#hushwire-cli@0.1.0`, or without a name if
/// that is the folder's.
fn crate_name(id: &str, package: &Path) -> String {
    let named = id.rsplit_once('#').and_then(|(_, version)| version.split_once('@'));
    let folder = || package.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    named.map_or_else(folder, |(name, _)| name.to_owned())
}

/// The text of a field, which must not have escaped characters.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(text, _)| text)
}

/// The programs that take longest. If no times are known they begin first, and the others fit in
/// beside them.
const LONGEST: [&str; 4] = ["cli all", "wire all", "service proof", "kinds all"];

/// The time that a program took the last time. A program without a known time comes before those
/// with one.
fn time_before(kept: &str, name: &str) -> Duration {
    let line = kept.lines().filter_map(|line| line.split_once(' ')).find(|(_, n)| *n == name);
    let unknown = if LONGEST.contains(&name) { Duration::MAX } else { Duration::MAX / 2 };
    line.and_then(|(time, _)| time.parse().ok()).map_or(unknown, Duration::from_millis)
}

fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"{"reason":"compiler-artifact","package_id":"path+file:///p/crates/cli#hushwire-cli@0.1.0","manifest_path":"/p/crates/cli/Cargo.toml","target":{"name":"all","test":true},"profile":{"opt_level":"0","test":true},"executable":"/p/target/debug/deps/all-0123","fresh":true}
{"reason":"compiler-artifact","manifest_path":"/p/crates/cli/Cargo.toml","target":{"name":"hushwire","test":true},"profile":{"opt_level":"0","test":false},"executable":"/p/target/debug/hushwire","fresh":true}
{"reason":"compiler-artifact","manifest_path":"/p/crates/aes/Cargo.toml","target":{"name":"aes","test":true},"profile":{"opt_level":"0","test":true},"executable":null,"fresh":true}
{"reason":"build-finished","success":true}"#;

    #[test]
    fn programs_of_tests_are_found_among_all_artifacts() {
        let all = Program {
            file: "/p/target/debug/deps/all-0123".into(),
            package: "/p/crates/cli".into(),
            crate_name: "hushwire-cli".into(),
        };
        assert_eq!(all.name(), "cli all");
        assert_eq!(found(MESSAGES), [all]);
        assert_eq!(crate_name("path+file:///p/crates/xtask#0.1.0", Path::new("/p/crates/xtask")), "xtask");
    }

    #[test]
    fn programs_that_nobody_has_timed_begin_first() {
        let kept = "1200 cli all\n30 aes aes\n";
        assert_eq!(time_before(kept, "aes aes"), Duration::from_millis(30));
        assert!(time_before(kept, "cli all") < time_before(kept, "new one"));
        assert!(time_before("", "new one") < time_before("", "cli all"));
    }
}
