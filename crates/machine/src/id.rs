//! The numbers of parties, and the names of sessions.

use core::fmt;

/// A party of a session: 0 to 127 compute, 128 to 254 are clients that only bring inputs and take outputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartyId(pub u8);

impl PartyId {
    /// The first id that belongs to clients.
    pub const FIRST_CLIENT: u8 = 128;
    /// The client that owns the data of a job with one data owner.
    pub const OWNER: Self = Self(Self::FIRST_CLIENT);

    /// Whether this is a client: it dials the parties and they never dial it.
    #[must_use]
    pub const fn is_client(self) -> bool {
        self.0 >= Self::FIRST_CLIENT
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Self::FIRST_CLIENT => f.write_str("owner"),
            id if self.is_client() => write!(f, "client {id}"),
            id => write!(f, "party {id}"),
        }
    }
}

/// The name or the id of a session, 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// AGREEMENT: what no session is called: parties that only look at each other say it.
    pub const PROBE: Self = Self(*b"hushwire-probe/1");

    /// A fresh id from the operating system's randomness.
    ///
    /// # Errors
    /// The operating system's error when it has no randomness to give.
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
