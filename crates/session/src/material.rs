//! One-time material of a run: whose preprocessing it takes, and who hears of it before.

use crate::Fault;
use hushwire_block::Wiped;
use hushwire_wire::{Identity, Pin};
use zeroize::Zeroizing;

/// Separates the key of stocks from any other use of a party's identity.
const DOMAIN: &str = "hushwire 2026 authgarble shelf key v2";

/// Hears of each file of preprocessing before it is used.
pub trait Material: Send + Sync {
    /// The run is about to use this file, which is used up from now on, whatever becomes of the
    /// run.
    ///
    /// # Errors
    /// It was used before: the run ends.
    fn uses(&self, file: &str) -> Result<(), Fault>;
}

/// Whose preprocessing a run takes, where the members' keys are made for the run alone: a key for
/// the party's own files, and the pins of all parties. No `Debug`.
#[derive(Clone)]
pub struct ShelfOwner {
    key: Wiped<[u8; 16]>,
    pins: Vec<Pin>,
}

impl ShelfOwner {
    /// The party of an identity, among parties of these pins, in their order.
    ///
    /// # Errors
    /// The identity has no private key.
    pub fn of(identity: &Identity, pins: Vec<Pin>) -> Result<Self, Fault> {
        Ok(Self { key: key_of(identity)?, pins })
    }

    /// As [`key`](Self::key) and [`pins`](Self::pins) say.
    #[must_use]
    pub fn new(key: &[u8; 16], pins: Vec<Pin>) -> Self {
        Self { key: Wiped::new(*key), pins }
    }

    /// The key that opens the party's files: for the process that computes, and for no disk.
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

/// The base64 text of a private key, whatever else its file holds and however it is broken into
/// lines.
fn private_key(pem: &str) -> Option<Wiped<String>> {
    let (_, from) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (key, _) = from.split_once("-----END PRIVATE KEY-----")?;
    let mut text = Wiped::new(String::with_capacity(key.len()));
    text.extend(key.chars().filter(|c| !c.is_whitespace()));
    Some(text)
}

/// The key of a party's shelf, which comes from its private key.
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
