//! Fiat–Shamir challenges: BLAKE3 hashes of the session, the protocol, the step, and all earlier
//! messages.

use hushwire_prg::Seed;

use crate::{Role, Sid};

/// The domain that separates this crate's challenges from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot challenge v1";

/// All messages of both parties in one protocol, hashed for each direction.
///
/// A challenge is H(domain, sid, protocol, step, hash of the sender's messages, hash of the
/// receiver's messages). It covers both directions in canonical order, so that both parties compute
/// the same challenge.
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

    /// A public challenge that binds all absorbed messages. The steps of one protocol have distinct
    /// names.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A challenge depends on everything that both endpoints must agree on, and on the direction of
    /// each message.
    #[test]
    fn a_challenge_binds_session_protocol_step_and_every_message() {
        let of = |sid: u8, protocol, step, messages: &[(Role, &[u8])]| {
            let mut transcript = Transcript::new(&Sid([sid; 32]), protocol);
            for (from, message) in messages {
                transcript.absorb(*from, message);
            }
            *transcript.challenge(step).expose()
        };
        use Role::{Receiver, Sender};
        let said: [(Role, &[u8]); 2] = [(Sender, b"one"), (Receiver, b"two")];
        let challenges = [
            of(1, "a", "b", &said),
            of(2, "a", "b", &said),
            of(1, "c", "b", &said),
            of(1, "a", "c", &said),
            of(1, "", "ab", &said),
            of(1, "a", "b", &[]),
            of(1, "a", "b", &[said[0]]),
            of(1, "a", "b", &[said[1]]),
            of(1, "a", "b", &[(Sender, b"two"), (Receiver, b"one")]),
            of(1, "a", "b", &[(Sender, b"one"), (Receiver, b"twp")]),
            of(1, "a", "b", &[(Sender, b"onf"), (Receiver, b"two")]),
            of(1, "a", "b", &[(Sender, b"on"), (Sender, b"e"), (Receiver, b"two")]),
            of(1, "a", "b", &[said[0], said[1], (Receiver, b"")]),
        ];
        for (i, challenge) in challenges.iter().enumerate() {
            assert!(!challenges[..i].contains(challenge), "challenge {i} came before");
        }
        // The two directions have no order between them: each endpoint writes its own message
        // before it receives the other's.
        assert_eq!(of(1, "a", "b", &[said[1], said[0]]), challenges[0]);
    }
}
