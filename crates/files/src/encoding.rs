//! Reads text in other encodings as UTF-8: UTF-16, Latin-1 and Windows-1252. A byte order mark
//! shows UTF-16; the other encodings must be set.

use crate::strict::{Deviation, DeviationKind};
use serde::{Deserialize, Serialize};
use std::{
    io::{self, Read},
    str::FromStr,
};

/// An encoding of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// UTF-8, or UTF-16 if a byte order mark shows it.
    Auto,
    Utf8,
    Utf16Le,
    Utf16Be,
    Latin1,
    Windows1252,
}

const NAMES: [(&str, Encoding); 10] = [
    ("auto", Encoding::Auto),
    ("utf-8", Encoding::Utf8),
    ("utf8", Encoding::Utf8),
    ("utf-16le", Encoding::Utf16Le),
    ("utf-16be", Encoding::Utf16Be),
    ("latin1", Encoding::Latin1),
    ("latin-1", Encoding::Latin1),
    ("iso-8859-1", Encoding::Latin1),
    ("windows-1252", Encoding::Windows1252),
    ("cp1252", Encoding::Windows1252),
];

impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
        known.map(|(_, encoding)| *encoding).ok_or_else(|| {
            format!("encoding is auto, utf-8, utf-16le, utf-16be, latin1 or windows-1252, not {text:?}")
        })
    }
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, encoding)| *encoding == self).map_or("", |(name, _)| name)
    }

    /// The encoding that a file's first bytes show, if it is not UTF-8.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => Some(Self::Utf16Le),
            [0xfe, 0xff, ..] => Some(Self::Utf16Be),
            _ => None,
        }
    }
}

/// The characters of Windows-1252 from 0x80 to 0x9f, in place of the control characters of Latin-1.
/// Five bytes have no character. From the table of the WHATWG's Encoding Standard.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Reads text of an encoding as UTF-8.
pub(crate) struct Decoded<R> {
    inner: R,
    encoding: Encoding,
    /// The bytes of an incomplete character.
    rest: Vec<u8>,
    text: Vec<u8>,
    at: usize,
}

/// LOCAL: the bytes that are decoded at a time.
const PIECE: usize = 1 << 14;

impl<R: Read> Decoded<R> {
    pub(crate) fn new(inner: R, encoding: Encoding) -> Self {
        Self { inner, encoding, rest: vec![], text: vec![], at: 0 }
    }

    /// Decodes the next piece. Returns `false` at the end.
    fn refill(&mut self) -> io::Result<bool> {
        let mut bytes = std::mem::take(&mut self.rest);
        let kept = bytes.len();
        bytes.resize(kept + PIECE, 0);
        let read = self.inner.read(&mut bytes[kept..])?;
        bytes.truncate(kept + read);
        self.text.clear();
        self.at = 0;
        match self.encoding {
            Encoding::Auto | Encoding::Utf8 => self.text.append(&mut bytes),
            Encoding::Latin1 | Encoding::Windows1252 => {
                let mut utf8 = [0; 4];
                for byte in bytes {
                    let c = match byte {
                        0x80..=0x9f if self.encoding == Encoding::Windows1252 => {
                            WINDOWS[usize::from(byte - 0x80)]
                        }
                        byte => char::from(byte),
                    };
                    self.text.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
                }
            }
            Encoding::Utf16Le | Encoding::Utf16Be => self.utf16(&bytes, read == 0)?,
        }
        Ok(read > 0)
    }

    fn utf16(&mut self, bytes: &[u8], is_end: bool) -> io::Result<()> {
        let unit = |two: &[u8]| match self.encoding {
            Encoding::Utf16Le => u16::from_le_bytes([two[0], two[1]]),
            _ => u16::from_be_bytes([two[0], two[1]]),
        };
        let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
        // The first half of a surrogate pair waits for the second.
        let is_half = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        let whole = units.len() - usize::from(is_half && !is_end);
        let mut utf8 = [0; 4];
        for c in char::decode_utf16(units[..whole].iter().copied()) {
            let c = c.map_err(|_| broken())?;
            self.text.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
        }
        self.rest = bytes[2 * whole..].to_vec();
        if is_end && !self.rest.is_empty() { Err(broken()) } else { Ok(()) }
    }
}

fn broken() -> io::Error {
    io::Error::other(Deviation { kind: DeviationKind::BadUtf16, place: None })
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if !self.refill()? && self.text.is_empty() {
                return Ok(0);
            }
        }
        let read = (&self.text[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    #[test]
    fn text_of_other_encodings_is_read() {
        let text = "Zürich – 12 €, 𝄞\n";
        let utf16: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = utf16.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for (bytes, encoding, wanted) in [
            (&little[..], Encoding::Utf16Le, Some(text)),
            (&big, Encoding::Utf16Be, Some(text)),
            (b"Z\xfcrich \x96 12 \x80", Encoding::Windows1252, Some("Zürich – 12 €")),
            (b"Z\xfcrich", Encoding::Latin1, Some("Zürich")),
            ("Zürich".as_bytes(), Encoding::Utf8, Some("Zürich")),
            (&little[..little.len() - 1], Encoding::Utf16Le, None),
            (&[0x00, 0xd8, 0x41, 0x00], Encoding::Utf16Le, None),
            (&[0x00, 0xd8], Encoding::Utf16Le, None),
        ] {
            for slow in [false, true] {
                let mut read = String::new();
                let ended = match slow {
                    false => Decoded::new(bytes, encoding).read_to_string(&mut read),
                    true => Decoded::new(Slow(bytes), encoding).read_to_string(&mut read),
                };
                assert_eq!(ended.ok().map(|_| read.as_str()), wanted, "{encoding:?}");
            }
        }
    }
}
