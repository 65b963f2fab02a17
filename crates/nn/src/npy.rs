//! NumPy's array files as [`Array`]s.

use crate::{Array, NnError};
use hushwire_files::npy;

/// Reads an array.
///
/// # Errors
/// The bytes are no array, or its elements are no numbers.
pub fn read(bytes: &[u8]) -> Result<Array, NnError> {
    let read = npy::read(bytes).map_err(|e| NnError::new("the NumPy file", e.cause, e.remedy));
    read.map(|(lengths, data)| Array { lengths, data })
}

/// Writes an array as floats of 32 bits.
#[must_use]
pub fn write(array: &Array) -> Vec<u8> {
    npy::write(&array.lengths, &array.data)
}

/// Writes whole numbers as integers of 64 bits.
#[must_use]
pub fn write_whole(array: &Array) -> Vec<u8> {
    npy::write_whole(&array.lengths, &array.data)
}
