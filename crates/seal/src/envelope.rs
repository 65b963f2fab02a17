//! Small secrets sealed to a public key: HPKE with X-Wing, HKDF-SHA256 and ChaCha20-Poly1305, in
//! mode base and without associated data. The `info` states the purpose of an envelope.

use crate::{OpenKey, SealError, SealTo};
use hpke::{
    Deserializable, Kem, OpModeR, OpModeS, Serializable, aead::ChaCha20Poly1305, kdf::HkdfSha256, kem::XWing,
    single_shot_open, single_shot_seal,
};
use std::fmt;
use zeroize::Zeroizing;

/// The length of an encapsulated key in bytes.
const ENCAPSULATED_BYTES: usize = 1120;
/// The number of bytes by which an envelope is longer than its content.
pub(crate) const ENVELOPE_BYTES: usize = ENCAPSULATED_BYTES + 16;

/// Seals a secret. The result is the encapsulated key, then the ciphertext.
pub(crate) fn seal(to: &SealTo, info: &[u8], secret: &[u8]) -> Result<Vec<u8>, SealError> {
    let (encapsulated, sealed) = single_shot_seal::<ChaCha20Poly1305, HkdfSha256, XWing>(
        &OpModeS::Base,
        &to.key()?,
        info,
        secret,
        &[],
    )
    .map_err(|e| SealError::format("a public key", e))?;
    Ok([&encapsulated.to_bytes()[..], &sealed].concat())
}

/// Opens the result of [`seal`] for the same `info`.
pub(crate) fn open(
    key: &OpenKey,
    info: &[u8],
    envelope: &[u8],
    what: impl fmt::Display,
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let changed = || SealError::changed(&what);
    let (encapsulated, sealed) = envelope.split_at_checked(ENCAPSULATED_BYTES).ok_or_else(changed)?;
    let encapsulated = <XWing as Kem>::EncappedKey::from_bytes(encapsulated).map_err(|_| changed())?;
    single_shot_open::<ChaCha20Poly1305, HkdfSha256, XWing>(
        &OpModeR::Base,
        &key.key(),
        &encapsulated,
        info,
        sealed,
        &[],
    )
    .map(Zeroizing::new)
    .map_err(|_| changed())
}

/// The `info` and associated data of a place: a domain, then each part preceded by its length. Two
/// places thus never have the same bytes.
pub(crate) fn place(domain: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![];
    for part in [&[domain.as_bytes()], parts].concat() {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Vector {
        private: String,
        public: String,
        info: String,
        plain: String,
        enc: String,
        ct: String,
    }

    /// The vector was sealed by another implementation: hpke-js (npm: @hpke/core 1.9,
    /// @hpke/hybridkem-x-wing 0.7), which browsers use.
    #[test]
    fn what_another_implementation_sealed_opens() {
        let vector: Vector = serde_json::from_str(include_str!("hpke_js.json")).expect("a vector");
        let hex = |text: &str| hex::decode(text).expect("digits");
        let key = OpenKey::from_bytes(&hex(&vector.private).try_into().expect("32 bytes"));
        assert_eq!(key.public().to_string(), vector.public);
        let envelope = [hex(&vector.enc), hex(&vector.ct)].concat();
        let opened = open(&key, vector.info.as_bytes(), &envelope, "it").map(|plain| plain.to_vec());
        assert_eq!(opened, Ok(vector.plain.into_bytes()));
    }

    #[test]
    fn an_envelope_opens_whole_for_its_key_and_place_alone() {
        let (key, other) = (OpenKey::generate(), OpenKey::generate());
        let envelope = seal(&key.public(), b"place", b"secret").expect("a key");
        assert_eq!(envelope.len(), ENVELOPE_BYTES + 6);
        let opens = |key: &OpenKey, info: &[u8], envelope: &[u8]| {
            open(key, info, envelope, "it").map(|plain| plain.to_vec())
        };
        assert_eq!(opens(&key, b"place", &envelope), Ok(b"secret".to_vec()));
        assert_eq!(opens(&other, b"place", &envelope), Err(SealError::changed("it")));
        assert_eq!(opens(&key, b"plane", &envelope), Err(SealError::changed("it")));
        for length in [0, 1, ENCAPSULATED_BYTES, envelope.len() - 1] {
            assert_eq!(opens(&key, b"place", &envelope[..length]), Err(SealError::changed("it")));
        }
        // The loop changes a bit of each byte, including ciphertexts of ML-KEM and points of
        // X25519.
        for at in (0..envelope.len()).step_by(3).chain(ENCAPSULATED_BYTES - 33..envelope.len()) {
            let mut changed = envelope.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(opens(&key, b"place", &changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn places_do_not_run_into_each_other() {
        assert_ne!(place("d", &[b"ab", b"c"]), place("d", &[b"a", b"bc"]));
        assert_ne!(place("d", &[b"ab"]), place("d", &[b"ab", b""]));
        assert_ne!(place("da", &[b"b"]), place("d", &[b"ab"]));
    }
}
