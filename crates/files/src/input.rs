//! Files that are read as a stream of bytes.

use hushwire_fault::Fault;
use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Opens a file that is read; `-` is standard input.
///
/// # Errors
/// It cannot be opened.
pub fn open_input(path: &Path) -> io::Result<File> {
    File::open(if path == Path::new("-") { Path::new("/dev/stdin") } else { path })
}

/// Whether a file gives its content once and no second time, as a pipe does.
#[must_use]
pub fn read_once(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// The refusal of such a file where it would be read again.
#[must_use]
pub fn refuse_once(path: &Path) -> Fault {
    let cause = "it is no plain file, and is read more than once";
    Fault::file(
        "use",
        path,
        cause,
        "copy it into a file, or give - for standard input where a command takes that",
    )
}
