//! Keys that sign and keys that open, and their public halves.
//!
//! A [`SignKey`] signs with Ed25519 (RFC 8032), and an [`OpenKey`] is an X-Wing key for HPKE. A
//! signature covers its domain, so one for one use is invalid for another. Private keys have no
//! `Debug` and are wiped when dropped.

use crate::{SealError, hexed::hexed};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use hpke::{Deserializable, Kem, Serializable, kem::XWing};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The length of an X-Wing public key in bytes.
pub(crate) const PUBLIC_BYTES: usize = 1216;

/// Draws bytes from the operating system.
///
/// # Panics
/// If the system gives no randomness, since no secret is possible without it.
pub(crate) fn drawn<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

/// A private Ed25519 key. It can be neither printed nor compared.
#[derive(ZeroizeOnDrop)]
pub struct SignKey([u8; 32]);

/// A public Ed25519 key. Its text has 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VerifyKey(pub [u8; 32]);

/// An Ed25519 signature. Its text has 128 digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

hexed!(VerifyKey, "a public key", "");
hexed!(Signature, "a signature", "");

/// The bytes that are signed: the domain, a zero byte, and the message.
fn framed(domain: &str, message: &[u8]) -> Vec<u8> {
    [domain.as_bytes(), &[0], message].concat()
}

impl SignKey {
    /// Draws a key.
    ///
    /// # Panics
    /// If the operating system gives no randomness.
    #[must_use]
    pub fn generate() -> Self {
        Self(drawn())
    }

    /// The key with this seed, the 32 secret bytes of RFC 8032.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(*seed)
    }

    /// The secret bytes, for a file of keys.
    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    fn pair(&self) -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&self.0).expect("any 32 bytes are a key")
    }

    /// The public half.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn public(&self) -> VerifyKey {
        let mut public = [0; 32];
        public.copy_from_slice(self.pair().public_key().as_ref());
        VerifyKey(public)
    }

    /// Signs a message in a domain.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn sign(&self, domain: &str, message: &[u8]) -> Signature {
        let mut signature = [0; 64];
        signature.copy_from_slice(self.pair().sign(&framed(domain, message)).as_ref());
        Signature(signature)
    }
}

impl VerifyKey {
    /// Checks a signature by this key. `what` names the signed data for the error.
    ///
    /// # Errors
    /// The signature is invalid.
    pub fn verify(
        &self,
        what: &'static str,
        domain: &str,
        message: &[u8],
        signature: &Signature,
    ) -> Result<(), SealError> {
        UnparsedPublicKey::new(&ED25519, self.0)
            .verify(&framed(domain, message), &signature.0)
            .map_err(|_| SealError::Signature { what, key: *self })
    }
}

/// A private X-Wing key, which opens data that is sealed to its public half. It can be neither
/// printed nor compared.
#[derive(ZeroizeOnDrop)]
pub struct OpenKey([u8; 32]);

/// A public X-Wing key.
#[derive(Clone, PartialEq, Eq)]
pub struct SealTo([u8; PUBLIC_BYTES]);

hexed!(SealTo, "a public key", "");

/// The short name of a public X-Wing key. Its text is `key:` and 32 digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 16]);

hexed!(KeyId, "a key's id", "key:");

impl OpenKey {
    /// Draws a key.
    ///
    /// # Panics
    /// If the operating system gives no randomness.
    #[must_use]
    pub fn generate() -> Self {
        Self(drawn())
    }

    /// The key with these 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(*bytes)
    }

    /// The secret bytes, for a file of keys.
    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn key(&self) -> <XWing as Kem>::PrivateKey {
        <XWing as Kem>::PrivateKey::from_bytes(&self.0).expect("any 32 bytes are a key")
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> SealTo {
        let mut public = [0; PUBLIC_BYTES];
        XWing::sk_to_pk(&self.key()).write_exact(&mut public);
        SealTo(public)
    }
}

impl SealTo {
    /// The key with these bytes.
    ///
    /// # Errors
    /// They are not the [`bytes`](Self::bytes) of a key.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SealError> {
        let wanted = |_| SealError::format("a public key", format_args!("it has not {PUBLIC_BYTES} bytes"));
        let key = Self(bytes.try_into().map_err(wanted)?);
        key.key().map(|_| key)
    }

    /// The bytes of the key.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The short name of the key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let hash = blake3::derive_key("hushwire 2026 key id v1", &self.0);
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        KeyId(id)
    }

    pub(crate) fn key(&self) -> Result<<XWing as Kem>::PublicKey, SealError> {
        <XWing as Kem>::PublicKey::from_bytes(&self.0).map_err(|e| SealError::format("a public key", e))
    }
}

/// A copy of a secret of 32 bytes, which is wiped when dropped.
pub(crate) fn secret(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut secret = Zeroizing::new([0; 32]);
    (bytes.len() == 32).then(|| {
        secret.copy_from_slice(bytes);
        secret
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 3. The message is signed without a domain there.
    #[test]
    fn signatures_are_those_of_rfc_8032() {
        let seed = hex::decode("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7");
        let key = SignKey::from_seed(&seed.ok().and_then(|s| s.try_into().ok()).expect("32 bytes"));
        assert_eq!(
            key.public().to_string(),
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
        );
        assert_eq!(
            hex::encode(key.pair().sign(&[0xaf, 0x82]).as_ref()),
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        );
    }

    #[test]
    fn a_signature_is_of_its_key_domain_and_message() {
        let (key, other) = (SignKey::generate(), SignKey::generate());
        let signature = key.sign("a", b"message");
        let verify = |key: &SignKey, domain, message: &[u8], signature: &Signature| {
            key.public().verify("a text", domain, message, signature)
        };
        assert_eq!(verify(&key, "a", b"message", &signature), Ok(()));
        let failed = Err(SealError::Signature { what: "a text", key: key.public() });
        assert_eq!(verify(&key, "b", b"message", &signature), failed);
        assert_eq!(verify(&key, "a", b"massage", &signature), failed);
        assert!(verify(&other, "a", b"message", &signature).is_err());
        for bit in 0..512 {
            let mut changed = signature;
            changed.0[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&key, "a", b"message", &changed), failed, "bit {bit}");
        }
    }

    #[test]
    fn texts_of_keys_are_read_as_they_are_written() {
        let key = OpenKey::generate().public();
        assert_eq!(key.to_string().parse().as_ref(), Ok(&key));
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        assert!(key.id().to_string().starts_with("key:"));
        for wrong in ["", "key:", "key:zz", "00", &key.id().to_string().to_uppercase()] {
            assert!(wrong.parse::<KeyId>().is_err(), "{wrong}");
        }
        assert!(SealTo::from_bytes(&[0; 3]).is_err());
    }
}
