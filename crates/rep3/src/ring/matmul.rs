//! Products of matrices, row-major.

use super::{
    bilinear::{Bilinear, BilinearForm, FactorShares, Factors, Tell, WithKnown, bytes_of, with_known},
    column::Column,
    gemm::{Gemm, Left, plain},
    shape::product_of,
    word::Word,
};
use crate::{Context, Place, ShareError, Unit};
use hushwire_aes::Backend;
use std::sync::Arc;

/// A product of matrices: rows, depth, columns.
pub struct Matrices([usize; 3]);

/// One party's endpoint of a product of matrices.
pub type MatMul<W> = Bilinear<W, Matrices>;

impl<W: Word> MatMul<W> {
    /// x (`rows` × `depth`) times y (`depth` × `columns`). Both and the result are row-major. With
    /// depth 0 the result is zero.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless shares have these numbers of elements; [`ShareError::Shape`]
    /// if those numbers overflow.
    pub fn new(
        cx: Context,
        [rows, depth, columns]: [usize; 3],
        x: Arc<Column<W>>,
        y: Arc<Column<W>>,
    ) -> Result<Self, ShareError> {
        let (left, right) = (product_of(&[rows, depth])?, product_of(&[depth, columns])?);
        product_of(&[rows, columns])?;
        Bilinear::of(cx, Matrices([rows, depth, columns]), (x, left), (y, right))
    }
}

/// A matrix in memory, with this many columns.
struct RowMajor(usize);

impl<W: Word> Left<W> for RowMajor {
    fn copy(&self, words: &[W], _: usize, row: usize, from: usize, out: &mut [W]) {
        let at = row * self.0 + from;
        out.copy_from_slice(&words[at..at + out.len()]);
    }
}

impl WithKnown for Matrices {
    fn factors(&self) -> Result<[usize; 2], ShareError> {
        let [rows, depth, columns] = self.0;
        product_of(&[rows, columns])?;
        Ok([product_of(&[rows, depth])?, product_of(&[depth, columns])?])
    }

    fn plain<W: Word>(&self, backend: Backend, x: &[W], y: &[W], z: &mut [W]) {
        plain(backend, &RowMajor(self.0[1]), self.0, x, y, z);
    }
}

/// x (`rows` × `depth`) times y (`depth` × `columns`) if all parties know one of them; this takes
/// no message.
///
/// # Errors
/// As [`MatMul::new`].
pub fn matmul_known<W: Word>(
    backend: Backend,
    shape: [usize; 3],
    factors: Factors<'_, W>,
) -> Result<Column<W>, ShareError> {
    with_known(backend, &Matrices(shape), factors)
}

impl BilinearForm for Matrices {
    const STEP: &'static str = "product of matrices";

    fn results(&self) -> usize {
        self.0[0] * self.0[2]
    }

    fn add<W: Word>(&self, backend: Backend, x: FactorShares<'_, W>, y: FactorShares<'_, W>, z: &mut [W]) {
        Gemm { left: &RowMajor(self.0[1]), shape: self.0, x, y, z }.run(backend);
    }

    fn tell<W: Word>(&self, x: FactorShares<'_, W>, y: FactorShares<'_, W>, tell: &mut Tell<'_>) {
        tell_rows(&RowMajor(self.0[1]), self.0, x, y, tell);
    }
}

/// Gives the recorder the products of each result: a row of the left factor and a column of the
/// right one.
pub(super) fn tell_rows<W: Word>(
    left: &dyn Left<W>,
    [rows, depth, columns]: [usize; 3],
    x: FactorShares<'_, W>,
    y: FactorShares<'_, W>,
    tell: &mut Tell<'_>,
) {
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let [x, x_next] = [0, 1].map(|share| {
            let mut line = hushwire_block::Wiped::new(vec![W::default(); depth]);
            left.copy(x[share], share, row, 0, &mut line);
            bytes_of(&line)
        });
        let [y, y_next] = y.map(|words| {
            let line = words.iter().skip(column).step_by(columns).copied().collect::<Vec<_>>();
            bytes_of(&hushwire_block::Wiped::new(line))
        });
        let unit = Unit::Sum { bytes: W::BYTES as u8 };
        tell(Place { offset: (row * columns + column) * W::BYTES, unit }, [&x, &x_next], [&y, &y_next]);
    }
}
