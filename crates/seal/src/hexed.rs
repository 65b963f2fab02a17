//! Byte arrays as lower-case hexadecimal digits.

use crate::SealError;

/// Reads exactly `N` bytes of lower-case digits, so that each name has a single text.
pub(crate) fn read<const N: usize>(what: &'static str, text: &str) -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    let wanted =
        || SealError::format(what, format_args!("it is not {} lower-case hexadecimal digits", 2 * N));
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(wanted());
    }
    hex::decode_to_slice(text, &mut bytes).map_err(|_| wanted())?;
    Ok(bytes)
}

/// Implements the texts of a tuple struct of bytes: `Display`, `FromStr` and serde, with a prefix.
macro_rules! hexed {
    ($name:ident, $what:literal, $prefix:literal) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), hex::encode(self.0))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::SealError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::hexed::read($what, text.strip_prefix($prefix).unwrap_or(text)).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use hexed;
