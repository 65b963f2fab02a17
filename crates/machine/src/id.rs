//! The names of sessions.

use core::fmt;

/// The name or the id of a session, 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// AGREEMENT: the name in probes between parties. No session has it.
    pub const PROBE: Self = Self(*b"hushwire-probe/1");

    /// Draws a fresh id from the operating system's randomness.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn fresh() -> std::io::Result<Self> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|e| std::io::Error::other(e.to_string()))?;
        Ok(Self(id))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}
