//! The ways in which AES is used that the VASA paper's tables compare.

use hushwire_aes::{Backend, Tier};

use crate::axes::axis;

axis! {
    /// The way in which AES is used.
    pub(crate) enum Implementation {
        /// AES-NI, block by block.
        Ref = "ref",
        /// The widest VAES, block by block.
        Vaes = "vaes",
        /// The widest VAES, in batches.
        Batched = "batched",
    }
}

impl Implementation {
    /// The backend, if the CPU supports it. `best` is the requested backend, or the best one.
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
