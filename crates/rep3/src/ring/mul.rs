//! Products of two columns, row by row.
//!
//! One round, one word per row (Araki et al. 2016, section 2; the ring version of its AND).

use super::{
    bilinear::{Bilinear, BilinearForm, FactorShares, Tell, bytes_of},
    column::Column,
    word::Word,
    zeros::{PIECE, Streams, word_of},
};
use crate::{Context, Place, ShareError, Unit};
use hushwire_aes::Backend;
use hushwire_simd::{Kernel, Lanes};
use std::sync::Arc;

/// The form of products row by row.
pub struct Each(usize);

/// One party's endpoint of a product.
pub type Product<W> = Bilinear<W, Each>;

impl<W: Word> Product<W> {
    /// x y, row by row.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all four shares have the same number of rows.
    pub fn new(cx: Context, x: Arc<Column<W>>, y: Arc<Column<W>>) -> Result<Self, ShareError> {
        let rows = x.rows();
        Bilinear::of(cx, Each(rows), (x, rows), (y, rows))
    }
}

/// Computes `x_i (y_i + y_{i+1}) + x_{i+1} y_i`.
#[inline(always)]
pub(super) fn cross<W: Word>(x: [W; 2], y: [W; 2]) -> W {
    x[0].times(y[0].plus(y[1])).plus(x[1].times(y[0]))
}

/// The products of a piece.
struct Piece<'a, W> {
    x: FactorShares<'a, W>,
    y: FactorShares<'a, W>,
    z: &'a mut [W],
}

impl<W: Word> Kernel for Piece<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let n = self.z.len();
        let ([x, x_next], [y, y_next]) = (self.x.map(|s| &s[..n]), self.y.map(|s| &s[..n]));
        for (i, z) in self.z.iter_mut().enumerate() {
            *z = z.plus(cross([x[i], x_next[i]], [y[i], y_next[i]]));
        }
    }
}

/// A piece's products and its zero-shares, computed while both are in the first-level cache.
struct Masked<'a, W> {
    piece: Piece<'a, W>,
    keyed: [&'a [u8]; 2],
    message: &'a mut [u8],
}

impl<W: Word> Kernel for Masked<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Piece { x, y, z } = self.piece;
        let n = z.len();
        let ([x, x_next], [y, y_next]) = (x.map(|s| &s[..n]), y.map(|s| &s[..n]));
        let [own, prev] = self.keyed.map(|bytes| bytes.chunks_exact(W::BYTES));
        let out = self.message.chunks_exact_mut(W::BYTES);
        for (i, (((z, out), own), prev)) in z.iter_mut().zip(out).zip(own).zip(prev).enumerate() {
            let product = cross([x[i], x_next[i]], [y[i], y_next[i]]);
            *z = product.plus(W::read(own)).minus(W::read(prev));
            z.write(out);
        }
    }
}

impl BilinearForm for Each {
    const STEP: &'static str = "product of numbers";

    fn results(&self) -> usize {
        self.0
    }

    fn add<W: Word>(&self, backend: Backend, x: FactorShares<'_, W>, y: FactorShares<'_, W>, z: &mut [W]) {
        backend.run(Piece { x, y, z });
    }

    fn say<W: Word>(
        &self,
        cx: &Context,
        x: FactorShares<'_, W>,
        y: FactorShares<'_, W>,
        z: &mut [W],
        message: &mut [u8],
    ) {
        let mut streams = Streams::new(cx);
        let rows = PIECE / W::BYTES;
        for (i, (z, message)) in z.chunks_mut(rows).zip(message.chunks_mut(PIECE)).enumerate() {
            let keyed = streams.at(word_of(0, i), message.len());
            let piece = Piece { x: x.map(|s| &s[i * rows..]), y: y.map(|s| &s[i * rows..]), z };
            cx.backend.run(Masked { piece, keyed, message });
        }
    }

    fn tell<W: Word>(&self, x: FactorShares<'_, W>, y: FactorShares<'_, W>, tell: &mut Tell<'_>) {
        let ([x, x_next], [y, y_next]) = (x.map(bytes_of), y.map(bytes_of));
        let place = Place { offset: 0, unit: Unit::Words { bytes: W::BYTES as u8 } };
        tell(place, [&x, &x_next], [&y, &y_next]);
    }
}
