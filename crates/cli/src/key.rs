//! Keys and initial counters as the user gives them.

use crate::{
    error::Error,
    files::{is_stream, open_to_others},
    log,
};
use hushwire_aes::{Aes128, Aes192, Aes256, Backend};
use hushwire_circuit::mark;
use hushwire_rep3::KeySize;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An AES key that the user gave. No `Debug`; zeroized when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// From 32, 48 or 64 hexadecimal digits. The error does not repeat them.
    pub(crate) fn from_hex(digits: &str) -> Result<Self, String> {
        let digits = digits.trim();
        let key = hex::decode(digits).ok().map(Key);
        key.filter(|key| KeySize::of_bytes(key.0.len()).is_some()).ok_or_else(|| {
            format!("a key is 32, 48 or 64 hexadecimal digits, and these {} characters are not", digits.len())
        })
    }

    /// From a file of 16, 24 or 32 raw bytes, or of twice as many hexadecimal digits and a line end. Hexadecimal digits
    /// are never taken for raw bytes: as those they would be a weak key.
    pub(crate) fn from_file(path: &Path) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(128));
        let unread = |e: &io::Error| Error::io("read the key file", path, e);
        if is_stream(path) {
            io::stdin().lock().take(128).read_to_end(&mut bytes).map_err(|e| unread(&e))?;
        } else {
            let file = File::open(path).map_err(|e| unread(&e))?;
            let meta = file.metadata().map_err(|e| unread(&e))?;
            if meta.is_file() && open_to_others(&meta.permissions()) {
                let path = path.display();
                log::warn(format_args!("other users can read the key file {path}; run `chmod 600 {path}`"));
            }
            file.take(128).read_to_end(&mut bytes).map_err(|e| unread(&e))?;
        }
        let digits = std::str::from_utf8(mark::strip(&bytes)).ok().map(str::trim_end);
        if let Some(key) = digits.and_then(|digits| Self::from_hex(digits).ok()) {
            return Ok(key);
        }
        if KeySize::of_bytes(bytes.len()).is_some() {
            return Ok(Key(bytes.to_vec()));
        }
        Err(Error::file(
            "use the key file",
            path,
            "it holds neither 16, 24 or 32 raw bytes nor 32, 48 or 64 hexadecimal digits",
            "make one with: openssl rand -hex 16 > FILE",
        ))
    }

    /// How long it is.
    pub(crate) fn size(&self) -> KeySize {
        KeySize::of_bytes(self.0.len()).expect("checked when the key was read")
    }

    /// A name for it that says nothing about it.
    pub(crate) fn fingerprint(&self) -> String {
        hex::encode(&blake3::derive_key("hushwire aes-ctr key fingerprint v1", &self.0)[..8])
    }

    /// Its round keys.
    pub(crate) fn expanded(&self, backend: Backend) -> Zeroizing<Vec<u8>> {
        fn keys<const R: usize>(key: &hushwire_aes::Key<R>) -> Zeroizing<Vec<u8>> {
            Zeroizing::new(key.round_keys().concat())
        }
        let sized = "as many bytes as the size says";
        match self.size() {
            KeySize::Aes128 => keys(&Aes128::on(backend, self.0[..].try_into().expect(sized))),
            KeySize::Aes192 => keys(&Aes192::on(backend, self.0[..].try_into().expect(sized))),
            KeySize::Aes256 => keys(&Aes256::on(backend, self.0[..].try_into().expect(sized))),
        }
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
        let digits = "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        for (len, size) in [(32, KeySize::Aes128), (48, KeySize::Aes192), (64, KeySize::Aes256)] {
            let key = Key::from_hex(&digits[..len]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((key.0[10..12].to_vec(), key.size()), (vec![10, 11], size));
        }
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
            assert!(key.is_err() || key.is_ok_and(|k| k.0 == raw));
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
