//! Names that are hashes of what they name.

use crate::hexed::hexed;

/// The BLAKE3 hash of some bytes: `blake3:` and 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlakeName(pub [u8; 32]);

hexed!(BlakeName, "a name", "blake3:");

impl BlakeName {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// A drawn name, for something that has no bytes yet.
    ///
    /// # Panics
    /// If the operating system gives no randomness: nothing secret is possible then.
    #[must_use]
    pub fn random() -> Self {
        Self(crate::keys::drawn())
    }

    /// Its digits alone.
    #[must_use]
    pub fn digits(&self) -> String {
        hex::encode(self.0)
    }
}
