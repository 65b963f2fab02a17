//! Programs that a test writes and then runs.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes these bytes to `path` as a program with mode 0755.
///
/// A child process writes the file. If this process had it open for writing, a child that another
/// test starts then would inherit the descriptor, until it executes its own program. Linux refuses
/// to run a file that is open for writing (`ETXTBSY`).
///
/// # Panics
/// If the file cannot be written.
pub fn executable(path: &Path, bytes: &[u8]) {
    let mut writer = Command::new("sh");
    writer.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().unwrap_or_else(|e| panic!("sh: {e}"));
    let mut input = writer.stdin.take().unwrap_or_else(|| unreachable!("it was asked for"));
    input.write_all(bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    drop(input);
    let ended = writer.wait().unwrap_or_else(|e| panic!("sh: {e}"));
    assert!(ended.success(), "{} was not written", path.display());
}
