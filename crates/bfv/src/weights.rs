//! A layer's weights in the forms that answers take.

use crate::{BfvError, Linear, cipher::Ground, sums::Factors};
use hushwire_aes::Backend;
use hushwire_block::abreast;

/// The weights of a layer, transformed once for any number of answers, under any keys.
///
/// SECURITY: they depend on the weights alone. All values that hide an answer are drawn for this
/// answer.
pub struct TransformedWeights {
    pub(crate) groups: Vec<Factors>,
}

/// The weights of a layer at the party that has them.
#[derive(Clone, Copy)]
pub enum LayerWeights<'a> {
    /// Numbers, which each answer transforms.
    Numbers(&'a [i64]),
    /// Weights that were transformed before.
    Transformed(&'a TransformedWeights),
}

impl<'a, T: AsRef<[i64]> + ?Sized> From<&'a T> for LayerWeights<'a> {
    fn from(numbers: &'a T) -> Self {
        Self::Numbers(numbers.as_ref())
    }
}

impl TransformedWeights {
    /// Transforms weights. `threads` is LOCAL.
    ///
    /// # Errors
    /// A weight is larger than agreed.
    ///
    /// # Panics
    /// If the number of weights is wrong (the caller's bug).
    pub fn new(backend: Backend, linear: &Linear, weights: &[i64], threads: usize) -> Result<Self, BfvError> {
        linear.admits(weights)?;
        let ground = Ground::new(backend, linear.set(), linear.ring());
        let all = (0..linear.layout.groups()).collect();
        let groups = abreast(threads, all, |group| Factors::new(&ground, &linear.layout, weights, group));
        Ok(Self { groups })
    }
}

impl Linear {
    /// The number of bytes that transformed weights take.
    #[must_use]
    pub fn transformed_bytes(&self) -> u64 {
        let (layout, word) = (&self.layout, size_of::<u64>() as u64);
        let each = (layout.n / layout.width * layout.blocks() * layout.taps()) as u64;
        layout.groups() as u64 * self.set().primes() as u64 * each * word
    }

    /// # Errors
    /// A weight is larger than agreed.
    ///
    /// # Panics
    /// If the number of weights is wrong.
    pub(crate) fn admits(&self, weights: &[i64]) -> Result<(), BfvError> {
        let conv = self.conv();
        assert_eq!(weights.len() as u64, conv.terms() * conv.outputs as u64, "weights of the layer");
        // The loop covers all weights, so that its time does not reveal which one is too large.
        let most = weights.iter().fold(0, |most, w| most.max(w.unsigned_abs()));
        if most <= self.weight() {
            return Ok(());
        }
        let cause = format!("a weight is greater than {}, which the layer was planned for", self.weight());
        Err(BfvError::Margin { cause })
    }
}
