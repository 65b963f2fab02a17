//! Standard output. Every command prints its results through this module.
//!
//! It is no error if a reader has seen enough (`| head`): the rest is dropped silently. Any other
//! refusal of standard output, such as a full disk, is an error with exit code 4.

use crate::{error::Error, files::NewFile};
use hushwire_fault::{Code, Kind};
use serde::Serialize;
use std::{
    ffi::OsString,
    fmt,
    io::{self, BufWriter, Seek, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether a program reads JSON from standard output.
static PROGRAMS: AtomicBool = AtomicBool::new(false);
/// Whether something was written to standard output.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// Looks for `--json -` before the command line is parsed, because an error of the command line is
/// also reported as JSON.
pub(crate) fn start(args: &[OsString]) {
    let pair = |pair: &[OsString]| pair[0] == "--json" && pair[1] == "-";
    let alone = |arg: &OsString| arg == "--json=-";
    PROGRAMS.store(args.windows(2).any(pair) || args.iter().any(alone), Ordering::Relaxed);
}

/// Calls `write`. Writing ends at the first error, also that of a closed pipe.
pub(crate) fn with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    WRITTEN.store(true, Ordering::Relaxed);
    let mut to = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    ended(write(&mut to).and_then(|()| to.flush()))
}

/// Converts the result of writing to standard output.
pub(crate) fn ended(result: io::Result<()>) -> Result<(), Error> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => {
            let remedy = "send it to where there is room, or into a file that can be written";
            Err(Error::file("write", Path::new("standard output"), e, remedy))
        }
        Ok(()) => Ok(()),
    }
}

/// Writes a file without a name, from its begin.
pub(crate) fn file(file: &NewFile) -> Result<(), Error> {
    let mut whole = file.writer()?;
    whole.rewind().map_err(|e| file.error(&e))?;
    with(|to| io::copy(&mut whole, to).map(drop))
}

/// Writes text, or any bytes, unchanged.
pub(crate) fn text(text: impl AsRef<[u8]>) -> Result<(), Error> {
    with(|to| to.write_all(text.as_ref()))
}

/// Writes one line or several.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Error> {
    with(|to| writeln!(to, "{text}"))
}

/// Formats a value as JSON for programs and for people who look at it, with a final line end.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Error> {
    let wrong = |e: serde_json::Error| Error::internal("writing JSON", e);
    Ok(serde_json::to_string_pretty(value).map_err(wrong)? + "\n")
}

/// An error in the form for programs that asked for JSON on standard output.
#[derive(Serialize)]
struct Failed {
    error: OfError,
}

#[derive(Serialize)]
struct OfError {
    exit_code: u8,
    message: String,
    code: Code,
    kind: Kind,
    /// The member that failed.
    who: Option<String>,
    /// The member to blame.
    peer: Option<String>,
    step: String,
    cause: String,
    remedy: String,
}

impl From<&Error> for OfError {
    fn from(e: &Error) -> Self {
        let fault = e.fault();
        Self {
            exit_code: e.code(),
            message: e.to_string(),
            code: fault.code(),
            kind: fault.kind(),
            who: fault.who().map(ToString::to_string),
            peer: fault.peer().map(ToString::to_string),
            step: fault.step(),
            cause: fault.cause(),
            remedy: fault.remedy(),
        }
    }
}

/// Tells a program that waits for JSON why there is no result.
pub(crate) fn failed(e: &Error) {
    if !PROGRAMS.load(Ordering::Relaxed) || WRITTEN.load(Ordering::Relaxed) {
        return;
    }
    // Standard error has the error as well, so a failure here is ignored.
    let _ = pretty(&Failed { error: e.into() }).and_then(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_by_their_options() {
        let asks = |line: &str| {
            start(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
            PROGRAMS.load(Ordering::Relaxed)
        };
        for line in [
            "hushwire local run j.toml --json -",
            "hushwire -v doctor --json=-",
            "hushwire keys show --json - k",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in
            ["hushwire local run --json r.json", "hushwire local run --json keys", "hushwire keys show k"]
        {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn a_reader_that_left_is_no_error_and_a_full_disk_is() {
        assert!(ended(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        let error = ended(Err(io::ErrorKind::StorageFull.into())).err();
        let error = error.unwrap_or_else(|| panic!("taken for success"));
        assert_eq!(error.code(), 4);
        assert!(error.to_string().starts_with("cannot write standard output: "), "{error}");
    }
}
