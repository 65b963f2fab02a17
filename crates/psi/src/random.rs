//! Fresh bytes from the operating system. A test can make its thread draw them from a seed, so that
//! a run can be repeated.

use crate::PsiError;
use hushwire_prg::Seed;

/// Fills `bytes` with fresh bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), PsiError> {
    #[cfg(test)]
    if seeded::fill(bytes) {
        return Ok(());
    }
    getrandom::fill(bytes).map_err(|e| PsiError::Random(e.to_string()))
}

/// A fresh seed.
pub(crate) fn seed() -> Result<Seed, PsiError> {
    let mut bytes = zeroize::Zeroizing::new([0; 16]);
    fill(&mut bytes[..])?;
    Ok(Seed::from_bytes(*bytes))
}

#[cfg(test)]
pub(crate) mod seeded {
    use hushwire_aes::Backend;
    use hushwire_prg::{Prg, Seed};
    use std::cell::RefCell;

    thread_local! {
        static STREAM: RefCell<Option<Prg>> = const { RefCell::new(None) };
    }

    /// Makes this thread draw from the seed from now on.
    pub(crate) fn begin(seed: &Seed) {
        STREAM.set(Some(Prg::new(Backend::best(), seed, "psi tests")));
    }

    pub(super) fn fill(bytes: &mut [u8]) -> bool {
        STREAM.with_borrow_mut(|stream| stream.as_mut().map(|stream| stream.fill(bytes)).is_some())
    }
}
