//! A party's word for the worker that it runs in an attempt.
//!
//! ```text
//! message     place: domain, group, job, attempt (4) ‖ party (1), pin
//! signature   Ed25519 by the key that signs the party's statements
//! ```
//!
//! Party 0 passes on the pins of workers. Without a party's own word for its worker, party 0 could
//! name a worker of its own in that party's place. It would then receive what another party sends
//! there.
//!
//! A promise of party 0 about an attempt, by [`promise`], has the same form, with a digest in place
//! of the pin and another domain. Two different promises for one place prove that party 0 told two
//! parties different things.

use crate::{SealError, SignKey, Signature, VerifyKey, domain, envelope::place};

/// The word's name in errors.
const WHAT: &str = "a party's word for its worker";
const PROMISE: &str = "party 0's word about an attempt";

/// A worker: the attempt that it serves, and the party that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerPlace<'a> {
    /// The name of the group.
    pub group: &'a str,
    /// The name of the job.
    pub job: &'a str,
    /// The number of the attempt.
    pub attempt: u32,
    /// The number of the party.
    pub party: u8,
}

impl WorkerPlace<'_> {
    fn message(&self, domain: &str, pin: &[u8; 32]) -> Vec<u8> {
        let numbers = [&self.attempt.to_le_bytes()[..], &[self.party]].concat();
        place(domain, &[self.group.as_bytes(), self.job.as_bytes(), &numbers, pin])
    }
}

/// Vouches that the worker at this place has a certificate with this pin.
#[must_use]
pub fn vouch(key: &SignKey, at: &WorkerPlace<'_>, pin: &[u8; 32]) -> Signature {
    key.sign(domain::WORKER, &at.message(domain::WORKER, pin))
}

/// Checks that the holder of a key vouched for this.
///
/// # Errors
/// The holder did not vouch for this place and pin.
pub fn check(
    key: &VerifyKey,
    at: &WorkerPlace<'_>,
    pin: &[u8; 32],
    signature: &Signature,
) -> Result<(), SealError> {
    key.verify(WHAT, domain::WORKER, &at.message(domain::WORKER, pin), signature)
}

/// Promises, as party 0, that this digest covers what it tells all parties about the attempt. The
/// domain `of` says whether that is the start or the decision.
#[must_use]
pub fn promise(key: &SignKey, of: &str, at: &WorkerPlace<'_>, digest: &[u8; 32]) -> Signature {
    key.sign(of, &at.message(of, digest))
}

/// Checks that the holder of a key has promised this.
///
/// # Errors
/// The holder did not promise this digest for this place.
pub fn promised(
    key: &VerifyKey,
    of: &str,
    at: &WorkerPlace<'_>,
    digest: &[u8; 32],
    signature: &Signature,
) -> Result<(), SealError> {
    key.verify(PROMISE, of, &at.message(of, digest), signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_of_its_party_attempt_and_pin_alone() {
        let (key, other) = (SignKey::generate(), SignKey::generate());
        let at = WorkerPlace { group: "heart", job: "7f3a", attempt: 2, party: 1 };
        let word = vouch(&key, &at, &[7; 32]);
        assert_eq!(check(&key.public(), &at, &[7; 32], &word), Ok(()));
        for elsewhere in [
            WorkerPlace { group: "hear", job: "t7f3a", ..at },
            WorkerPlace { job: "7f3b", ..at },
            WorkerPlace { attempt: 3, ..at },
            WorkerPlace { party: 2, ..at },
        ] {
            let checked = check(&key.public(), &elsewhere, &[7; 32], &word);
            assert!(matches!(checked, Err(SealError::Signature { .. })), "{elsewhere:?}");
        }
        assert!(check(&key.public(), &at, &[8; 32], &word).is_err());
        assert!(check(&other.public(), &at, &[7; 32], &word).is_err());
        // A signature by the same key for another use is refused as well.
        let of_group = key.sign(domain::GROUP, &at.message(domain::GROUP, &[7; 32]));
        assert!(check(&key.public(), &at, &[7; 32], &of_group).is_err());
        // A promise is not a word for a worker, and the reverse.
        let (start, decision) = (domain::ATTEMPT, domain::DECISION);
        let promise = promise(&key, start, &at, &[7; 32]);
        assert_eq!(promised(&key.public(), start, &at, &[7; 32], &promise), Ok(()));
        assert!(promised(&key.public(), start, &at, &[8; 32], &promise).is_err());
        assert!(promised(&key.public(), decision, &at, &[7; 32], &promise).is_err());
        assert!(check(&key.public(), &at, &[7; 32], &promise).is_err());
        assert!(promised(&key.public(), start, &at, &[7; 32], &word).is_err());
    }
}
