//! Oblivious key-value stores: sets of pairs as vectors that reveal nothing but the number of pairs
//! that they can hold.
//!
//! **Functionality.** Pairs of a digest (32 bytes, uniform and independent of the vector's seed)
//! and a value → a vector P of [`Layout::entries`] values. A linear map of P gives each digest's
//! value back, and some other value for other digests.
//!
//! **Paper.** Raghuraman and Rindal, "Blazing Fast PSI from Improved OKVS and Subfield VOLE"
//! (ePrint 2022/320), section 4: weight 3, clustered, a dense part in the field.
//!
//! ```text
//! digest    bin 4 │ three positions 3·4 │ k̂ 8, not zero │ value 8        bytes
//! P         bins, each: sparse entries │ 3 dense ones
//! value     = P[p1] + P[p2] + P[p3] + k̂ d1 + k̂² d2 + k̂³ d3, all of the digest's bin
//! solve     peel positions that only one row has; the remaining rows, the core, by elimination;
//!           rows whose positions cancel are equations in d1, d2, d3
//! ```
//!
//! **Deviations.** Both bounds below include the union over bins. Repeated rows count once.
//!
//! **Failure.** Solving fails with probability below 2^−40 for digests that do not depend on the
//! seed: a bin gets more items than [`Layout::capacity`], or a bin with that many has no solution,
//! each with probability below 2^−λ', λ' = 41 + log2 bins. The first is Chernoff's bound. The
//! second has two parts. Either a core is too large to be eliminated: by that paper's formula,
//! which is extrapolated from experiments and not proved, sparse = capacity · (1.223 + (λ' + 9.2) /
//! 2^(0.555 log2 capacity + 2.336)). Or there are more than three dependencies among the rows, for
//! example if four pairs of rows share all positions. Few pairs have few positions: for 9 to 310
//! pairs this is more frequent than 2^−40 (2^−36 at 30). Therefore only sets of
//! [`CLUSTERED`](layout::CLUSTERED) pairs or more use a clustered store, for which the probability
//! is below 2^−54. `failure` computes all parts for all kinds, and counts failures where they are
//! frequent enough.
//!
//! **Three kinds.** The clustered kind is described above. `band` has fewer entries, and its own
//! rows and bound; `polynomial` has one entry per pair, for few pairs. [`Store`] names one of the
//! first two. Below 192 pairs [`Layout`] always uses `polynomial`, and from 192 to 8191 always
//! `band`.
//!
//! **Constant time.** No: memory is read at places that depend on digests, and the time depends on
//! the core. Digests are hashes under the session's name. An observer of this machine's caches
//! learns about the items.

mod band;
mod decode;
mod encode;
#[cfg(test)]
mod failure;
mod kind;
mod layout;
mod module;
mod polynomial;
#[cfg(test)]
mod polynomial_tests;
mod store;
#[cfg(test)]
mod tests;
mod two_core;

pub(crate) use decode::{Decode, Shift, no_addition};
pub use kind::Store;
#[cfg(test)]
pub(crate) use layout::StoreForm;
pub(crate) use layout::{Binned, DENSE, Layout};
pub(crate) use module::Module;
pub(crate) use store::Encoder;

/// The error of a bin whose system has no solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoSolution;

/// A digest of an item, in the form from which rows are made.
pub type Digest = [u8; 32];

/// Word `i` of a digest, of four bytes.
#[inline(always)]
fn word(digest: &Digest, i: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&digest[4 * i..4 * i + 4]);
    u32::from_le_bytes(word)
}

/// The factor k̂, which is not zero.
#[inline(always)]
pub(crate) fn dense(digest: &Digest) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&digest[16..24]);
    u64::from_le_bytes(word).max(1)
}

/// The last eight bytes: the value in plain intersections.
#[inline(always)]
pub(crate) fn tail(digest: &Digest) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&digest[24..]);
    u64::from_le_bytes(word)
}
