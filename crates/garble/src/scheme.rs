//! The garbling schemes by name, and the formats of their tables.

use crate::GarbleError;
use core::{fmt, str::FromStr};

/// The scheme by which gates are garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scheme {
    /// Half gates with one fixed key: π(σ(K) ⊕ i) ⊕ σ(K) ⊕ i. Ideal permutation.
    Prp,
    /// Half gates with a key for each hash tweak: AES_{S⊕i}(σ(K)) ⊕ σ(K). Ideal cipher,
    /// multi-instance secure.
    Mi,
    /// Half gates with a key for four gates: AES_{S⊕(i − i mod 8)}(y) ⊕ y, y = σ(K) ⊕ (i mod 8). As
    /// MI, with 8 hashes under a key.
    Mi4,
    /// Half gates whose key is the label: AES_K(i). Circular correlation robustness of AES.
    Circ,
    /// GLNP15: no free XOR; AES is assumed to be a pseudorandom function, and nothing else.
    Prf,
    /// Three halves: 197 bits for each AND.
    ThreeHalves,
    /// Half gates in which the evaluator knows all values: one ciphertext for each AND.
    /// Authenticity only, no privacy.
    PrivacyFree,
}

/// The numbers of bytes and bits of tables. AGREEMENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number of whole bytes of an AND's table.
    pub and_bytes: usize,
    /// The number of further bits of an AND's table; a piece of ANDs has these bits packed behind
    /// its bytes.
    pub and_bits: usize,
    /// The number of bytes of an XOR's table.
    pub xor_bytes: usize,
}

impl Format {
    /// Half gates.
    pub const HALF_GATES: Format = Format { and_bytes: 32, and_bits: 0, xor_bytes: 0 };
    /// GLNP15: T1, T2 and four masked signal bits for each AND; one ciphertext for each XOR.
    pub const PRF: Format = Format { and_bytes: 32, and_bits: 4, xor_bytes: 16 };
    /// Rosulek–Roy: three half ciphertexts and five control bits.
    pub const THREE_HALVES: Format = Format { and_bytes: 24, and_bits: 5, xor_bytes: 0 };
    /// One ciphertext.
    pub const PRIVACY_FREE: Format = Format { and_bytes: 16, and_bits: 0, xor_bytes: 0 };

    /// The number of bytes of a piece of `n` ANDs.
    #[must_use]
    #[inline]
    pub const fn piece(self, n: usize) -> usize {
        n * self.and_bytes + (n * self.and_bits).div_ceil(8)
    }
}

impl Scheme {
    /// All schemes; the oldest four come first.
    pub const ALL: [Scheme; 7] = [
        Scheme::Prp,
        Scheme::Mi,
        Scheme::Circ,
        Scheme::Prf,
        Scheme::Mi4,
        Scheme::ThreeHalves,
        Scheme::PrivacyFree,
    ];
    /// The schemes that hide inputs. Yao's protocol can run on these.
    pub const PRIVATE: [Scheme; 6] =
        [Scheme::Prp, Scheme::Mi, Scheme::Circ, Scheme::Prf, Scheme::Mi4, Scheme::ThreeHalves];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Prp => "prp",
            Scheme::Mi => "mi",
            Scheme::Mi4 => "mi4",
            Scheme::Circ => "circ",
            Scheme::Prf => "prf",
            Scheme::ThreeHalves => "three-halves",
            Scheme::PrivacyFree => "privacy-free",
        }
    }

    /// AGREEMENT: the scheme's name in everything that both parties hash or compare, with the
    /// revision of its tables if it is not the first. Parties of different revisions refuse each
    /// other.
    #[must_use]
    pub const fn agreed(self) -> &'static str {
        match self {
            // The first revision's hash protected Δ with 64 bits.
            Scheme::ThreeHalves => "three-halves revision 2",
            scheme => scheme.name(),
        }
    }

    /// The lengths of its tables.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => Format::HALF_GATES,
            Scheme::Prf => Format::PRF,
            Scheme::ThreeHalves => Format::THREE_HALVES,
            Scheme::PrivacyFree => Format::PRIVACY_FREE,
        }
    }

    /// Whether XOR is free.
    #[must_use]
    pub const fn has_free_xor(self) -> bool {
        self.format().xor_bytes == 0
    }
}

impl Default for Scheme {
    /// The best understood assumption at nearly the highest speed.
    fn default() -> Self {
        Scheme::Mi
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scheme {
    type Err = GarbleError;

    fn from_str(name: &str) -> Result<Self, GarbleError> {
        Scheme::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| GarbleError::Unknown {
            name: name.to_owned(),
            known: Scheme::ALL.map(Scheme::name).join(", "),
        })
    }
}
