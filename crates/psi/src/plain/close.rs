//! Additions for the malicious mode: the sender's committed mask, and a comparison of all messages.

use hushwire_block::{Block, Buffer};
use hushwire_machine::drive::Talk;
use hushwire_ot::{Role, Sid, Transcript};
use hushwire_prg::Prg;
use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use crate::PsiError;

/// AGREEMENT: separates commitments from any other use of BLAKE3.
const DOMAIN: &str = "hushwire psi mask v1";

/// The bytes of a commitment, and of a digest of the transcript.
pub(super) const DIGEST: usize = 32;
/// The bytes of the receiver's mask.
pub(super) const MASK: usize = 16;
/// The bytes of the sender's mask with the randomness that hides it.
pub(super) const OPENING: usize = 32;

/// The sender's mask w_S, and the randomness of its commitment.
#[derive(ZeroizeOnDrop)]
pub(super) struct Mask([u8; OPENING]);

impl Mask {
    pub(super) fn new(prg: &mut Prg) -> Self {
        let mut mask = Mask([0; OPENING]);
        prg.fill(&mut mask.0);
        mask
    }

    /// A mask from an opening.
    ///
    /// # Errors
    /// If the opening does not match the commitment.
    pub(super) fn open(sid: &Sid, opening: &[u8], commitment: &[u8; DIGEST]) -> Result<Self, PsiError> {
        let mut mask = Mask([0; OPENING]);
        mask.0.copy_from_slice(opening);
        if bool::from(mask.commitment(sid).ct_eq(commitment)) {
            Ok(mask)
        } else {
            Err(PsiError::Abort { peer: None, check: "mask" })
        }
    }

    pub(super) fn commitment(&self, sid: &Sid) -> [u8; DIGEST] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&sid.0).update(&self.0);
        *hasher.finalize().as_bytes()
    }

    pub(super) fn opening(&self) -> &[u8; OPENING] {
        &self.0
    }

    pub(super) fn value(&self) -> Block {
        block(&self.0)
    }
}

/// The first 16 bytes, as a block.
pub(super) fn block(bytes: &[u8]) -> Block {
    Block(*bytes.first_chunk().expect("16 bytes"))
}

/// The transcript of all messages after the VOLE; `None` in the semi-honest mode.
pub(super) struct Spoken(Option<Transcript>);

impl Spoken {
    pub(super) fn new(sid: &Sid, is_malicious: bool) -> Self {
        Spoken(is_malicious.then(|| Transcript::new(sid, "psi plain")))
    }

    /// Records a message of the party with this role in the VOLE.
    pub(super) fn hear(&mut self, role: Role, message: &[u8]) {
        if let Some(transcript) = &mut self.0 {
            transcript.absorb(role, message);
        }
    }

    /// The digest that the party with this role sends. The two roles have different digests, so
    /// that a party cannot send one back.
    pub(super) fn digest(&self, role: Role) -> [u8; DIGEST] {
        let transcript = self.0.as_ref().expect("malicious modes close");
        let step = match role {
            Role::Sender => "close of the sender",
            Role::Receiver => "close of the receiver",
        };
        let mut key = [0; DIGEST];
        key[..16].copy_from_slice(transcript.challenge(step).expose());
        blake3::derive_key(DOMAIN, &key)
    }

    /// Compares the digest from the peer, whose role is `role`.
    ///
    /// # Errors
    /// If the peer received or sent other messages.
    pub(super) fn compare(&self, role: Role, digest: &[u8]) -> Result<(), PsiError> {
        if bool::from(self.digest(role).ct_eq(digest)) {
            Ok(())
        } else {
            Err(PsiError::Abort { peer: None, check: "transcript" })
        }
    }
}

/// The messages of a party after the VOLE, recorded in a transcript.
pub(super) struct Noted {
    talk: Talk,
    spoken: Spoken,
    me: Role,
}

impl Noted {
    pub(super) fn new(talk: Talk, spoken: Spoken, me: Role) -> Self {
        Noted { talk, spoken, me }
    }

    /// The messages of an inner machine, which are not recorded.
    pub(super) fn talk(&self) -> &Talk {
        &self.talk
    }

    fn peer(&self) -> Role {
        match self.me {
            Role::Sender => Role::Receiver,
            Role::Receiver => Role::Sender,
        }
    }

    /// Sends a short message.
    pub(super) async fn say_these(&mut self, name: &'static str, bytes: &[u8], mut place: Buffer) -> Buffer {
        place.set_len(bytes.len());
        place.copy_from_slice(bytes);
        self.say(name, place).await
    }

    /// Sends a message. The buffer comes back empty.
    pub(super) async fn say(&mut self, name: &'static str, message: Buffer) -> Buffer {
        if !message.is_empty() {
            self.spoken.hear(self.me, &message);
        }
        self.talk.exchange_in(name, message, 0).await
    }

    /// Receives a message of this length, in the given memory.
    pub(super) async fn hear(&mut self, name: &'static str, mut place: Buffer, bytes: usize) -> Buffer {
        place.set_len(0);
        let message = self.talk.exchange_in(name, place, bytes).await;
        if !message.is_empty() {
            self.spoken.hear(self.peer(), &message);
        }
        message
    }

    /// Checks that both parties sent and received the same messages. In the semi-honest mode there
    /// is nothing to compare.
    ///
    /// # Errors
    /// If they did not.
    pub(super) async fn close(&self) -> Result<(), PsiError> {
        if self.spoken.0.is_none() {
            return Ok(());
        }
        let own = self.spoken.digest(self.me).to_vec();
        let theirs = self.talk.exchange("comparing what was said", own, DIGEST).await;
        self.spoken.compare(self.peer(), &theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A commitment binds all bytes of an opening, in one session.
    #[test]
    fn commitments_are_to_whole_openings_of_one_session() {
        let [sid, other] = [1, 2].map(|sid| Sid([sid; 32]));
        let mask = Mask([5; OPENING]);
        let commitment = mask.commitment(&sid);
        assert!(Mask::open(&sid, mask.opening(), &commitment).is_ok_and(|open| open.value() == mask.value()));
        assert!(Mask::open(&other, mask.opening(), &commitment).is_err());
        for at in 0..OPENING {
            let mut opening = *mask.opening();
            opening[at] ^= 0x10;
            assert!(Mask::open(&sid, &opening, &commitment).is_err(), "byte {at}");
        }
    }

    /// The closing digests depend on the party that sends them, so that no party can echo them, on
    /// the session, and on the messages of both parties.
    #[test]
    fn words_on_what_was_said_differ_by_party_session_and_message() {
        let roles = [Role::Sender, Role::Receiver];
        let word = |sid: u8, said: &[(Role, &[u8])], role| {
            let mut spoken = Spoken::new(&Sid([sid; 32]), true);
            said.iter().for_each(|(role, message)| spoken.hear(*role, message));
            let word = spoken.digest(role);
            assert!(spoken.compare(role, &word).is_ok());
            word
        };
        let [s, r] = roles;
        type Said<'a> = &'a [(Role, &'a [u8])];
        let all: [(u8, Said<'_>); 5] = [
            (1, &[]),
            (2, &[]),
            (1, &[(s, b"ab"), (r, b"c")]),
            (1, &[(s, b"abc")]),
            (1, &[(r, b"ab"), (r, b"c")]),
        ];
        let words: HashSet<_> =
            all.into_iter().flat_map(|(sid, said)| roles.map(|role| word(sid, said, role))).collect();
        assert_eq!(words.len(), 10);
    }
}
