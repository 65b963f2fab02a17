//! An end for what waits on other threads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Ends the waits of a party's channels when one of its threads fails: see
/// [`Channel::until`](crate::Channel::until). Clones cut together.
#[derive(Clone, Default, Debug)]
pub struct WaitCut(Arc<AtomicBool>);

impl WaitCut {
    /// From now on no channel waits that goes by it.
    pub fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
