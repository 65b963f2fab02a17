//! Keys and initial counters as the user gives them.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::{fmt, fs::File, io::Read, path::Path};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An AES-128 key that the user gave. No `Debug`; zeroized when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Key([u8; 16]);

impl Key {
    /// From 32 hexadecimal digits. The error does not repeat them.
    pub(crate) fn from_hex(digits: &str) -> Result<Self, String> {
        let mut key = Key([0; 16]);
        hex::decode_to_slice(digits.trim(), &mut key.0).map_err(|_| {
            format!("a key is 32 hexadecimal digits, and these {} characters are not", digits.trim().len())
        })?;
        Ok(key)
    }

    /// From a file of 16 raw bytes, or of 32 hexadecimal digits and a line end.
    pub(crate) fn from_file(path: &Path) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(64));
        let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut bytes));
        read.map_err(|e| Error::io("read the key file", path, &e))?;
        if let Ok(raw) = <[u8; 16]>::try_from(&bytes[..]) {
            return Ok(Key(raw));
        }
        let digits = std::str::from_utf8(&bytes).ok().filter(|text| text.trim_end().len() == 32);
        digits.and_then(|text| Self::from_hex(text).ok()).ok_or_else(|| {
            Error::file(
                "use the key file",
                path,
                "it holds neither 16 raw bytes nor 32 hexadecimal digits",
                "make one with: openssl rand -hex 16 > FILE",
            )
        })
    }

    /// The key itself.
    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// The first counter block, as a big-endian number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Iv(pub(crate) u128);

impl Iv {
    /// From 32 hexadecimal digits.
    pub(crate) fn from_hex(digits: &str) -> Result<Self, String> {
        let mut iv = [0; 16];
        hex::decode_to_slice(digits.trim(), &mut iv)
            .map_err(|_| format!("{digits:?} is not an initial counter of 32 hexadecimal digits"))?;
        Ok(Self(u128::from_be_bytes(iv)))
    }

    /// A fresh one. Two of them start fewer than 2^36 blocks (1 TiB) apart with a probability below 2^-91.
    pub(crate) fn draw() -> Result<Self, Error> {
        Ok(Self(u128::from_be_bytes(draw("drawing an initial counter")?)))
    }
}

impl fmt::Display for Iv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Iv {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Iv {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(from)?;
        Self::from_hex(&digits).map_err(serde::de::Error::custom)
    }
}

/// Bytes from the operating system.
pub(crate) fn draw<const N: usize>(doing: &'static str) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Error::Internal { doing, cause: e.to_string() })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_digits() {
        let key = Key::from_hex("000102030405060708090A0b0c0d0e0f");
        assert_eq!(key.map(|k| k.bytes()[10..12].to_vec()).ok(), Some(vec![10, 11]));
        for bad in ["", "00", "zz0102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f00"] {
            let error = Key::from_hex(bad).err().unwrap_or_else(|| panic!("{bad} was taken"));
            assert!(bad.len() < 4 || !error.contains(bad), "the error repeats the key");
        }
    }

    #[test]
    fn keys_are_read_from_files() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("key");
        let hex = "2b7e151628aed2a6abf7158809cf4f3c";
        let raw = hex::decode(hex).unwrap_or_default();
        for (text, good) in [
            (raw.clone(), true),
            (hex.into(), true),
            (format!("{hex}\n").into(), true),
            (format!("{hex}\r\n").into(), true),
            (vec![], false),
            (raw[..15].to_vec(), false),
            (format!("{hex}00").into(), false),
            (vec![b'0'; 1000], false),
        ] {
            std::fs::write(&path, &text).unwrap_or_else(|e| panic!("{e}"));
            let key = Key::from_file(&path);
            assert_eq!(key.is_ok(), good, "{text:?}");
            assert!(key.is_err() || key.is_ok_and(|k| k.bytes()[..] == raw[..]));
        }
    }

    #[test]
    fn counters_are_read_and_shown() {
        for digits in ["00000000000000000000000000000000", "fffffffffffffffffffffffffffffff0"] {
            assert_eq!(Iv::from_hex(digits).map(|iv| iv.to_string()), Ok(digits.to_owned()));
        }
        assert!(Iv::from_hex("f0").is_err());
    }
}
