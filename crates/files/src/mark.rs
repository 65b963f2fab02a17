//! The byte order mark with which some editors begin UTF-8 files. It is not part of the text: every
//! reader of text files drops it here.

use std::io::{self, Read};

/// U+FEFF in UTF-8.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Returns a file's bytes without a leading mark.
#[must_use]
pub fn strip(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(&MARK).unwrap_or(bytes)
}

/// Returns a text without a leading mark.
#[must_use]
pub fn strip_str(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the bytes of `reader` without a leading mark.
///
/// # Errors
/// The error of `reader` within the first three bytes.
pub fn strip_read<R: Read>(mut reader: R) -> io::Result<impl Read> {
    let mut first = Vec::with_capacity(MARK.len());
    reader.by_ref().take(MARK.len() as u64).read_to_end(&mut first)?;
    let first = strip(&first).to_vec();
    Ok(io::Cursor::new(first).chain(reader))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_whole_mark_in_front_is_dropped() {
        for (file, text) in [
            (&b"\xef\xbb\xbfab"[..], &b"ab"[..]),
            (b"\xef\xbb\xbf", b""),
            (b"\xef\xbb", b"\xef\xbb"),
            (b"", b""),
            (b"ab", b"ab"),
            (b"a\xef\xbb\xbf", b"a\xef\xbb\xbf"),
            (b"\xef\xbb\xbf\xef\xbb\xbfa", b"\xef\xbb\xbfa"),
        ] {
            assert_eq!(strip(file), text);
            let mut read = vec![];
            strip_read(file).and_then(|mut r| r.read_to_end(&mut read)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read, text);
        }
        assert_eq!(strip_str("\u{feff}ab"), "ab");
    }
}
