//! The values on which both parties agree before the first message.

use hushwire_aes::Backend;
use hushwire_block::registry;

/// The name of one run of a protocol, which is never used twice; it enters every hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sid(pub [u8; 32]);

/// Separates this crate's derivations from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot sid v1";

impl Sid {
    /// A derived name: for a lane, a direction, or a phase.
    #[must_use]
    pub fn child(&self, label: &str, index: u64) -> Sid {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&self.0);
        hasher.update(&index.to_le_bytes());
        hasher.update(label.as_bytes());
        let child = *hasher.finalize().as_bytes();
        registry::named(&self.0, &child, label, index);
        Sid(child)
    }
}

/// The session's name, and the AES backend of this party. The backend is a local choice that
/// changes no byte.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The name of the run. AGREEMENT.
    pub sid: Sid,
    /// The tier that kernels run with. LOCAL.
    pub backend: Backend,
}

impl Context {
    /// The context of a part of this session.
    #[must_use]
    pub fn child(&self, label: &str, index: u64) -> Context {
        Context { sid: self.sid.child(label, index), backend: self.backend }
    }
}
