//! The keys of a person: an owner who signs data sets, an operator who signs policies, or a
//! recipient who opens results.

use crate::{
    KeyId, OpenKey, SealError, SealTo, SignKey, VerifyKey, canonical, from_canonical,
    master::{read_private, write_private},
};
use hushwire_fault::Fault;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

const FORMAT: &str = "hushwire keys v1";

/// A signing key and opening keys. The current opening key is first; results may still be sealed to
/// the older ones after it. No `Debug`: it holds secrets.
pub struct Person {
    sign: SignKey,
    open: Vec<OpenKey>,
}

/// The public half of a [`Person`], for others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The name of the person. No check reads it.
    pub name: String,
    /// The key that checks the person's signatures.
    pub sign: VerifyKey,
    /// The short name of `seal_to`.
    pub id: KeyId,
    /// The key to which results for the person are sealed.
    pub seal_to: SealTo,
}

/// The text of the file. Its secrets are wiped.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonFile {
    format: String,
    open: Vec<String>,
    sign: String,
}

impl Drop for PersonFile {
    fn drop(&mut self) {
        self.sign.zeroize();
        self.open.zeroize();
    }
}

impl Person {
    /// Draws new keys.
    ///
    /// # Panics
    /// If the operating system gives no randomness.
    #[must_use]
    pub fn generate() -> Self {
        Self { sign: SignKey::generate(), open: vec![OpenKey::generate()] }
    }

    /// Reads a file of keys.
    ///
    /// # Errors
    /// The file cannot be read, other users may read it, or it is not such a file.
    pub fn read(path: &Path) -> Result<Self, Fault> {
        let text = read_private(path)?;
        Self::parse(text.trim_end().as_bytes())
            .map_err(|e| e.fault().during(format_args!("reading {}", path.display())))
    }

    fn parse(text: &[u8]) -> Result<Self, SealError> {
        const WHAT: &str = "the file of keys";
        let file: PersonFile = from_canonical(WHAT, text)?;
        if file.format != FORMAT || file.open.is_empty() {
            return Err(SealError::format(WHAT, "it is none of this release"));
        }
        let key = |digits: &str| crate::hexed::read(WHAT, digits).map(Zeroizing::new);
        Ok(Self {
            sign: SignKey::from_seed(&*key(&file.sign)?),
            open: file
                .open
                .iter()
                .map(|digits| Ok(OpenKey::from_bytes(&*key(digits)?)))
                .collect::<Result<_, SealError>>()?,
        })
    }

    /// Writes a file that only its owner may read. `replaces` says whether an existing file is
    /// replaced.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path, replaces: bool) -> Result<(), Fault> {
        let file = PersonFile {
            format: FORMAT.to_owned(),
            open: self.open.iter().map(|key| hex::encode(key.expose())).collect(),
            sign: hex::encode(self.sign.expose()),
        };
        let mut text = Zeroizing::new(canonical(&file)?);
        text.push('\n');
        write_private(path, text.as_bytes(), replaces)
    }

    /// Draws a new key for results. The old keys stay, for results that are sealed to them.
    pub fn rotate(&mut self) {
        self.open.insert(0, OpenKey::generate());
    }

    /// The public half, for others.
    #[must_use]
    pub fn card(&self, name: &str) -> Card {
        let seal_to = self.open[0].public();
        Card { name: name.to_owned(), sign: self.sign.public(), id: seal_to.id(), seal_to }
    }

    /// The signing key.
    #[must_use]
    pub fn sign(&self) -> &SignKey {
        &self.sign
    }

    /// The ids of the opening keys, the current one first.
    #[must_use]
    pub fn ids(&self) -> Vec<KeyId> {
        self.open.iter().map(|key| key.public().id()).collect()
    }

    /// The opening key with this id.
    ///
    /// # Errors
    /// There is no such key.
    pub fn open_key(&self, id: KeyId) -> Result<&OpenKey, SealError> {
        self.open.iter().find(|key| key.public().id() == id).ok_or(SealError::OtherKey(id))
    }
}

impl Card {
    /// Checks that the id belongs to the key.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self) -> Result<(), SealError> {
        if self.id == self.seal_to.id() {
            return Ok(());
        }
        Err(SealError::format("the card of keys", format_args!("{} is not the id of its key", self.id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_of_keys_keeps_old_keys() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("anna.keys");
        let mut anna = Person::generate();
        anna.write(&path, false).unwrap_or_else(|e| panic!("{e}"));
        assert!(anna.write(&path, false).is_err(), "no keys are replaced by chance");
        let before = anna.card("anna");
        assert_eq!(before.check(), Ok(()));
        anna.rotate();
        anna.write(&path, true).unwrap_or_else(|e| panic!("{e}"));
        let read = Person::read(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.card("anna"), anna.card("anna"));
        assert_eq!(read.ids(), [anna.card("").id, before.id]);
        assert!(read.open_key(before.id).is_ok(), "an old key still opens");
        let stranger = OpenKey::generate().public().id();
        assert_eq!(read.open_key(stranger).err(), Some(SealError::OtherKey(stranger)));
        let mixed = Card { id: before.id, ..anna.card("anna") };
        assert!(mixed.check().is_err());
    }

    #[test]
    fn a_damaged_file_of_keys_is_an_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("anna.keys");
        Person::generate().write(&path, false).unwrap_or_else(|e| panic!("{e}"));
        let text = fs::read_to_string(&path).expect("a file");
        for (from, to) in [("v1", "v2"), ("\"open\":[\"", "\"open\":[\"0"), ("sign", "sing"), ("{", "{ ")] {
            fs::write(&path, text.replacen(from, to, 1)).expect("a file");
            let code = Person::read(&path).err().map(|e| e.code());
            assert_eq!(code, Some(hushwire_fault::code::SEAL_FORMAT), "{from}");
        }
    }
}
