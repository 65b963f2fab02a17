//! Solves a bin of a store of any kind.

use hushwire_aes::Backend;
use hushwire_ot::vole::Base;
use hushwire_prg::Prg;

use super::band::Solver;
use super::encode::Peeler;
use super::layout::RowForm;
use super::polynomial::Interpolator;
use super::{Digest, Layout, Module, NoSolution};

/// The rows of one bin, and the memory for solving it.
pub(crate) enum Encoder<B, V> {
    Clustered(Peeler<B, V>),
    Band(Box<Solver<B, V>>),
    Polynomial(Interpolator<B, V>),
}

impl<B: Base, V: Module<B>> Encoder<B, V> {
    pub(crate) fn new(backend: Backend, layout: &Layout) -> Self {
        match layout.rows() {
            RowForm::Clustered => Self::Clustered(Peeler::new(layout)),
            RowForm::Band(band) => Self::Band(Box::new(Solver::new(backend, band))),
            RowForm::Polynomial => Self::Polynomial(Interpolator::new(layout.entries())),
        }
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Clustered(peeler) => peeler.clear(),
            Self::Band(solver) => solver.clear(),
            Self::Polynomial(interpolator) => interpolator.clear(),
        }
    }

    /// Adds a pair to the bin.
    #[inline]
    pub(crate) fn push(&mut self, digest: &Digest, value: V) {
        match self {
            Self::Clustered(peeler) => peeler.push(digest, value),
            Self::Band(solver) => solver.push(digest, value),
            Self::Polynomial(interpolator) => interpolator.push(digest, value),
        }
    }

    /// Writes the bin's entries; entries that no row determines are random ones from `fill`, or
    /// zero. Returns the number of dense entries that the rows determine.
    ///
    /// # Errors
    /// There is no solution.
    ///
    /// # Panics
    /// If `out` does not have a bin's length (the caller's bug).
    pub(crate) fn solve(&mut self, out: &mut [V], fill: Option<&mut Prg>) -> Result<usize, NoSolution> {
        match self {
            Self::Clustered(peeler) => peeler.solve(out, fill),
            Self::Band(solver) => solver.solve(out, fill).map(|()| 0),
            Self::Polynomial(interpolator) => interpolator.solve(out, fill).map(|()| 0),
        }
    }
}
