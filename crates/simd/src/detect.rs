//! The CPU's features and the tiers that follow from them.

use std::sync::OnceLock;

/// An AES tier: the width and the instructions with which kernels run. It is a local choice:
/// results and wire bytes do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Bit slices: constant time on any CPU.
    Portable,
    /// ARMv8 AES instructions; a vector holds one block.
    Neon,
    /// AES-NI; a vector holds one block.
    AesNi,
    /// VAES on 256-bit vectors of two blocks.
    Vaes256,
    /// VAES on 512-bit vectors of four blocks; an instruction multiplies 64-bit numbers.
    Vaes512,
}

/// A tier name that is not in [`Tier::ALL`].
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownTier(pub String);

impl std::fmt::Display for UnknownTier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = Tier::ALL.iter().map(|t| t.name()).collect();
        write!(f, "no AES backend is called '{}'; choose one of {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownTier {}

impl Tier {
    /// Every tier, slowest first.
    pub const ALL: [Tier; 5] = [Tier::Portable, Tier::Neon, Tier::AesNi, Tier::Vaes256, Tier::Vaes512];

    /// The name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Portable => "portable",
            Tier::Neon => "neon",
            Tier::AesNi => "aesni",
            Tier::Vaes256 => "vaes256",
            Tier::Vaes512 => "vaes512",
        }
    }
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(s: &str) -> Result<Self, UnknownTier> {
        Tier::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| UnknownTier(s.to_owned()))
    }
}

/// Capabilities that no tier implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// GFNI: multiplication and affine maps in GF(2^8).
    pub gfni: bool,
    /// PCLMULQDQ or PMULL: carry-less 64 × 64-bit multiplication.
    pub clmul: bool,
    /// VPCLMULQDQ: carry-less multiplication on 512-bit vectors.
    pub vpclmul: bool,
    /// Byte operations on 512-bit vectors.
    pub avx512bw: bool,
    /// AVX-512 IFMA: 52-bit products on 512-bit vectors.
    pub ifma: bool,
}

/// The tiers and features of this CPU. The fields are private, so that a `Cpu` never claims more
/// than was detected.
#[derive(Clone, Debug)]
pub struct Cpu {
    tiers: Vec<Tier>,
    features: Features,
}

impl Cpu {
    /// The tiers that this CPU has, slowest first; never empty.
    #[must_use]
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The widest tier.
    #[must_use]
    pub fn best(&self) -> Tier {
        self.tiers.last().copied().unwrap_or(Tier::Portable)
    }

    /// Whether kernels may run with `tier`.
    #[must_use]
    #[inline]
    pub fn has(&self, tier: Tier) -> bool {
        self.tiers.contains(&tier)
    }

    /// The capabilities that no tier implies.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }
}

/// The CPU, detected once per process.
#[inline]
pub fn cpu() -> &'static Cpu {
    static CPU: OnceLock<Cpu> = OnceLock::new();
    CPU.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Cpu {
    use std::arch::is_x86_feature_detected as has;
    let mut tiers = vec![Tier::Portable];
    let aesni = has!("aes") && has!("ssse3") && has!("sse4.1");
    if aesni {
        tiers.push(Tier::AesNi);
    }
    if aesni && has!("avx2") && has!("vaes") {
        tiers.push(Tier::Vaes256);
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            tiers.push(Tier::Vaes512);
        }
    }
    let features = Features {
        gfni: has!("gfni"),
        clmul: has!("pclmulqdq") && has!("sse4.1"),
        vpclmul: has!("vpclmulqdq") && has!("pclmulqdq") && has!("sse4.1") && has!("avx512f"),
        avx512bw: has!("avx512bw"),
        ifma: has!("avx512f") && has!("avx512ifma"),
    };
    Cpu { tiers, features }
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Cpu {
    let mut tiers = vec![Tier::Portable];
    let aes = std::arch::is_aarch64_feature_detected!("aes");
    if aes {
        tiers.push(Tier::Neon);
    }
    Cpu {
        tiers,
        features: Features { gfni: false, clmul: aes, vpclmul: false, avx512bw: false, ifma: false },
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Cpu {
    let features = Features { gfni: false, clmul: false, vpclmul: false, avx512bw: false, ifma: false };
    Cpu { tiers: vec![Tier::Portable], features }
}
