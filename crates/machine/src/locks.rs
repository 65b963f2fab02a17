//! Locks for data that a panic cannot leave half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, even if another thread has panicked. The data must be consistent after every
/// single change.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
