//! One service for each store and each directory of blobs.
//!
//! A second one would sweep away the uploads of the first, and end its attempts as left over.

use hushwire_fault::Fault;
use std::{
    fs::{File, TryLockError},
    path::Path,
};

/// Takes the file or the directory for this process until the result is dropped. The system also
/// frees it when the process is killed. Commands that only read or add, such as `status` and
/// `backup`, need no claim.
///
/// # Errors
/// Another process has it.
pub(crate) fn claim(key: &str, path: &Path) -> Result<File, Fault> {
    let file = File::open(path).map_err(|e| Fault::io("open", path, &e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let remedy = format!("end that service, or name another place under `{key}` in the config");
            Err(Fault::file("use", path, "another service runs on it", remedy))
        }
        Err(TryLockError::Error(e)) => Err(Fault::io("lock", path, &e)),
    }
}
