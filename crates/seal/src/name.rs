//! Names that are hashes of the named data.

use crate::hexed::hexed;

/// The BLAKE3 hash of some bytes. Its text is `blake3:` and 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlakeName(pub [u8; 32]);

hexed!(BlakeName, "a name", "blake3:");

impl BlakeName {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Draws a random name, for something that has no bytes yet.
    ///
    /// # Panics
    /// If the operating system gives no randomness, since no secret is possible without it.
    #[must_use]
    pub fn random() -> Self {
        Self(crate::keys::drawn())
    }

    /// The digits without the prefix.
    #[must_use]
    pub fn digits(&self) -> String {
        hex::encode(self.0)
    }
}
