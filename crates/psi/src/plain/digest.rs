//! Items as digests.

use hushwire_aes::Backend;
use hushwire_ot::Sid;

use crate::hashes::Hashes;

pub use crate::okvs::Digest as ItemDigest;

/// AGREEMENT: separates keys of digests from any other use of BLAKE3.
const DOMAIN: &str = "hushwire psi item v2";

/// Makes digests of items under the session's name.
///
/// SECURITY: the name must contain fresh bytes of both parties, and be drawn after their sets are
/// fixed. A party that knows the name before it chooses items can choose items that no store holds,
/// which ends the run. Digests under a repeated name reveal which items are repeated.
#[derive(Clone)]
pub struct Digester {
    key: [u8; 32],
}

impl Digester {
    /// A digester for the session `sid`.
    #[must_use]
    pub fn new(sid: &Sid) -> Self {
        Digester { key: blake3::derive_key(DOMAIN, &sid.0) }
    }

    /// The digest of an item of one field.
    #[must_use]
    pub fn digest(&self, item: &[u8]) -> ItemDigest {
        *blake3::keyed_hash(&self.key, item).as_bytes()
    }

    /// The digests of many items of one field, in order, each equal to that of
    /// [`Digester::digest`]. This takes a fraction of the time if items have at most 64 bytes.
    #[must_use]
    pub fn digest_all<I: AsRef<[u8]>>(
        &self,
        backend: Backend,
        items: impl IntoIterator<Item = I>,
    ) -> Vec<ItemDigest> {
        let items = items.into_iter();
        let mut digests = Vec::with_capacity(items.size_hint().0);
        self.digest_into(backend, items, &mut digests);
        digests
    }

    /// Appends these digests to `digests`.
    pub fn digest_into<I: AsRef<[u8]>>(
        &self,
        backend: Backend,
        items: impl IntoIterator<Item = I>,
        digests: &mut Vec<ItemDigest>,
    ) {
        Hashes::new(backend, self.key).each(items, |_, digest| digests.push(*digest));
    }

    /// The digest of an item of several fields, each preceded by its length: different lists of
    /// fields have different encodings. It differs from the digest by [`Digester::digest`] of a
    /// single field.
    #[must_use]
    pub fn digest_fields<'a>(&self, fields: impl IntoIterator<Item = &'a [u8]>) -> ItemDigest {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for field in fields {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        *hasher.finalize().as_bytes()
    }
}
