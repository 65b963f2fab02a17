//! Agreed numbers from which the costs are computed, too.

/// SECURITY: ρ: a party with two keys passes the check of Δ with probability 2^−ρ.
pub(crate) const TRIALS: usize = 40;
/// The number of bytes of the seed of weights.
pub(crate) const SEED: usize = 16;
