//! Pseudorandom secret sharing (PRSS) among three parties, without communication (Araki et al., CCS
//! 2016, section 2.2).
//!
//! ```text
//!            P1: k1, k3          P_i holds k_i (own) and k_{i−1} (prev):
//!           /          \         P_i drew k_i and sent it to P_{i+1}
//!   P3: k3, k2 ──── P2: k2, k1
//! ```
//!
//! A word is 128 bits at a public address. It is a function of the address alone, not of timing,
//! batch or width.
//!
//! ```text
//! counter block (LE128)   bits 127..96 shard | 95..64 lane | 63..0 word
//! zero share      α_i = F_{k_i}(ctr) ⊕ F_{k_{i−1}}(ctr)    α_1 ⊕ α_2 ⊕ α_3 = 0
//! random share    (F_{k_i}(ctr), F_{k_{i−1}}(ctr))         replicated: x_{i+1} is own, x_i is prev
//! ```
//!
//! Keys are derived for a session and a label, so that counters may start at 0 in every session.
//! Each word is used once: its zero share and its random share come from the same two values.

use crate::Seed;
use hushwire_aes::{Aes128, Backend};
use zeroize::Zeroizing;

/// A party's two seeds.
pub struct PrssKeys {
    /// k_i, shared with the next party.
    pub own: Seed,
    /// k_{i−1}, shared with the previous party.
    pub prev: Seed,
}

/// The address of a stream of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The number of the job's part.
    pub shard: u32,
    /// The number of the part's lane.
    pub lane: u32,
}

impl Address {
    /// The counter block of a word, as a little-endian number.
    #[must_use]
    pub const fn counter(self, word: u64) -> u128 {
        (self.shard as u128) << 96 | (self.lane as u128) << 64 | word as u128
    }
}

/// A party's source of shared randomness for one session and label.
pub struct Prss {
    backend: Backend,
    own: Aes128,
    prev: Aes128,
}

impl Prss {
    /// Derives the keys of a session and a label. The session's number is fresh and the same at the
    /// three parties. The backend is a local choice.
    #[must_use]
    pub fn new(backend: Backend, keys: &PrssKeys, session: &[u8; 16], label: &str) -> Self {
        let context = [session, label.as_bytes()].concat();
        let key = |seed: &Seed| seed.derive("hushwire prss", &context).key(backend);
        Prss { backend, own: key(&keys.own), prev: key(&keys.prev) }
    }

    /// Writes this party's zero shares for XOR, from word `first_word` on; `out` may end inside a
    /// word.
    ///
    /// # Panics
    /// If the words run past the address's last word.
    pub fn zero_words(&self, addr: Address, first_word: u64, out: &mut [u8]) {
        let first = first(addr, first_word, out.len());
        self.backend.counter_xor2(&self.own, &self.prev, first, out);
    }

    /// Writes this party's two components of shared random values: `own` is x_{i+1}, `prev` is x_i.
    ///
    /// # Panics
    /// If the lengths differ, or the words run past the address's last word.
    pub fn random_words(&self, addr: Address, first_word: u64, own: &mut [u8], prev: &mut [u8]) {
        assert_eq!(own.len(), prev.len(), "two components of the same values");
        let first = first(addr, first_word, own.len());
        self.backend.counter_bytes(&self.own, first, own);
        self.backend.counter_bytes(&self.prev, first, prev);
    }

    /// The two keys, own and previous, for kernels that make words in registers;
    /// [`Address::counter`] gives a word's input.
    #[must_use]
    pub fn keys(&self) -> [&Aes128; 2] {
        [&self.own, &self.prev]
    }

    /// The bytes of [`Prss::keys`], for the party's own hardware, which then makes the party's
    /// words itself.
    ///
    /// The keys may leave the process only for a device that is part of the party. Anyone with both
    /// keys can compute all zero shares of this party, which then hide nothing.
    #[must_use]
    pub fn device_keys(&self) -> Zeroizing<[[u8; 16]; 2]> {
        // The first round key of AES-128 is the key itself.
        Zeroizing::new(self.keys().map(|key| key.round_keys()[0]))
    }

    /// The backend of [`Prss::new`].
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }
}

/// The counter of the first word. Panics if the words run into the next lane.
fn first(addr: Address, first_word: u64, bytes: usize) -> u128 {
    let last = u128::from(first_word) + bytes.div_ceil(16) as u128;
    assert!(last <= 1 << 64, "words {first_word} to {last} run past the lane's last");
    addr.counter(first_word)
}
