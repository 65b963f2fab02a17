//! Serialization of values in messages between processes of one member. Paths (with any bytes) and
//! byte strings are written as hexadecimal digits.
#![allow(missing_docs, reason = "serde's `with` calls them")]

use hushwire_block::Wiped;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

fn decoded<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let digits = Wiped::new(String::deserialize(from)?);
    hex::decode(&*digits).map_err(D::Error::custom)
}

/// A path as hexadecimal digits.
pub mod path {
    use super::decoded;
    use serde::{Deserializer, Serializer};
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt, OsStringExt},
        path::{Path, PathBuf},
    };

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(path.as_os_str().as_bytes()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        decoded(from).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
    }
}

/// An optional path.
pub mod maybe_path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::PathBuf;

    #[derive(Serialize, Deserialize)]
    struct Text(#[serde(with = "super::path")] PathBuf);

    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.clone().map(Text).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Text>::deserialize(from)?.map(|text| text.0))
    }
}

/// Bytes, possibly secret, as hexadecimal digits. The text is wiped after use.
pub mod bytes {
    use super::{Deserializer, Serializer, Wiped, decoded};
    use std::sync::Arc;

    pub fn serialize<S: Serializer>(bytes: &Arc<Wiped<Vec<u8>>>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&Wiped::new(hex::encode(&***bytes)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Wiped<Vec<u8>>>, D::Error> {
        decoded(from).map(|bytes| Arc::new(Wiped::new(bytes)))
    }
}

/// Optional bytes.
pub mod maybe_bytes {
    use super::{Wiped, bytes};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    #[derive(Serialize, Deserialize)]
    struct Text(#[serde(with = "bytes")] Arc<Wiped<Vec<u8>>>);

    pub fn serialize<S: Serializer>(value: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        value.clone().map(|bytes| Text(Arc::new(Wiped::new(bytes)))).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Text>::deserialize(from)?.map(|text| text.0.to_vec()))
    }
}

/// A text, possibly secret. It is wiped after use.
pub mod secret {
    use super::{Deserialize, Deserializer, Serializer, Wiped};

    pub fn serialize<S: Serializer>(text: &Wiped<String>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Wiped<String>, D::Error> {
        String::deserialize(from).map(Wiped::new)
    }
}

#[cfg(test)]
mod tests {
    use crate::InputPlace;
    use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

    #[test]
    fn any_path_and_any_bytes_survive() {
        let path = PathBuf::from(OsString::from_vec(vec![b'/', 0xff, b' ', b'\n']));
        let sent = [InputPlace::File(path.clone()), InputPlace::memory([0, 0xff, b'"'])];
        let text = serde_json::to_string(&sent).unwrap_or_else(|e| panic!("{e}"));
        let heard: Vec<InputPlace> = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}"));
        assert!(matches!(&heard[0], InputPlace::File(heard) if *heard == path));
        assert!(matches!(&heard[1], InputPlace::Memory(bytes) if bytes[..] == [0, 0xff, b'"']));
    }
}
