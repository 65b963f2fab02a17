//! Locks for data that a panic cannot leave half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, even if another thread has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
