//! The memory of processes, as counted by the system.

use std::{env, process::Command};

/// The peak memory of this process, in bytes.
///
/// # Panics
/// If the system does not report it.
#[must_use]
pub fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// The environment variable with the case of a test that a process runs.
const CASE: &str = "HUSHWIRE_TEST_MEMORY_CASE";

/// The case for which this process was started by [`took`].
#[must_use]
pub fn case() -> Option<String> {
    env::var(CASE).ok()
}

/// Starts a process for a case. It runs a test of this program, which prints `took=` and a number
/// of bytes. Returns that number.
///
/// # Panics
/// If the process fails, or prints no such number.
#[must_use]
pub fn took(test: &str, case: &str) -> u64 {
    let mut child = Command::new(env::current_exe().expect("this program"));
    let child = child.args(["--exact", test, "--nocapture"]).env(CASE, case);
    let out = child.output().expect("a process");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{case}: {text}{}", String::from_utf8_lossy(&out.stderr));
    let took = text.split("took=").nth(1).and_then(|rest| rest.split_whitespace().next());
    took.expect("it says so").parse().expect("a number")
}
