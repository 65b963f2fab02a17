//! The ways in which AES is used that the VASA paper's tables compare.

use hushwire_aes::{Backend, Tier};

/// The way in which AES is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Implementation {
    Ref,
    Vaes,
    Batched,
}

impl Implementation {
    pub(crate) const ALL: [Self; 3] = [Self::Ref, Self::Vaes, Self::Batched];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ref => "ref",
            Self::Vaes => "vaes",
            Self::Batched => "batched",
        }
    }

    /// The backend, where the CPU has it; `best` is what was asked for, or the best there is.
    pub(crate) fn backend(self, best: Backend) -> Option<Backend> {
        match self {
            Self::Ref => Backend::forced(Tier::AesNi).ok().map(Backend::unbatched),
            Self::Vaes => {
                let wide = [Tier::Vaes512, Tier::Vaes256].into_iter().find_map(|t| Backend::forced(t).ok());
                wide.map(Backend::unbatched)
            }
            Self::Batched => Some(best),
        }
    }
}
