//! The tier and the capabilities with which kernels run.

use hushwire_simd::bytes::{ByteKernel, dispatch_bytes};
use hushwire_simd::{Kernel, Tier, UnknownTier, cpu, dispatch};

/// The environment variable from which a command may take the name of a tier.
pub const ENV: &str = "HUSHWIRE_AES_BACKEND";

/// A tier that this CPU has, and three choices: GFNI or not, batched AES blocks or not, streamed
/// outputs or not. These choices are local: no result depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend {
    tier: Tier,
    gfni: bool,
    batched: bool,
    streamed: bool,
}

/// The reason why a backend is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// No tier has this name.
    Unknown(String),
    /// This CPU lacks the tier.
    Missing {
        /// The requested tier.
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

    /// The given tier, with GFNI if the CPU has it.
    ///
    /// # Errors
    /// [`BackendError::Missing`] if the CPU lacks the tier.
    pub fn forced(tier: Tier) -> Result<Self, BackendError> {
        if cpu().has(tier) {
            Ok(Backend { tier, ..Backend::best() })
        } else {
            Err(BackendError::Missing { tier, available: cpu().tiers() })
        }
    }

    /// The tier with this name, as on the command line.
    ///
    /// # Errors
    /// [`BackendError`] if no tier has the name or the CPU lacks the tier.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        let tier = name.parse().map_err(|UnknownTier(name)| BackendError::Unknown(name))?;
        Backend::forced(tier)
    }

    /// Every batched backend of this CPU, with and without GFNI, slowest first; tests run over all
    /// of them.
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

    /// The number of blocks in a vector of the tier.
    #[must_use]
    #[inline]
    pub fn lanes(self) -> usize {
        match self.tier {
            Tier::Portable | Tier::Vaes512 => 4,
            Tier::Vaes256 => 2,
            Tier::Neon | Tier::AesNi => 1,
        }
    }

    /// This backend on the narrowest vectors that hold `blocks` blocks, for short batches. The
    /// portable tier has only one width.
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

    /// Whether blocks are batched; they are unless [`Backend::unbatched`] made this backend.
    #[must_use]
    #[inline]
    pub fn is_batched(self) -> bool {
        self.batched
    }

    /// The same tier without batching, as a baseline. The functions that OT extension uses
    /// (`counter_blocks`, `ccr`, `tccr`, tree levels, leaf sums, pads, LPN) then encrypt one block
    /// after another with the instructions for a single block. The portable tier is unchanged,
    /// since its bit slices always hold four blocks.
    #[must_use]
    pub fn unbatched(self) -> Self {
        Backend { batched: self.tier == Tier::Portable, ..self }
    }

    /// Whether outputs are written past the caches.
    #[must_use]
    pub fn is_streamed(self) -> bool {
        self.streamed
    }

    /// The same backend, for outputs that exceed the caches and are not read soon. If `streamed` is
    /// set, `ccr`, `tccr` and pads write their outputs past the caches, provided that the CPU can
    /// and the outputs are aligned to 64 bytes.
    #[must_use]
    pub fn streamed(self, streamed: bool) -> Self {
        Backend { streamed, ..self }
    }

    /// Runs a kernel.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        dispatch(self.tier, self.gfni, kernel)
    }

    /// Runs a kernel over GF(2^8) vectors, which are bit-sliced if GFNI is not used.
    #[inline]
    pub fn run_bytes<K: ByteKernel>(self, kernel: K) -> K::Out {
        dispatch_bytes(self.tier, self.gfni, kernel)
    }
}
