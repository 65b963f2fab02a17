//! The proof that a client that fetches a result has the key to which the result is sealed.
//!
//! ```text
//! challenge   the id of the key (16) ‖ HPKE to the key: a secret (32)
//!             info: "hushwire fetch v1", job, attempt and party, output, key id
//! answer      the secret
//! ```
//!
//! A key to which results are sealed cannot sign. Its holder therefore opens a secret that was
//! sealed to it. Only the party that made the challenge knows the secret.

use crate::{
    KeyId, Person, SealError, SealTo,
    envelope::{self, place},
    keys::secret,
    result::ResultPlace,
};
use zeroize::Zeroizing;

const DOMAIN: &str = "hushwire fetch v1";
const WHAT: &str = "the challenge of a party";

fn info(at: &ResultPlace<'_>, key: KeyId) -> Vec<u8> {
    let numbers = [&at.attempt.to_le_bytes()[..], &[at.party]].concat();
    place(DOMAIN, &[at.job.as_bytes(), at.output.as_bytes(), &numbers, &key.0])
}

/// Seals a secret to the key to which a result is sealed.
///
/// # Errors
/// The key is invalid.
pub fn challenge(to: &SealTo, at: &ResultPlace<'_>, answer: &[u8; 32]) -> Result<Vec<u8>, SealError> {
    let id = to.id();
    Ok([&id.0[..], &envelope::seal(to, &info(at, id), answer)?].concat())
}

/// Opens the secret of a challenge about a result.
///
/// # Errors
/// The person does not have the key, or the challenge is about another result.
pub fn answer(
    person: &Person,
    at: &ResultPlace<'_>,
    challenge: &[u8],
) -> Result<Zeroizing<[u8; 32]>, SealError> {
    let short = || SealError::format(WHAT, "it is too short");
    let (id, sealed) = challenge.split_first_chunk().ok_or_else(short)?;
    let id = KeyId(*id);
    let opened = envelope::open(person.open_key(id)?, &info(at, id), sealed, WHAT)?;
    secret(&opened).ok_or_else(|| SealError::changed(WHAT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_the_key_alone_answers_and_for_its_result_alone() {
        let (anna, other) = (Person::generate(), Person::generate());
        let at = ResultPlace { job: "7f3a", attempt: 2, output: "mean", party: 1 };
        let asked = challenge(&anna.card("").seal_to, &at, &[9; 32]).expect("a key");
        assert_eq!(answer(&anna, &at, &asked).map(|secret| *secret).ok(), Some([9; 32]));
        assert_eq!(answer(&other, &at, &asked).err(), Some(SealError::OtherKey(anna.card("").id)));
        for elsewhere in [
            ResultPlace { job: "7f3b", ..at },
            ResultPlace { attempt: 3, ..at },
            ResultPlace { output: "means", ..at },
            ResultPlace { party: 2, ..at },
        ] {
            assert_eq!(answer(&anna, &elsewhere, &asked).err(), Some(SealError::changed(WHAT)));
        }
        for length in [0, 15, 16, 40, asked.len() - 1] {
            assert!(answer(&anna, &at, &asked[..length]).is_err(), "{length} bytes");
        }
        let mut changed = asked.clone();
        changed[asked.len() - 1] ^= 1;
        assert!(answer(&anna, &at, &changed).is_err());
    }
}
