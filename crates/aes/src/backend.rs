//! The tier and the capabilities that kernels run with.

use hushwire_simd::bytes::{ByteKernel, dispatch_bytes};
use hushwire_simd::{Kernel, Tier, UnknownTier, cpu, dispatch};

/// The environment variable in which a command may find the name of a tier.
pub const ENV: &str = "HUSHWIRE_AES_BACKEND";

/// A tier that this CPU has, whether GFNI is used, whether AES blocks are batched and outputs streamed. A local choice: no
/// result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    tier: Tier,
    gfni: bool,
    batched: bool,
    streamed: bool,
}

/// The reason why a backend cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// No tier has this name.
    Unknown(String),
    /// This CPU lacks the tier.
    Missing {
        /// The tier asked for.
        tier: Tier,
        /// The tiers that this CPU has.
        available: &'static [Tier],
    },
}

impl std::fmt::Display for BackendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BackendError::Unknown(name) => UnknownTier(name.clone()).fmt(f),
            BackendError::Missing { tier, available } => {
                let names: Vec<&str> = available.iter().map(|t| t.name()).collect();
                write!(f, "this CPU lacks the AES backend {tier}; it has {}", names.join(", "))
            }
        }
    }
}

impl std::error::Error for BackendError {}

impl Default for Backend {
    fn default() -> Self {
        Backend::best()
    }
}

impl Backend {
    /// The widest tier and every capability of this CPU.
    #[must_use]
    pub fn best() -> Self {
        Backend { tier: cpu().best(), gfni: cpu().features().gfni, batched: true, streamed: false }
    }

    /// The given tier, with GFNI where the CPU has it.
    pub fn forced(tier: Tier) -> Result<Self, BackendError> {
        if cpu().has(tier) {
            Ok(Backend { tier, ..Backend::best() })
        } else {
            Err(BackendError::Missing { tier, available: cpu().tiers() })
        }
    }

    /// The tier of this name, as on the command line.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        let tier = name.parse().map_err(|UnknownTier(name)| BackendError::Unknown(name))?;
        Backend::forced(tier)
    }

    /// Every batched backend of this CPU, with and without GFNI, slowest first: what tests run over.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let forms = |tier| [false, true].map(|gfni| Backend { tier, gfni, batched: true, streamed: false });
        let has = |b: &Backend| !b.gfni || cpu().features().gfni;
        cpu().tiers().iter().copied().flat_map(forms).filter(has).collect()
    }

    /// The tier.
    #[must_use]
    #[inline]
    pub fn tier(self) -> Tier {
        self.tier
    }

    /// Blocks in a vector of the tier.
    #[must_use]
    #[inline]
    pub fn lanes(self) -> usize {
        match self.tier {
            Tier::Portable | Tier::Vaes512 => 4,
            Tier::Vaes256 => 2,
            Tier::Neon | Tier::AesNi => 1,
        }
    }

    /// The same, on vectors that hold as few blocks as will do for `blocks`: for short batches. The portable tier has
    /// but one width.
    #[must_use]
    #[inline]
    pub fn narrowed(self, blocks: usize) -> Self {
        let tier = match self.tier {
            Tier::Vaes512 | Tier::Vaes256 if blocks <= 1 => Tier::AesNi,
            Tier::Vaes512 if blocks <= 2 => Tier::Vaes256,
            tier => tier,
        };
        Backend { tier, ..self }
    }

    /// Whether GFNI is used.
    #[must_use]
    pub fn gfni(self) -> bool {
        self.gfni
    }

    /// The same tier without GFNI.
    #[must_use]
    pub fn without_gfni(self) -> Self {
        Backend { gfni: false, ..self }
    }

    /// Whether blocks are batched, as they are unless [`Backend::unbatched`] says otherwise.
    #[must_use]
    #[inline]
    pub fn is_batched(self) -> bool {
        self.batched
    }

    /// The same tier, but what OT extension uses (`counter_blocks`, `ccr`, `tccr`, tree levels, leaf sums, pads, LPN)
    /// encrypts one block after another with the instructions for a single block: what batching is measured against. The
    /// portable tier, whose bit slices hold four blocks however many are asked for, stays as it is.
    #[must_use]
    pub fn unbatched(self) -> Self {
        Backend { batched: self.tier == Tier::Portable, ..self }
    }

    /// Whether outputs go past the caches.
    #[must_use]
    pub fn is_streamed(self) -> bool {
        self.streamed
    }

    /// The same, but `ccr`, `tccr` and pads write their outputs past the caches, where the CPU can and the outputs are
    /// aligned to 64 bytes: for more than fits there and nobody reads soon.
    #[must_use]
    pub fn streamed(self, streamed: bool) -> Self {
        Backend { streamed, ..self }
    }

    /// Runs a kernel.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        dispatch(self.tier, self.gfni, kernel)
    }

    /// Runs a kernel over GF(2^8) vectors, bit-sliced without GFNI.
    #[inline]
    pub fn run_bytes<K: ByteKernel>(self, kernel: K) -> K::Out {
        dispatch_bytes(self.tier, self.gfni, kernel)
    }
}
