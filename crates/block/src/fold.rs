//! Linear combinations over GF(2^128) of many blocks, reduced once: the messages of consistency
//! checks.

use crate::block::coefficients;
use crate::{Block, Gf128, as_bytes, as_bytes_mut, gf128};
use hushwire_simd::clmul::{Clmul, ClmulSum};
use zeroize::Zeroize;

/// Σ χ\[j\]·x\[j\] over any number of slices, in constant time; zeroed on drop.
#[derive(Clone)]
pub struct Fold(Folds);

impl Default for Fold {
    fn default() -> Self {
        Fold::new()
    }
}

impl Fold {
    /// The empty sum.
    #[must_use]
    pub fn new() -> Self {
        Fold(Folds::new(1))
    }

    /// Adds `chi[j] · x[j]` for every `j`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add(&mut self, clmul: Clmul, chi: &[Gf128], x: &[Block]) {
        assert_eq!(chi.len(), x.len(), "a coefficient for every block");
        self.0.add(clmul, chi, x);
    }

    /// The sum so far; more slices may follow.
    #[must_use]
    pub fn finish(&self) -> Gf128 {
        self.0.finish()[0]
    }
}

/// A [`Fold`] for each row of a bit matrix, all with the same coefficients; zeroed on drop.
///
/// ```text
/// chi          χ_0      χ_1    ..  χ_{W-1}
/// row r    rows[rW]  rows[rW+1]    rows[rW+W-1]      sum r += Σ_j χ_j · rows[rW+j]
/// ```
#[derive(Clone, Default)]
pub struct Folds {
    // The sums are unreduced and in lanes, so that adding a term costs only its products.
    sums: Vec<ClmulSum>,
}

impl Folds {
    /// `rows` empty sums.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Folds { sums: vec![ClmulSum::ZERO; rows] }
    }

    /// Adds `chi[j]` times column `j` of `rows`, which is row-major with `chi.len()` blocks in each
    /// row.
    ///
    /// # Panics
    /// If the number of rows is not that of [`Folds::new`].
    pub fn add(&mut self, clmul: Clmul, chi: &[Gf128], rows: &[Block]) {
        clmul.fold(coefficients(chi), as_bytes(rows), &mut self.sums);
    }

    /// The sums so far, one for each row; more columns may follow.
    #[must_use]
    pub fn finish(&self) -> Vec<Gf128> {
        self.sums.iter().map(|sum| Gf128(gf128::reduce(sum.total()))).collect()
    }
}

impl Zeroize for Folds {
    fn zeroize(&mut self) {
        self.sums.iter_mut().for_each(|sum| sum.0.zeroize());
    }
}

impl Drop for Folds {
    fn drop(&mut self) {
        self.zeroize();
    }
}

/// Adds `chi · e[i]` to `q[i]`, where bit `j` of the word `e[i]` is the coefficient of x^j;
/// constant time.
///
/// # Panics
/// If the lengths differ.
pub fn scale_add(clmul: Clmul, chi: Gf128, e: &[u64], q: &mut [Block]) {
    assert_eq!(e.len(), q.len(), "a word for every block");
    clmul.scale_add(chi.0, gf128::TAIL, e, as_bytes_mut(q));
}

impl Gf128 {
    /// Σ chi\[j\]·x\[j\], reduced once.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn inner_blocks(chi: &[Gf128], x: &[Block], clmul: Clmul) -> Gf128 {
        assert_eq!(chi.len(), x.len(), "a coefficient for every block");
        let mut sum = ClmulSum::ZERO;
        clmul.fold(coefficients(chi), as_bytes(x), std::slice::from_mut(&mut sum));
        let inner = Gf128(gf128::reduce(sum.total()));
        sum.0.zeroize();
        inner
    }
}
