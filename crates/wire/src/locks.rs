//! Locks of data that no panic leaves half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, though another thread may have panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
