//! Kinds of stores, and solving a bin of either.

use core::{fmt, str::FromStr};

use hushwire_aes::Backend;
use hushwire_ot::vole::Base;
use hushwire_prg::Prg;

use super::band::Solver;
use super::encode::{NoSolution, Peeler};
use super::layout::Rows;
use super::polynomial::Interpolator;
use super::{Digest, Layout, Module};

/// The kind of store that the receiver's items go into. AGREEMENT.
///
/// It has an effect from 8192 items on. Fewer than 192 always go into a polynomial, and 192 to 8191
/// always
/// into bands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Store {
    /// Three entries an item, and dense ones of its bin: about 1.25 entries an item in all.
    #[default]
    Clustered,
    /// A band of entries an item: about 1.06 entries an item in all, fewer bytes for more of a processor's time.
    Band,
}

impl Store {
    /// All.
    pub const ALL: [Self; 2] = [Self::Clustered, Self::Band];

    /// The name in options and job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clustered => "clustered",
            Self::Band => "band",
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Store {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|store| store.name() == name);
        found.ok_or_else(|| format!("{name:?} is neither clustered nor band"))
    }
}

/// The rows of one bin, and the memory for solving it.
pub(crate) enum Encoder<B, V> {
    Clustered(Peeler<B, V>),
    Band(Box<Solver<B, V>>),
    Polynomial(Interpolator<B, V>),
}

impl<B: Base, V: Module<B>> Encoder<B, V> {
    pub(crate) fn new(backend: Backend, layout: &Layout) -> Self {
        match layout.rows() {
            Rows::Clustered => Self::Clustered(Peeler::new(layout)),
            Rows::Band(band) => Self::Band(Box::new(Solver::new(backend, band))),
            Rows::Polynomial => Self::Polynomial(Interpolator::new(layout.entries())),
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

    /// Writes the bin's entries: those that no row binds are random ones of `fill`, or zero. Gives the number of dense
    /// entries that the rows bind.
    ///
    /// # Errors
    /// There is no solution.
    ///
    /// # Panics
    /// If `out` is not a bin long (the caller's bug).
    pub(crate) fn solve(&mut self, out: &mut [V], fill: Option<&mut Prg>) -> Result<usize, NoSolution> {
        match self {
            Self::Clustered(peeler) => peeler.solve(out, fill),
            Self::Band(solver) => solver.solve(out, fill).map(|()| 0),
            Self::Polynomial(interpolator) => interpolator.solve(out, fill).map(|()| 0),
        }
    }
}
