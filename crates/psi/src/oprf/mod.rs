//! A small set against a large one: a reusable oblivious PRF, and a list of the large set's values
//! that is published once.
//!
//! **Functionality.** The owner of a large set holds a key and publishes a list of its items'
//! values under it ([`publish`]). An asker that has the list asks the owner for the values of a few
//! items ([`ask`], [`answer`]), at 64 bytes per item, and looks them up ([`List::contains`]). The
//! asker learns which of its items are in the list; the owner learns the number of items asked.
//!
//! **Paper.** Jarecki, Kiayias and Krawczyk's 2HashDH ("Round-Optimal Password-Protected Secret
//! Sharing", 2014, Fig. 1) in the form of RFC 9497: OPRF(ristretto255, SHA-512), mode 0. Its test
//! vectors (appendix A.1.1) hold here.
//!
//! ```text
//! owner   k; the list {F(y)}, F(y) = SHA-512(y ‖ k·H(y) ‖ "Finalize"), H to the group
//! asker   r; r·H(x)         ──► 32 bytes
//! owner   k·(r·H(x))        ◄── 32 bytes
//! asker   F(x) = SHA-512(x ‖ r⁻¹·(k·r·H(x)) ‖ "Finalize"): in the list?
//! ```
//! Items are digests of 32 bytes: [`digest`].
//!
//! **Security.** Semi-honest. A query is uniform in the group, whatever the items are. It hides
//! them from everybody, even from an owner that deviates. Values of items that were not queried
//! look random to the asker (one-more gap Diffie–Hellman, hashes as random oracles), whoever
//! published the list and however many queries there are. An asker that deviates learns the values
//! of as many items as it asks for. The list reveals its length. An owner that deviates can answer
//! under another key or publish an arbitrary list. The asker then finds too few or too many items,
//! and this is not detected. An attacker that gets the key can try out items on the list.
//!
//! **False positives.** A value that is not in a list is found there with probability at most
//! 2^−43. Values are cut to 48 bits after a prefix, and there is at least one prefix for every 32
//! items.

mod list;
mod session;
mod suite;

pub use list::{List, PublishError, publish};
pub use session::{Budget, ListRefusal, ListTerms, answer, ask};
pub use suite::{ListKey, PublicKey};

/// AGREEMENT: separates these digests from any other use of BLAKE3.
const DOMAIN: &str = "hushwire psi oprf item v1";

/// An item: the digest of a key's encoding.
pub type Item = [u8; 32];

/// The digest of a key's encoding, as [`TableKeys::each`](crate::TableKeys::each) gives it.
#[must_use]
pub fn digest(key: &[u8]) -> Item {
    let mut hash = blake3::Hasher::new_derive_key(DOMAIN);
    *hash.update(key).finalize().as_bytes()
}
