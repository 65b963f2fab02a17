//! Fiat–Shamir challenges.

use hushwire_prg::Seed;

use crate::{Role, Sid};

/// Separates this crate's challenges from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot challenge v1";

/// All that both parties sent in one protocol, hashed per direction.
///
/// A challenge is H(domain, sid, protocol, step, hash of what the sender sent, hash of what the receiver sent): both
/// directions, in canonical order, so that both parties compute the same one.
#[derive(Clone)]
pub struct Transcript {
    sid: Sid,
    protocol: &'static str,
    sent: [blake3::Hasher; 2],
}

impl Transcript {
    /// An empty transcript of `protocol` in the session `sid`.
    #[must_use]
    pub fn new(sid: &Sid, protocol: &'static str) -> Self {
        Self { sid: *sid, protocol, sent: [blake3::Hasher::new(), blake3::Hasher::new()] }
    }

    /// Adds a message that `from` sent.
    pub fn absorb(&mut self, from: Role, message: &[u8]) {
        let hasher = &mut self.sent[from as usize];
        hasher.update(&(message.len() as u64).to_le_bytes());
        hasher.update(message);
    }

    /// A public challenge that binds all that was absorbed. Steps of one protocol have distinct names.
    #[must_use]
    pub fn challenge(&self, step: &str) -> Seed {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&self.sid.0);
        for name in [self.protocol, step] {
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name.as_bytes());
        }
        for sent in &self.sent {
            hasher.update(sent.finalize().as_bytes());
        }
        let mut seed = [0; 16];
        hasher.finalize_xof().fill(&mut seed);
        Seed::from_bytes(seed)
    }
}
