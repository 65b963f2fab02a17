//! The CPU's features, and the one place where a kernel meets its tier.

use crate::Kernel;
use std::sync::OnceLock;

/// An AES tier: the width and instructions that kernels run with. A local choice: results and wire bytes do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// Bit-sliced, constant time, any CPU.
    Portable,
    /// ARMv8 AES instructions, one block a vector.
    Neon,
    /// AES-NI, one block a vector.
    AesNi,
    /// VAES on 256-bit vectors, two blocks.
    Vaes256,
    /// VAES on 512-bit vectors, four blocks; products of 64-bit numbers are one instruction.
    Vaes512,
}

/// A tier name that is none of [`Tier::ALL`].
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
    /// GF(2^8) multiplication and affine maps.
    pub gfni: bool,
    /// 64×64 carry-less multiplication.
    pub clmul: bool,
    /// Carry-less multiplication on 512-bit vectors.
    pub vpclmul: bool,
    /// Byte operations on 512-bit vectors.
    pub avx512bw: bool,
    /// Products of 52 bits on 512-bit vectors.
    pub ifma: bool,
}

/// Tiers and features of this CPU. Fields are private so that a `Cpu` never claims more than was detected.
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

    /// Capabilities beside the tiers.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }
}

/// The CPU as it was detected, once per process.
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

/// Runs `kernel` with the operations of `tier`; `gfni` asks for GFNI, which is used only where the CPU has it.
///
/// # Panics
/// If the CPU lacks `tier` (check with [`Cpu::has`] first; `hushwire-aes::Backend` does).
pub fn dispatch<K: Kernel>(tier: Tier, gfni: bool, kernel: K) -> K::Out {
    assert!(cpu().has(tier), "this CPU lacks the AES tier {tier}");
    #[cfg(target_arch = "x86_64")]
    return crate::x86::run(tier, gfni && cpu().features.gfni, kernel);
    #[cfg(target_arch = "aarch64")]
    {
        let _ = gfni;
        match tier {
            Tier::Neon => crate::neon::run(kernel),
            _ if !K::PORTABLE => unreachable!("a kernel of AES instructions on the portable tier"),
            _ => crate::portable::run(kernel),
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = gfni;
        crate::portable::run(kernel)
    }
}
