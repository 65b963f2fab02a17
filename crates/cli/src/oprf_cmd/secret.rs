//! The file with the secret key of a list, readable only by its owner.

use crate::error::Error;
use hushwire::job::read_private_key;
use hushwire_psi::oprf::ListKey;
use std::path::Path;
use zeroize::Zeroizing;

/// The label marks the file as a private key. No output ever replaces such a file (`RunFiles`), and
/// no command reads it if others can read it.
const BEGIN: &str = "-----BEGIN HUSHWIRE PSI PRIVATE KEY-----";
const END: &str = "-----END HUSHWIRE PSI PRIVATE KEY-----";

/// A key, and the forms of the keys in its lists.
///
/// ```text
/// -----BEGIN HUSHWIRE PSI PRIVATE KEY-----
/// 64 hexadecimal digits
/// forms
/// -----END HUSHWIRE PSI PRIVATE KEY-----
/// ```
pub(super) struct Secret {
    pub(super) key: ListKey,
    pub(super) forms: String,
}

impl Secret {
    pub(super) fn text(&self) -> Zeroizing<String> {
        let digits = Zeroizing::new(hex::encode(&self.key.to_bytes()[..]));
        Zeroizing::new(format!("{BEGIN}\n{}\n{}\n{END}\n", *digits, self.forms))
    }

    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |cause: &str| {
            Error::file("use the key", path, cause, "name a file that `hushwire psi publish` made")
        };
        if !path.exists() {
            return Err(wrong("there is no such file"));
        }
        let text = read_private_key(path)?;
        let lines: Vec<&str> = text.lines().collect();
        let [BEGIN, digits, forms, END] = lines.as_slice() else {
            return Err(wrong("it holds no key of a list"));
        };
        let mut bytes = Zeroizing::new([0; 32]);
        let decoded =
            hex::decode_to_slice(digits, &mut bytes[..]).ok().and_then(|()| ListKey::from_bytes(&bytes));
        let key = decoded.ok_or_else(|| wrong("its key is damaged"))?;
        Ok(Self { key, forms: (*forms).to_owned() })
    }
}
