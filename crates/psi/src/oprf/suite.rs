//! OPRF(ristretto255, SHA-512) of RFC 9497, mode 0.

use crate::{PsiError, random};
use curve25519_dalek::{
    ristretto::{CompressedRistretto, RistrettoPoint},
    scalar::Scalar,
    traits::Identity,
};
use sha2::{Digest, Sha512};
use zeroize::{Zeroize, Zeroizing};

/// AGREEMENT: the suite's name, RFC 9497, 3.1.
const CONTEXT: &[u8] = b"OPRFV1-\x00-ristretto255-SHA512";
/// The bytes of a point.
pub(super) const POINT: usize = 32;

fn sha512(parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// HashToGroup: RFC 9380's hash_to_ristretto255 with expand_message_xmd, for which 64 bytes are one
/// block.
pub(super) fn hash_to_group(input: &[u8]) -> RistrettoPoint {
    let tag = [&b"HashToGroup-"[..], CONTEXT].concat();
    let length = [tag.len() as u8];
    // 5.3.1, steps 3 to 8: a block of zeros, the input, 64 as two bytes, 0, the tag and its length.
    let first = sha512(&[&[0; 128], input, &[0, 64], &[0], &tag, &length]);
    RistrettoPoint::from_uniform_bytes(&sha512(&[&first, &[1], &tag, &length]))
}

/// The Finalize function of the RFC, applied after unblinding.
pub(super) fn finalize(input: &[u8], point: &CompressedRistretto) -> [u8; 64] {
    let length = (input.len() as u16).to_be_bytes();
    sha512(&[&length, input, &(POINT as u16).to_be_bytes(), point.as_bytes(), b"Finalize"])
}

/// A point from a peer: canonical, and not the identity.
pub(super) fn point(bytes: &[u8; POINT]) -> Option<RistrettoPoint> {
    let point = CompressedRistretto(*bytes).decompress()?;
    (point != RistrettoPoint::identity()).then_some(point)
}

/// A uniform scalar other than 0.
pub(super) fn scalar() -> Result<Scalar, PsiError> {
    loop {
        let mut wide = Zeroizing::new([0; 64]);
        random::fill(&mut wide[..])?;
        let scalar = Scalar::from_bytes_mod_order_wide(&wide);
        if scalar != Scalar::ZERO {
            return Ok(scalar);
        }
    }
}

/// The owner's key. Wiped when dropped.
#[derive(Clone)]
pub struct ListKey(pub(super) Scalar);

/// The public key, which reveals nothing about the key.
pub type PublicKey = [u8; 32];

impl ListKey {
    /// Draws a fresh key.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn draw() -> Result<Self, PsiError> {
        scalar().map(Self)
    }

    /// A key from its bytes; `None` if they are malformed.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let scalar = Option::<Scalar>::from(Scalar::from_canonical_bytes(*bytes))?;
        (scalar != Scalar::ZERO).then_some(Self(scalar))
    }

    /// The key's bytes, which are secret.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public key: k times the base point.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        RistrettoPoint::mul_base(&self.0).compress().to_bytes()
    }

    /// The values of items, the first 16 bytes of each as a number. Points are encoded together,
    /// which saves a square root each: they are computed with half the key, and doubled.
    pub(super) fn values(&self, items: &[super::Item]) -> Vec<u128> {
        let half = Zeroizing::new(self.0 * Scalar::from(2u8).invert());
        let points: Vec<_> = items.iter().map(|item| hash_to_group(item) * *half).collect();
        let points = RistrettoPoint::double_and_compress_batch(&points);
        items.iter().zip(&points).map(|(item, point)| number(&finalize(item, point))).collect()
    }
}

impl Drop for ListKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The first 16 bytes of a value.
pub(super) fn number(value: &[u8; 64]) -> u128 {
    value.first_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("digits")).collect()
    }

    fn word(hex: &str) -> [u8; 32] {
        bytes(hex).try_into().expect("32 bytes")
    }

    /// RFC 9497, appendix A.1.1.
    #[test]
    fn published_vectors_hold() {
        let key = word("5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e");
        let key = ListKey::from_bytes(&key).expect("a scalar");
        let blind = word("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706");
        let blind = Scalar::from_canonical_bytes(blind).expect("a scalar");
        for (input, blinded, evaluated, output) in [
            (
                "00",
                "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
                "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
                "527759c3d9366f277d8c6020418d96bb393ba2afb20ff90df23fb7708264e2f3\
                 ab9135e3bd69955851de4b1f9fe8a0973396719b7912ba9ee8aa7d0b5e24bcf6",
            ),
            (
                "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
                "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
                "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
                "f4a74c9c592497375e796aa837e907b1a045d34306a749db9f34221f7e750cb4\
                 f2a6413a6bf6fa5e19ba6348eb673934a722a7ede2e7621306d18951e7cf2c73",
            ),
        ] {
            let input = bytes(input);
            let asked = (hash_to_group(&input) * blind).compress();
            assert_eq!(asked.to_bytes(), word(blinded));
            let answered = point(asked.as_bytes()).expect("a point") * key.0;
            assert_eq!(answered.compress().to_bytes(), word(evaluated));
            let value = finalize(&input, &(answered * blind.invert()).compress());
            assert_eq!(value.to_vec(), bytes(output));
        }
    }

    #[test]
    fn values_at_once_are_those_one_by_one() {
        let key = ListKey::draw().expect("random bytes");
        let items: Vec<super::super::Item> = (0..20u8).map(|i| [i; 32]).collect();
        let one =
            |item: &super::super::Item| number(&finalize(item, &(hash_to_group(item) * key.0).compress()));
        assert_eq!(key.values(&items), items.iter().map(one).collect::<Vec<_>>());
        assert_eq!(ListKey::from_bytes(&key.to_bytes()).map(|k| k.public()), Some(key.public()));
        assert!(ListKey::from_bytes(&[0; 32]).is_none() && ListKey::from_bytes(&[0xff; 32]).is_none());
    }

    #[test]
    fn what_is_no_point_or_tells_nothing_is_refused() {
        assert!(point(&[0; 32]).is_none(), "the identity");
        assert!(point(&[0xff; 32]).is_none(), "not canonical");
        assert!(point(&RistrettoPoint::mul_base(&Scalar::ONE).compress().to_bytes()).is_some());
    }
}
