//! Linear layers under encryption: one party's numbers modulo 2^ℓ times the other's weights.
//!
//! ```text
//! vector's party (Encryptor)                weights' party (Evaluator)
//! public key, once         ───────────────►
//! encrypted polynomials    ───────────────►  Σ weights · polynomials, less a mask, under noise
//! its share: the sums less the mask  ◄─────  its share: the mask
//! ```
//!
//! **Functionality.** (x; w) → shares of the convolution of x by w modulo 2^ℓ, ℓ from 1 to 48
//! ([`Conv`], [`Linear`]).
//!
//! **Papers.** BFV: Z. Brakerski, Crypto 2012; J. Fan, F. Vercauteren, ePrint 2012/144.
//! Coefficients as places of a convolution, without rotations: Z. Huang, W. Lu, C. Hong, J. Ding,
//! "Cheetah", USENIX Security 2022.
//!
//! **Deviations.** Answers are hidden by a fresh encryption of 0 under the public key of the
//! vector's party, and by flooding whose width follows from the number of coefficients that a run
//! opens ([`STATISTICAL`]).
//!
//! **Security.** Semi-honest, one corrupted party. The weights' party sees encryptions: RLWE with
//! ternary secrets. The vector's party sees its results, and noise whose distribution is within
//! 2^-40 of that for other weights, over a whole run. The lengths of messages depend on shapes
//! alone.
//!
//! **Noise.** A layer whose results might be wrong with probability 2^-60 is refused before
//! anything is sent ([`Set::margin`]).
#![forbid(unsafe_code)]

mod cipher;
mod conv;
mod error;
mod linear;
mod ntt;
mod params;
mod plain;
mod sample;
mod sums;
#[cfg(test)]
mod tests;
mod weights;

pub use conv::Conv;
pub use error::BfvError;
#[doc(hidden)]
pub use linear::transform;
pub use linear::{Encryptor, Evaluator, Linear};
pub use params::{LayerSizes, Margin, STATISTICAL, Set};
pub use weights::{LayerWeights, TransformedWeights};
