//! Decompresses files while they are read: gzip, and Zstandard in builds with Parquet, whose
//! library has it.

use crate::strict::{Deviation, DeviationKind};
use std::io::{self, Read};

/// The bytes of `file`, decompressed if `head`, its first bytes, is of a supported format. The flag
/// tells whether it is.
pub(crate) fn unpacked<'a>(head: &[u8], file: Box<dyn Read + 'a>) -> io::Result<(Box<dyn Read + 'a>, bool)> {
    if head.starts_with(&[0x1f, 0x8b]) {
        let inner = flate2::read::MultiGzDecoder::new(file);
        return Ok((Box::new(Unpacked { inner }), true));
    }
    #[cfg(feature = "parquet")]
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let inner = zstd::stream::read::Decoder::new(file)?;
        return Ok((Box::new(Unpacked { inner }), true));
    }
    Ok((file, false))
}

/// A decoder. Unless the operating system refused the file, its errors say that the file is
/// damaged.
struct Unpacked<R> {
    inner: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|e| {
            let is_of_system = e.raw_os_error().is_some() || e.kind() == io::ErrorKind::Interrupted;
            let damaged = Deviation { kind: DeviationKind::Damaged, place: None };
            if is_of_system { e } else { io::Error::other(damaged) }
        })
    }
}
