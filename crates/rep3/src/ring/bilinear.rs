//! The machine of every bilinear operation: products, inner products, matrix products and
//! convolutions.
//!
//! **Functionality.** Shares of columns x and y → shares of z_j = Σ x_a y_b over public pairs (a,
//! b) of places, which the [`BilinearForm`] defines. **Paper.** Araki et al., CCS 2016, section 2:
//! `z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + α_i`. Products are summed before they are masked.
//! Two local products do the work of three: `x_i (y_i + y_{i+1}) + x_{i+1} y_i`. **Security.**
//! Semi-honest, one corrupted party; F = AES-128 as PRF. **Rounds and bytes.** One round and one
//! word per result, for any number of summands. **Constant time.** Numbers are secret; shapes are
//! public.

use super::{
    column::Column,
    gate::{TwoWayGate, two_way},
    word::Word,
};
use crate::{Context, Place, Record, Rep3, ShareError, pool};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};
use std::sync::Arc;

/// Both shares of a factor.
pub(super) type FactorShares<'a, W> = [&'a [W]; 2];

/// Receives the factors of one or several results, and the results' place in the message.
pub(super) type Tell<'a> = dyn FnMut(Place, [&[u8]; 2], [&[u8]; 2]) + 'a;

/// Defines which products are summed.
pub(super) trait BilinearForm {
    /// The step's name in errors.
    const STEP: &'static str;

    /// The number of results.
    fn results(&self) -> usize;

    /// Adds this party's local sums to `z`.
    fn add<W: Word>(&self, backend: Backend, x: FactorShares<'_, W>, y: FactorShares<'_, W>, z: &mut [W]);

    /// Writes this party's masked sums to `z` and to the message.
    fn say<W: Word>(
        &self,
        cx: &Context,
        x: FactorShares<'_, W>,
        y: FactorShares<'_, W>,
        z: &mut [W],
        message: &mut [u8],
    ) {
        z.fill(W::default());
        cx.add_zeros(0, z);
        self.add(cx.backend, x, y, z);
        write(z, message);
    }

    /// Gives all products to the recorder.
    fn tell<W: Word>(&self, x: FactorShares<'_, W>, y: FactorShares<'_, W>, tell: &mut Tell<'_>);
}

/// Writes words as bytes.
#[inline(always)]
pub(super) fn write<W: Word>(words: &[W], bytes: &mut [u8]) {
    words.iter().zip(bytes.chunks_exact_mut(W::BYTES)).for_each(|(word, bytes)| word.write(bytes));
}

/// Reads words from bytes.
#[inline(always)]
pub(super) fn read<W: Word>(bytes: &[u8], words: &mut [W]) {
    words.iter_mut().zip(bytes.chunks_exact(W::BYTES)).for_each(|(word, bytes)| *word = W::read(bytes));
}

/// The bytes of words, in the form that a recorder receives.
pub(super) fn bytes_of<W: Word>(words: &[W]) -> Wiped<Vec<u8>> {
    let mut bytes = Wiped::new(vec![0; words.len() * W::BYTES]);
    write(words, &mut bytes);
    bytes
}

/// The factors of a bilinear operation in which all parties know one factor.
#[derive(Clone, Copy)]
pub enum Factors<'a, W: Word> {
    /// The left factor is known.
    LeftKnown(&'a [W], &'a Column<W>),
    /// The right factor is known.
    RightKnown(&'a Column<W>, &'a [W]),
}

/// A form that can be computed locally on shares if one factor is known.
pub(super) trait WithKnown: BilinearForm {
    /// The number of elements of each factor.
    fn factors(&self) -> Result<[usize; 2], ShareError>;

    /// Adds the results of two plain factors to `z`.
    fn plain<W: Word>(&self, backend: Backend, x: &[W], y: &[W], z: &mut [W]);
}

