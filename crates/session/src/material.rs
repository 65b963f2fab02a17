//! One-time material of a run: the owner of the preprocessing that it takes, and the observer that
//! is told before each use.

use crate::Fault;
use hushwire_block::Wiped;
use hushwire_wire::{Identity, Pin};
use zeroize::Zeroizing;

/// The domain that separates the key of stocks from other uses of a party's identity.
const DOMAIN: &str = "hushwire 2026 authgarble shelf key v2";

/// An observer that is told of each file of preprocessing before it is used.
pub trait Material: Send + Sync {
    /// The run is about to use this file. The file counts as used from now on, whatever the run's
    /// result is.
    ///
    /// # Errors
    /// The file was used before; the run ends.
    fn uses(&self, file: &str) -> Result<(), Fault>;
}

/// The owner of the preprocessing that a run takes, if the members' keys are made for the run
/// alone. It has a key for the party's own files, and the pins of all parties. No `Debug`.
#[derive(Clone)]
pub struct ShelfOwner {
    key: Wiped<[u8; 16]>,
    pins: Vec<Pin>,
}

impl ShelfOwner {
    /// The owner with this identity, among parties with these pins, in their order.
    ///
    /// # Errors
    /// The identity has no private key.
    pub fn of(identity: &Identity, pins: Vec<Pin>) -> Result<Self, Fault> {
        Ok(Self { key: key_of(identity)?, pins })
    }

    /// Makes an owner from its [`key`](Self::key) and its [`pins`](Self::pins).
    #[must_use]
    pub fn new(key: &[u8; 16], pins: Vec<Pin>) -> Self {
        Self { key: Wiped::new(*key), pins }
    }

    /// The key that opens the party's files. It is meant for the process that computes, and must
    /// not be written to disk.
    #[must_use]
    pub fn key(&self) -> &[u8; 16] {
        &self.key
    }

    /// The pins of all parties.
    #[must_use]
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }
}

/// The base64 text of a private key, whatever else its file holds and however its lines are broken.
fn private_key(pem: &str) -> Option<Wiped<String>> {
    let (_, from) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (key, _) = from.split_once("-----END PRIVATE KEY-----")?;
    let mut text = Wiped::new(String::with_capacity(key.len()));
    text.extend(key.chars().filter(|c| !c.is_whitespace()));
    Some(text)
}

/// The key of a party's shelf, which is derived from its private key.
pub(crate) fn key_of(identity: &Identity) -> Result<Wiped<[u8; 16]>, Fault> {
    let pem = identity.to_pem();
    let private =
        private_key(&pem).ok_or_else(|| Fault::internal("preprocessing", "an identity without its key"))?;
    let long = Zeroizing::new(blake3::derive_key(DOMAIN, private.as_bytes()));
    let mut key = Wiped::new([0; 16]);
    key.copy_from_slice(&long[..16]);
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_stocks_is_of_the_private_key_alone() {
        let pem = Identity::generate("a").expect("an identity").to_pem();
        let key = private_key(&pem).expect("a key");
        let folded = pem.replace('\n', "\r\n") + "\nwhat the owner wrote below\n";
        assert_eq!(private_key(&folded).as_ref(), Some(&key));
        let other = Identity::generate("a").expect("an identity").to_pem();
        assert_ne!(private_key(&other), Some(key));
        assert_eq!(private_key("no key"), None);
    }
}
