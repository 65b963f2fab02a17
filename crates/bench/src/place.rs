//! The files of reports and pictures. An existing file is replaced only if it is one as well.

use crate::{BenchError, Result};
use std::{fs, io::Read, path::Path};

/// Standard output, a pipe or a device: written once, never replaced.
pub(crate) fn is_stream(path: &Path) -> bool {
    let special = |meta: fs::Metadata| !meta.is_file() && !meta.is_dir();
    path == Path::new("-") || fs::metadata(path).is_ok_and(special)
}

/// Checks whether `path` may be replaced. The file must be missing or empty, or `known` must accept
/// its content.
pub(crate) fn yields(path: &Path, what: &'static str, known: impl Fn(&[u8]) -> bool) -> Result<()> {
    if is_stream(path) || !path.is_file() {
        return Ok(());
    }
    let mut there = vec![];
    let read = fs::File::open(path).and_then(|mut file| file.read_to_end(&mut there));
    read.map_err(|e| BenchError::file("reading", path, &e))?;
    if there.is_empty() || known(&there) {
        Ok(())
    } else {
        {
            let path = path.display();
            let remedy = "move it away, or name another file";
            Err(BenchError::Taken(format!("{path} is there already and is no {what}; {remedy}")))
        }
    }
}

/// Replaces a file atomically: a reader finds the old file or the new one.
pub(crate) fn put(path: &Path, text: &str) -> Result<()> {
    if is_stream(path) {
        return fs::write(path, text).map_err(|e| BenchError::file("writing", path, &e));
    }
    // If the path is a link, its target is replaced, not the link.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = place.with_file_name(name);
    // Errors name the requested file.
    let written = fs::write(&temporary, text)
        .map_err(|e| BenchError::file("writing", path, &e))
        .and_then(|()| fs::rename(&temporary, &place).map_err(|e| BenchError::file("replacing", path, &e)));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::put;
    use std::path::Path;

    #[test]
    fn errors_name_the_file_that_was_asked_for() {
        let error = put(Path::new("/no-folder-of-that-name/x.json"), "{}").unwrap_err().to_string();
        assert!(error.contains("/no-folder-of-that-name/x.json") && !error.contains(".tmp"), "{error}");
    }
}
