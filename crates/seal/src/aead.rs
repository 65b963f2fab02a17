//! AES-256-GCM under keys that are drawn for a single use.
//!
//! The caller gives the nonce; [`nonce`] makes one from a number. Associated data binds a
//! ciphertext to its place.

use crate::SealError;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use hushwire_block::Wiped;

/// The number of bytes by which a ciphertext is longer than its plaintext.
pub(crate) const TAG_BYTES: usize = 16;

fn key(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("the key has 32 bytes"))
}

/// The nonce for a number. No number may be used twice under one key.
pub(crate) fn nonce(number: u64) -> [u8; NONCE_LEN] {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    nonce
}

/// Seals in place, so that no secret is copied.
pub(crate) fn seal(
    secret: &[u8; 32],
    nonce: [u8; NONCE_LEN],
    aad: &[u8],
    mut plain: Wiped<Vec<u8>>,
) -> Vec<u8> {
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key(secret).seal_in_place_separate_tag(nonce, Aad::from(aad), &mut plain);
    let tag = tag.expect("a message is shorter than 64 GiB");
    // The bytes are ciphertext by now.
    let mut sealed = std::mem::take(&mut *plain);
    sealed.extend_from_slice(tag.as_ref());
    sealed
}

/// Opens in place; `what` names the content for the error.
pub(crate) fn open(
    secret: &[u8; 32],
    nonce: [u8; NONCE_LEN],
    aad: &[u8],
    sealed: Vec<u8>,
    what: impl std::fmt::Display,
) -> Result<Wiped<Vec<u8>>, SealError> {
    let mut sealed = Wiped::new(sealed);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let plain = key(secret).open_in_place(nonce, Aad::from(aad), &mut sealed);
    let length = plain.map_err(|_| SealError::changed(what))?.len();
    sealed.truncate(length);
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 16 of the GCM specification of McGrew and Viega.
    #[test]
    fn ciphertexts_are_those_of_the_specification() {
        let hex = |text: &str| hex::decode(text).expect("digits");
        let secret = hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
        let nonce = hex("cafebabefacedbaddecaf888").try_into().expect("12 bytes");
        let aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let plain = hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
             1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
        let sealed = hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
             76fc6ece0f4e1768cddf8853bb2d551b");
        let secret = secret.try_into().expect("32 bytes");
        assert_eq!(seal(&secret, nonce, &aad, plain.clone().into()), sealed);
        assert_eq!(open(&secret, nonce, &aad, sealed, "it").as_deref(), Ok(&plain));
    }

    #[test]
    fn a_changed_bit_does_not_open() {
        let secret = crate::keys::drawn();
        let sealed = seal(&secret, nonce(1), b"place", b"some bytes".to_vec().into());
        for bit in 0..8 * sealed.len() {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let opened = open(&secret, nonce(1), b"place", changed, "it");
            assert_eq!(opened.err(), Some(SealError::changed("it")), "bit {bit}");
        }
        for (n, aad) in [(0, &b"place"[..]), (1, b"plac"), (1, b"")] {
            assert!(open(&secret, nonce(n), aad, sealed.clone(), "it").is_err());
        }
        assert!(open(&secret, nonce(1), b"place", vec![], "it").is_err());
    }
}
