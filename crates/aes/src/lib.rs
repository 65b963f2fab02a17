//! AES kernels and hashes on every tier, as batch functions over slices.
//!
//! ```text
//! Backend                 tier and capabilities, chosen once; every batch function is a method of it
//! Backend::unbatched      the same results block by block, for OT extension: the baseline of batching
//! Aes128 Aes192 Aes256    round keys, expanded in constant time, zeroized on drop
//! ctr_xor ecb_encrypt     the standard modes
//! counter_blocks          F_k(first + i)
//! counter_xor2            F_k0(first + i) ^ F_k1(first + i), three-party zero sharing: the hot path of the project
//! rekeyed                 many keys, a few blocks under each
//! ccr tccr prp            hashes from one fixed key
//! ggm_level               one level of a GGM tree, from two fixed keys or as a half tree
//! leaf_sums               sums over the counter streams of a tree's leaves, and of a punctured tree: OT extension
//! pads_ccr pads_tccr      both hashes of every correlated OT, alone or over messages
//! lpn_accumulate          the local linear code of LPN, over a public table
//! kernel                  σ, key schedules and tweaks inside kernels of other crates
//! rounds_only             the register-only limit that benchmarks compare with
//! ```
//!
//! Results do not depend on the tier or on a capability. Constant time: no function branches on, or
//! indexes by, keys, labels or data; lengths, counters and tweaks are public.

mod alone;
mod backend;
mod batch;
mod ctr;
mod ggm;
mod hash;
pub mod kernel;
mod key;
mod leaves;
mod limit;
mod lpn;
mod pads;
mod rekey;
mod tables;

pub use backend::{Backend, BackendError, ENV};
pub use ggm::GgmKeys;
pub use hushwire_simd::Tier;
pub use key::{Aes128, Aes192, Aes256, RoundKeys};
pub use limit::Rounds;
pub use tables::Taken;
