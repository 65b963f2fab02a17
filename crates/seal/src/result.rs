//! A party's share of an output, sealed to a recipient that is not connected.
//!
//! ```text
//! head     "HWRES1" ‖ the id of the recipient's key (16)
//! key      HPKE to the recipient (1168); info: domain, job, attempt, output, party, key id
//! share    AES-256-GCM under that key, nonce 0, associated data as info:
//!          x_i ‖ BLAKE3 of x_{i+1} (32)
//! ```
//!
//! The recipient opens the shares of three parties. Each contains the digest of the next party's
//! share, so that a party that sends a wrong share is detected.

use crate::{
    BlakeName, KeyId, Person, SealError, SealTo,
    aead::{self, TAG_BYTES},
    envelope::{self, ENVELOPE_BYTES, place},
    keys::{drawn, secret},
};
use hushwire_block::Wiped;
use zeroize::Zeroizing;

const DOMAIN: &str = "hushwire result v1";
const HEAD: &[u8; 6] = b"HWRES1";
const DIGEST_BYTES: usize = 32;

/// The place to which a share belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultPlace<'a> {
    /// The job.
    pub job: &'a str,
    /// The attempt that computed it.
    pub attempt: u32,
    /// The name of the output.
    pub output: &'a str,
    /// The party whose share it is.
    pub party: u8,
}

/// A share that was opened. No `Debug`: it is secret.
pub struct OpenedShare {
    /// The party's share.
    pub share: Wiped<Vec<u8>>,
    /// The BLAKE3 hash of the next party's share, as this party claims it.
    pub next: BlakeName,
}

impl ResultPlace<'_> {
    fn bytes(&self, key: KeyId) -> Vec<u8> {
        let numbers = [&self.attempt.to_le_bytes()[..], &[self.party]].concat();
        place(DOMAIN, &[self.job.as_bytes(), self.output.as_bytes(), &numbers, &key.0])
    }

    fn what(&self) -> String {
        format!("the share of party {} of the output {:?}", self.party, self.output)
    }
}

/// Seals a share together with the digest of the next party's share.
///
/// # Errors
/// The key is invalid.
///
/// # Panics
/// If the operating system gives no randomness.
pub fn seal(
    to: &SealTo,
    place: &ResultPlace<'_>,
    share: &[u8],
    next: &BlakeName,
) -> Result<Vec<u8>, SealError> {
    let id = to.id();
    let (info, key) = (place.bytes(id), Zeroizing::new(drawn()));
    let mut plain = Wiped::new(Vec::with_capacity(share.len() + DIGEST_BYTES + TAG_BYTES));
    plain.extend_from_slice(share);
    plain.extend_from_slice(&next.0);
    let sealed = aead::seal(&key, aead::nonce(0), &info, plain);
    Ok([&HEAD[..], &id.0, &envelope::seal(to, &info, &key[..])?, &sealed].concat())
}

/// The id of the key to which a share is sealed.
///
/// # Errors
/// The bytes are not a sealed share.
pub fn key_id(sealed: &[u8]) -> Result<KeyId, SealError> {
    let none = || SealError::format("a share of a result", "it does not begin as one of this release");
    let rest = sealed.strip_prefix(HEAD).ok_or_else(none)?;
    rest.first_chunk().map(|id| KeyId(*id)).ok_or_else(none)
}

/// Opens a share with the key that it names.
///
/// # Errors
/// The recipient does not have that key, or the bytes were changed or belong to another place.
pub fn open(person: &Person, place: &ResultPlace<'_>, sealed: &[u8]) -> Result<OpenedShare, SealError> {
    let changed = || SealError::changed(place.what());
    let id = key_id(sealed)?;
    let key = person.open_key(id)?;
    let rest = &sealed[HEAD.len() + id.0.len()..];
    let (wrapped, sealed) = rest.split_at_checked(ENVELOPE_BYTES + 32).ok_or_else(changed)?;
    let info = place.bytes(id);
    let key = envelope::open(key, &info, wrapped, place.what())?;
    let key = secret(&key).ok_or_else(changed)?;
    let mut share = aead::open(&key, aead::nonce(0), &info, sealed.to_vec(), place.what())?;
    let at = share.len().checked_sub(DIGEST_BYTES).ok_or_else(changed)?;
    let mut next = [0; DIGEST_BYTES];
    next.copy_from_slice(&share[at..]);
    share.truncate(at);
    Ok(OpenedShare { share, next: BlakeName(next) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLACE: ResultPlace<'_> = ResultPlace { job: "7f3a", attempt: 2, output: "mean", party: 1 };

    #[test]
    fn a_share_opens_for_its_recipient_and_place_alone() {
        let (anna, other) = (Person::generate(), Person::generate());
        let card = anna.card("anna");
        let next = BlakeName::of(b"the next one");
        let sealed = seal(&card.seal_to, &PLACE, b"a share", &next).expect("a key");
        assert_eq!(key_id(&sealed), Ok(card.id));
        let opened = open(&anna, &PLACE, &sealed).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&opened.share[..], opened.next), (&b"a share"[..], next));
        assert_eq!(open(&other, &PLACE, &sealed).err(), Some(SealError::OtherKey(card.id)));
        for elsewhere in [
            ResultPlace { job: "7f3b", ..PLACE },
            ResultPlace { attempt: 3, ..PLACE },
            ResultPlace { output: "means", ..PLACE },
            ResultPlace { party: 2, ..PLACE },
        ] {
            let changed = SealError::changed(elsewhere.what());
            assert_eq!(open(&anna, &elsewhere, &sealed).err(), Some(changed));
        }
        for length in 0..sealed.len() {
            assert!(open(&anna, &PLACE, &sealed[..length]).is_err(), "{length} bytes");
        }
        for at in (0..sealed.len()).step_by(5).chain(0..24).chain(sealed.len() - 60..sealed.len()) {
            let mut changed = sealed.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(open(&anna, &PLACE, &changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_share_that_was_sealed_to_an_old_key_still_opens() {
        let mut anna = Person::generate();
        let sealed = seal(&anna.card("").seal_to, &PLACE, b"x", &BlakeName::of(b"")).expect("a key");
        anna.rotate();
        anna.rotate();
        assert!(open(&anna, &PLACE, &sealed).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn any_share_comes_back(
            share in proptest::collection::vec(any::<u8>(), 0..400),
            job in ".{0,12}",
            output in ".{0,12}",
            attempt: u32,
            party in 0u8..3,
        ) {
            let anna = Person::generate();
            let place = ResultPlace { job: &job, attempt, output: &output, party };
            let next = BlakeName::of(&share);
            let sealed = seal(&anna.card("anna").seal_to, &place, &share, &next).expect("a key");
            let opened = open(&anna, &place, &sealed).unwrap_or_else(|e| panic!("{e}"));
            prop_assert_eq!(&opened.share[..], &share[..]);
            prop_assert_eq!(opened.next, next);
        }
    }
}
