//! Capability tokens and vector operations, each with a portable form.
//!
//! A *token* is a zero-sized value that exists only if the CPU has the features that it represents.
//! A kernel is written once, generic over [`Lanes`], and [`dispatch`] monomorphises it behind one
//! `#[target_feature]` wrapper for each tier. No build flag is needed: one binary runs everywhere.
//!
//! ```text
//! tier      token      blocks per vector   needs
//! vaes512   X512<G>    4                   AVX-512F/BW/DQ/VL + VAES
//! vaes256   X256<G>    2                   AVX2 + VAES
//! aesni     X128<G>    1                   SSSE3/SSE4.1 + AES-NI
//! neon      Neon       1                   ARMv8 + AES
//! portable  Portable   4                   nothing (bit-sliced, constant time)
//! ```
//!
//! No tier implies GFNI (`G`), carry-less multiplication ([`clmul`]) or 52-bit products
//! ([`madd52`]): these are capabilities of their own. AVX-512BW and DQ belong to the `vaes512` tier
//! only because every CPU with 512-bit VAES has them (Intel's since Ice Lake, AMD's since Zen 4).
//! They are detected, not assumed: a machine that hides one of them runs `vaes256`. DQ multiplies
//! 64-bit numbers (`vpmullq`); all other tiers take three 32-bit products.
//!
//! Constant time: in no tier does an operation branch on, or index by, the contents of a vector.

pub mod bytes;
pub mod clmul;
mod detect;
mod dispatch;
mod gf8;
mod lanes;
pub mod madd52;
#[cfg(target_arch = "aarch64")]
mod neon;
mod planes;
mod portable;
mod prefetch;
pub mod sbox;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use detect::{Cpu, Features, Tier, UnknownTier, cpu};
pub use dispatch::dispatch;
pub use lanes::{Kernel, Lanes};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use portable::Portable;
pub use prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
pub use x86::{X128, X256, X512};
