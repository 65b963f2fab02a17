//! Agreed numbers that costs are counted from as well.

/// SECURITY: ρ: a party with two keys passes with probability 2^−ρ.
pub(crate) const TRIALS: usize = 40;
/// Bytes of the seed of weights.
pub(crate) const SEED: usize = 16;
