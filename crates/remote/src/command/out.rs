//! Writes results to standard output. A reader that closes it early is no error.

use hushwire_fault::Fault;
use serde::Serialize;
use serde_json::Value;
use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether anything was written.
static WRITTEN: AtomicBool = AtomicBool::new(false);

pub(super) fn has_written() -> bool {
    WRITTEN.load(Ordering::Relaxed)
}

pub(super) fn bytes(bytes: &[u8]) -> Result<(), Fault> {
    WRITTEN.store(true, Ordering::Relaxed);
    let mut to = io::stdout().lock();
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Fault::io("write", Path::new("standard output"), &e))
        }
        _ => Ok(()),
    }
}

pub(super) fn line(text: impl Display) -> Result<(), Fault> {
    bytes(format!("{text}\n").as_bytes())
}

pub(super) fn json(value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Fault::internal("writing JSON", e))?;
    line(text)
}

/// Writes a value as JSON on one line.
pub(super) fn json_line(value: &impl Serialize) -> Result<(), Fault> {
    line(serde_json::to_string(value).map_err(|e| Fault::internal("writing JSON", e))?)
}

/// Replaces the text on the last line of a terminal, without ending the line.
pub(super) fn over(text: impl Display) {
    let _ = write!(io::stderr(), "\r\x1b[K{text}");
    let _ = io::stderr().flush();
}

/// Writes a remark to standard error, which need not be read.
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A value in the form for people.
pub(super) fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// Writes fields of a value, one on each line.
pub(super) fn fields(of: &Value, names: &[&str]) -> Result<(), Fault> {
    names.iter().try_for_each(|name| line(format_args!("{name:9}{}", word(&of[name]))))
}

/// Writes rows in columns, with a heading.
pub(super) fn table(heading: &[&str], rows: &[Vec<String>]) -> Result<(), Fault> {
    let heading: Vec<String> = heading.iter().map(|cell| (*cell).to_owned()).collect();
    let all = || std::iter::once(&heading).chain(rows);
    let width = |at: usize| all().map(|row| row[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let mut text = String::new();
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line += cell;
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        text += line.trim_end();
        text.push('\n');
    }
    bytes(text.as_bytes())
}
