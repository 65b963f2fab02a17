//! Reads and writes [`Array`]s as NumPy's array files.

use crate::{Array, Fault};
use hushwire_fault::code;
use hushwire_files::npy;

/// Reads an array.
///
/// # Errors
/// The bytes are not an array, or its elements are not numbers.
pub fn read(bytes: &[u8]) -> Result<Array, Fault> {
    let read = npy::read(bytes).map_err(|e| Fault::new(code::NUMPY, "the NumPy file", e.cause, e.remedy));
    read.map(|(lengths, data)| Array { lengths, data })
}

/// Writes an array as 32-bit floats.
#[must_use]
pub fn write(array: &Array) -> Vec<u8> {
    npy::write(&array.lengths, &array.data)
}

/// Writes whole numbers as 64-bit integers.
#[must_use]
pub fn write_whole(array: &Array) -> Vec<u8> {
    npy::write_whole(&array.lengths, &array.data)
}
