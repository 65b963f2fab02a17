//! `hushwire bench` replaces itself by the program in the same directory.

use hushwire_testkit::executable;
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Runs a copy of `hushwire` in `dir`.
fn bench(dir: &Path, args: &[&str]) -> Output {
    let program = dir.join("hushwire");
    executable(&program, &fs::read(env!("CARGO_BIN_EXE_hushwire")).unwrap_or_else(|e| panic!("{e}")));
    Command::new(program).arg("bench").args(args).output().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn where_it_is_not_built_the_command_says_how() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let ran = bench(dir.path(), &["aes"]);
    let text = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(4), "{text}");
    assert!(text.contains("cargo build --release -p hushwire-bench"), "{text}");
}

#[test]
fn arguments_output_and_exit_code_are_the_other_programs() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    executable(&dir.path().join("hushwire-bench"), b"#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 9\n");
    let ran = bench(dir.path(), &["aes3", "--only", "a=1,b=2", "--json", "-", "--help"]);
    assert_eq!(ran.status.code(), Some(9));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "<aes3><--only><a=1,b=2><--json><-><--help>");
}
