//! A means to end waits of other threads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Ends the waits of a party's channels when one of its threads fails; see
/// [`Channel::until`](crate::Channel::until). Clones share their state.
#[derive(Clone, Default, Debug)]
pub struct WaitCut(Arc<AtomicBool>);

impl WaitCut {
    /// Ends the waits of all channels that use this, now and later.
    pub fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
