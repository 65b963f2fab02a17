//! The memory of processes, as the system counts it.

use std::{env, process::Command};

/// The most memory that this process ever had, in bytes.
///
/// # Panics
/// If the system does not say.
#[must_use]
pub fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// Says which case of a test a process is.
const CASE: &str = "HUSHWIRE_TEST_MEMORY_CASE";

/// The case that this process was started for, by [`took`].
#[must_use]
pub fn case() -> Option<String> {
    env::var(CASE).ok()
}

/// Starts a process of its own for a case, of this program's test `one_case`, which prints
/// `took=` and bytes; gives these.
///
/// # Panics
/// If it fails, or prints no such thing.
#[must_use]
pub fn took(case: &str) -> u64 {
    let mut child = Command::new(env::current_exe().expect("this program"));
    let child = child.args(["--exact", "one_case", "--nocapture"]).env(CASE, case);
    let out = child.output().expect("a process");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let took = text.split("took=").nth(1).and_then(|rest| rest.split_whitespace().next());
    took.expect("it says so").parse().expect("a number")
}