/// Shares of the results. Each share comes from the same share of the factor that is shared.
pub(super) fn with_known<W: Word>(
    backend: Backend,
    form: &impl WithKnown,
    factors: Factors<'_, W>,
) -> Result<Column<W>, ShareError> {
    let [left, right] = form.factors()?;
    let what = "the known factor";
    let expect = |known: &[W], numbers: usize| {
        let [expected, found] = [numbers, known.len()].map(|n| n.saturating_mul(W::BYTES));
        if found == expected { Ok(()) } else { Err(ShareError::Length { what, expected, found }) }
    };
    let of = |each: &dyn Fn(&mut [W])| {
        let mut z = pool::zeros(form.results());
        // A shape without results may have no columns, and a step of 0 would panic.
        if !z.is_empty() {
            each(&mut z);
        }
        z
    };
    match factors {
        Factors::LeftKnown(x, y) => {
            expect(x, left)?;
            y.expect_rows("the right factor's share", right)?;
            let share = |y: &[W]| of(&|z| form.plain(backend, x, y, z));
            Ok(Rep3 { own: share(&y.own), next: share(&y.next) })
        }
        Factors::RightKnown(x, y) => {
            x.expect_rows("the left factor's share", left)?;
            expect(y, right)?;
            let share = |x: &[W]| of(&|z| form.plain(backend, x, y, z));
            Ok(Rep3 { own: share(&x.own), next: share(&x.next) })
        }
    }
}

/// One party's endpoint of sums of products.
pub struct Bilinear<W: Word, F> {
    cx: Context,
    form: F,
    x: Arc<Column<W>>,
    y: Arc<Column<W>>,
    z: Column<W>,
    done: bool,
    gate: TwoWayGate,
    rec: Option<Box<dyn Record>>,
}

impl<W: Word, F> Bilinear<W, F> {
    /// Sets the recorder, which gets all that a verifier needs.
    pub fn record(&mut self, rec: Box<dyn Record>) {
        self.rec = Some(rec);
    }

    /// Writes the results over `z`, so that its memory is used again: fresh pages cost more than
    /// the products.
    #[must_use]
    pub fn with_buffer(mut self, mut z: Column<W>) -> Self {
        let results = self.z.rows();
        pool::set_len(&mut z.own, results);
        pool::set_len(&mut z.next, results);
        self.z = z;
        self
    }

    /// Shares of the results, after the run.
    #[must_use]
    pub fn finish(self) -> Column<W> {
        self.z
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    fn bytes(&self) -> usize {
        self.z.rows() * W::BYTES
    }
}

#[expect(private_bounds, reason = "all of its functions are private")]
impl<W: Word, F: BilinearForm> Bilinear<W, F> {
    /// Takes the factors, and the number of rows that each must have.
    pub(super) fn of(
        cx: Context,
        form: F,
        (x, x_rows): (Arc<Column<W>>, usize),
        (y, y_rows): (Arc<Column<W>>, usize),
    ) -> Result<Self, ShareError> {
        x.expect_rows("the left factor's share", x_rows)?;
        y.expect_rows("the right factor's share", y_rows)?;
        let results = form.results();
        let (z, done) = (Column::zeros(results), results == 0);
        Ok(Bilinear { cx, form, x, y, z, done, gate: TwoWayGate::default(), rec: None })
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let ring = Round::even(F::STEP, self.bytes());
        (!self.done).then_some([ring, Round::even(ring.name, 0)])
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        if slot != 0 {
            return;
        }
        let (x, y) = ([&self.x.own[..], &self.x.next], [&self.y.own[..], &self.y.next]);
        if let Some(rec) = &mut self.rec {
            let mut mask = Wiped::new(vec![W::default(); self.z.own.len()]);
            self.cx.add_zeros(0, &mut mask);
            rec.randomness(0, &bytes_of(&mask));
            self.form.tell(x, y, &mut |place, x, y| rec.product(0, place, x, y));
        }
        self.form.say(&self.cx, x, y, &mut self.z.own, out);
        if let Some(rec) = &mut self.rec {
            rec.message(0, out);
        }
    }

    fn hear(&mut self, [ring, _]: [Exchanged<'_>; 2]) {
        let Rep3 { next, .. } = &mut self.z;
        read(ring.heard, next);
        self.done = true;
    }
}

two_way!([W: Word, F: BilinearForm] Bilinear<W, F>;
    fn cost(&self) -> Option<Cost> {
        Some(Cost { rounds: u64::from(self.bytes() > 0), bytes_sent: self.bytes() as u64 })
    }
);
