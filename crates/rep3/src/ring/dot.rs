//! Inner products, many of one length at once: row `j` of the results is Σ_p x[j, p] y[j, p].

use super::{
    bilinear::{Bilinear, BilinearForm, FactorShares, Tell, bytes_of},
    column::Column,
    mul::cross,
    shape::product_of,
    word::Word,
};
use crate::{Context, Place, ShareError, Unit};
use hushwire_aes::Backend;
use hushwire_simd::{Kernel, Lanes};
use std::sync::Arc;

/// Inner products of rows of `length` numbers.
pub struct DotRows {
    rows: usize,
    length: usize,
}

/// One party's endpoint of inner products.
pub type Dot<W> = Bilinear<W, DotRows>;

impl<W: Word> Dot<W> {
    /// Inner products of `rows` pairs of vectors of `length` numbers, which lie one behind the
    /// other. The inner product of empty vectors is 0.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all four shares have `rows · length` numbers;
    /// [`ShareError::Shape`] if that product overflows.
    pub fn new(
        cx: Context,
        [rows, length]: [usize; 2],
        x: Arc<Column<W>>,
        y: Arc<Column<W>>,
    ) -> Result<Self, ShareError> {
        let numbers = product_of(&[rows, length])?;
        Bilinear::of(cx, DotRows { rows, length }, (x, numbers), (y, numbers))
    }
}

/// Computes Σ `x_i (y_i + y_{i+1}) + x_{i+1} y_i`.
#[inline(always)]
pub(super) fn inner<W: Word>(x: FactorShares<'_, W>, y: FactorShares<'_, W>) -> W {
    let n = x[0].len();
    let ([x, x_next], [y, y_next]) = (x.map(|s| &s[..n]), y.map(|s| &s[..n]));
    let mut sum = W::Wide::default();
    for i in 0..n {
        sum = sum.plus(cross([x[i], x_next[i]].map(W::widen), [y[i], y_next[i]].map(W::widen)));
    }
    W::narrow(sum)
}

struct Sums<'a, W> {
    length: usize,
    x: FactorShares<'a, W>,
    y: FactorShares<'a, W>,
    z: &'a mut [W],
}

impl<W: Word> Kernel for Sums<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (j, z) in self.z.iter_mut().enumerate() {
            let row = j * self.length..(j + 1) * self.length;
            let (x, y) = (self.x.map(|s| &s[row.clone()]), self.y.map(|s| &s[row.clone()]));
            *z = z.plus(inner(x, y));
        }
    }
}

impl BilinearForm for DotRows {
    const STEP: &'static str = "inner products";

    fn results(&self) -> usize {
        self.rows
    }

    fn add<W: Word>(&self, backend: Backend, x: FactorShares<'_, W>, y: FactorShares<'_, W>, z: &mut [W]) {
        backend.run(Sums { length: self.length, x, y, z });
    }

    fn tell<W: Word>(&self, x: FactorShares<'_, W>, y: FactorShares<'_, W>, tell: &mut Tell<'_>) {
        for j in 0..self.rows {
            let row = |s: &[W]| bytes_of(&s[j * self.length..(j + 1) * self.length]);
            let ([x, x_next], [y, y_next]) = (x.map(row), y.map(row));
            let place = Place { offset: j * W::BYTES, unit: Unit::Sum { bytes: W::BYTES as u8 } };
            tell(place, [&x, &x_next], [&y, &y_next]);
        }
    }
}
