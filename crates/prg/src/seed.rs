//! 128-bit seeds, drawn from the operating system or derived from other seeds by label and context.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::registry;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The domain that separates this crate's derivations from all other uses of BLAKE3.
const DOMAIN: &str = "hushwire 2025 prg seed derive v1";

/// 128 secret bits, zeroized on drop. A seed can be neither printed nor compared.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 16]);

impl Seed {
    /// Draws a seed from the operating system's generator.
    ///
    /// # Panics
    /// If the operating system gives no randomness: no secrets are possible without it.
    #[must_use]
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        let seed = Seed(bytes);
        bytes.zeroize();
        seed
    }

    /// Takes bytes that the parties agreed on or that were received.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Seed(bytes)
    }

    /// The secret itself, for a party that shares it.
    #[must_use]
    pub fn expose(&self) -> &[u8; 16] {
        &self.0
    }

    /// Derives a separate seed for every label and context.
    ///
    /// It uses BLAKE3 in its key-derivation mode under this crate's context string. The key
    /// material is, in this order and therefore without ambiguity, the seed (16 bytes), the label's
    /// length (LE64), the label, and the context. The first 16 bytes of output are the result.
    /// Labels that begin with "hushwire " are reserved for this crate.
    #[must_use]
    pub fn derive(&self, label: &str, context: &[u8]) -> Seed {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(DOMAIN));
        hasher.update(&self.0);
        hasher.update(&(label.len() as u64).to_le_bytes());
        hasher.update(label.as_bytes());
        hasher.update(context);
        let mut out = Seed([0; 16]);
        Zeroizing::new(hasher.finalize_xof()).fill(&mut out.0);
        registry::named(&self.0, &out.0, label, number(context));
        out
    }

    /// The AES-128 key with the seed's bytes.
    pub(crate) fn key(&self, backend: Backend) -> Aes128 {
        Aes128::on(backend, &self.0)
    }
}

/// The first bytes of a context as a number, for a key's name.
fn number(context: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(context).for_each(|(first, byte)| *first = *byte);
    u64::from_le_bytes(first)
}
