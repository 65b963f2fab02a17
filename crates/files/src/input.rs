//! Files that are read as streams of bytes.

use hushwire_fault::Fault;
use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Opens a file for reading; `-` is standard input.
///
/// # Errors
/// The file cannot be opened.
pub fn open_input(path: &Path) -> io::Result<File> {
    File::open(if path == Path::new("-") { Path::new("/dev/stdin") } else { path })
}

/// Whether the content of a file can be read only once, as with a pipe.
#[must_use]
pub fn read_once(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Returns the error for reading such a file a second time.
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
