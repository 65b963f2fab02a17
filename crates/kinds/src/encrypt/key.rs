//! AES keys that the user gives.

use hushwire_aes::{Aes128, Aes192, Aes256, Backend};
use hushwire_block::Wiped;
use hushwire_files::mark;
use hushwire_rep3::KeySize;
use hushwire_session::Fault;
use std::{fs::File, io::Read, path::Path};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// LOCAL: the longest key file, in bytes.
const LONGEST: u64 = 128;

/// An AES key that the user gave. It has no `Debug`, and is zeroized when dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct AesKey(Bytes);

#[derive(Zeroize, ZeroizeOnDrop)]
enum Bytes {
    Aes128([u8; 16]),
    Aes192([u8; 24]),
    Aes256([u8; 32]),
}

impl AesKey {
    /// Takes 16, 24 or 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(match KeySize::of_bytes(bytes.len())? {
            KeySize::Aes128 => Bytes::Aes128(bytes.try_into().ok()?),
            KeySize::Aes192 => Bytes::Aes192(bytes.try_into().ok()?),
            KeySize::Aes256 => Bytes::Aes256(bytes.try_into().ok()?),
        }))
    }

    /// Reads 32, 48 or 64 hexadecimal digits.
    ///
    /// # Errors
    /// The text is something else. The error does not repeat it.
    pub fn from_hex(digits: &str) -> Result<Self, String> {
        let digits = digits.trim();
        let bytes = hex::decode(digits).ok().map(Wiped::new);
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).ok_or_else(|| {
            format!("a key is 32, 48 or 64 hexadecimal digits, and these {} characters are not", digits.len())
        })
    }

    /// Reads a file of 16, 24 or 32 raw bytes, or of twice as many hexadecimal digits and a line
    /// end. Hexadecimal digits are never read as raw bytes, which would be a weak key.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn from_file(path: &Path) -> Result<Self, Fault> {
        let file = File::open(path).map_err(|e| Fault::io("read the key file", path, &e))?;
        Self::from_reader(file, path)
    }

    /// Like [`AesKey::from_file`], for any reader that messages call `path`.
    ///
    /// # Errors
    /// The same as [`AesKey::from_file`].
    pub fn from_reader(from: impl Read, path: &Path) -> Result<Self, Fault> {
        // The vector has room for all bytes, so that no reallocation leaves a copy behind.
        let mut bytes = Wiped::new(Vec::with_capacity(LONGEST as usize));
        let read = from.take(LONGEST).read_to_end(&mut bytes);
        read.map_err(|e| Fault::io("read the key file", path, &e))?;
        let digits = std::str::from_utf8(mark::strip(&bytes)).ok().map(str::trim_end);
        let key = digits.and_then(|digits| Self::from_hex(digits).ok());
        key.or_else(|| Self::from_bytes(&bytes)).ok_or_else(|| {
            Fault::file(
                "use the key file",
                path,
                "it holds neither 16, 24 or 32 raw bytes nor 32, 48 or 64 hexadecimal digits",
                "make one with: openssl rand -hex 16 > FILE",
            )
        })
    }

    /// The key's size.
    #[must_use]
    pub fn size(&self) -> KeySize {
        match self.0 {
            Bytes::Aes128(_) => KeySize::Aes128,
            Bytes::Aes192(_) => KeySize::Aes192,
            Bytes::Aes256(_) => KeySize::Aes256,
        }
    }

    /// Its bytes, which are secret.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        match &self.0 {
            Bytes::Aes128(key) => key,
            Bytes::Aes192(key) => key,
            Bytes::Aes256(key) => key,
        }
    }

    /// A name for the key that reveals nothing about it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        hex::encode(&blake3::derive_key("hushwire aes-ctr key fingerprint v1", self.expose())[..8])
    }

    /// The round keys, one after the other.
    #[must_use]
    pub fn expanded(&self, backend: Backend) -> Wiped<Vec<u8>> {
        fn keys<const R: usize>(key: &hushwire_aes::RoundKeys<R>) -> Wiped<Vec<u8>> {
            Wiped::new(key.round_keys().concat())
        }
        match &self.0 {
            Bytes::Aes128(key) => keys(&Aes128::on(backend, key)),
            Bytes::Aes192(key) => keys(&Aes192::on(backend, key)),
            Bytes::Aes256(key) => keys(&Aes256::on(backend, key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_digits() {
        let digits = "000102030405060708090A0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        for (len, size) in [(32, KeySize::Aes128), (48, KeySize::Aes192), (64, KeySize::Aes256)] {
            let key = AesKey::from_hex(&digits[..len]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((key.expose()[10..12].to_vec(), key.size()), (vec![10, 11], size));
        }
        for bad in ["", "00", "zz0102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e0f00"] {
            let error = AesKey::from_hex(bad).err().unwrap_or_else(|| panic!("{bad} was taken"));
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
            let key = AesKey::from_file(&path);
            assert_eq!(key.is_ok(), good, "{text:?}");
            assert!(key.is_err() || key.is_ok_and(|k| k.expose() == raw));
        }
    }
}
